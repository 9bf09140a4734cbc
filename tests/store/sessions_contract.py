"""What a store promises of sessions (kinmem/store/sessions.py), asked through the Protocol alone.

Inherited as StoreContract is, beside the same fixtures.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest

from kinmem.errors import StoreError
from kinmem.models.turns import Batch, Conflict, Message, Run, Session, Shown, Snapshot
from kinmem.store.base import Store
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


def kept(store: Store, *turns: str, session: str = "s") -> dict[str, list[int]]:
    """Store whole turns; the ids of their messages."""
    for name in turns:
        store.turns.add(turn(name, session))
    stored = store.turns.messages(session)
    return {name: [one.id for one in stored if one.turn == name] for name in turns}


def waiting(store: Store, limit: int = 100, now: Any = NOON) -> list[str]:
    return [one.text for one in store.turns.learnable(now, limit)]


def snapshot(first: int, last: int, session: str = "s", **given: Any) -> Snapshot:
    given = {"summary": "they met", "turns": 1, "model": "extractive", "seen": last, **given}
    return Snapshot(session=session, first=first, last=last, created_at=NOON, **given)


FULL = message(
    "t", "a 🌋 ‮וידוי x́ text", "tool", part="7", speaker="Ana", tool="Bash", spill="spill/1.txt",
    client="cli", place="/home/ana", said_at=LATER, learned_at=SOON, tries=2, due_at=LATER,
    parked=True, problem="it hung",
)  # fmt: skip


class SessionsContract:
    """Inherited by the test of each backend."""

    # what was said

    def test_everything_that_was_said_comes_back(self, store: Store, store_of: OpenStore) -> None:
        plain = message("t", "plain")

        assert store.turns.add([plain, FULL]) == [True, True]

        assert store.turns.messages("s") == [replace(plain, id=1), replace(FULL, id=2)]
        assert store_of("ana").turns.messages("s") == store.turns.messages("s")
        unset = {one.name for one in fields(Message) if not getattr(FULL, one.name)}
        assert unset == {"id", "snapshot"}

    def test_the_same_is_kept_once_as_it_was_first_said(self, store: Store) -> None:
        again = message("1", "1 asked otherwise")

        assert store.turns.add(turn("1")) == [True] * 3
        assert store.turns.add([*turn("1"), again]) == [False] * 4
        assert store.turns.add([message("2"), message("2")]) == [True, False]

        assert [one.text for one in store.turns.messages("s")] == [
            *(one.text for one in turn("1")), "hello",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "other",
        [{"session": "z"}, {"turn": "2"}, {"role": "assistant"}, {"part": "1"}],
        ids=["session", "turn", "role", "part"],
    )
    def test_what_differs_in_its_key_is_another_message(
        self, store: Store, other: dict[str, Any]
    ) -> None:
        one = message("1")

        assert store.turns.add([one, replace(one, **other)]) == [True, True]

    def test_two_threads_that_add_the_same_keep_it_once(self, store_of: OpenStore) -> None:
        stores = [store_of("ana") for _ in range(2)]
        said = [one for n in range(25) for one in turn(f"{n}")]

        def add_all(n: int) -> list[bool]:
            return [new for one in said for new in stores[n % 2].turns.add([one])]

        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(add_all, range(4)))

        assert [sum(news) for news in zip(*found, strict=True)] == [1] * 75
        assert [one.text for one in sorted(stores[0].turns.messages("s"), key=_of_turn)] == [
            one.text for one in sorted(said, key=_of_turn)
        ]

    def test_conversations_are_one_kins_own(self, store_of: OpenStore) -> None:
        ana, ben = store_of("ana"), store_of("ben")
        kept(ana, "1")
        ana.shown.note("s", "notes", {"m": 1})

        assert (
            ben.turns.messages("s") == ben.turns.learnable(LATER, 9) == ben.turns.sessions() == []
        )
        assert ben.shown.of("s") == Shown()
        assert set(ben.turns.counts().values()) == {0}

    def test_writing_a_session_is_nothing_that_recall_reads(self, store: Store) -> None:
        added(store, "tea")
        before = store.revision
        ids = kept(store, "1")["1"]

        store.turns.postpone(ids, SOON, "later")
        store.turns.retry()
        store.snapshots.compact(snapshot(1, 3), ids)
        store.shown.note("s", "notes", {"m": 1})
        store.shown.forget("s")
        store.decisions.refuse("merge", ["a", "b"])
        store.jobs.lease("job", "me", 5)
        store.jobs.release("job", "me")
        store.jobs.record(Run(kind="cycle", started_at=NOON, finished_at=NOON, counts={}))
        store.apply(Batch(learned=ids, conflicts=[_conflict("a", "b")]))

        assert store.revision == before

    def test_neighbours_are_of_the_same_session_in_order(self, store: Store) -> None:
        kept(store, "1", "2")
        kept(store, "1", session="other")
        kept(store, "3")
        middle = store.turns.messages("s")[4]

        assert [one.id for one in store.turns.before(middle, 3)] == [2, 3, 4]
        assert [one.id for one in store.turns.before(middle, 99)] == [1, 2, 3, 4]
        assert [one.id for one in store.turns.after(middle, 2)] == [6, 10]
        assert store.turns.before(store.turns.messages("s")[0], 5) == []

    def test_the_latest_of_a_role(self, store: Store) -> None:
        kept(store, "1", "2")
        kept(store, "9", session="other")

        latest = store.turns.latest("s", "user")

        assert latest is not None and latest.text == "2 asked"
        assert store.turns.latest("s", "system") is None
        assert store.turns.latest("unknown", "user") is None

    def test_sessions_are_told_the_latest_first(self, store: Store) -> None:
        kept(store, "1", session="old")
        store.turns.add([message("1", session="new", client="cli", place="/home")])
        store.turns.add([message("2", session="old", said_at=LATER)])

        assert store.turns.sessions() == [
            Session(
                name="old", client=None, place=None, first_at=NOON, last_at=LATER, turns=2,
                messages=4, began="1 asked",
            ),
            Session(
                name="new", client="cli", place="/home", first_at=NOON, last_at=NOON, turns=1,
                messages=1, began="hello",
            ),
        ]  # fmt: skip
        assert [one.name for one in store.turns.sessions(1)] == ["old"]

    def test_a_session_is_told_by_what_a_person_said_first(self, store: Store) -> None:
        first = message("1", "looked up", "tool", part="1", tool="Read")
        store.turns.add([first, message("1", "x" * 9000, speaker="Maya"), message("2", "later")])
        store.turns.add([message("1", "nobody asked", "assistant", session="other")])

        other, ours = store.turns.sessions()

        assert (other.began, other.speaker) == ("nobody asked", None)
        assert (ours.speaker, len(ours.began), set(ours.began)) == ("Maya", 400, {"x"})

    def test_a_step_finds_how_far_it_has_come(self, store: Store) -> None:
        assert store.jobs.mark("compress") == 0
        store.jobs.set_mark("compress", 7)
        store.jobs.set_mark("compress", 9)

        assert (store.jobs.mark("compress"), store.jobs.mark("consolidate")) == (9, 0)

    def test_counts_tell_what_there_is(self, store: Store) -> None:
        ids = kept(store, "1", "2", "3")
        kept(store, "1", session="other")
        store.turns.add([message("4", role="system")])
        store.turns.postpone(ids["1"][:1], None, "no")
        store.turns.postpone(ids["1"][1:2], LATER, "not yet")
        store.apply(Batch(learned=ids["2"], conflicts=[_conflict("a", "b"), _conflict("c", "d")]))
        store.decisions.close_conflict(store.decisions.conflicts()[0].id, "kept_newer")
        store.snapshots.compact(snapshot(1, 3), ids["1"])

        assert store.turns.counts() == {
            "sessions": 2, "turns": 5, "messages": 13, "waiting": 8, "parked": 1, "snapshots": 1,
            "conflicts": 1,
        }  # fmt: skip

    # what waits to be learned from

    def test_what_waits_comes_oldest_first_in_whole_turns(self, store: Store) -> None:
        store.turns.add([message("1", "first prompt"), message("1", "elsewhere", session="other")])
        store.turns.add([message("2", "second prompt")])
        store.turns.add([message("1", "late answer", "assistant")])

        assert waiting(store, 1) == ["first prompt", "late answer"]
        assert waiting(store, 2) == ["first prompt", "elsewhere", "late answer"]
        assert waiting(store) == ["first prompt", "elsewhere", "second prompt", "late answer"]

    def test_what_is_stored_by_a_key_is_found(self, store: Store) -> None:
        store.turns.add([message("1", "said"), message("1", "looked up", "tool", part="1")])

        found = store.turns.stored(message("1", "said otherwise"))
        assert found is not None and (found.text, found.id) == ("said", 1)
        assert store.turns.stored(message("1", role="tool", part="2")) is None
        assert store.turns.stored(message("1", session="other")) is None

    def test_what_one_summary_stands_for_may_be_read_as_well(self, store: Store) -> None:
        kept(store, "1", "2", "3")
        first = store.snapshots.compact(snapshot(1, 3), [1, 2, 3])
        second = store.snapshots.compact(snapshot(4, 6), [4, 5, 6])

        def ids(but: int | None) -> list[int]:
            return [one.id for one in store.turns.messages("s", uncompacted=True, but=but)]

        assert (ids(None), ids(first)) == ([7, 8, 9], [1, 2, 3, 7, 8, 9])
        assert ids(second) == [4, 5, 6, 7, 8, 9]

    def test_a_clients_own_summary_is_not_learned_from(self, store: Store) -> None:
        store.turns.add([message("1", "said"), message("1", "summary", "system")])

        assert waiting(store) == ["said"]

    def test_what_was_learned_from_waits_no_longer(self, store: Store) -> None:
        ids = kept(store, "1", "2")

        store.apply(Batch(learned=ids["1"]))

        assert waiting(store) == [one.text for one in turn("2")]
        assert all(one.learned_at == NOON for one in store.turns.messages("s")[:3])
        store.turns.add([message("1", "an afterthought", part="2")])
        assert waiting(store)[-1] == "an afterthought"

    def test_a_turn_is_held_back_until_all_of_it_is_due(self, store: Store) -> None:
        ids = kept(store, "1", "2")

        store.turns.postpone(ids["1"][1:2], LATER, "the model is away")

        assert waiting(store) == [one.text for one in turn("2")]
        assert waiting(store, now=LATER) == [one.text for one in turn("1") + turn("2")]
        failed = store.turns.messages("s")[1]
        assert (failed.tries, failed.due_at, failed.parked) == (1, LATER, False)
        assert failed.problem == "the model is away"

    def test_what_is_parked_waits_for_somebody_to_ask(self, store: Store) -> None:
        ids = kept(store, "1", "2", "3")
        store.turns.postpone(ids["1"], SOON, "once")
        store.turns.postpone(ids["1"], None, "twice")
        store.turns.postpone(ids["2"], SOON, "once")

        assert waiting(store, now=LATER) == [one.text for one in turn("2") + turn("3")]
        assert [one.id for one in store.turns.parked()] == ids["1"]
        assert {(one.tries, one.problem) for one in store.turns.parked()} == {(2, "twice")}

        assert store.turns.retry() == 6
        assert store.turns.retry() == 0
        assert waiting(store) == [one.text for name in "123" for one in turn(name)]
        assert store.turns.parked() == []
        assert {(one.tries, one.problem) for one in store.turns.messages("s")} == {(0, None)}

    def test_what_was_learned_from_is_neither_postponed_nor_tried_again(self, store: Store) -> None:
        ids = kept(store, "1")["1"]
        store.turns.postpone(ids, None, "parked")
        store.apply(Batch(learned=ids))

        store.turns.postpone(ids, SOON, "too late")

        assert store.turns.retry() == 0
        assert store.turns.parked() == store.turns.learnable(LATER, 9) == []
        assert {one.problem for one in store.turns.messages("s")} == {None}

    # what stands for it

    def test_a_snapshot_stands_for_messages(self, store: Store) -> None:
        ids = kept(store, "1", "2", "3")
        made = snapshot(1, 6, turns=2, seen=9)

        id = store.snapshots.compact(made, ids["1"] + ids["2"])

        assert id is not None
        assert store.snapshots.of("s") == store.snapshots.of() == [replace(made, id=id)]
        assert [one.turn for one in store.turns.messages("s", uncompacted=True)] == ["3"] * 3
        assert {one.snapshot for one in store.turns.messages("s")} == {id, None}

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
        self, store: Store, session: str, which: list[int]
    ) -> None:
        ids = kept(store, "1", "2")
        store.snapshots.compact(snapshot(1, 3), ids["1"])
        before = store.turns.messages("s"), store.snapshots.of()

        assert store.snapshots.compact(snapshot(1, 6, session), which) is None
        assert (store.turns.messages("s"), store.snapshots.of()) == before

    def test_one_of_several_that_summarise_the_same_wins(self, store_of: OpenStore) -> None:
        stores = [store_of("ana") for _ in range(4)]
        ids = kept(stores[0], "1")["1"]

        with ThreadPoolExecutor(4) as threads:
            made = list(threads.map(lambda one: one.snapshots.compact(snapshot(1, 3), ids), stores))

        assert sorted(id is None for id in made) == [False, True, True, True]
        assert len(stores[0].snapshots.of()) == 1

    def test_snapshots_are_folded_into_one(self, store: Store) -> None:
        ids = kept(store, "1", "2", "3")
        first, second, third = (
            store.snapshots.compact(snapshot(said[0], said[-1]), said) for said in ids.values()
        )
        assert first is not None and second is not None and third is not None
        folded = snapshot(1, 6, summary="both", turns=2, depth=1)

        id = store.snapshots.fold(folded, [first, second])

        assert id is not None
        assert [one.id for one in store.snapshots.of("s")] == [id, third]
        assert store.snapshots.of("s")[0] == replace(folded, id=id)
        assert [one.snapshot for one in store.turns.messages("s")] == [id] * 6 + [third] * 3

    @pytest.mark.parametrize("which", [[1, 99], [], [1, 2]], ids=["gone", "none", "two sessions"])
    def test_what_cannot_be_folded_stays(self, store: Store, which: list[int]) -> None:
        for session in ("s", "other"):
            ids = kept(store, "1", session=session)["1"]
            store.snapshots.compact(snapshot(ids[0], ids[-1], session), ids)
        before = store.snapshots.of()

        assert store.snapshots.fold(snapshot(1, 3, depth=1), which) is None
        assert store.snapshots.of() == before

    # what was shown

    def test_what_was_shown_is_known_until_the_context_is_compacted(self, store: Store) -> None:
        store.shown.note("s", "first", {"a": 1, "b": 1}, turn="1")
        store.shown.note("s", "second", {"b": 2}, turn="2")
        store.shown.note("other", "elsewhere", {"c": 1})

        assert store.shown.of("s") == Shown(("first", "second"), {"a": 1, "b": 2})
        assert store.shown.of("s", "1") == Shown(("first",), {"a": 1, "b": 1})
        assert store.shown.of("s", "3") == Shown()

        store.shown.forget("s")
        assert store.shown.of("s") == store.shown.of("s", "1") == Shown()
        store.shown.note("s", "third", {"d": 1})
        assert store.shown.of("s") == Shown(("third",), {"d": 1})
        assert store.shown.ids("s") == {"a", "b", "d"}
        assert store.shown.ids("other") == {"c"}
        assert store.shown.of("other").texts == ("elsewhere",)

    def test_what_was_shown_can_be_asked_for_in_part(self, store: Store) -> None:
        for turn_id, text, memories in [
            ("1", "first", {"a": 1, "b": 1}), ("1", "second", {"b": 2}), ("2", "third", {"c": 1}),
        ]:  # fmt: skip
            store.shown.note("s", text, memories, turn_id)

        assert store.shown.versions("s") == {"a": 1, "b": 2, "c": 1}
        assert store.shown.versions("s", latest=2) == {"b": 2, "c": 1}
        assert store.shown.of("s", latest=1) == Shown(("third",), {"c": 1})
        assert store.shown.of("s", "1", latest=1) == Shown(("second",), {"b": 2})
        assert store.shown.texts_with("s", ["b", "c"]) == ("first", "second", "third")
        assert store.shown.texts_with("s", ["a"]) == ("first",)
        assert store.shown.texts_with("s", []) == store.shown.texts_with("other", ["a"]) == ()
        assert store.shown.ids("s", 1) == {"c"}
        store.shown.forget("s")
        assert store.shown.versions("s") == {}
        assert store.shown.texts_with("s", ["a"]) == ()

    def test_what_silent_sessions_were_shown_is_forgotten(
        self, store: Store, clock: MovableClock
    ) -> None:
        store.turns.add([message("1", session=one) for one in ("silent", "spoken in", "shown to")])
        for session in ("silent", "spoken in", "shown to", "never spoken in"):
            store.shown.note(session, "then", {"a": 1})
        month_ago = clock.now
        clock.advance(days=30)
        store.turns.add([message("2", session="spoken in", said_at=clock.now)])
        store.shown.note("shown to", "now", {"b": 1})

        assert store.shown.prune(month_ago) == 0
        assert store.shown.prune(month_ago + timedelta(seconds=1)) == 2
        assert store.shown.ids("silent") == store.shown.ids("never spoken in") == set()
        assert store.shown.ids("spoken in") == {"a"}
        assert store.shown.ids("shown to") == {"a", "b"}
        assert len(store.turns.messages("silent")) == 1

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
        self, store: Store, place: str | None, summary: str
    ) -> None:
        told = [("somewhere", None, "older"), ("somewhere", None, "of somewhere"),
                ("home", "/home", "of home"), ("hut", "/hut", "of the hut")]  # fmt: skip
        for n, (session, where, text) in enumerate(told, 1):
            store.turns.add([message(f"{n}", session=session, place=where)])
            store.snapshots.compact(snapshot(n, n, session, summary=text), [n])
        store.turns.add([message("1", session="no summary", place="/home")])

        found = store.snapshots.last(place)

        assert found is not None
        assert found.summary == summary

    def test_where_nothing_was_summarised_there_is_no_last_summary(self, store: Store) -> None:
        store.turns.add(turn("1"))

        assert store.snapshots.last(None) is None

    # what is open, refused, running and done

    def test_conflicts_are_open_until_they_are_closed(self, store: Store) -> None:
        store.apply(Batch(conflicts=[_conflict("a", "b"), _conflict("c", "d", at=LATER)]))

        latest, first = store.decisions.conflicts()
        assert first == replace(_conflict("a", "b"), at=NOON, id=first.id)
        assert (latest.newer, latest.at) == ("c", LATER)

        store.decisions.close_conflict(first.id, "kept_both")
        store.decisions.close_conflict(999, "merged")
        assert store.decisions.conflicts() == [latest]
        assert [one.status for one in store.decisions.conflicts(all=True)] == ["open", "kept_both"]

    def test_what_was_refused_is_remembered_whatever_the_order(self, store: Store) -> None:
        store.decisions.refuse("merge", ["b", "a"])
        store.decisions.refuse("merge", ("a", "b", "a"))
        store.decisions.refuse("merge", ["c"])
        store.decisions.refuse("prune", ["d"])

        assert store.decisions.refused("merge") == {frozenset("ab"), frozenset("c")}
        assert store.decisions.refused("prune") == {frozenset("d")}
        assert store.decisions.refused("never") == frozenset()

    def test_what_is_used_up_comes_back_with_time(
        self, store_of: OpenStore, clock: MovableClock
    ) -> None:
        jobs = store_of("ana").jobs

        assert [jobs.spend("shared", 2, 5, 60) for _ in range(2)] == [0, 0]
        clock.advance(seconds=20)
        assert jobs.spend("shared", 2, 5, 60) == 40
        assert jobs.spend("shared", 1, 5, 60) == 0
        assert jobs.spend("other", 5, 5, 60) == 0
        assert store_of("ben").jobs.spend("shared", 5, 5, 60) == 0
        clock.advance(seconds=40)
        assert jobs.spend("shared", 4, 5, 60) == 0

    def test_a_lease_is_ones_own_until_it_runs_out(
        self, store_of: OpenStore, clock: MovableClock
    ) -> None:
        one, other = store_of("ana"), store_of("ana")
        assert one.jobs.lease("cycle", "one", 60)
        assert not other.jobs.lease("cycle", "other", 60)
        assert other.jobs.lease("another job", "other", 60)

        clock.advance(seconds=59)
        assert one.jobs.lease("cycle", "one", 60)
        clock.advance(seconds=59)
        assert not other.jobs.lease("cycle", "other", 60)
        clock.advance(seconds=1)
        assert other.jobs.lease("cycle", "other", 60)
        assert not one.jobs.lease("cycle", "one", 60)

    def test_only_who_holds_a_lease_gives_it_back(self, store: Store) -> None:
        store.jobs.lease("cycle", "one", 60)

        store.jobs.release("cycle", "stranger")
        assert not store.jobs.lease("cycle", "other", 60)
        store.jobs.release("cycle", "one")
        assert store.jobs.lease("cycle", "other", 60)
        store.jobs.release("never taken", "one")

    def test_one_of_several_takes_a_lease(self, store_of: OpenStore) -> None:
        stores = [store_of("ana") for _ in range(4)]

        def take(n: int) -> bool:
            return stores[n].jobs.lease("cycle", f"{n}", 60)

        with ThreadPoolExecutor(4) as threads:
            assert sorted(threads.map(take, range(4))) == [False, False, False, True]

    def test_reports_are_kept_the_latest_first(self, store: Store) -> None:
        first = Run(
            kind="cycle", started_at=NOON, finished_at=SOON, counts={"extract.created": 2},
            problems=("the model was away",),
        )  # fmt: skip
        second = Run(kind="sleep", started_at=SOON, finished_at=LATER, counts={})
        ids = [store.jobs.record(first), store.jobs.record(second)]

        latest, before = store.jobs.runs()
        assert (latest, before) == (replace(second, id=ids[1]), replace(first, id=ids[0]))
        assert store.jobs.runs(1) == [latest]
        assert store.jobs.runs(kind="cycle") == [before]

    def test_old_reports_go(self, store: Store) -> None:
        for n in range(1003):
            store.jobs.record(Run(kind="cycle", started_at=NOON, finished_at=NOON, counts={"n": n}))

        runs = store.jobs.runs(2000)
        assert len(runs) == 1000
        assert runs[-1].counts == {"n": 3}

    # the end of a memory

    def test_what_is_erased_leaves_the_sessions(self, store: Store) -> None:
        gone, stays = added(store, "the old recipe"), added(store, "the new recipe")
        store.shown.note("s", "the old recipe and the new one", {gone: 1, stays: 1}, turn="1")
        store.shown.note("s", "the new recipe", {stays: 1}, turn="2")
        store.decisions.refuse("merge", [gone, stays])
        store.decisions.refuse("merge", [stays, "another"])
        store.apply(Batch(conflicts=[_conflict(gone, stays), _conflict("x", stays)]))

        store.erase(gone)

        assert store.shown.of("s") == Shown(("the new recipe",), {stays: 1})
        assert store.shown.ids("s") == {stays}
        assert [one.newer for one in store.decisions.conflicts(all=True)] == ["x"]
        assert store.decisions.refused("merge") == {frozenset({stays, "another"})}

    def test_closed_sessions_say_so(self, store: Store) -> None:
        store.close()

        with pytest.raises(StoreError, match="closed"):
            store.turns.add([message("1")])


def _of_turn(one: Message) -> tuple[str, str]:
    return one.turn, one.text


def _conflict(newer: str, older: str, **given: Any) -> Conflict:
    return Conflict(newer, older, "contradiction", "ask", "they differ", **given)
