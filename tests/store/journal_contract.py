"""What a journal promises (kinmem/store/journal.py), asked through the Protocol alone.

Inherited as StoreContract is, beside the same fixtures.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest

from kinmem.errors import StoreError
from kinmem.store.base import Store
from kinmem.store.journal import Journal
from kinmem.turns import Batch, Conflict, Message, Run, Session, Shown, Snapshot
from tests.conftest import MovableClock
from tests.store.contract import NOON, OpenStore, added

SOON = NOON + timedelta(minutes=1)
LATER = NOON + timedelta(hours=1)


def message(turn: str, text: str = "hello", role: Any = "user", **given: Any) -> Message:
    given = {"session": "s", "said_at": NOON, **given}
    return Message(turn=turn, role=role, text=text, **given)


def turn(name: str, session: str = "s") -> list[Message]:
    """A prompt, a tool's output, an answer."""
    return [
        message(name, f"{name} asked", session=session),
        message(name, f"{name} looked up", "tool", part="1", tool="Read", session=session),
        message(name, f"{name} answered", "assistant", session=session),
    ]


def kept(journal: Journal, *turns: str, session: str = "s") -> dict[str, list[int]]:
    """Store whole turns; the ids of their messages."""
    for name in turns:
        journal.add(turn(name, session))
    stored = journal.messages(session)
    return {name: [one.id for one in stored if one.turn == name] for name in turns}


def waiting(journal: Journal, limit: int = 100, now: Any = NOON) -> list[str]:
    return [one.text for one in journal.learnable(now, limit)]


def snapshot(first: int, last: int, session: str = "s", **given: Any) -> Snapshot:
    given = {"summary": "they met", "turns": 1, "model": "extractive", "seen": last, **given}
    return Snapshot(session=session, first=first, last=last, created_at=NOON, **given)


FULL = message(
    "t", "a 🌋 ‮וידוי x́ text", "tool", part="7", speaker="Ana", tool="Bash", spill="spill/1.txt",
    client="cli", place="/home/ana", said_at=LATER, learned_at=SOON, tries=2, due_at=LATER,
    parked=True, problem="it hung",
)  # fmt: skip


class JournalContract:
    """Inherited by the test of each backend."""

    @pytest.fixture
    def journal(self, store: Store) -> Journal:
        return store.journal

    # what was said

    def test_everything_that_was_said_comes_back(
        self, journal: Journal, store_of: OpenStore
    ) -> None:
        plain = message("t", "plain")

        assert journal.add([plain, FULL]) == [True, True]

        assert journal.messages("s") == [replace(plain, id=1), replace(FULL, id=2)]
        assert store_of("ana").journal.messages("s") == journal.messages("s")
        unset = {one.name for one in fields(Message) if not getattr(FULL, one.name)}
        assert unset == {"id", "snapshot"}

    def test_the_same_is_kept_once_as_it_was_first_said(self, journal: Journal) -> None:
        again = message("1", "1 asked otherwise")

        assert journal.add(turn("1")) == [True] * 3
        assert journal.add([*turn("1"), again]) == [False] * 4
        assert journal.add([message("2"), message("2")]) == [True, False]

        assert [one.text for one in journal.messages("s")] == [
            *(one.text for one in turn("1")), "hello",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "other",
        [{"session": "z"}, {"turn": "2"}, {"role": "assistant"}, {"part": "1"}],
        ids=["session", "turn", "role", "part"],
    )
    def test_what_differs_in_its_key_is_another_message(
        self, journal: Journal, other: dict[str, Any]
    ) -> None:
        one = message("1")

        assert journal.add([one, replace(one, **other)]) == [True, True]

    def test_two_threads_that_add_the_same_keep_it_once(self, store_of: OpenStore) -> None:
        journals = [store_of("ana").journal for _ in range(2)]
        said = [one for n in range(25) for one in turn(f"{n}")]

        def add_all(n: int) -> list[bool]:
            return [new for one in said for new in journals[n % 2].add([one])]

        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(add_all, range(4)))

        assert [sum(news) for news in zip(*found, strict=True)] == [1] * 75
        assert [one.text for one in sorted(journals[0].messages("s"), key=_of_turn)] == [
            one.text for one in sorted(said, key=_of_turn)
        ]

    def test_conversations_are_one_kins_own(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana").journal, store_of("ben").journal
        kept(ana, "1")
        ana.show("s", "notes", {"m": 1})

        assert ben.messages("s") == ben.learnable(LATER, 9) == ben.sessions() == []
        assert ben.shown("s") == Shown()
        assert set(ben.counts().values()) == {0}

    def test_writing_a_journal_is_nothing_that_recall_reads(self, store: Store) -> None:
        added(store, "tea")
        before, journal = store.revision, store.journal
        ids = kept(journal, "1")["1"]

        journal.postpone(ids, SOON, "later")
        journal.retry()
        journal.compact(snapshot(1, 3), ids)
        journal.show("s", "notes", {"m": 1})
        journal.forget_shown("s")
        journal.refuse("merge", ["a", "b"])
        journal.lease("job", "me", 5)
        journal.release("job", "me")
        journal.record(Run(kind="cycle", started_at=NOON, finished_at=NOON, counts={}))
        store.apply(Batch(learned=ids, conflicts=[_conflict("a", "b")]))

        assert store.revision == before

    def test_neighbours_are_of_the_same_session_in_order(self, journal: Journal) -> None:
        kept(journal, "1", "2")
        kept(journal, "1", session="other")
        kept(journal, "3")
        middle = journal.messages("s")[4]

        assert [one.id for one in journal.before(middle, 3)] == [2, 3, 4]
        assert [one.id for one in journal.before(middle, 99)] == [1, 2, 3, 4]
        assert [one.id for one in journal.after(middle, 2)] == [6, 10]
        assert journal.before(journal.messages("s")[0], 5) == []

    def test_the_latest_of_a_role(self, journal: Journal) -> None:
        kept(journal, "1", "2")
        kept(journal, "9", session="other")

        latest = journal.latest("s", "user")

        assert latest is not None and latest.text == "2 asked"
        assert journal.latest("s", "system") is None
        assert journal.latest("unknown", "user") is None

    def test_sessions_are_told_the_latest_first(self, journal: Journal) -> None:
        kept(journal, "1", session="old")
        journal.add([message("1", session="new", client="cli", place="/home")])
        journal.add([message("2", session="old", said_at=LATER)])

        assert journal.sessions() == [
            Session(
                name="old", client=None, place=None, first_at=NOON, last_at=LATER, turns=2,
                messages=4,
            ),
            Session(
                name="new", client="cli", place="/home", first_at=NOON, last_at=NOON, turns=1,
                messages=1,
            ),
        ]  # fmt: skip
        assert [one.name for one in journal.sessions(1)] == ["old"]

    def test_a_step_finds_how_far_it_has_come(self, store: Store) -> None:
        journal = store.journal
        assert journal.mark("compress") == 0
        journal.set_mark("compress", 7)
        journal.set_mark("compress", 9)

        assert (journal.mark("compress"), journal.mark("consolidate")) == (9, 0)

    def test_counts_tell_what_there_is(self, store: Store) -> None:
        journal = store.journal
        ids = kept(journal, "1", "2", "3")
        kept(journal, "1", session="other")
        journal.add([message("4", role="system")])
        journal.postpone(ids["1"][:1], None, "no")
        journal.postpone(ids["1"][1:2], LATER, "not yet")
        store.apply(Batch(learned=ids["2"], conflicts=[_conflict("a", "b"), _conflict("c", "d")]))
        journal.close_conflict(journal.conflicts()[0].id, "kept_newer")
        journal.compact(snapshot(1, 3), ids["1"])

        assert journal.counts() == {
            "sessions": 2, "turns": 5, "messages": 13, "waiting": 8, "parked": 1, "snapshots": 1,
            "conflicts": 1,
        }  # fmt: skip

    # what waits to be learned from

    def test_what_waits_comes_oldest_first_in_whole_turns(self, journal: Journal) -> None:
        journal.add([message("1", "first prompt"), message("1", "elsewhere", session="other")])
        journal.add([message("2", "second prompt")])
        journal.add([message("1", "late answer", "assistant")])

        assert waiting(journal, 1) == ["first prompt", "late answer"]
        assert waiting(journal, 2) == ["first prompt", "elsewhere", "late answer"]
        assert waiting(journal) == ["first prompt", "elsewhere", "second prompt", "late answer"]

    def test_what_is_stored_by_a_key_is_found(self, journal: Journal) -> None:
        journal.add([message("1", "said"), message("1", "looked up", "tool", part="1")])

        found = journal.stored(message("1", "said otherwise"))
        assert found is not None and (found.text, found.id) == ("said", 1)
        assert journal.stored(message("1", role="tool", part="2")) is None
        assert journal.stored(message("1", session="other")) is None

    def test_what_one_summary_stands_for_may_be_read_as_well(self, journal: Journal) -> None:
        kept(journal, "1", "2", "3")
        first = journal.compact(snapshot(1, 3), [1, 2, 3])
        second = journal.compact(snapshot(4, 6), [4, 5, 6])

        def ids(but: int | None) -> list[int]:
            return [one.id for one in journal.messages("s", uncompacted=True, but=but)]

        assert (ids(None), ids(first)) == ([7, 8, 9], [1, 2, 3, 7, 8, 9])
        assert ids(second) == [4, 5, 6, 7, 8, 9]

    def test_a_clients_own_summary_is_not_learned_from(self, journal: Journal) -> None:
        journal.add([message("1", "said"), message("1", "summary", "system")])

        assert waiting(journal) == ["said"]

    def test_what_was_learned_from_waits_no_longer(self, store: Store) -> None:
        ids = kept(store.journal, "1", "2")

        store.apply(Batch(learned=ids["1"]))

        assert waiting(store.journal) == [one.text for one in turn("2")]
        assert all(one.learned_at == NOON for one in store.journal.messages("s")[:3])
        store.journal.add([message("1", "an afterthought", part="2")])
        assert waiting(store.journal)[-1] == "an afterthought"

    def test_a_turn_is_held_back_until_all_of_it_is_due(self, journal: Journal) -> None:
        ids = kept(journal, "1", "2")

        journal.postpone(ids["1"][1:2], LATER, "the model is away")

        assert waiting(journal) == [one.text for one in turn("2")]
        assert waiting(journal, now=LATER) == [one.text for one in turn("1") + turn("2")]
        failed = journal.messages("s")[1]
        assert (failed.tries, failed.due_at, failed.parked) == (1, LATER, False)
        assert failed.problem == "the model is away"

    def test_what_is_parked_waits_for_somebody_to_ask(self, journal: Journal) -> None:
        ids = kept(journal, "1", "2", "3")
        journal.postpone(ids["1"], SOON, "once")
        journal.postpone(ids["1"], None, "twice")
        journal.postpone(ids["2"], SOON, "once")

        assert waiting(journal, now=LATER) == [one.text for one in turn("2") + turn("3")]
        assert [one.id for one in journal.parked()] == ids["1"]
        assert {(one.tries, one.problem) for one in journal.parked()} == {(2, "twice")}

        assert journal.retry() == 6
        assert journal.retry() == 0
        assert waiting(journal) == [one.text for name in "123" for one in turn(name)]
        assert journal.parked() == []
        assert {(one.tries, one.problem) for one in journal.messages("s")} == {(0, None)}

    def test_what_was_learned_from_is_neither_postponed_nor_tried_again(self, store: Store) -> None:
        journal = store.journal
        ids = kept(journal, "1")["1"]
        journal.postpone(ids, None, "parked")
        store.apply(Batch(learned=ids))

        journal.postpone(ids, SOON, "too late")

        assert journal.retry() == 0
        assert journal.parked() == journal.learnable(LATER, 9) == []
        assert {one.problem for one in journal.messages("s")} == {None}

    # what stands for it

    def test_a_snapshot_stands_for_messages(self, journal: Journal) -> None:
        ids = kept(journal, "1", "2", "3")
        made = snapshot(1, 6, turns=2, seen=9)

        id = journal.compact(made, ids["1"] + ids["2"])

        assert id is not None
        assert journal.snapshots("s") == journal.snapshots() == [replace(made, id=id)]
        assert [one.turn for one in journal.messages("s", uncompacted=True)] == ["3"] * 3
        assert {one.snapshot for one in journal.messages("s")} == {id, None}

    @pytest.mark.parametrize(
        ("session", "which"),
        [
            pytest.param("s", [1, 2, 3, 4], id="one has a snapshot already"),
            pytest.param("s", [4, 99], id="one is not there"),
            pytest.param("s", [], id="none"),
            pytest.param("other", [4, 5], id="of another session"),
        ],
    )
    def test_nothing_is_summarised_twice_or_in_part(
        self, journal: Journal, session: str, which: list[int]
    ) -> None:
        ids = kept(journal, "1", "2")
        journal.compact(snapshot(1, 3), ids["1"])
        before = journal.messages("s"), journal.snapshots()

        assert journal.compact(snapshot(1, 6, session), which) is None
        assert (journal.messages("s"), journal.snapshots()) == before

    def test_one_of_several_that_summarise_the_same_wins(self, store_of: OpenStore) -> None:
        journals = [store_of("ana").journal for _ in range(4)]
        ids = kept(journals[0], "1")["1"]

        with ThreadPoolExecutor(4) as threads:
            made = list(threads.map(lambda one: one.compact(snapshot(1, 3), ids), journals))

        assert sorted(id is None for id in made) == [False, True, True, True]
        assert len(journals[0].snapshots()) == 1

    def test_snapshots_are_folded_into_one(self, journal: Journal) -> None:
        ids = kept(journal, "1", "2", "3")
        first, second, third = (
            journal.compact(snapshot(said[0], said[-1]), said) for said in ids.values()
        )
        assert first is not None and second is not None and third is not None
        folded = snapshot(1, 6, summary="both", turns=2, depth=1)

        id = journal.fold(folded, [first, second])

        assert id is not None
        assert [one.id for one in journal.snapshots("s")] == [id, third]
        assert journal.snapshots("s")[0] == replace(folded, id=id)
        assert [one.snapshot for one in journal.messages("s")] == [id] * 6 + [third] * 3

    @pytest.mark.parametrize("which", [[1, 99], [], [1, 2]], ids=["gone", "none", "two sessions"])
    def test_what_cannot_be_folded_stays(self, journal: Journal, which: list[int]) -> None:
        for session in ("s", "other"):
            ids = kept(journal, "1", session=session)["1"]
            journal.compact(snapshot(ids[0], ids[-1], session), ids)
        before = journal.snapshots()

        assert journal.fold(snapshot(1, 3, depth=1), which) is None
        assert journal.snapshots() == before

    # what was shown

    def test_what_was_shown_is_known_until_the_context_is_compacted(self, journal: Journal) -> None:
        journal.show("s", "first", {"a": 1, "b": 1}, turn="1")
        journal.show("s", "second", {"b": 2}, turn="2")
        journal.show("other", "elsewhere", {"c": 1})

        assert journal.shown("s") == Shown(("first", "second"), {"a": 1, "b": 2})
        assert journal.shown("s", "1") == Shown(("first",), {"a": 1, "b": 1})
        assert journal.shown("s", "3") == Shown()

        journal.forget_shown("s")
        assert journal.shown("s") == journal.shown("s", "1") == Shown()
        journal.show("s", "third", {"d": 1})
        assert journal.shown("s") == Shown(("third",), {"d": 1})
        assert journal.was_shown("s") == {"a", "b", "d"}
        assert journal.was_shown("other") == {"c"}
        assert journal.shown("other").texts == ("elsewhere",)

    def test_what_was_shown_can_be_asked_for_in_part(self, journal: Journal) -> None:
        for turn_id, text, memories in [
            ("1", "first", {"a": 1, "b": 1}), ("1", "second", {"b": 2}), ("2", "third", {"c": 1}),
        ]:  # fmt: skip
            journal.show("s", text, memories, turn_id)

        assert journal.versions_shown("s") == {"a": 1, "b": 2, "c": 1}
        assert journal.versions_shown("s", latest=2) == {"b": 2, "c": 1}
        assert journal.shown("s", latest=1) == Shown(("third",), {"c": 1})
        assert journal.shown("s", "1", latest=1) == Shown(("second",), {"b": 2})
        assert journal.shown_with("s", ["b", "c"]) == ("first", "second", "third")
        assert journal.shown_with("s", ["a"]) == ("first",)
        assert journal.shown_with("s", []) == journal.shown_with("other", ["a"]) == ()
        assert journal.was_shown("s", 1) == {"c"}
        journal.forget_shown("s")
        assert journal.versions_shown("s") == {}
        assert journal.shown_with("s", ["a"]) == ()

    def test_what_silent_sessions_were_shown_is_forgotten(
        self, journal: Journal, clock: MovableClock
    ) -> None:
        journal.add([message("1", session=one) for one in ("silent", "spoken in", "shown to")])
        for session in ("silent", "spoken in", "shown to", "never spoken in"):
            journal.show(session, "then", {"a": 1})
        month_ago = clock.now
        clock.advance(days=30)
        journal.add([message("2", session="spoken in", said_at=clock.now)])
        journal.show("shown to", "now", {"b": 1})

        assert journal.prune_shown(month_ago) == 0
        assert journal.prune_shown(month_ago + timedelta(seconds=1)) == 2
        assert journal.was_shown("silent") == journal.was_shown("never spoken in") == set()
        assert journal.was_shown("spoken in") == {"a"}
        assert journal.was_shown("shown to") == {"a", "b"}
        assert len(journal.messages("silent")) == 1

    @pytest.mark.parametrize(
        ("place", "summary"),
        [
            pytest.param(None, "of the hut", id="of any place"),
            pytest.param("/home", "of home", id="of a place"),
            pytest.param("/hut", "of the hut", id="of another"),
            pytest.param("/nowhere", "of somewhere", id="of a session without a place"),
        ],
    )
    def test_the_last_summary_is_of_the_session_spoken_in_last(
        self, journal: Journal, place: str | None, summary: str
    ) -> None:
        told = [("somewhere", None, "older"), ("somewhere", None, "of somewhere"),
                ("home", "/home", "of home"), ("hut", "/hut", "of the hut")]  # fmt: skip
        for n, (session, where, text) in enumerate(told, 1):
            journal.add([message(f"{n}", session=session, place=where)])
            journal.compact(snapshot(n, n, session, summary=text), [n])
        journal.add([message("1", session="no summary", place="/home")])

        found = journal.last_summary(place)

        assert found is not None
        assert found.summary == summary

    def test_where_nothing_was_summarised_there_is_no_last_summary(self, journal: Journal) -> None:
        journal.add(turn("1"))

        assert journal.last_summary(None) is None

    # what is open, refused, running and done

    def test_conflicts_are_open_until_they_are_closed(self, store: Store) -> None:
        journal = store.journal
        store.apply(Batch(conflicts=[_conflict("a", "b"), _conflict("c", "d", at=LATER)]))

        latest, first = journal.conflicts()
        assert first == replace(_conflict("a", "b"), at=NOON, id=first.id)
        assert (latest.newer, latest.at) == ("c", LATER)

        journal.close_conflict(first.id, "kept_both")
        journal.close_conflict(999, "merged")
        assert journal.conflicts() == [latest]
        assert [one.status for one in journal.conflicts(all=True)] == ["open", "kept_both"]

    def test_what_was_refused_is_remembered_whatever_the_order(self, journal: Journal) -> None:
        journal.refuse("merge", ["b", "a"])
        journal.refuse("merge", ("a", "b", "a"))
        journal.refuse("merge", ["c"])
        journal.refuse("prune", ["d"])

        assert journal.refused("merge") == {frozenset("ab"), frozenset("c")}
        assert journal.refused("prune") == {frozenset("d")}
        assert journal.refused("never") == frozenset()

    def test_a_lease_is_ones_own_until_it_runs_out(
        self, store_of: OpenStore, clock: MovableClock
    ) -> None:
        one, other = store_of("ana").journal, store_of("ana").journal
        assert one.lease("cycle", "one", 60)
        assert not other.lease("cycle", "other", 60)
        assert other.lease("another job", "other", 60)

        clock.advance(seconds=59)
        assert one.lease("cycle", "one", 60)
        clock.advance(seconds=59)
        assert not other.lease("cycle", "other", 60)
        clock.advance(seconds=1)
        assert other.lease("cycle", "other", 60)
        assert not one.lease("cycle", "one", 60)

    def test_only_who_holds_a_lease_gives_it_back(self, journal: Journal) -> None:
        journal.lease("cycle", "one", 60)

        journal.release("cycle", "stranger")
        assert not journal.lease("cycle", "other", 60)
        journal.release("cycle", "one")
        assert journal.lease("cycle", "other", 60)
        journal.release("never taken", "one")

    def test_one_of_several_takes_a_lease(self, store_of: OpenStore) -> None:
        journals = [store_of("ana").journal for _ in range(4)]

        def take(n: int) -> bool:
            return journals[n].lease("cycle", f"{n}", 60)

        with ThreadPoolExecutor(4) as threads:
            assert sorted(threads.map(take, range(4))) == [False, False, False, True]

    def test_reports_are_kept_the_latest_first(self, journal: Journal) -> None:
        first = Run(
            kind="cycle", started_at=NOON, finished_at=SOON, counts={"extract.created": 2},
            problems=("the model was away",),
        )  # fmt: skip
        second = Run(kind="sleep", started_at=SOON, finished_at=LATER, counts={})
        ids = [journal.record(first), journal.record(second)]

        latest, before = journal.runs()
        assert (latest, before) == (replace(second, id=ids[1]), replace(first, id=ids[0]))
        assert journal.runs(1) == [latest]
        assert journal.runs(kind="cycle") == [before]

    def test_old_reports_go(self, journal: Journal) -> None:
        for n in range(1003):
            journal.record(Run(kind="cycle", started_at=NOON, finished_at=NOON, counts={"n": n}))

        runs = journal.runs(2000)
        assert len(runs) == 1000
        assert runs[-1].counts == {"n": 3}

    # the end of a memory

    def test_what_is_erased_leaves_the_journal(self, store: Store) -> None:
        journal = store.journal
        gone, stays = added(store, "the old recipe"), added(store, "the new recipe")
        journal.show("s", "the old recipe and the new one", {gone: 1, stays: 1}, turn="1")
        journal.show("s", "the new recipe", {stays: 1}, turn="2")
        journal.refuse("merge", [gone, stays])
        journal.refuse("merge", [stays, "another"])
        store.apply(Batch(conflicts=[_conflict(gone, stays), _conflict("x", stays)]))

        store.erase(gone)

        assert journal.shown("s") == Shown(("the new recipe",), {stays: 1})
        assert journal.was_shown("s") == {stays}
        assert [one.newer for one in journal.conflicts(all=True)] == ["x"]
        assert journal.refused("merge") == {frozenset({stays, "another"})}

    def test_a_closed_journal_says_so(self, store: Store) -> None:
        store.close()

        with pytest.raises(StoreError, match="closed"):
            store.journal.add([message("1")])


def _of_turn(one: Message) -> tuple[str, str]:
    return one.turn, one.text


def _conflict(newer: str, older: str, **given: Any) -> Conflict:
    return Conflict(newer, older, "contradiction", "ask", "they differ", **given)
