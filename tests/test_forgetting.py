"""forget --about: all that names somebody is gone, to the last byte, and nothing else is."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copytree

import pytest

from kinmem.errors import InvalidInput, MemoryNotFound
from kinmem.models.turns import Snapshot
from kinmem.service import Service
from kinmem.store.history import Mention
from tests.conftest import MovableClock
from tests.random_writes import opened
from tests.store.soundness import problems
from tests.tables import each

MARK = "Zorblax"


@pytest.fixture
def ana(home: Path, clock: MovableClock) -> Iterator[Service]:
    with closing(opened(home, clock)) as service:
        yield service


def planted(service: Service) -> None:
    """The name wherever a memory can leave a trace, and things that only look like it."""
    told = service.memorize(f"{MARK} lives in Paris", subject=MARK, scope="shared")
    service.memorize("He collects stamps from Ghana", subject=MARK, tags=["hobby"])
    other = service.memorize("The cellar is dry", tags=[MARK], source_context=f"said {MARK} once")
    service.memorize_many([f"note {n} is about {MARK.lower()} number {n}" for n in range(8)])
    edited = str(service.memorize(f"The meeting with {MARK} was moved").id)
    service.update_memory(edited, content="The meeting was moved to May", scope="shared")
    service.update_memory(edited, scope="private")
    forgotten = str(service.memorize(f"{MARK} owes Bob ten coins").id)
    service.forget(forgotten)
    service.update_memory(edited, links=[{"id": told.id, "relation": "related_to"}])
    service.update_memory(str(other.id), pinned=True)
    for turn, text in enumerate((f"Remember that {MARK} hates coriander.", "I prefer tea."), 1):
        service.observe("prompt", f"{MARK}-talk", str(turn), text, place=f"/home/{MARK}/x")
    output = f"{'x' * 30_000} {MARK} {'line of output' * 2000}"
    service.observe("tool", f"{MARK}-talk", "2", output, tool="grep", part="1")
    service.observe("answer", f"{MARK}-talk", "2", f"As {MARK.upper()} said, tea is fine.")
    service.observe("prompt", "second", "1", f"What does {MARK} like to collect?")
    service.store.snapshots.compact(
        Snapshot(
            session=f"{MARK}-talk",
            summary=f"{MARK} hates coriander. The user prefers tea.",
            model="extractive",
            first=1,
            last=1,
            turns=1,
            created_at=service.clock(),
        ),
        [1],
    )
    service.sleep()
    service.memorize("The zorblaxian wine is sweet")
    service.memorize("Carla plays chess on Mondays")


def stands_in(home: Path, text: str) -> list[str]:
    """Files that hold it in whatever case, other than in a longer word."""
    found = []
    for path in sorted(home.rglob("*")):
        if path.is_file():
            data = path.read_bytes().lower().replace(b"zorblaxian", b"")
            if text.lower().encode() in data:
                found.append(str(path.relative_to(home)))
    return found


def test_not_a_byte_of_a_name_is_left(home: Path, ana: Service) -> None:
    planted(ana)
    copy = home / "kins" / "ana.db.v2.bak"
    copy.write_bytes(b"an old copy that tells of zorblax")
    assert "kins/ana.db" in stands_in(home, MARK)

    proof = ana.forget_about(MARK).erase()

    assert proof.places == ()
    assert stands_in(home, MARK) == []
    assert stands_in(home, "stamps from Ghana") == []
    assert not copy.exists()
    kept = {one.content for one in ana.list_memories(limit=200).memories}
    assert {"The meeting was moved to May", "Carla plays chess on Mondays"} <= kept
    assert "The zorblaxian wine is sweet" in kept
    assert ana.recall("what does Carla play").hits[0].memory.content.startswith("Carla")
    assert problems(ana.store) == []


def test_a_text_of_one_long_word_is_erased_from_what_was_said(home: Path, ana: Service) -> None:
    text = f"The blob is {'QmFzZTY0' * 7000}"
    ana.record_turn("long", f"{text} and that is it", "I see.")
    id = ana.memorize(text).id
    assert id is not None

    ana.forget(id, erase=True)

    assert all("QmFzZTY0" not in message.text for message in ana.turns("long"))


def test_the_plan_erases_nothing(ana: Service) -> None:
    planted(ana)
    before = ana.store.revision

    plan = ana.forget_about(MARK)

    assert "He collects stamps from Ghana" in {one.content for one in plan.memories}
    assert {"turns", "snapshots", "history"} <= plan.counts.keys()
    assert [file.split("/")[1] for file in plan.files] == ["ana-outputs"]
    assert ana.store.revision == before
    assert ana.recall(MARK).hits


def test_what_others_share_stays_and_is_told(home: Path, ana: Service, clock: MovableClock) -> None:
    with closing(opened(home, clock, "bob")) as bob:
        shared = str(bob.memorize(f"{MARK} is a friend of Bob", scope="shared").id)
        bob.memorize(f"{MARK} has a secret twin")
        ana.memorize(f"{MARK} lives in Paris")

        proof = ana.forget_about(MARK).erase()

        assert proof.others == (shared,)
        assert {place.file for place in proof.places} == {"shared.db"}
        assert not any("bob" in file for file in proof.searched)
        assert len(bob.recall(MARK).hits) == 2


def test_what_was_erased_by_name_cannot_be_undone(ana: Service) -> None:
    ana.memorize(f"{MARK} lives in Paris")
    ana.forget_about(MARK).erase()

    with pytest.raises(InvalidInput, match="erased cannot come back"):
        ana.undo(1)


def test_a_name_that_nothing_is_about_is_told_so(ana: Service) -> None:
    ana.memorize("Bob drinks tea")

    assert ana.forget_about(MARK).is_empty


def test_a_single_letter_is_no_name(ana: Service) -> None:
    with pytest.raises(InvalidInput, match="too short"):
        ana.forget_about("Z")


@pytest.fixture(scope="module")
def home_of_carla(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home in which something of each kind is remembered, and the id of a memory."""
    home = tmp_path_factory.mktemp("carla") / ".kinmem"
    with closing(opened(home, MovableClock())) as ana:
        kept = ana.memorize("Carla plays chess on Mondays").id
        ana.observe("prompt", "s", "1", "Remember that Carla hates coriander.")
        ana.add_document("# Plan\n\nThe team meets on Mondays.", name="plan.md")
        ana.sleep()
        ana.recall("chess")
    return home, str(kept)


@pytest.mark.parametrize(
    "word",
    "private active fact tool warm user explicit created sleep turn markdown type start".split(),
)
def test_a_word_of_kinmems_own_is_no_name(
    home_of_carla: tuple[Path, str], home: Path, clock: MovableClock, word: str
) -> None:
    template, kept = home_of_carla
    copytree(template, home)
    with closing(opened(home, clock)) as ana:
        assert ana.forget_about(word).is_empty

        said = str(ana.memorize(f"Carla likes the word {word}").id)
        plan = ana.forget_about(word)
        assert [one.id for one in plan.memories] == [said]
        before = [(event.action, event.after) for event in ana.history(kept)]
        plan.erase()
        assert [(event.action, event.after) for event in ana.history(kept)] == before


def test_the_name_of_the_kin_stays_on_what_it_wrote(ana: Service) -> None:
    ana.memorize("the chest opens with 4711", scope="shared")
    ana.memorize("The garden has roses")
    ana.memorize("Ana likes green tea")

    proof = ana.forget_about("ana").erase()

    assert proof.erased == 1
    assert {"history.kin", "memories.kin"} <= set(proof.kept)
    assert [event.action for event in ana.history()] == ["erased", *["created"] * 3]
    assert {event.kin for event in ana.history()} == {"ana"}


def test_an_embedder_keeps_its_name(ana: Service) -> None:
    ana.memorize("The garden has roses")
    before = ana.stats().embedders
    assert {one.embedder for one in before} == {"words"}

    proof = ana.forget_about("words").erase()

    assert "embedders.name" in proof.kept
    assert ana.stats().embedders == before


PLAN = "# Plan\n\n" + "The team meets on Mondays. " * 40 + "\n\n{} leads the harbour project."


def versions(service: Service, leaders: list[str], scope: str = "private") -> tuple[str, list[str]]:
    """The id of a document that says who leads, one after the other, and its versions."""
    hashes = []
    for leader in leaders:
        text = PLAN.format(leader)
        id = str(service.add_document(text, name="plan.md", source_ref="/plan.md", scope=scope).id)
        hashes.append(service.get(id).content_hash)
    return id, hashes


def test_earlier_versions_of_documents_are_dropped(ana: Service) -> None:
    id, (first, named, last) = versions(ana, ["Carla", MARK, "Dora"])
    plan = ana.forget_about(MARK)
    assert plan.memories == []
    assert plan.counts["old_texts"] == 1

    proof = plan.erase()

    assert proof.places == ()
    text = ana.store.documents.text
    with pytest.raises(MemoryNotFound):
        text(id, named)
    assert text(id, first) == PLAN.format("Carla")
    assert text(id, last) == PLAN.format("Dora")
    assert ana.store.forgetting.remains(Mention("Carla")).values()


def test_what_others_said_before_is_in_their_own_files(
    home: Path, ana: Service, clock: MovableClock
) -> None:
    with closing(opened(home, clock, "bob")) as bob:
        id, hashes = versions(bob, [MARK, "Dora"], scope="shared")
        ana.memorize(f"{MARK} lives in Paris")

        proof = ana.forget_about(MARK).erase()

        assert proof.places == ()
        assert bob.store.documents.text(id, hashes[0]) == PLAN.format(MARK)
        with pytest.raises(MemoryNotFound):
            ana.store.documents.text(id, hashes[0])


def test_copies_of_the_shared_file_are_told(home: Path, ana: Service) -> None:
    copy = home / "shared.db.v2.bak"
    copy.write_bytes(b"an old copy that tells of zorblax")
    (home / "shared.db.v1.bak").write_bytes(b"an older copy")
    ana.memorize(f"{MARK} lives in Paris")

    plan = ana.forget_about(MARK)
    proof = plan.erase()

    assert plan.copies == proof.copies == (copy,)
    assert {place.file for place in proof.places} == {copy.name}
    assert copy.exists()


def test_a_line_break_before_a_name_hides_it_nowhere(home: Path, ana: Service) -> None:
    id = str(ana.memorize(f"The list of guests:\n{MARK}").id)
    ana.update_memory(id, content="The list of guests is empty")

    assert ana.forget_about(MARK).erase().places == ()
    assert stands_in(home, MARK) == []


UNSEEN = [
    *("\u00ad", "\u034f", "\u200b", "\u200c", "\u200d", "\u200e", "\u202e", "\u2060", "\u3164"),
    *("\ufe0f", "\ufeff", "\U000e0041"),
]


def test_what_nobody_sees_hides_no_name(home: Path, ana: Service) -> None:
    texts = [f"Room {n} is kept by Zorb{unseen}lax" for n, unseen in enumerate(UNSEEN)]
    ana.memorize_many(texts)
    edited = str(ana.memorize("Zor\u200bblax has the key").id)
    ana.update_memory(edited, content="Nobody has the key")
    ana.observe("prompt", "talk", "1", "Did Zor\U000e0041blax call?")

    proof = ana.forget_about("Zor\u2060blax").erase()

    left = [one.content for one in ana.list_memories(limit=100).memories]
    assert (proof.erased, left) == (len(UNSEEN), ["Nobody has the key"])
    assert proof.places == ()
    assert stands_in(home, "Zor") == []


def test_the_proof_sees_what_nobody_sees(home: Path, ana: Service) -> None:
    left = [f"Zorb{unseen}lax was here" for unseen in UNSEEN]
    (home / "left.txt").write_text("\n".join([*left, *map(json.dumps, left)]), encoding="utf-8")

    places = ana.forget_about(MARK).erase().places

    assert [(place.file, place.count) for place in places] == [("left.txt", 2 * len(UNSEEN))]


def test_a_folder_of_that_name_is_left_nowhere(home: Path, ana: Service) -> None:
    id = str(ana.memorize("The tests run with four workers").id)
    ana.store.update(id, {"place": f"/home/{MARK}/x"})

    proof = ana.forget_about(MARK).erase()

    assert (proof.kept, proof.places) == ((), ())
    assert stands_in(home, MARK) == []
    assert ana.get(id).place == "/home/[erased]/x"


def test_everything_said_that_goes_is_counted_once(ana: Service) -> None:
    for turn in range(1, 4):
        ana.observe("prompt", f"{MARK}-talk", str(turn), f"{MARK} called, {turn}", place=f"/{MARK}")
        ana.observe("answer", f"{MARK}-talk", str(turn), "I see.")
    ana.record_turn("talk", "Remember that Zorblax hates coriander.", "Noted.")
    ana.sleep()

    plan = ana.forget_about(MARK)

    assert plan.counts["turns"] == 8
    assert plan.erase().blanked["turns"] == 8


@each(
    ("name", "text", "is_named"),
    [
        pytest.param("Bob", "I met bob's brother", True, id="case and genitive"),
        pytest.param("Bob", "a bobsled race", False, id="part of a word"),
        pytest.param("Ann", "planning the annual fair", False, id="inside of words"),
        pytest.param("José", "jose came late", True, id="without its accent"),
        pytest.param("Jose", "José came late", True, id="with an accent"),
        pytest.param("New York", "new\n york in May", True, id="across a line"),
        pytest.param("C++", "written in c++", True, id="signs"),
        pytest.param("小明", "昨天小明来了", True, id="no blanks between words"),
        pytest.param("Straße", "die STRASSE", True, id="sharp s"),
        pytest.param("Bob", "we met Bo\u00adb there", True, id="a soft hyphen within"),
        pytest.param("Bob", "a bob\u2060sled race", False, id="joined to a longer word"),
        pytest.param("New York", "New\u200bYork in May", True, id="parted without width"),
        pytest.param("B\u200dob", "I met bob", True, id="asked for with a joiner"),
    ],
)
def test_a_name_is_found_as_people_write_it(name: str, text: str, is_named: bool) -> None:
    mention = Mention(name)

    assert mention.is_in(text) is is_named
    assert not mention.is_in(mention.removed(text))
    assert not mention.is_in(mention.blanked(text))


def test_of_a_json_text_only_what_names_it_is_blanked() -> None:
    line = '{"content": "Bob drinks tea", "importance": 7, "tags": ["Bob", "tea"]}'

    assert Mention("Bob").blanked(line) == (
        '{"content": "[erased]", "importance": 7, "tags": ["[erased]", "tea"]}'
    )
