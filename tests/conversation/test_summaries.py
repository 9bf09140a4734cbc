"""Old turns get a summary in their place: when, how many, and never one twice or lost."""

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from kinmem.conversation.compact import Compact
from kinmem.errors import ModelError, StoreError
from kinmem.models.turns import Role
from kinmem.settings import load
from kinmem.store.base import Store
from kinmem.store.sqlite.store import SqliteStore
from tests.conversation.talk import assert_whole, say
from tests.scripted import ScriptedModel

Opened = Callable[..., Compact]


def test_a_batch_is_summarised_once_there_are_more_turns_than_stay(
    store: SqliteStore, compact_of: Opened
) -> None:
    for number in range(25):
        say(store, number)
    assert not compact_of().summarise("s")
    say(store, 25)

    assert compact_of().summarise("s") == {"snapshots": 1, "turns": 10}
    (snapshot,) = store.snapshots.of("s")
    assert (snapshot.first, snapshot.last, snapshot.seen, snapshot.turns) == (1, 10, 26, 10)
    assert_whole(store, 26)


def test_a_backlog_is_caught_up_batch_by_batch(store: SqliteStore, compact_of: Opened) -> None:
    for number in range(100):
        say(store, number)

    counts = compact_of().summarise("s")

    assert counts["snapshots"] == 8
    assert [one.turns for one in store.snapshots.of("s")] == [10] * 8
    assert_whole(store, 100)


def test_a_kins_own_threshold_counts(store: SqliteStore, compact_of: Opened) -> None:
    for number in range(11):
        say(store, number)

    compact_of(KINMEM_TURN_THRESHOLD=10).summarise("s")

    assert [one.turns for one in store.snapshots.of("s")] == [4]


def test_too_many_tokens_are_summarised_until_they_fit(
    store: SqliteStore, compact_of: Opened
) -> None:
    for number in range(6):
        say(store, number, "I paid Clara 40 euros. " * 200)

    compact_of(KINMEM_CONTEXT_WINDOW=4000).summarise("s")

    assert len(store.turns.messages("s", uncompacted=True)) == 1
    assert_whole(store, 6)


def test_results_that_are_reduced_anyway_make_no_talk_too_long(
    store: SqliteStore, compact_of: Opened
) -> None:
    for number in range(20):
        say(store, number)
        say(store, number, "x" * 4000, "tool")

    assert not compact_of(KINMEM_CONTEXT_WINDOW=8000).summarise("s")


def test_one_turn_stays_however_long_it_is(store: SqliteStore, compact_of: Opened) -> None:
    say(store, 0, "word " * 10_000)

    assert not compact_of(KINMEM_CONTEXT_WINDOW=1000).summarise("s")


def test_each_session_for_itself(store: SqliteStore, compact_of: Opened) -> None:
    for number in range(30):
        say(store, number)

    assert not compact_of().summarise("another")
    assert store.snapshots.of() == []


@pytest.mark.parametrize("model", [None, ScriptedModel(lambda _: {"summary": "as told"}, "m")])
def test_the_oldest_become_one_when_there_are_too_many(
    store: SqliteStore, compact_of: Opened, model: ScriptedModel | None
) -> None:
    for number in range(100):
        say(store, number)

    counts = compact_of(model, COMPACTING_MAX_SNAPSHOTS=3).summarise("s")

    snapshots = store.snapshots.of("s")
    assert counts["folded"] == 5
    assert [one.turns for one in snapshots] == [60, 10, 10]
    assert [one.depth for one in snapshots] == [5, 0, 0]
    assert {one.model for one in snapshots} == {model.name if model else "extractive"}
    assert_whole(store, 100)


def test_one_summary_may_stand_for_all(store: SqliteStore, compact_of: Opened) -> None:
    for number in range(60):
        say(store, number)

    compact_of(COMPACTING_MAX_SNAPSHOTS=1).summarise("s")

    assert [one.turns for one in store.snapshots.of("s")] == [40]
    assert_whole(store, 60)


def test_a_fold_that_failed_is_made_the_next_time(store: SqliteStore, compact_of: Opened) -> None:
    for number in range(46):
        say(store, number)
    model = ScriptedModel(
        [{"summary": "one"}, {"summary": "two"}, ModelError("away"), {"summary": "both"}]
        + [{"summary": "three"}] * 2
    )
    with pytest.raises(ModelError):
        compact_of(model, COMPACTING_MAX_SNAPSHOTS=1).summarise("s")
    assert_whole(store, 46)

    counts = compact_of(model, COMPACTING_MAX_SNAPSHOTS=1).summarise("s")

    assert counts["folded"] == 2
    assert len(store.snapshots.of("s")) == 1
    assert_whole(store, 46)


def test_without_a_model_the_telling_sentences_are_kept(
    store: SqliteStore, compact_of: Opened
) -> None:
    for number in range(26):
        text = "Thanks, great!" if number % 2 else f"I paid {number} euros to Clara."
        say(store, number, text)

    compact_of().summarise("s")

    (snapshot,) = store.snapshots.of("s")
    assert snapshot.model == "extractive"
    assert "[2026-06-01] user: I paid 4 euros to Clara." in snapshot.summary
    assert "great" not in snapshot.summary


def test_days_are_told_in_the_zone_of_the_settings(store: SqliteStore, compact_of: Opened) -> None:
    for number in range(26):
        say(store, number)

    compact_of(KINMEM_TZ="Asia/Tokyo").summarise("s")

    (snapshot,) = store.snapshots.of("s")
    assert "[2026-06-02] user: My plan for day" in snapshot.summary
    text = compact_of(KINMEM_TZ="Asia/Tokyo").context("s")
    assert "# The conversation\n\n[2026-06-02]\nuser: My plan for day 10" in text


def test_a_model_is_told_the_turns_and_the_summary_before(
    store: SqliteStore, compact_of: Opened
) -> None:
    for number in range(36):
        say(store, number)
    model = ScriptedModel(
        [{"summary": "Rooms 0 to 9 are planned."}, {"summary": "So are 10 to 19."}]
    )

    compact_of(model).summarise("s")

    assert "room 9" in model.prompts[0]
    assert "room 10" not in model.prompts[0]
    assert "Rooms 0 to 9 are planned." in model.prompts[1]
    assert [one.summary for one in store.snapshots.of("s")] == [
        "Rooms 0 to 9 are planned.",
        "So are 10 to 19.",
    ]


def test_a_model_that_fails_in_the_middle_loses_nothing(
    store: SqliteStore, compact_of: Opened
) -> None:
    for number in range(50):
        say(store, number)
    model = ScriptedModel(
        [{"summary": "one"}, ModelError("away"), {"summary": "two"}, {"summary": "three"}]
    )

    with pytest.raises(ModelError):
        compact_of(model).summarise("s")
    assert_whole(store, 50)
    compact_of(model).summarise("s")

    assert [one.summary for one in store.snapshots.of("s")] == ["one", "two", "three"]
    assert_whole(store, 50)


def test_what_is_said_while_the_model_thinks_stays(store: SqliteStore, compact_of: Opened) -> None:
    for number in range(26):
        say(store, number)
    said: list[int] = []

    def answer(_: str) -> dict[str, str]:
        said.append(26)
        say(store, 26, "I am here too.")
        say(store, 3, "An answer that comes late.", "assistant")
        return {"summary": "as told"}

    compact_of(ScriptedModel(answer)).summarise("s")

    assert said == [26]
    assert "I am here too." in compact_of().context("s")
    assert "An answer that comes late." in compact_of().context("s")


def test_workers_at_once_summarise_each_turn_once(store: SqliteStore, compact_of: Opened) -> None:
    for number in range(60):
        say(store, number)
    all_ask = threading.Barrier(4)

    def answer(_: str) -> dict[str, str]:
        with suppress(threading.BrokenBarrierError):
            all_ask.wait(1)  # all have read the same turns before anybody stores
        return {"summary": "as told"}

    opened = [compact_of(ScriptedModel(answer), COMPACTING_MAX_SNAPSHOTS=2) for _ in range(4)]
    workers = [threading.Thread(target=one.summarise, args=("s",)) for one in opened]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert len(store.turns.messages("s", uncompacted=True)) == 20
    assert len(store.snapshots.of("s")) == 2
    assert_whole(store, 60)


class Failing:
    """A part of a store whose database fails at one call, before it or, as if killed, after it."""

    def __init__(self, part: Any, calls: "Calls") -> None:
        self._part = part
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._calls.left -= 1
            if self._calls.left == 0 and not self._calls.after:
                raise StoreError("the database is busy", "storage_busy")
            value = getattr(self._part, name)(*args, **kwargs)
            if self._calls.left == 0:
                raise StoreError("the database is busy", "storage_busy")
            return value

        return call


@dataclass
class Calls:
    """How many there are until one fails."""

    left: int
    after: bool

    def of(self, store: Store) -> Any:
        """What compacting asks of the store."""
        parts = ("turns", "snapshots", "shown")
        return SimpleNamespace(**{name: Failing(getattr(store, name), self) for name in parts})


def test_a_failure_between_any_two_steps_loses_nothing(
    store: SqliteStore, home: Path, clock: Callable[[], datetime]
) -> None:
    loaded = load(
        {"KINMEM_HOME": home, "KINMEM_TURN_THRESHOLD": 4, "COMPACTING_MAX_SNAPSHOTS": 2},
        environment={},
    )
    turns = 0
    for at in range(1, 20):
        for after in (False, True):
            say(store, turns)
            turns += 1
            calls = Calls(at, after)
            with suppress(StoreError):
                Compact(calls.of(store), None, loaded, clock).summarise("s")
            assert_whole(store, turns)
    Compact(store, None, loaded, clock).summarise("s")

    assert calls.left > 0  # so that every step had its failure
    assert len(store.turns.messages("s", uncompacted=True)) <= 4
    assert len(store.snapshots.of("s")) == 2
    assert_whole(store, turns)


KILLED = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from kinmem.conversation.compact import Compact
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
home, left = Path(sys.argv[1]), int(sys.argv[2])
store = SqliteStore(home, "ana")
class Part:
    def __init__(self, part):
        self.part = part
    def __getattr__(self, name):
        global left
        left -= 1
        value = getattr(self.part, name)
        def call(*args, **kwargs):
            result = value(*args, **kwargs)
            if left == 0:
                os.kill(os.getpid(), 9)
            return result
        return call
flags = {"KINMEM_HOME": home, "KINMEM_TURN_THRESHOLD": 4, "COMPACTING_MAX_SNAPSHOTS": 2}
parts = SimpleNamespace(
    turns=Part(store.turns), snapshots=Part(store.snapshots), shown=Part(store.shown)
)
Compact(parts, None, load(flags, environment={}), lambda: datetime.now(UTC)).summarise("s")
"""


def test_killed_after_any_step_it_goes_on_where_it_was(store: SqliteStore, home: Path) -> None:
    for number in range(12):
        say(store, number)
    codes = []
    for left in range(5, 13):
        command = [sys.executable, "-c", KILLED, str(home), str(left)]
        ran = subprocess.run(command, check=False, capture_output=True, text=True)
        assert ran.returncode in (-9, 0), ran.stderr
        codes.append(ran.returncode)
        assert_whole(store, 12)
        if ran.returncode == 0:
            break

    assert codes == [*[-9] * 6, 0]  # each goes one step further than the one before
    assert len(store.turns.messages("s", uncompacted=True)) == 4
    assert_whole(store, 12)


@tried(max_examples=40, deadline=None)
@given(
    settings=st.fixed_dictionaries(
        {
            "COMPACTING_BATCH_TURNS": st.integers(1, 4),
            "COMPACTING_MIN_KEEP_TURNS": st.integers(1, 5),
            "COMPACTING_MAX_SNAPSHOTS": st.integers(1, 4),
            "KINMEM_CONTEXT_WINDOW": st.sampled_from([1000, 200_000]),
        },
        optional={"KINMEM_TURN_THRESHOLD": st.integers(2, 9)},
    ),
    turns=st.lists(
        st.lists(st.sampled_from(["tool", "assistant"]), max_size=3), min_size=1, max_size=25
    ),
    answers=st.lists(st.booleans(), max_size=30),
    words=st.sampled_from([5, 400]),
)
def test_no_message_is_dropped_or_summarised_twice(
    tmp_path_factory: pytest.TempPathFactory,
    settings: dict[str, int],
    turns: list[list[Role]],
    answers: list[bool],
    words: int,
) -> None:
    home = tmp_path_factory.mktemp("home")
    store = SqliteStore(home, "ana")
    outcomes = iter(answers)
    prompts: list[str] = []

    def answer(prompt: str) -> dict[str, str]:
        if not next(outcomes, True):
            raise ModelError("away")
        prompts.append(prompt)
        return {"summary": "as told"}

    loaded = load({"KINMEM_HOME": home, **settings}, environment={})
    compact = Compact(store, ScriptedModel(answer), loaded, lambda: datetime.now(UTC))
    for number, roles in enumerate(turns):
        say(store, number, f"turn-{number}! " + "word " * words)
        for part, role in enumerate(roles):
            say(store, number, f"part {part}", role, str(part))
        with suppress(ModelError):
            compact.summarise("s")
    standing = {one.id: one for one in store.snapshots.of("s")}
    said = store.turns.messages("s")
    context = compact.context("s")
    store.close()

    raw = [one for one in said if one.snapshot is None]
    assert len(said) == sum(1 + len(roles) for roles in turns)
    assert raw
    assert raw == said[len(said) - len(raw) :]
    assert {one.snapshot for one in said} - {None} == set(standing)
    assert sum(one.turns for one in standing.values()) + len({m.turn for m in raw}) == len(turns)
    for number in range(len(turns)):
        asked = sum(f" user: turn-{number}! " in prompt for prompt in prompts)
        shown = f"user: turn-{number}! " in context
        assert asked + shown == 1
