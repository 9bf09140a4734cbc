"""The forecast finds by bisection what looking at each day to come finds."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from kinmem.models import Living, State
from kinmem.models.retention import fading, rank_of, retention, tier_of
from kinmem.settings.memory_settings import LifeSettings
from kinmem.upkeep.lifecycle import DAYS, HARDLY, LEAST_DAYS, fate_of, foreseen
from tests.sweeps import rounds

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
ages = some.integers(0, 900).map(lambda days: NOW - timedelta(days=days))
memories = some.builds(
    Living,
    id=some.just("m"),
    scope=some.sampled_from(["private", "shared"]),
    version=some.just(1),
    category=some.sampled_from(["fact", "plan", "context", "ephemeral", "preference"]),
    importance=some.none() | some.floats(1, 10),
    trust=some.sampled_from([0.2, 0.5, 0.9]),
    channel=some.sampled_from(["learned", "explicit", "user", "tool"]),
    pinned=some.booleans(),
    is_tagged=some.booleans(),
    set_priority=some.none() | some.floats(0, 1),
    priority=some.none(),
    state=some.sampled_from([State.ACTIVE, State.STALE, State.ARCHIVED]),
    state_at=some.none() | ages,
    tier=some.sampled_from(["hot", "warm", "archive"]),
    tier_reason=some.none(),
    recalled_count=some.integers(0, 30),
    recalled_at=some.none() | ages,
    created_at=ages,
    content_updated_at=ages,
    expires_at=some.none() | some.integers(-3, 800).map(lambda days: NOW + timedelta(days=days)),
    links=some.integers(0, 8),
    recent_links=some.integers(0, 3),
    speaker=some.sampled_from([None, "user", "assistant"]),
)
lives = some.builds(
    LifeSettings,
    curve=some.sampled_from(["kin", "keyoku", "kore", "kinbot", "kybernesis"]),
    prune=some.sampled_from(["off", "kinbot", "kybernesis"]),
)


def walked(
    memory: Living, settings: LifeSettings, *, told: bool
) -> tuple[dict[int, float], list[tuple[int, str]]]:
    """What comes of it if each day is looked at."""
    left, turns = {}, []
    for day in range(DAYS + 1):
        at = NOW + timedelta(days=day)
        if memory.expires_at is not None and memory.expires_at <= at:
            turns.append((day, "deleted"))
            break
        left[day] = 1.0 if memory.pinned else retention(fading(memory, at), settings.curve)
        fate = fate_of(memory, settings, at, told=told)
        if fate is not None:
            memory = memory._replace(state=fate.state, state_at=at)
            turns.append((day, fate.state))
        tier, reason = tier_of(rank_of(memory, at).standing)
        if tier != memory.tier:
            turns.append((day, tier))
        memory = memory._replace(tier=tier, tier_reason=reason)
        if day >= LEAST_DAYS and left[day] < HARDLY:
            break
    return left, turns


@pytest.mark.parametrize("told", [True, False])
@settings(max_examples=rounds(2000, 60))
@given(memory=memories, life=lives)
def test_it_tells_what_each_day_would_bring(memory: Living, life: LifeSettings, told: bool) -> None:
    left, turns = walked(memory, life, told=told)

    forecast = foreseen(memory, life, NOW, told=told)

    assert [(turn.day, turn.to) for turn in forecast.turns] == turns
    assert dict(forecast.left) == pytest.approx(left)


@settings(max_examples=rounds(500, 30))
@given(memory=memories, life=lives, points=some.integers(1, 200))
def test_fewer_points_tell_the_same_curve(memory: Living, life: LifeSettings, points: int) -> None:
    whole = foreseen(memory, life, NOW, told=False)

    drawn = foreseen(memory, life, NOW, told=False, points=points)

    assert drawn.turns == whole.turns
    assert set(drawn.left) <= set(whole.left)
    assert [*drawn.left[:1], *drawn.left[-1:]] == [*whole.left[:1], *whole.left[-1:]]
    if whole.left:
        assert len(drawn.left) <= (2 * points + 1) * (len(whole.turns) + 1)
