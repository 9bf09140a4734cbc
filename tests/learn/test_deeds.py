"""What a verdict does to the memories: nothing that either of two had is lost."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kinmem.errors import MemoryNotFound, VersionConflict
from kinmem.learn.apply import absorbed, effects_of, ended, retried
from kinmem.learn.reconcile import Doubt, Flag, Keep, Merge, Outdated, Replace, Skip
from kinmem.llm.naming import Naming
from kinmem.models import ConflictMode, Memory, State
from kinmem.models.turns import Change
from kinmem.service import Service
from tests.recall.made import memory
from tests.tables import each

MARCH, MAY = datetime(2026, 3, 5, tzinfo=UTC), datetime(2026, 5, 8, tzinfo=UTC)
SHORT, LONG = "Clara lives in Lyon.", "Clara lives in Lyon and works as a nurse."
MODE: ConflictMode = "temporal"


def merge(known: dict[str, Any], new: dict[str, Any], text: str = LONG) -> Change:
    """What becomes of the known one."""
    verdict = Merge(memory("1", SHORT, **known), text, "says more")
    effects = effects_of(verdict, memory("2", LONG, **new), None, MODE, Naming())
    assert (effects.outcome.status, effects.outcome.id, effects.memory) == (
        "merged_into",
        "1",
        None,
    )
    assert effects.outcome.reason == "says more"
    [change] = effects.changes
    return change


@pytest.mark.parametrize(
    ("known", "new", "kept"),
    [(3, 8, 8), (8, 3, 8), (None, 4, 4), (4, None, 4), (None, None, None)],
)
def test_the_greater_importance_is_kept(
    known: float | None, new: float | None, kept: float | None
) -> None:
    fields = merge({"importance": known}, {"importance": new}).fields

    assert fields.get("importance", known) == kept


def test_what_only_one_of_them_has_is_kept() -> None:
    fields = merge({}, {"subject": "Clara", "source_context": "over tea"}).fields
    assert (fields["subject"], fields["source_context"]) == ("Clara", "over tea")

    fields = merge(
        {"subject": "Clara", "source_context": "at work"},
        {"subject": "My sister", "source_context": "over tea"},
    ).fields
    assert "subject" not in fields
    assert "source_context" not in fields


def test_tags_of_both_are_kept_each_once() -> None:
    fields = merge({"manual_tags": ("a", "b")}, {"manual_tags": ("b", "c")}).fields

    assert fields["manual_tags"] == ("a", "b", "c")


def test_the_text_is_the_merged_one_with_its_own_hash_and_evidence() -> None:
    change = merge({}, {}, "I love Lyon. Clara lives there.")

    assert change.fields["content"] == "I love Lyon. Clara lives there."
    assert change.fields["content_hash"] not in (memory("1", SHORT).content_hash, "")
    assert change.fields["evidence"] > 0
    assert (change.id, change.version) == ("1", 1)


def test_the_turns_of_one_conversation_are_kept_three_at_most() -> None:
    talk = {"session": "s", "turn_id": "a"}

    assert merge(talk, {"session": "s", "turn_id": "b"}).fields["metadata"] == {"turns": ["a", "b"]}
    more = {"session": "s", "turn_id": "c", "metadata": {"turns": ["c", "d", "e"]}}
    assert merge(talk, more).fields["metadata"] == {"turns": ["a", "c", "d"]}
    assert "metadata" not in merge(talk, {"session": "t", "turn_id": "b"}).fields
    assert "metadata" not in merge(talk, talk).fields


def test_a_text_of_several_times_begins_with_the_earlier_one() -> None:
    text = "Until 2026-05-08: Clara lives in Lyon. Since then: Clara lives in Rome."
    late = merge({"occurred_at": MAY}, {"occurred_at": MARCH}, text)
    early = merge({"occurred_at": MARCH}, {"occurred_at": MAY}, text)
    plain = merge({"occurred_at": MAY}, {"occurred_at": MARCH})

    assert late.fields["valid_from"] == MARCH
    assert "valid_from" not in early.fields
    assert "valid_from" not in plain.fields


def test_what_is_known_is_not_stored_and_where_it_was_said_is_noted() -> None:
    new = memory("2", SHORT, session="s", turn_id="b")
    effects = effects_of(Skip(memory("1", SHORT)), new, None, MODE, Naming())

    assert (effects.outcome.status, effects.outcome.id, effects.memory) == (
        "duplicate_of",
        "1",
        None,
    )
    assert effects.changes == ()
    assert [one.memory for one in effects.repeated] == ["1"]


def test_what_is_new_is_stored_as_it_is() -> None:
    new = memory("2")
    effects = effects_of(Keep(), new, None, MODE, Naming())

    assert (effects.outcome.status, effects.outcome.id, effects.memory, effects.changes) == (
        "created",
        "2",
        new,
        (),
    )


def test_what_was_superseded_names_its_heir_and_when_it_ended() -> None:
    known = memory("1", version=7, occurred_at=MARCH)
    effects = effects_of(
        Replace((known,), "update", "moved"), memory("2", occurred_at=MAY), None, MODE, Naming()
    )

    [change] = effects.changes
    assert change.fields == {"state": "superseded", "superseded_by": "2", "valid_to": MAY}
    assert (change.id, change.version, change.action) == ("1", 7, "superseded")
    assert effects.outcome.supersedes == ("1",)


def test_what_came_late_is_stored_as_the_past_and_ends_what_was_before_it() -> None:
    before, by = memory("1", occurred_at=MARCH), memory("3", occurred_at=MAY + timedelta(days=9))
    new = memory("2", occurred_at=MAY)
    effects = effects_of(Outdated(by, "update", "moved", (before,)), new, None, MODE, Naming())

    assert effects.memory is not None
    assert (effects.memory.state, effects.memory.superseded_by) == (State.SUPERSEDED, "3")
    assert effects.memory.valid_to == by.occurred_at
    assert [(one.id, one.fields["valid_to"]) for one in effects.changes] == [("1", MAY)]
    assert "3" in (effects.outcome.reason or "")


@pytest.mark.parametrize(("is_later", "older", "newer"), [(False, "1", "2"), (True, "2", "1")])
def test_an_open_conflict_names_the_older_one_first(is_later: bool, older: str, newer: str) -> None:
    known, new = memory("1"), memory("2")
    flag = Flag((Doubt(known, "update", "in doubt", is_later),))
    effects = effects_of(flag, new, None, MODE, Naming())

    [conflict] = effects.conflicts
    assert (conflict.older, conflict.newer) == (older, newer)
    assert (effects.memory, effects.outcome.conflicts) == (new, ("1",))


def test_of_several_conflicts_the_first_says_why() -> None:
    doubts = (
        Doubt(memory("1"), "update", "the nearest", False),
        Doubt(memory("2"), "update", "another", False),
    )
    effects = effects_of(Flag(doubts), memory("3"), None, MODE, Naming())

    assert effects.outcome.reason == "the nearest"
    assert effects.outcome.conflicts == ("1", "2")
    assert [conflict.reason for conflict in effects.conflicts] == ["the nearest", "another"]


def test_nothing_ends_before_it_began_nor_after_its_heir_did() -> None:
    old, new = memory("1", occurred_at=MARCH), memory("2", occurred_at=MAY)

    assert ended(old, new)["valid_to"] == MAY
    assert ended(new, old)["valid_to"] == MAY
    over = replace(new, valid_to=MARCH + timedelta(days=1))
    assert ended(old, over)["valid_to"] == MARCH + timedelta(days=1)
    assert ended(old, replace(new, valid_to=MAY + timedelta(days=1)))["valid_to"] == MAY


def test_what_is_absorbed_is_found_as_what_says_the_same() -> None:
    change = absorbed(memory("2", occurred_at=MAY, version=3), memory("1"), "the same")

    assert change.fields == {"state": "superseded", "superseded_by": "1", "valid_to": MAY}
    assert (change.id, change.version) == ("2", 3)


@each("error", [VersionConflict("1", 2, 3), MemoryNotFound("1")])
@each("failures", [0, 1, 2, 3])
def test_it_is_decided_anew_twice_where_somebody_changed_it_meanwhile(
    error: Exception, failures: int
) -> None:
    calls = []

    def decide() -> int:
        calls.append(len(calls))
        if len(calls) <= failures:
            raise error
        return len(calls)

    if failures < 3:
        assert retried(decide) == failures + 1
    else:
        with pytest.raises(type(error)):
            retried(decide)
        assert len(calls) == 3


# as a person sees it


def told_twice(service: Service, first: dict[str, Any], then: dict[str, Any]) -> Memory:
    """A fact, and another that says all of it and more: one memory."""
    id = service.memorize("My sister Clara lives in Lyon.", **first).id
    more = "My sister Clara lives in Lyon, and she works as a nurse."
    stored = service.memorize(more, **then)
    assert (stored.status, stored.id) == ("merged_into", id)
    return service.store.get(id)


def test_what_says_more_keeps_what_the_first_was_worth(service: Service) -> None:
    memory = told_twice(
        service, {"importance": 9, "tags": ["family"]}, {"importance": 2, "tags": ["work"]}
    )

    assert memory.importance == 9
    assert set(memory.tags) == {"family", "work"}
    assert "nurse" in memory.content


def test_what_another_project_says_is_nothing_that_is_known_here(
    service_of: Callable[..., Service],
) -> None:
    service = service_of("ana")
    first = service.memorize("The tests are started with make check", category="fact")
    assert service.memorize("the tests are started with make check.").id == first.id


def test_the_past_that_is_told_twice_is_stored_once(service: Service) -> None:
    service.memorize("Anna lives in Rome", occurred_at="2026-03-05")
    first = service.memorize("Anna lives in Lyon", occurred_at="2024-01-01")
    again = service.memorize("Anna lives in Lyon", occurred_at="2024-01-01")
    other_day = service.memorize("Anna lives in Lyon", occurred_at="2023-01-01")

    assert (again.status, again.id) == ("duplicate_of", first.id)
    assert other_day.id != first.id
