"""Export as JSONL, and import of it: nothing is lost, and whatever is here stays."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any, get_args

import pydantic
import pytest

from kinmem.backup import jsonl
from kinmem.errors import InvalidInput
from kinmem.models import Memory, Passage, State
from kinmem.models.record import Link
from kinmem.models.turns import Conflict, Message, Snapshot
from kinmem.service import Service
from kinmem.store.records import (
    ChunkRecord,
    ConflictRecord,
    EarlierText,
    EntityRecord,
    ErasedRecord,
    Header,
    Line,
    LinkRecord,
    Loading,
    MemoryRecord,
    MessageRecord,
    Record,
    RefusalRecord,
    RelationRecord,
    RepeatedIn,
    ShownRecord,
    SnapshotRecord,
    SummaryRecord,
    TierRecord,
)
from tests.conftest import MovableClock
from tests.sweeps import rounds

pytestmark = pytest.mark.usefixtures("judge_off")

ROOT = Path(__file__).parents[2]
WRITES_ALL_OF_A_SCHEMA = tuple(map(int, pydantic.VERSION.split(".")[:2])) >= (2, 14)
"""Older versions leave two entries of a dataclass out."""

ServiceOf = Callable[..., Service]
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
HOSTILE = [
    "two lines\nand \r\n a third\u2028after a separator\u2029\x85end",
    "---\nkin: mallory\n---\n# heading",
    "<!-- id: 00000000-0000-7000-8000-000000000000 --> <script>alert(1)</script>",
    '{"type":"memory","memory":{"id":"forged"}}',
    "quotes \" ' ` and \\n backslashes \\ and a tab\tend",
    "emoji 👩‍👩‍👧 and 我喜欢乌龙茶, combining e\u0301, rtl \u202eabc",
]


def exported(service: Service, **options: Any) -> bytes:
    target = BytesIO()
    service.export(target, **options)
    return target.getvalue()


def moved(data: bytes, folder: Path, service: Service, name: str = "export.jsonl") -> Any:
    path = folder / name
    path.write_bytes(data)
    return service.import_(path)


@pytest.fixture
def full(service_of: ServiceOf, clock: MovableClock) -> Service:
    """Ana's memory with something of everything."""
    ana = service_of("ana", KINMEM_JUDGE="off")
    told = [{"content": text, "subject": "hostile"} for text in HOSTILE]
    told += [
        {"content": f"Shelf {n} in Oslo holds {n} boxes", "tags": ("shelf",)} for n in range(60)
    ]
    ids = [one.id or "" for one in ana.memorize_many(told)]
    ana.memorize("Anna Berg works for Acme in Hamburg", subject="Anna Berg", scope="shared")
    ana.memorize("Anna Berg works for Initech in Bremen", subject="Anna Berg")
    ana.record_turn("s1", "My sister Clara moved to Lisbon in May.", "How nice.", turn="t1")
    ana.record_turn("s1", "Where did Clara move?", "To Lisbon.", turn="t2")
    text = "# Plan\n\n" + "\n\n".join(f"Step {n}: turn the wheel {n} times." for n in range(150))
    ana.add_document(text, source_ref="file:///plan.md", title="Plan")
    clock.advance(minutes=5)
    ana.add_document(text + "\n\nAnd stop.", source_ref="file:///plan.md", title="Plan")
    ana.update_memory(ids[7], content="Shelf 1 is empty now", pinned=True)
    ana.update_memory(ids[8], links=[{"id": ids[9], "relation": "part_of"}, {"id": ids[10]}])
    ana.update_memory(ids[8], links=[{"id": ids[10], "relation": None}])
    ana.update_memory(ids[11], archived=True, priority=0.5, expires="90d")
    ana.undo(ids[7])
    ana.forget(ids[12])
    ana.forget(ids[13], erase=True)
    ana.observe("prompt", "s2", "t1", "Does Anna Berg work in Hamburg?")
    ana.sleep()
    assert ana.settle(60)
    ana.store.decisions.refuse("merge", [ids[14], ids[15]])
    return ana


def test_export_import_export_gives_the_same_bytes(
    full: Service, service_of: ServiceOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = exported(full)
    counts = json.loads(data.splitlines()[0])["counts"]
    assert all(counts[type] for type in ("memory", "erased", "link", "refusal", "message", "shown"))

    with_elsewhere = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "elsewhere")
    done = moved(data, tmp_path, with_elsewhere)

    assert exported(with_elsewhere) == data
    assert (done.memories, done.problems) == (counts["memory"], [])


def test_what_was_imported_is_recalled_shown_and_shared_as_before(
    full: Service, service_of: ServiceOf, tmp_path: Path
) -> None:
    data, there = exported(full), tmp_path / "elsewhere"
    ana = service_of("ana", KINMEM_HOME=there, KINMEM_JUDGE="off")
    moved(data, tmp_path, ana)
    assert ana.settle(60)

    [hit, *_] = ana.recall("who does Anna Berg work for?").hits
    assert "Anna Berg" in hit.memory.content
    document = next(m for m in ana.list_memories(limit=200).memories if m.title == "Plan")
    assert ana.text(document.id) == full.text(document.id)
    earlier = ana.history(document.id)[-1].after["content_hash"]
    assert ana.store.documents.text(document.id, earlier).endswith("149 times.")
    bob = service_of("bob", KINMEM_HOME=there, KINMEM_JUDGE="off")
    assert [m.content for m in bob.list_memories(scope="shared").memories] == [
        "Anna Berg works for Acme in Hamburg"
    ]
    assert not bob.list_memories(scope="private").memories
    assert ana.recall("Clara Lisbon", session="s1").hits


def different(name: str) -> Any:
    """A value of that field that is not its default."""
    told: dict[str, Any] = {
        **{"id": "0197-a", "kin": "ana", "scope": "shared", "content": "It is so.\nReally."},
        **{"category": "plan", "state": State.ARCHIVED, "tier": "hot", "channel": "import"},
        **{"manual_tags": ("a", "ü"), "auto_tags": ("b",), "status": "pending", "pinned": True},
        **{"metadata": {"n": [1, 2.5, None]}, "ingest_metadata": {"held": 2}, "source": "chat"},
        **{"importance": 7.25, "confidence": 0.1 + 0.2, "evidence": 1 / 3, "trust": 0.31},
        **{"priority": 0.7, "set_priority": 0.2, "recalled_count": 9, "generation": 3},
        "version": 12,
    }
    if name in told:
        return told[name]
    if name.endswith("_at") or name in ("valid_from", "valid_to"):
        return NOW + timedelta(microseconds=len(name))
    return f"the {name}"


def test_no_field_of_a_memory_is_forgotten(service_of: ServiceOf) -> None:
    values = {field.name: different(field.name) for field in fields(Memory)}
    for field in fields(Memory):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        assert values[field.name] != default, f"give {field.name} another value than its default"
    memory = Memory(**values)
    ana = service_of("ana", resident=False)

    ana.store.transfer.load([MemoryRecord(memory=memory)], Loading("import-x", {}))

    [_, found] = ana.store.transfer.records()
    assert isinstance(found, MemoryRecord)
    assert found.memory == memory
    layers = ana.store.files.own.database.rows("SELECT layer FROM chunks")  # type: ignore[attr-defined]
    assert layers == [(memory.tier,)]
    assert jsonl.record(jsonl.as_values(found)) == found


RECORDS: list[Record] = [
    MemoryRecord(
        memory=Memory(
            id="a",
            kin="ana",
            scope="private",
            content="How it begins",
            category="knowledge",
            content_hash="h2",
            created_at=NOW,
            content_updated_at=NOW,
            metadata={"parts": 2},
            ingest_metadata={"held": 1},
        ),
        chunks=(
            ChunkRecord(text="One. ", place=Passage(start=0, heading="A > B", page=3)),
            ChunkRecord(text="Two.", place=Passage(start=5, held="order")),
        ),
        entities=(
            EntityRecord(name="Anna", type="person", alias="Ann"),
            EntityRecord(name="X", type="other"),
        ),
        relations=(
            RelationRecord(
                source=("Anna", "person"),
                relation="knows",
                target=("X", "other"),
                chunk=1,
                origin="rules",
                confidence=0.9,
                verified_at=NOW,
            ),
        ),
        is_read=False,
        summaries=(
            SummaryRecord(text="In short", model="m", tokens=2, created_at=NOW, tier="warm"),
            SummaryRecord(text="", model="m", tokens=0, created_at=NOW, tier="hot", chunk=1),
        ),
        parents=("p1", "p2"),
        earlier_texts=(EarlierText(content_hash="h1", base="h2", at=NOW, text="Once. Two."),),
        tiers=(TierRecord(at=NOW, before="hot", after="warm", reason="idle"),),
        repeated_in=(RepeatedIn(session="s", turn="t", role="assistant"),),
        history=(
            Line(at=NOW, action="created", write=1, after={"content": "x", "content_hash": "h"}),
            Line(
                at=NOW,
                action="updated",
                write=3,
                before={"content": "x"},
                after={"content": "y"},
                reason="why",
                batch="many-1",
                reverts=(1,),
            ),
        ),
    ),
    ErasedRecord(id="gone", history=(Line(at=NOW, action="erased", write=2),)),
    LinkRecord(link=Link("a", "b", "part_of", 0.5, 0.25, "auto", {"similarity": 0.8}, NOW, NOW)),
    ConflictRecord(
        conflict=Conflict("a", "b", "update", "ask", "because", "kept_both", NOW, chance=0.725)
    ),
    RefusalRecord(kind="merge", ids=("a", "b"), at=NOW),
    MessageRecord(
        message=Message(
            id=4,
            session="s",
            turn="t",
            role="tool",
            part="p",
            text="out",
            speaker="Ana",
            tool="ls",
            spill="f",
            client="c",
            place="/x",
            said_at=NOW,
            learned_at=NOW,
            tries=2,
            due_at=NOW,
            parked=True,
            problem="none",
            snapshot=7,
        )
    ),
    SnapshotRecord(
        snapshot=Snapshot(
            id=7,
            session="s",
            summary="short",
            model="extractive",
            first=4,
            last=4,
            seen=4,
            turns=1,
            depth=2,
            created_at=NOW,
        )
    ),
    ShownRecord(id=9, session="s", turn="t", text=None, memories={"a": 3}, at=NOW),
]


def test_every_kind_of_record_is_stored_and_read_as_it_was(service_of: ServiceOf) -> None:
    assert {type(one) for one in RECORDS} == set(get_args(Record))
    ana = service_of("ana", resident=False)

    ana.store.transfer.load(RECORDS, Loading("import-x", {}))

    header, *found = ana.store.transfer.records()
    assert found == RECORDS
    assert isinstance(header, Header)
    assert header.last == {"write": 3, "message": 4, "snapshot": 7, "shown": 9}
    assert [jsonl.record(json.loads(jsonl.as_line(jsonl.as_values(one)))) for one in found] == found


def test_an_export_from_before_chances_had_a_field_has_them_in_prose(service_of: ServiceOf) -> None:
    ana = service_of("ana", resident=False)
    told = Conflict("a", "b", "update", "ask", "judged to exclude it (0.71); one is to come")
    values = jsonl.as_values(ConflictRecord(conflict=told))
    del values["conflict"]["chance"]
    older = jsonl.record(json.loads(jsonl.as_line(values)))
    assert not isinstance(older, Header)
    memories = [one for one in RECORDS if isinstance(one, MemoryRecord)]

    ana.store.transfer.load([*memories, older], Loading("import-x", {}))

    assert [one.chance for one in ana.store.decisions.conflicts()] == [0.71]


def test_what_is_said_during_an_import_is_kept_apart(service_of: ServiceOf) -> None:
    ana = service_of("ana", resident=False)
    said = [
        MessageRecord(
            message=Message(id=n, session="s", turn=str(n), role="user", text=f"{n}", said_at=NOW)
        )
        for n in range(1, 4)
    ]
    loading = Loading("import-x", {"message": 3})
    ana.store.transfer.load(said[:1], loading)
    ana.record_turn("mine", "two", "second")

    assert ana.store.transfer.load(said[1:], loading) == 2
    assert ana.store.transfer.withdraw("import-x") == 3

    assert [message.text for message in ana.turns("mine")] == ["two", "second"]
    assert ana.turns("s") == []


def test_hostile_contents_stay_on_their_line(service_of: ServiceOf, tmp_path: Path) -> None:
    ana = service_of("ana", resident=False)
    ana.memorize_many(HOSTILE)
    told = {m.content for m in ana.list_memories().memories}

    data = exported(ana)

    assert len(data.decode().splitlines()) == 1 + len(HOSTILE)
    other = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "other")
    moved(data, tmp_path, other)
    assert {m.content for m in other.list_memories().memories} == told


# into a home that holds memories


def test_what_is_here_stays_and_the_rest_is_added(service_of: ServiceOf, tmp_path: Path) -> None:
    ana = service_of("ana", resident=False)
    same, edited, gone, binned = (
        ana.memorize(f"The {what} is blue").id or "" for what in ("door", "car", "sky", "pen")
    )
    ana.update_memory(same, links=[{"id": edited}])
    new = ana.memorize("The lamp is blue").id or ""
    ana.update_memory(new, links=[{"id": same, "relation": "references"}])
    data = exported(ana)
    ana.update_memory(edited, content="The car is red")
    ana.forget(gone, erase=True)
    ana.forget(binned)
    ana.forget(new, erase=True)
    fresh = data.replace(new.encode(), b"0197ffff-0000-7000-8000-000000000000")
    ana.memorize("The hat is green")

    done = moved(fresh, tmp_path, ana)

    assert (done.memories, done.known) == (1, 2)
    assert (done.conflicts, done.erased, done.in_bin) == ([edited], [gone], [binned])
    assert ana.get(edited).content == "The car is red"
    lamp = ana.get("0197ffff-0000-7000-8000-000000000000")
    assert lamp.content == "The lamp is blue"
    assert {link.memory.id for link in ana.links(lamp.id)[lamp.id]} == {same}
    again = moved(fresh, tmp_path, ana)
    assert (again.memories, again.stored) == (0, 0)


def test_an_import_is_undone_by_its_batch_and_this_too(
    full: Service, service_of: ServiceOf, tmp_path: Path
) -> None:
    data = exported(full)
    ana = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "elsewhere")
    mine = ana.memorize("The hat is green").id or ""
    ana.record_turn("mine", "What is green?", "The hat.")
    before = ana.stats()
    done = moved(data, tmp_path, ana)
    live = ana.stats().counts["state"]["active"]

    undone = ana.undo(done.batch)

    assert undone.messages > 0
    assert [m.id for m in ana.list_memories().memories] == [mine]
    assert ana.stats().conversations == before.conversations
    ana.undo(undone.batch)
    assert ana.stats().counts["state"]["active"] == live
    assert moved(data, tmp_path, ana).messages == 5
    assert len(ana.turns("s1")) == 4


def test_what_an_import_brings_again_is_undone_again(service_of: ServiceOf, tmp_path: Path) -> None:
    ana = service_of("ana", resident=False)
    ana.memorize("The door is blue")
    ana.record_turn("s", "Hello", "Hi")
    data = exported(ana)
    other = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "other")
    done = moved(data, tmp_path, other)
    other.undo(done.batch)
    with pytest.raises(InvalidInput, match="undone already"):
        other.undo(done.batch)
    assert moved(data, tmp_path, other).messages == 2

    undone = other.undo(done.batch)

    assert undone.messages == 2
    assert other.turns("s") == []


def test_a_number_beyond_the_database_is_refused(service_of: ServiceOf, tmp_path: Path) -> None:
    ana = service_of("ana", resident=False)
    ana.memorize("The door is blue")
    head, memory = [json.loads(line) for line in exported(ana).splitlines()]
    memory["memory"]["version"] = 2**70
    other = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "other")

    with pytest.raises(InvalidInput, match="no memory can have"):
        moved(jsonl.as_line(head) + jsonl.as_line(memory), tmp_path, other)

    assert other.list_memories().memories == []


def test_a_folder_that_is_not_there_is_named(service: Service, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be written"):
        service.export(tmp_path / "nowhere" / "x.jsonl")


def test_the_history_that_comes_along_is_undone_like_ones_own(
    service_of: ServiceOf, tmp_path: Path
) -> None:
    ana = service_of("ana", resident=False)
    id = ana.memorize("The door is blue").id or ""
    ana.update_memory(id, content="The door is red")
    other = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "other")
    other.memorize("The hat is green")
    moved(exported(ana), tmp_path, other)

    assert [line.action for line in other.history(id)] == ["imported", "updated", "created"]
    other.undo(other.history(id)[1].write)

    assert other.get(id).content == "The door is blue"
    assert other.as_of(max(line.write for line in other.history()))[id].content == (
        "The door is blue"
    )


def test_another_kins_export_becomes_ones_own_but_not_in_the_same_home(
    service_of: ServiceOf, tmp_path: Path
) -> None:
    ana = service_of("ana", resident=False)
    ana.memorize("The door is blue", scope="shared")
    data = exported(ana)

    here = moved(data, tmp_path, service_of("bob", resident=False))
    there = service_of("bob", resident=False, KINMEM_HOME=tmp_path / "other")
    moved(data, tmp_path, there)

    assert (here.memories, len(here.others)) == (0, 1)
    [memory] = there.list_memories().memories
    assert memory.kin == "bob"
    assert there.update_memory(memory.id, content="The door is red").kin == "bob"


def test_a_session_that_went_on_gets_what_it_lacks(service_of: ServiceOf, tmp_path: Path) -> None:
    ana = service_of("ana", resident=False)
    ana.record_turn("s", "one", "first", turn="t1")
    other = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "other")
    other.record_turn("own", "mine", "yes", turn="t1")
    moved(exported(ana), tmp_path, other)
    ana.record_turn("s", "two", "second", turn="t2")

    done = moved(exported(ana), tmp_path, other)

    assert done.messages == 2
    assert [m.text for m in other.turns("s")] == ["one", "first", "two", "second"]
    assert [m.text for m in other.turns("own")] == ["mine", "yes"]


# dry run, interruption, damage


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_dry_run_writes_nothing(full: Service, service_of: ServiceOf, tmp_path: Path) -> None:
    path, there = tmp_path / "x.jsonl", tmp_path / "elsewhere"
    full.export(path)
    ana = service_of("ana", resident=False, KINMEM_HOME=there)
    ana.memorize("The hat is green")
    ana.list_memories()  # who reads leaves a mark in shared memory
    before = contents(there)

    plan = ana.import_(path, dry_run=True)

    assert contents(there) == before
    assert plan.stored == 0
    done = ana.import_(path)
    assert [file.name for file in (there / "backups").glob("*-import.zip")]
    assert (plan.memories, plan.messages) == (done.memories, done.messages)
    assert done.stored > done.memories


IMPORTER = """
import os, signal, sys
from kinmem.settings import load
from kinmem.wiring.open_memory import open_service
service = open_service(load({"KINMEM_KIN": "ana", "KINMEM_HOME": sys.argv[1]}), resident=False)
def progress(done, total, what):
    if what == "records" and done >= int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
service.import_(sys.argv[2], progress=progress)
"""


@pytest.mark.parametrize("at", [100, 200])
def test_a_killed_import_goes_on_where_it_was(
    service_of: ServiceOf, tmp_path: Path, at: int
) -> None:
    ana = service_of("ana", resident=False)
    ids = [s.id or "" for s in ana.memorize_many(f"Shelf {n} holds {n} boxes" for n in range(150))]
    for one, other in zip(ids[:60], ids[60:120], strict=True):
        ana.update_memory(one, links=[{"id": other}])
    ana.record_turn("s", "one", "first", turn="t1")
    path, there = tmp_path / "x.jsonl", tmp_path / "elsewhere"
    ana.export(path)

    arguments = [sys.executable, "-c", IMPORTER, str(there), str(path), str(at)]
    killed = subprocess.run(arguments, check=False)
    assert killed.returncode == -signal.SIGKILL
    other = service_of("ana", resident=False, KINMEM_HOME=there)
    half = other.stats().counts["state"]["active"]
    assert half == min(at, 150)
    done = other.import_(path)

    assert done.known == half
    assert exported(other) == path.read_bytes()
    assert len(other.undo(done.batch).became) == 150


def test_damaged_lines_are_named_and_the_others_imported(
    service_of: ServiceOf, tmp_path: Path
) -> None:
    ana = service_of("ana", resident=False)
    ana.memorize_many(f"Shelf {n} holds boxes" for n in range(8))
    head, *lines = exported(ana).splitlines(keepends=True)
    values = json.loads(lines[2])

    def changed(**fields: Any) -> bytes:
        return json.dumps({**values, "memory": {**values["memory"], **fields}}).encode() + b"\n"

    bad = [
        b"{broken\n",
        b"[1]\n",
        b'{"type":"memory"}\n',
        changed(importance=99),
        changed(id="a\nb"),
        changed(created_at="2026-01-01T00:00:00"),
        json.dumps({**values, "unknown": 1}).encode() + b"\n",
        head,
    ]
    other = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "other")

    done = moved(head + b"".join([*lines[:4], *bad, *lines[4:]]), tmp_path, other)

    assert done.memories == 8
    assert [one.line for one in done.problems] == list(range(6, 14))
    cut = moved(head + b"".join(lines)[:-40], tmp_path, other)
    assert "cut short" in cut.problems[0].why
    lacking = moved(head + b"".join(lines[:-1]), tmp_path, other)
    assert "7 of 8" in lacking.problems[0].why


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no export"),
        (b"# A page\n", "no export"),
        (b'{"format":"other"}\n', "no export"),
        (b'{"format":"kinmem","version":2,"type":"header"}\n', "newer kinmem"),
        (b'{"format":"kinmem","version":1,"type":"header"}\n', "header"),
    ],
)
def test_what_is_no_export_of_this_kinmem_is_refused(
    service_of: ServiceOf, tmp_path: Path, data: bytes, says: str
) -> None:
    with pytest.raises(InvalidInput, match=says):
        moved(data, tmp_path, service_of("ana", resident=False))


# secrets

KEY = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


def test_secrets_leave_only_on_request(service_of: ServiceOf, tmp_path: Path) -> None:
    with_keys = service_of("ana", resident=False, KINMEM_SECRETS="keep")
    id = with_keys.memorize(f"The token of the build is {KEY}").id or ""
    with_keys.memorize("The door is blue")
    whole = exported(with_keys)
    assert KEY.encode() in whole

    refusing = service_of("ana", resident=False)
    with pytest.raises(InvalidInput, match=id) as refused:
        refusing.export(tmp_path / "x.jsonl")
    assert KEY not in str(refused.value)
    assert not list(tmp_path.glob("*x.jsonl*"))
    assert exported(refusing, keep_secrets=True) == whole
    redacting = service_of("ana", resident=False, KINMEM_SECRETS="redact")
    redacted = exported(redacting)
    assert KEY.encode() not in redacted
    assert b"The token of the build is [secret removed]" in redacted

    there = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "other")
    done = moved(whole, tmp_path, there)
    assert (done.memories, [one.why for one in done.problems]) == (1, ["it holds a secret"])
    path = tmp_path / "whole.jsonl"
    path.write_bytes(whole)
    there.import_(path, keep_secrets=True)
    assert exported(there, keep_secrets=True) == whole


# files and progress


def test_a_file_appears_when_it_is_complete(service_of: ServiceOf, tmp_path: Path) -> None:
    ana = service_of("ana", resident=False)
    ana.memorize_many(f"Shelf {n} holds boxes" for n in range(250))
    path = tmp_path / "x.jsonl"
    ana.export(path)
    before = path.read_bytes()
    ana.memorize("The office opens at nine")
    seen: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, what: str) -> None:
        assert path.read_bytes() == before
        seen.append((done, total, what))

    ana.export(path, progress=progress)

    assert [done for done, _, _ in seen] == [0, 100, 200]
    assert seen[0][1:] == (251, "records")
    assert path.read_bytes() != before
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir() if "x.jsonl" in one.name] == ["x.jsonl"]


def without(names: set[str], schema: Any) -> Any:
    """The schema without entries of these names, at any depth."""
    if isinstance(schema, list):
        return [without(names, item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without(names, value) for name, value in schema.items() if name not in names}


def test_the_schema_on_the_page_is_that_of_the_code() -> None:
    page = json.loads((ROOT / "docs" / "export.schema.json").read_text(encoding="utf-8"))
    code = jsonl.schema()
    if not WRITES_ALL_OF_A_SCHEMA:
        unwritten = {"additionalProperties", "description"}
        page, code = without(unwritten, page), without(unwritten, code)

    assert page == code, "run kinmem export --schema > docs/export.schema.json"


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "count", [300, pytest.param(rounds(10_000, short=40), marks=pytest.mark.slow)]
)
def test_so_many_memories_come_back_byte_by_byte(
    service_of: ServiceOf, tmp_path: Path, count: int
) -> None:
    ana = service_of("ana", resident=False)
    ana.memorize_many(
        {"content": f"Shelf {n} in Oslo holds {n % 97} boxes of {n % 13}", "tags": (f"t{n % 7}",)}
        for n in range(count)
    )
    for n in range(count // 20):
        ana.record_turn(f"s{n % 20}", f"question {n}", f"answer {n}", turn=str(n))
    path = tmp_path / "x.jsonl"
    ana.export(path)
    other = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "other")

    done = other.import_(path)

    assert (done.memories, done.messages) == (count, count // 20 * 2)
    assert exported(other) == path.read_bytes()


def test_numbers_that_were_not_announced_are_refused(service_of: ServiceOf, tmp_path: Path) -> None:
    ana = service_of("ana", resident=False)
    ana.memorize("The door is blue")
    ana.record_turn("s", "one", "first", turn="t1")
    head, memory, *messages = [json.loads(line) for line in exported(ana).splitlines()]
    for message, number in zip(messages, (0, 2**62), strict=True):
        message["message"]["id"] = number
    memory["history"][0]["write"] = -5
    data = b"".join(jsonl.as_line(values) for values in (head, memory, *messages))
    other = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "other")
    other.record_turn("mine", "two", "second")

    done = moved(data, tmp_path, other)

    assert [problem.line for problem in done.problems] == [2, 3, 4]
    assert len(other.turns("mine")) == 2
    doubled = exported(ana).splitlines(keepends=True)
    again = doubled[2].replace(b'"one"', b'"other"').replace(b'"t1"', b'"t9"')
    moved(b"".join([*doubled, again]), tmp_path, other)
    assert [message.text for message in other.turns("s")] == ["one", "first"]


def test_a_document_with_a_secret_is_left_out_when_secrets_are_taken_out(
    service_of: ServiceOf, tmp_path: Path
) -> None:
    keeping = service_of("ana", resident=False, KINMEM_SECRETS="keep")
    text = f"# Notes\n\nThe token is {KEY}\n\n" + "The wheel turns again. " * 200
    document = keeping.add_document(text, title="Notes").id or ""
    keeping.memorize(f"The token of the build is {KEY}")
    whole = exported(keeping)
    ana = service_of("ana", resident=False, KINMEM_SECRETS="redact")
    target = BytesIO()

    done = ana.export(target)

    assert (done.left_out, done.redacted) == ((document,), 1)
    assert json.loads(target.getvalue().splitlines()[0])["counts"]["memory"] == 1
    assert KEY.encode() not in target.getvalue()
    there = service_of(
        "ana", resident=False, KINMEM_HOME=tmp_path / "other", KINMEM_SECRETS="redact"
    )
    came = moved(whole, tmp_path, there)
    assert (came.memories, len(came.problems)) == (1, 1)
    [memory] = there.list_memories().memories
    assert memory.content == "The token of the build is [secret removed]"


def test_lines_of_a_memory_replaced_keep_their_order(service_of: ServiceOf) -> None:
    first, second = RECORDS[0], RECORDS[0]
    assert isinstance(first, MemoryRecord)
    assert isinstance(second, MemoryRecord)
    later = replace(second, memory=replace(second.memory, id="b"))
    ana = service_of("ana", resident=False)

    ana.store.transfer.load([later, first], Loading("import-x", {}))

    found = [one for one in ana.store.transfer.records() if isinstance(one, MemoryRecord)]
    assert found == [first, later]


@pytest.mark.parametrize("secrets", ["refuse", "redact"])
def test_the_names_of_calls_with_a_key_are_no_secrets(
    service_of: ServiceOf, tmp_path: Path, secrets: str
) -> None:
    """Eight keys: which hashes look like a secret is a matter of chance."""
    ana = service_of("ana", resident=False, KINMEM_SECRETS=secrets)
    calls = {f"k{n}": f"Trains leave platform {n} for city {n}" for n in range(8)}
    ids = {key: ana.memorize(text, idempotency_key=key).id for key, text in calls.items()}
    assert ana.scrub().is_empty
    ana.scrub().carry_out()
    data = exported(ana)
    assert b"redacted" not in data

    there = service_of("ana", KINMEM_HOME=tmp_path / "elsewhere", KINMEM_SECRETS=secrets)
    assert moved(data, tmp_path, there).memories == len(calls)

    for key, text in calls.items():
        again = there.memorize(text, idempotency_key=key)
        assert again.id == ids[key] and "done before" in str(again.reason)
