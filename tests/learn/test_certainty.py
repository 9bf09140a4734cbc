"""What a person said ends only by a statement that certainly says so; what is likely is flagged."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from kinmem.language.change.vetoes import claim
from kinmem.language.same.lexemes import content_hash
from kinmem.language.same.similarity import Ladder
from kinmem.learn.reconcile import Flag, Outdated, Replace, Verdict, reconcile
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import LIVE, Answer, Filters, Memory, State
from kinmem.recall.superseded import newer_first
from kinmem.service import Service
from tests.conftest import MovableClock
from tests.sweeps import sample

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "corpora/lookalikes.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
KEEP = [pair for pair in PAIRS if pair["label"] == "keep"]
UPDATES = [pair for pair in PAIRS if pair["label"] == "update"]
FIRST, SECOND = datetime(2026, 1, 20, 9, tzinfo=UTC), datetime(2026, 5, 4, 9, tzinfo=UTC)

NUMBERED = [
    ("The port of server 3 is 8080", "The port of server 4 is 8081"),
    ("The IP of host web-1 is 10.0.0.1", "The IP of host web-2 is 10.0.0.2"),
    ("The code of room number 12 is 4417", "The code of room number 13 is 5528"),
    ("The capacity of tank no. 1 is 300 litres", "The capacity of tank no. 2 is 500 litres"),
    ("The code of gate number 1 is 9001", "The code of gate number 2 is 9002"),
    ("The deadline of sprint 14 is 3 March", "The deadline of sprint 15 is 17 March"),
    ("The timeout of queue number 1 is 30 s", "The timeout of queue number 2 is 60 s"),
    ("The extension of desk 21 is 8812", "The extension of desk 22 is 8813"),
    ("Plan B costs 20 euros a month", "Plan C costs 40 euros a month"),
]
DATED = [
    ("We tested the backup on 5 May", "We upgraded the backup on 9 May"),
    (
        "Alice reviewed the Rust parser on day 12 with code K98885",
        "Alice moved the Rust parser on day 40 with code K41216",
    ),
]
TASKS = [
    (
        "Never run terraform apply locally, only through Atlantis.",
        "apply the terraform change for the new bucket",
    ),
    ("The staging server runs Ubuntu 22.04", "Stop the staging server"),
]
OTHER = [
    ("My husband is called Tom", "My husband got a new job"),
    ("Il mio capo viene da Trieste.", "Il mio capo adesso gira in bici elettrica."),
    (
        "I agreed with Shannon to limit my late-night study sessions to 10 PM so that I can work",
        "I've rescheduled my writing session with Kyle to work on the draft on Thursdays now",
    ),
]
ENDING = [
    ("Tom works at Siemens", "Tom now works at Bosch"),
    ("The rent is 900 euros", "The rent was raised to 950 euros"),
    ("The build agent runs on host kestrel-02", "The build agent now runs on host kestrel-07"),
    ("We meet in room 3", "We now meet in room 4"),
]
LIKELY = [
    ("Sam rents our spare room.", "Sam moved out, Priyanka has the room now."),
    ("The build takes 19 minutes.", "With the cache the build is down to 4 minutes."),
    ("The max upload is 10 MB.", "We raised the maximum upload to 50 MB."),
]


@pytest.fixture
def service(service_of: Callable[..., Service]) -> Service:
    """What rules and vetoes do alone; for the judge see test_judged.py."""
    return service_of("ana", KINMEM_JUDGE="off")


@pytest.fixture
def judged(service_of: Callable[..., Service]) -> Service:
    """With the judge, which finds what is told in other words."""
    return service_of("ana")


def told(
    service: Service, clock: MovableClock, known: str, new: str, importance: float | None = None
) -> tuple[str, str]:
    clock.now = FIRST
    older = service.memorize(known, importance=importance).id
    clock.now = SECOND
    newer = service.memorize(new, importance=importance).id
    assert older is not None
    assert newer is not None
    return older, newer


@pytest.mark.parametrize(("known", "new"), [*NUMBERED, *DATED, *TASKS, *OTHER])
def test_a_true_statement_is_ended_by_nothing_that_sounds_alike(service, clock, known, new):
    older, newer = told(service, clock, known, new)

    assert service.get(older).state is State.ACTIVE
    assert service.get(older).content == known
    assert service.newer(older) == {}
    assert older != newer


@pytest.mark.parametrize(("known", "new"), [*NUMBERED, *DATED, *TASKS, *OTHER])
def test_nor_is_it_by_what_is_said_in_talk(service, clock, known, new):
    for session, said, at in (("s1", known, FIRST), ("s2", new, SECOND)):
        clock.now = at
        service.record_turn(session, said, "OK.", turn="1", at=at)
        service.settle()

    superseded = service.list_memories(state="superseded").memories
    assert superseded == []


@pytest.mark.parametrize(("known", "new"), ENDING)
def test_what_is_certain_gives_way(service, clock, known, new):
    older, newer = told(service, clock, known, new)

    assert service.get(older).state is State.SUPERSEDED
    assert service.get(older).superseded_by == newer


@pytest.mark.parametrize(("known", "new"), LIKELY)
def test_what_is_likely_stays_and_carries_what_is_newer(judged, clock, known, new):
    older, newer = told(judged, clock, known, new)

    assert judged.get(older).state is State.ACTIVE
    assert judged.newer(older) == {older: newer}
    hits = judged.recall(known).hits
    assert [hit.memory.id for hit in hits][:2] == [newer, older]
    assert hits[1].newer == newer


def test_the_newer_one_takes_no_place_from_what_answered(judged, clock):
    older, newer = told(judged, clock, *LIKELY[0])

    [hit] = judged.recall(LIKELY[0][0], limit=1).hits

    assert (hit.memory.id, hit.newer) == (older, newer)
    assert hit.score > 0


def test_a_newer_one_that_was_not_found_stands_behind_and_has_no_score_of_its_own(judged, clock):
    older, newer = told(judged, clock, *LIKELY[0])
    [answered] = judged.recall(LIKELY[0][0], limit=1).hits
    others = [judged.memorize(said).id for said in ("Tea is at four.", "Mia plays chess.")]
    found = [answered, *(replace(answered, memory=judged.get(id), newer=None) for id in others)]
    answer = Answer([replace(one, newer=None) for one in found])

    hits = newer_first(answer, judged.store, Filters(), 3).hits

    assert [hit.memory.id for hit in hits] == [older, newer, others[0]]
    assert (hits[1].score, hits[1].why) == (0.0, {"newer": 1.0})
    assert hits[0] == answered


@pytest.mark.parametrize(
    ("chance", "first", "fetched"),
    [(0.40, "older", False), (0.60, "newer", False), (0.85, "newer", True)],
)
def test_a_conflict_that_is_unlikely_marks_and_moves_nothing(
    judged, clock, monkeypatch, chance, first, fetched
):
    older, newer = told(judged, clock, *LIKELY[0])
    answer = judged.recall(LIKELY[0][0], limit=2)
    by_id = {hit.memory.id: replace(hit, newer=None) for hit in answer.hits}
    [conflict] = judged.store.decisions.conflicts()
    as_likely = [replace(conflict, chance=chance)]
    monkeypatch.setattr(type(judged.store.decisions), "conflicts", lambda _: as_likely)

    def ordered(*ids):
        hits = [by_id[id] for id in ids]
        found = newer_first(Answer(hits), judged.store, Filters(), 2).hits
        assert {hit.memory.id: hit.newer for hit in found}[older] == newer
        return [hit.memory.id for hit in found]

    assert ordered(older, newer)[0] == {"older": older, "newer": newer}[first]
    assert ordered(older) == [older, newer][: 1 + fetched]


@pytest.mark.parametrize(
    ("answer", "state", "left"),
    [
        pytest.param("apply", State.SUPERSEDED, ["newer"], id="the newer holds"),
        pytest.param("refuse", State.ACTIVE, ["newer", "older"], id="both hold"),
        pytest.param("keep", State.ACTIVE, ["older"], id="the older holds"),
    ],
)
def test_one_answer_to_the_review_settles_it(judged, clock, answer, state, left):
    older, newer = told(judged, clock, *LIKELY[0])
    [issue] = judged.review_memories().issues
    assert issue.type == "contradiction"
    assert set(issue.memory_ids) == {older, newer}

    if answer == "refuse":
        judged.review_memories(refuse=[issue.id])
    else:
        judged.review_memories(apply=[issue.id], keep=older if answer == "keep" else None)

    assert judged.get(older).state is state
    assert judged.newer(older, newer) == {}
    names = {older: "older", newer: "newer"}
    live = [memory.id for memory in judged.list_memories().memories]
    assert sorted(names[id] for id in live) == left
    assert all(hit.newer is None for hit in judged.recall(LIKELY[0][0]).hits)
    assert judged.review_memories().issues == []


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("We tested the restore on 4 February.", "We upgraded the restore on 11 February."),
        (
            "Am 3. Mai haben wir den Server neu gestartet.",
            "Am 9. Mai haben wir den Server umgezogen.",
        ),
    ],
)
def test_what_happened_on_two_days_is_not_even_asked_about(judged, clock, known, new):
    older, newer = told(judged, clock, known, new)

    assert judged.newer(older, newer) == {}
    assert {issue.type for issue in judged.review_memories().issues} <= {"stale"}


def test_notes_tell_the_newer_one_first_and_mark_the_older(judged, clock):
    older, newer = told(judged, clock, *LIKELY[0], importance=9)

    notes = judged.observe("prompt", "s9", text="Who rents our spare room?", turn="1").notes

    lines = [line for line in notes.splitlines() if "room" in line]
    doubt = f'newer: "{judged.get(newer).content}"'
    assert [doubt in line for line in lines] == [False, True]
    opening = judged.opening("s10")
    assert opening.index("Priyanka") < opening.index("rents our spare room")
    assert doubt in opening
    assert older not in notes


def test_a_rule_is_ended_by_its_author_alone_and_only_in_its_own_words(service, clock):
    clock.now = FIRST
    rule = service.memorize("Always answer in English.", speaker="ana").id
    clock.now = SECOND
    service.memorize("From now on always answer in Dutch.", speaker="bob")
    assert service.get(rule).state is State.ACTIVE

    service.memorize("From now on always answer in German.", speaker="ana")
    assert service.get(rule).state is State.SUPERSEDED


def test_another_kins_statement_is_never_ended(service_of, clock):
    ana, bob = service_of("ana"), service_of("bob")
    clock.now = FIRST
    older = ana.memorize("Tom works at Siemens", scope="shared").id
    clock.now = SECOND
    bob.memorize("Tom now works at Bosch", scope="shared")

    assert ana.get(older).state is State.ACTIVE


def test_with_ask_nothing_ends_and_with_keep_existing_the_older_holds(service_of, clock):
    asking = service_of("ask", KINMEM_CONFLICT_MODE="ask")
    older, newer = told(asking, clock, "Tom works at Siemens", "Tom now works at Bosch")
    assert asking.get(older).state is State.ACTIVE
    assert asking.newer(older) == {older: newer}

    keeping = service_of("keep", KINMEM_CONFLICT_MODE="keep_existing")
    older, newer = told(keeping, clock, *LIKELY[0])
    assert keeping.get(older).state is State.ACTIVE
    assert keeping.newer(older) == {}


@pytest.fixture(scope="module")
def verdict_of() -> Callable[[str, str], Verdict]:
    """What learning decides about two statements of one Kin, in months of their own."""
    embedder = BuiltinEmbedder()
    level = embedder.calibration
    ladder = Ladder.calibrated(level.noise, level.near, level.duplicate)

    def memory(id: str, content: str, at: datetime) -> Memory:
        return Memory(
            id=id,
            kin="ana",
            scope="private",
            content=content,
            category="fact",
            content_hash=content_hash(content),
            created_at=at,
            content_updated_at=at,
        )

    def decide(known: str, new: str) -> Verdict:
        vectors = embedder.embed([known, new, claim(new).text])
        cosine = max(float(np.dot(vectors[0], other)) for other in vectors[1:])
        older, newer = memory("1", known, FIRST), memory("2", new, SECOND)
        return reconcile(newer, [(older, cosine)], ladder, "temporal", SECOND)

    return decide


def test_of_330_pairs_of_twelve_kinds_none_is_ended(verdict_of):
    kinds: dict[str, list[Verdict]] = defaultdict(list)
    read = sample(KEEP, 2)
    for pair in read:
        kinds[pair["kind"]].append(verdict_of(pair["old"], pair["new"]))

    assert len(KEEP) == 330
    assert len(kinds) == 12
    ended = {
        kind: count
        for kind, found in kinds.items()
        if (count := sum(isinstance(one, Replace | Outdated) for one in found))
    }
    assert ended == {}
    flagged = sum(isinstance(one, Flag) for found in kinds.values() for one in found)
    assert flagged <= 0.02 * len(read)


def test_some_updates_are_told_by_their_form_alone(verdict_of):
    found = Counter(
        type(verdict_of(pair["old"], pair["new"])).__name__
        for pair in UPDATES
        if pair["kind"] == "direct"
    )

    assert found[Replace.__name__] + found[Flag.__name__] >= 6


@pytest.mark.parametrize("kind", sorted({pair["kind"] for pair in KEEP}))
def test_of_each_kind_two_go_through_the_service(service_of, clock, kind):
    for place, pair in enumerate([pair for pair in KEEP if pair["kind"] == kind][:2]):
        service = service_of(f"pair{place}")
        older, _ = told(service, clock, pair["old"], pair["new"])

        assert service.get(older).state in LIVE
        assert service.get(older).content == pair["old"]


@pytest.mark.parametrize(
    ("known", "new", "is_hearsay"),
    [
        ("The port is 8080.", "Tom says the port is 8081 now.", True),
        ("The port is 8080.", "The port is 8081 now, or so they say.", True),
        ("The port is 8080.", "The port is 8081 now, says Tom.", True),
        ("The deadline is May 3.", "The boss told us that the deadline is May 9 now.", True),
        ("Unser Büro ist in Lindau.", "Tom sagt, unser Büro ist jetzt in Ulm.", True),
        ("The port is 8080.", "The port is 8081 now.", False),
        ("The port is 8080.", "Actually, the port is 8081 now.", False),
    ],
)
def test_hearsay_ends_nothing(service, known, new, is_hearsay):
    id = service.memorize(known).id
    service.record_turn("s", new, "I see.")
    service.sleep(["learn"])
    service.memorize(new)

    assert (service.get(id).state in LIVE) is is_hearsay
