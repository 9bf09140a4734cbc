"""Undo takes back any write, and nothing else; what it takes back can be done again."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import fields, replace
from pathlib import Path

import pytest

from kinmem.errors import InvalidInput, LaterChange
from kinmem.models import LIVE, Memory, State
from kinmem.models.record import MANUAL
from kinmem.models.reports import refusal
from kinmem.service import Service
from kinmem.store.base import REVIEW
from kinmem.store.history import COMPUTED
from tests.conftest import MovableClock
from tests.random_writes import LONG, Writer, opened
from tests.store.soundness import everything, problems
from tests.sweeps import rounds

SEEDS = range(int(os.environ.get("UNDO_SEEDS", rounds(6, 3))))
STEPS = 40
UNTOLD = {field.name: field.default for field in fields(Memory) if field.name in COMPUTED}


@pytest.fixture
def memory(home: Path, clock: MovableClock) -> Iterator[Service]:
    """Ana's, in which nothing happens by itself."""
    with closing(opened(home, clock)) as service:
        yield service


def visible(service: Service) -> Mapping[str, Memory]:
    """What is not in the bin, with all that a person may see of it."""
    return {
        one.id: replace(one, version=0, **UNTOLD)
        for one in everything(service.store)
        if one.state != State.DELETED
    }


def linked(service: Service) -> set[tuple[str, str, str]]:
    """What people have linked, of what is not in the bin."""
    found = service.store.links.of(visible(service))
    links = [one for some in found.values() for one in some if one.origin == MANUAL]
    return {(one.source, one.target, one.relation) for one in links}


def answers(service: Service) -> set[str]:
    """What is recalled by the words of anything that is remembered."""
    live = [one.content for one in everything(service.store) if one.state in LIVE]
    return {hit.memory.id for said in live for hit in service.recall(said, limit=100).hits}


def rows(service: Service) -> list[tuple[int, int, int, Mapping[str, int]]]:
    return [(one.memories, one.words, one.chunks, one.vectors) for one in service.store.health()]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_writes_undone_in_reverse_give_the_first_state(
    memory: Service, clock: MovableClock, seed: int
) -> None:
    writer = Writer(memory, clock, seed)
    for _ in range(20):
        writer.memorize()
    memory.sleep(["embed"])
    clock.advance(days=200)
    memory.sleep(["purge"])
    for _ in range(5):
        with suppress(InvalidInput):  # with itself
            writer.link()
    first, first_answers, first_rows = visible(memory), answers(memory), rows(memory)
    first_links = linked(memory)
    start = memory.history(limit=1)[0].write
    for _ in range(STEPS):
        writer.write()

    for write in sorted({e.write for e in memory.history(limit=10_000)}, reverse=True):
        if write > start:
            undone_in_turn(memory, write)

    assert visible(memory) == first
    assert answers(memory) == first_answers
    assert linked(memory) == first_links
    assert problems(memory.store) == []
    clock.advance(days=200)
    memory.sleep(["purge"])
    clock.advance(days=1)
    memory.sleep(["purge", "embed"])
    assert rows(memory) == first_rows


def undone_in_turn(memory: Service, write: int) -> None:
    """Undo it, unless it went with a later one that it had followed from."""
    try:
        memory.undo(write)
    except InvalidInput as error:
        assert "undone already" in str(error)


CHANGES: list[tuple[str, Mapping[str, object]]] = [
    ("content", {"content": "Bob drinks coffee"}),
    ("scope", {"scope": "shared"}),
    ("scope and content", {"scope": "shared", "content": "Bob drinks coffee"}),
    ("tags", {"tags": ["drinks"]}),
    ("pin", {"pinned": True}),
    ("archive", {"archived": True}),
    ("subject", {"subject": "Bob"}),
    ("importance", {"importance": 9}),
    ("end", {"expires": "30d"}),
]


@pytest.mark.parametrize("changes", [c for _, c in CHANGES], ids=[name for name, _ in CHANGES])
def test_an_update_is_undone_and_done_again(memory: Service, changes: Mapping[str, object]) -> None:
    id = str(memory.memorize("Bob drinks tea").id)
    before = visible(memory)
    memory.update_memory(id, **changes)
    after = visible(memory)

    undone = memory.undo()

    assert visible(memory) == before
    assert undone.became[id] == ("back" if "archived" in changes else "changed")
    assert undone.batch is not None
    memory.undo(undone.batch)
    assert visible(memory) == after
    assert problems(memory.store) == []


def test_what_took_the_place_of_something_goes_and_that_is_back(memory: Service) -> None:
    old = str(memory.memorize("Bob lives in Paris", subject="Bob").id)
    new = memory.memorize("Bob no longer lives in Paris, he moved to Berlin", subject="Bob")
    assert new.supersedes == (old,)

    undone = memory.undo(new.id)

    assert undone.became == {old: "back", new.id: "gone"}
    assert [one.id for one in memory.list_memories().memories] == [old]
    assert memory.recall("where does Bob live").hits[0].memory.id == old


def test_an_import_is_undone_as_a_whole(memory: Service, clock: MovableClock) -> None:
    first = visible(memory)
    stored = memory.memorize_many(f"note {n}: {n * n} apples" for n in range(230))
    memory.sleep(["embed"])
    batch = memory.history(str(stored[0].id))[0].batch

    undone = memory.undo(batch)

    assert len(undone.writes) == 3
    assert visible(memory) == first
    memory.sleep(["purge"])
    for days in (91, 1):
        clock.advance(days=days)
        memory.sleep(["purge"])
    assert rows(memory)[0][:3] == (0, 0, 0)


def test_a_turn_is_unlearned_and_not_learned_again(memory: Service) -> None:
    memory.observe("prompt", "talk", "1", "Remember that the door code is 4711. I prefer tea.")
    memory.observe("answer", "talk", "1", "Noted.")
    memory.sleep(["learn"])
    assert memory.list_memories().memories

    memory.undo("turn talk 1")
    memory.sleep(["learn"])

    assert memory.list_memories().memories == []


def test_a_merge_is_undone_as_a_whole(memory: Service) -> None:
    memory.memorize_many([f"{LONG}. The key is there.", f"{LONG}. Nobody dusts it."])
    memory.sleep(["embed"])
    before = visible(memory)
    memory.sleep(["consolidate"], compress=True)
    merge = memory.history(limit=1)[0]
    assert merge.action == "consolidated"

    memory.undo(merge.batch)

    assert visible(memory) == before


def test_what_was_merged_since_is_undone_before_it(memory: Service) -> None:
    memory.memorize_many([f"{LONG}. The key is there.", f"{LONG}. Nobody dusts it."])
    memory.sleep(["embed"])
    before = visible(memory)
    memory.sleep(["consolidate"], compress=True)

    memory.undo()
    assert visible(memory) == before
    memory.undo()
    assert memory.list_memories().memories == []


def test_a_later_change_is_never_lost_unasked(memory: Service) -> None:
    id = str(memory.memorize("Bob drinks tea").id)
    memory.update_memory(id, content="Bob drinks coffee")
    memory.update_memory(id, importance=9)
    memory.update_memory(id, content="Bob drinks water")
    later = memory.history(id)[0].write
    now = visible(memory)

    with pytest.raises(LaterChange, match=rf"{later} \(updated"):
        memory.undo(later - 2)

    assert visible(memory) == now
    memory.undo(later - 2, cascade=True)
    assert memory.get(id).content == "Bob drinks tea"
    assert memory.get(id).importance == 9


def test_other_fields_changed_later_stay(memory: Service) -> None:
    id = str(memory.memorize("Bob drinks tea").id)
    memory.update_memory(id, content="Bob drinks coffee")
    memory.update_memory(id, tags=["drinks"])

    memory.undo(memory.history(id)[1].write)

    assert memory.get(id).content == "Bob drinks tea"
    assert memory.get(id).manual_tags == ("drinks",)


def test_what_is_said_again_elsewhere_is_not_said_twice(memory: Service) -> None:
    first = str(memory.memorize("Bob drinks tea").id)
    memory.forget(first)
    second = str(memory.memorize("Bob drinks tea").id)

    with pytest.raises(LaterChange, match=second):
        memory.undo(first)


def test_undoing_goes_further_back_each_time(memory: Service) -> None:
    for text in ("one apple", "two pears", "three plums"):
        memory.memorize(text)

    memory.undo()
    memory.undo()

    assert [one.content for one in memory.list_memories().memories] == ["one apple"]
    memory.undo()
    with pytest.raises(InvalidInput, match="nothing to undo"):
        memory.undo()


def test_what_time_has_done_last_is_taken_back_before_the_creation(
    memory: Service, clock: MovableClock
) -> None:
    said = {"channel": "extraction", "speaker": "assistant", "category": "ephemeral"}
    id = str(memory.memorize("Dan waits for tea", **said, importance=1).id)
    clock.advance(days=10)
    memory.sleep(["retain"])
    assert memory.get(id).state == State.ARCHIVED

    assert memory.undo(id).became == {id: "back"}

    assert memory.get(id).state == State.ACTIVE
    clock.advance(days=29)
    memory.sleep(["retain"])
    assert memory.get(id).state == State.ACTIVE
    assert memory.undo(id).became == {id: "gone"}


def test_what_has_expired_is_found_again_once_that_is_undone(
    memory: Service, clock: MovableClock
) -> None:
    id = str(memory.memorize("Dan has lent his bike to Bob", expires="3d").id)
    clock.advance(days=4)
    memory.sleep(["expire"])

    assert memory.undo(id).became == {id: "back"}

    memory.sleep(["expire"])
    assert [hit.memory.id for hit in memory.recall("who has the bike?").hits] == [id]
    memory.undo(memory.history(id)[0].write)
    assert memory.get(id).state == State.DELETED


def test_what_was_used_again_has_nothing_of_time_to_take_back(
    memory: Service, clock: MovableClock
) -> None:
    said = {"channel": "extraction", "speaker": "assistant", "category": "context"}
    id = str(memory.memorize("Dan waits for tea", **said, importance=5).id)
    clock.advance(days=28)
    memory.sleep(["retain"])
    assert memory.get(id).state == State.STALE
    memory.recall("who waits for tea?")
    memory.store.flush_use()
    memory.store.life.renew([id], used=True)
    assert memory.history(id)[0].action == "revived"

    assert memory.undo(id).became == {id: "gone"}


def test_several_last_things_are_undone_at_once(memory: Service) -> None:
    for text in ("one apple", "two pears", "three plums"):
        memory.memorize(text)

    memory.undo(last=2)

    assert [one.content for one in memory.list_memories().memories] == ["one apple"]


def test_what_has_no_effect_any_more_is_undone_as_well(
    memory: Service, clock: MovableClock
) -> None:
    id = str(memory.memorize("Bob drinks tea").id)
    memory.update_memory(id, expires="1d")
    created, updated = (line.write for line in reversed(memory.history(id)))
    clock.advance(days=2)
    memory.sleep(["expire"])
    memory.undo(id)  # which also lets it last

    assert memory.undo(updated).batch is not None
    assert memory.undo(created).became == {id: "gone"}


def test_a_dry_run_changes_nothing(memory: Service) -> None:
    id = str(memory.memorize("Bob drinks tea").id)
    revision = memory.store.revision

    undone = memory.undo(dry_run=True)

    assert (undone.became, undone.batch) == ({id: "gone"}, None)
    assert memory.store.revision == revision


def test_what_was_erased_cannot_come_back(memory: Service) -> None:
    id = str(memory.memorize("Bob drinks tea").id)
    memory.forget(id, erase=True)

    with pytest.raises(InvalidInput, match="erased cannot come back"):
        memory.undo()


def test_what_is_older_than_the_bin_keeps_cannot_be_undone(
    memory: Service, clock: MovableClock
) -> None:
    memory.memorize("Bob drinks tea")
    clock.advance(days=91)

    with pytest.raises(InvalidInput, match="KINMEM_PURGE_DAYS"):
        memory.undo()


def test_a_settled_contradiction_is_open_again(home: Path, clock: MovableClock) -> None:
    with closing(opened(home, clock, KINMEM_CONFLICT_MODE="ask")) as memory:
        memory.memorize("Bob lives in Paris")
        memory.memorize("Bob lives in Berlin")
        (issue,) = [i for i in memory.review_memories().issues if i.type == "contradiction"]
        memory.review_memories(apply=[issue.id])
        assert memory.store.decisions.conflicts() == []

        memory.undo()

        assert len(memory.store.decisions.conflicts()) == 1


@pytest.mark.parametrize("leaves", ["by undo", "by another update"])
@pytest.mark.parametrize("who", ["Bob", "I"])
def test_a_contradiction_goes_with_the_text_that_spoke_against_a_memory(
    home: Path, clock: MovableClock, leaves: str, who: str
) -> None:
    lives, likes = ("lives", "likes") if who == "Bob" else ("live", "like")
    with closing(opened(home, clock, KINMEM_CONFLICT_MODE="ask")) as memory:
        memory.memorize(f"{who} {lives} in Paris")
        id = str(memory.memorize(f"{who} {likes} tea").id)
        memory.update_memory(id, content=f"{who} {lives} in Berlin")
        assert len(memory.store.decisions.conflicts()) == 1

        if leaves == "by undo":
            memory.undo()
        else:
            memory.update_memory(id, content=f"{who} {likes} coffee")

        assert memory.store.decisions.conflicts() == []
        memory.update_memory(id, content=f"{who} {lives} in Berlin")
        assert len(memory.store.decisions.conflicts()) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Bob lives in Berlin. He likes tea.", id="with more"),
        pytest.param("I think Bob lives in Berlin", id="in other words"),
        pytest.param("Bob lives in the capital of Germany", id="without its name"),
        pytest.param("Bob lives in Berlin in May", id="beside many that are nearer"),
    ],
)
def test_a_contradiction_stays_while_the_text_still_speaks_of_it(
    home: Path, clock: MovableClock, text: str
) -> None:
    with closing(opened(home, clock, KINMEM_CONFLICT_MODE="ask")) as memory:
        memory.memorize("Bob lives in Paris")
        id = str(memory.memorize("Bob lives in Berlin").id)
        for verb in "visits paints likes draws maps films leaves knows sees hears".split():
            for who in ("Anna", "Karl", "Otto"):
                memory.memorize(f"{who} {verb} Berlin in May")

        memory.update_memory(id, content=text)

        assert len(memory.store.decisions.conflicts()) == 1


@pytest.mark.parametrize("corrected", ["Bob lives in Paris", "Bob lives in Berlin"])
@pytest.mark.parametrize("refused", ["contradiction", "duplicate"])
def test_only_what_a_person_has_let_stand_is_not_in_doubt_again(
    home: Path, clock: MovableClock, corrected: str, refused: str
) -> None:
    with closing(opened(home, clock, KINMEM_CONFLICT_MODE="ask")) as memory:
        memory.memorize("Bob lives in Paris")
        memory.memorize("Bob lives in Berlin")
        known = {one.content: one for one in memory.list_memories().memories}
        if refused == "contradiction":
            (issue,) = memory.review_memories().issues
            memory.review_memories(refuse=[issue.id])
        else:
            memory.store.decisions.refuse(REVIEW, refusal("duplicate", list(known.values())))
        clock.advance(hours=1)
        memory.update_memory(known[corrected].id, content="Bob likes tea")
        memory.undo()

        newer = [hit.newer for hit in memory.recall("Where does Bob live?").hits]

        assert (newer == [None, None]) == (refused == "contradiction")
        clock.advance(hours=1)
        memory.update_memory(known[corrected].id, content="Bob lives in Rome")
        assert len(memory.store.decisions.conflicts()) == 1


@pytest.mark.parametrize("what", ["the edit", "its memory", "what it settled"])
def test_what_an_edit_has_settled_can_be_undone_by_itself(
    home: Path, clock: MovableClock, what: str
) -> None:
    with closing(opened(home, clock, KINMEM_CONFLICT_MODE="ask")) as memory:
        memory.memorize("Bob lives in Paris")
        memory.memorize("Bob lives in Berlin")
        known = {one.content: one.id for one in memory.list_memories().memories}
        id = known["Bob lives in Paris"]
        clock.advance(hours=1)
        memory.update_memory(id, content="Bob likes tea")
        assert memory.store.decisions.conflicts() == []
        [settled] = [line for line in memory.history(id) if line.action == "kept"]
        meant = {"the edit": None, "its memory": id, "what it settled": settled.write}

        undone = memory.undo(meant[what])

        is_asked = what == "what it settled"
        assert undone.became == {id: "asked" if is_asked else "changed"}
        assert memory.store.get(id).content == (
            "Bob likes tea" if is_asked else "Bob lives in Paris"
        )
        assert len(memory.store.decisions.conflicts()) == 1
        memory.undo(undone.batch)
        assert memory.store.decisions.conflicts() == []


def test_a_contradiction_goes_with_what_had_brought_it(home: Path, clock: MovableClock) -> None:
    with closing(opened(home, clock, KINMEM_CONFLICT_MODE="ask")) as memory:
        memory.memorize("Bob lives in Paris")
        memory.memorize_many(["Bob lives in Berlin"])
        memory.sleep(["embed"])
        opened_by_settling = memory.store.decisions.conflicts()
        assert len(opened_by_settling) == 1

        undone = memory.undo()

        assert memory.store.decisions.conflicts() == []
        assert undone.batch is not None
        memory.undo(undone.batch)
        assert memory.store.decisions.conflicts() == opened_by_settling


def test_nobody_undoes_what_another_kin_did(
    home: Path, memory: Service, clock: MovableClock
) -> None:
    id = str(memory.memorize("the office closes at six", scope="shared").id)
    with closing(opened(home, clock, "bob")) as bob:
        with pytest.raises(InvalidInput, match="no write"):
            bob.undo(id)
        with pytest.raises(InvalidInput, match="nothing to undo"):
            bob.undo()
    assert memory.get(id).state == State.ACTIVE


def test_a_link_is_undone_and_done_again(memory: Service) -> None:
    tea, cake = (str(memory.memorize(text).id) for text in ("Bob drinks tea", "Cleo bakes cake"))
    memory.update_memory(tea, links=[{"id": cake, "relation": "related_to"}])
    assert cake in {id for link in memory.store.links.of([tea])[tea] for id in link.ends}

    undone = memory.undo()

    assert memory.store.links.of([tea]) == {}
    memory.undo(undone.batch)
    assert cake in {id for link in memory.store.links.of([tea])[tea] for id in link.ends}


def test_fields_and_links_changed_at_once_are_undone_at_once(memory: Service) -> None:
    tea, cake = (str(memory.memorize(text).id) for text in ("Bob drinks tea", "Cleo bakes cake"))
    memory.update_memory(tea, pinned=True, links=[{"id": cake, "relation": "related_to"}])

    memory.undo()

    assert memory.store.links.of([tea]) == {}
    assert not memory.get(tea).pinned


def test_a_document_says_again_what_it_said(memory: Service) -> None:
    long = [f"# Chapter {n}\n\nThe {n}th house has {n * 3} rooms.\n" for n in range(1600)]
    id = str(memory.memorize("\n".join(long)).id)
    memory.sleep(["embed"])
    text = memory.store.documents.text(id)
    memory.update_memory(id, content="\n".join(long).replace("rooms", "doors"))

    memory.undo()

    assert memory.store.documents.text(id) == text
    assert problems(memory.store) == []


def test_what_forget_about_blanked_does_not_come_back_as_its_mark(memory: Service) -> None:
    id = str(memory.memorize("Bob Miller likes black tea", tags=["tea", "Bob Miller"]).id)
    judged = memory.get(id).importance
    memory.update_memory(id, content="A colleague likes black tea")
    memory.update_memory(id, tags=["tea"])
    memory.update_memory(id, importance=9)
    changed = [line.write for line in reversed(memory.history(id))][1:]
    memory.forget_about("Bob Miller").erase()
    before = memory.get(id)

    for write in changed[:2]:
        with pytest.raises(InvalidInput, match="what was erased cannot come back"):
            memory.undo(write)
    with pytest.raises(InvalidInput, match="what was erased cannot come back"):
        memory.undo(last=3)
    assert memory.get(id) == before

    memory.undo(changed[2])
    assert memory.get(id).importance == judged


@pytest.mark.parametrize("dry_run", [True, False])
def test_the_text_of_a_document_that_forget_about_erased_does_not_come_back(
    memory: Service, dry_run: bool
) -> None:
    text = "# Plan\n\n" + "The team meets on Mondays. " * 40 + "\n\nBob Miller leads it.\n"
    id = str(memory.add_document(text, name="plan.md", source_ref="/plan.md").id)
    now = text.replace("Bob Miller", "Somebody")
    memory.add_document(now, name="plan.md", source_ref="/plan.md")
    memory.forget_about("Bob Miller").erase()

    with pytest.raises(InvalidInput, match="what was erased cannot come back: the text"):
        memory.undo(id, dry_run=dry_run)
    assert "Somebody" in memory.text(id)


@pytest.mark.parametrize("last", [0, -1])
def test_fewer_things_than_one_cannot_be_undone(memory: Service, last: int) -> None:
    id = str(memory.memorize("Bob drinks tea").id)

    with pytest.raises(InvalidInput, match=f"last {last} is below 1"):
        memory.undo(last=last)
    assert memory.get(id).state == State.ACTIVE


@pytest.mark.parametrize("how", ["purged", "erased"])
def test_the_last_thing_was_done_to_what_is_still_there(
    memory: Service, clock: MovableClock, how: str
) -> None:
    gone = str(memory.memorize("Bob drinks tea").id)
    memory.forget(gone)
    clock.advance(days=80)
    memory.sleep(["purge"])
    clock.advance(days=9)
    kept = str(memory.memorize("Cleo bakes cake").id)
    memory.memorize("Dan paints doors")
    memory.update_memory(kept, pinned=True)
    if how == "purged":
        clock.advance(days=2)
        assert memory.sleep(["purge"]).counts["purge.purged"] == 1
    else:
        memory.forget(gone, erase=True)
    assert memory.history(limit=1)[0].action == how

    undone = memory.undo()

    assert undone.became == {kept: "changed"}
    assert not memory.get(kept).pinned


BEYOND = 10**20


@pytest.mark.parametrize("number", [BEYOND, -BEYOND, 2**63, 0, -1])
def test_no_write_has_such_a_number(memory: Service, number: int) -> None:
    memory.memorize("Bob drinks tea")

    with pytest.raises(InvalidInput, match="there is no write"):
        memory.undo(number)


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda memory, n: memory.history(limit=n), id="history"),
        pytest.param(lambda memory, n: memory.history(before=n), id="history before"),
        pytest.param(lambda memory, n: memory.as_of(n), id="as_of"),
        pytest.param(lambda memory, n: memory.graph(limit=n), id="graph"),
        pytest.param(lambda memory, n: memory.runs(limit=n), id="runs"),
        pytest.param(lambda memory, n: memory.entity_names(limit=n), id="entity_names"),
    ],
)
@pytest.mark.parametrize("number", [BEYOND, -1, -BEYOND])
def test_numbers_that_cannot_be_meant_are_refused(
    memory: Service, ask: Callable[[Service, int], object], number: int
) -> None:
    memory.memorize("Bob drinks tea")

    with pytest.raises(InvalidInput, match=rf"{number} is not between [01] and \d+"):
        ask(memory, number)
    assert ask(memory, 1) is not None
