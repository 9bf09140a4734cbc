"""What tests say in a session, and what must hold of it whatever happens."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kinmem.models.turns import Message, Role
from kinmem.store.base import Store

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def message(number: int, text: str = "", role: Role = "user", part: str = "") -> Message:
    """What somebody, or a tool called grep, says in turn `number`, an hour after the one before."""
    return Message(
        session="s",
        turn=f"t{number}",
        role=role,
        part=part,
        text=text or f"My plan for day {number} is to paint room {number}.",
        tool="grep" if role == "tool" else None,
        said_at=NOON + timedelta(hours=number),
    )


def say(store: Store, number: int, text: str = "", role: Role = "user", part: str = "") -> None:
    assert store.turns.add([message(number, text, role, part)]) == [True]


def assert_whole(store: Store, turns: int) -> None:
    """Each of so many turns of one message is either raw or in one summary, in their order."""
    said = store.turns.messages("s")
    standing = {one.id: one for one in store.snapshots.of("s")}
    raw = [one for one in said if one.snapshot is None]
    assert len(said) == turns
    assert raw == said[turns - len(raw) :]
    assert {one.snapshot for one in said} - {None} == set(standing)
    assert sum(one.turns for one in standing.values()) == turns - len(raw)
    for one in said[: turns - len(raw)]:
        assert one.snapshot is not None
        assert standing[one.snapshot].first <= one.id <= standing[one.snapshot].last


def by(speaker: str, one: Message) -> Message:
    return replace(one, speaker=speaker)
