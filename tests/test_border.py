"""No secret reaches the disk, whichever way and in whichever field it comes."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import apsw
import pytest

from kinmem.documents.document import Given
from kinmem.errors import InvalidInput, TooLarge
from kinmem.models import Note
from kinmem.models.turns import Circumstances, Happening
from kinmem.service import Service

pytestmark = pytest.mark.usefixtures("judge_off")

ServiceOf = Callable[..., Service]
CANARY = "ghp_q7Wv3KzR9mTx2LbN8pYd4HcJ6sFg1AuE5oQi"
SAID = f"The deploy key is {CANARY} as of today."
# Fields that hold no free text: each is checked on its way in, or is no text.
CHECKED = {
    *("category", "scope", "channel", "importance", "occurred_at", "expires", "confidence"),
    *("place", "updates", "quarantine", "entities", "relations", "data", "source", "trusted"),
    *("at", "only_as_change"),
}
# Columns in kinmem's own words (ids, times, names of kinds and states): nothing that a caller says.
OWN_WORDS = """
    chunks.layer conflicts.at conflicts.kind conflicts.mode conflicts.newer conflicts.older
    conflicts.status embedders.name entities.type history.action history.at history.kin
    history.memory_id history.reverts jobs.holder jobs.name jobs.until lineage.child lineage.parent
    links.created_at links.kin links.origin links.relation links.source links.target
    links.verified_at marks.name memories.category memories.channel memories.content_hash
    memories.content_updated_at memories.created_at memories.deleted_at memories.expires_at
    memories.id memories.kin memories.language memories.linked_at memories.occurred_at
    memories.recalled_at memories.scope memories.scored_at memories.source memories.state
    memories.state_at memories.status memories.superseded_by memories.tagged_at memories.tier
    memories.tier_reason memories.valid_from memories.valid_to old_texts.at old_texts.base
    old_texts.content_hash old_texts.memory_id others_uses.at others_uses.memory outbox.memory
    published.at published.kin published.memory
    refusals.at refusals.ids refusals.kind relations.origin relations.verified_at
    repetitions.memory repetitions.role runs.counts runs.finished_at runs.kind runs.problems
    runs.seconds runs.started_at shown.at shown.memories snapshots.created_at snapshots.model
    summaries.created_at summaries.model summaries.scope summaries.tier tier_changes.at
    tier_changes.from_tier tier_changes.memory_id tier_changes.reason tier_changes.to_tier
    turns.due_at turns.learned_at turns.role turns.said_at turns.spill vectors_1_info.key
    vectors_1_rowids.id vectors_1_vector_chunks00.rowid
""".split()
SHARED_ONLY: list[str] = []
# Columns made from texts that have passed the border already.
DERIVED = """
    chunks.metadata chunks.summary conflicts.reason entities.folded entities.metadata entities.name
    history.before memories.auto_tags memories.ingest_metadata memories.metadata memories.place
    memory_entities.alias memory_entities.folded relations.relation repetitions.session
    repetitions.turn shown.text shown.turn summaries.text turn_chunks.text turns.problem
""".split()


def texts_of(record: type) -> list[str]:
    """The fields of a dataclass that hold free text."""
    return [field.name for field in fields(record) if field.name not in CHECKED]


def worded(name: str) -> Any:
    return (CANARY,) if name in ("tags", "turns") else SAID


Door = Callable[[Service, Path], Any]


def doors() -> Iterator[tuple[str, Door]]:
    """Every way in, once for each of its fields, with a secret there."""
    for name in texts_of(Note):
        note = {"content": f"Ana's {name} is in here"} | {name: worded(name)}
        yield f"memorize {name}", lambda ana, _, note=note: ana.memorize(**note)
        yield f"batch {name}", lambda ana, _, note=note: ana.memorize_many([note])
    yield "batch", lambda ana, _: ana.memorize_many(["A shelf"], batch=f"many {CANARY}")
    for name in ("content", "subject", "source_context", "tags", "reason", "batch"):
        changes = {"importance": 3} | {name: worded(name)}
        yield (
            f"update {name}",
            lambda ana, _, changes=changes: ana.update_memory(
                ana.memorize(f"To be changed: {sorted(changes)}").id or "", **changes
            ),
        )
    for name in texts_of(Given):
        given = {"data": f"# Plan\n\nOf the {name}.\n"} | {name: worded(name)}
        yield f"document {name}", lambda ana, _, given=given: ana.add_document(**given)
    for data in (SAID, SAID.encode(), f"<html><body><p>{SAID}</p></body></html>"):
        yield "document data", lambda ana, _, data=data: ana.add_document(data)
    yield "long", lambda ana, _: ana.memorize(f"{SAID} " + "A shelf of wood. " * 5000)
    for event in get_args(Happening):
        yield f"{event} text", lambda ana, _, event=event: ana.observe(event, "s1", "t1", SAID)
        for name in (*Circumstances.__annotations__, "session", "turn"):
            if name in CHECKED - {"place"}:
                continue
            said = {"session": "s2", "turn": name, "text": f"Of {event} and {name}"}
            said |= {name: f"/srv/{CANARY}" if name == "place" else SAID}
            yield f"{event} {name}", lambda ana, _, e=event, said=said: ana.observe(e, **said)
    yield "record_turn", lambda ana, _: ana.record_turn(
        CANARY, SAID, SAID, turn=CANARY, speaker=SAID, client=SAID,
        tools=[{"tool": SAID, "text": SAID * 900, "id": CANARY}],
    )  # fmt: skip
    yield "page", _edited_page


def _edited_page(ana: Service, folder: Path) -> None:
    ana.memorize("The page is blue", subject="page")
    ana.export_pages(folder / "pages", keep_secrets=True)
    for path in (folder / "pages").glob("*.md"):
        path.write_text(path.read_text().replace("The page is blue", SAID))
    ana.import_pages(folder / "pages")


def gone_through(ana: Service, folder: Path) -> list[str]:
    """Go through every door; returns those at which it was refused."""
    refused = []
    for name, door in doors():
        try:
            stored = door(ana, folder)
        except InvalidInput as error:
            assert CANARY not in str(error)
            refused.append(name)
            continue
        outcomes = stored if isinstance(stored, list) else [stored]
        refused += [name for one in outcomes if getattr(one, "status", "") == "refused"]
    ana.settle(60)
    return refused


def written(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def text_columns(file: Path) -> dict[str, bool]:
    """Each column of a file that may hold text, and whether the secret stands in it."""
    database = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    columns = database.execute(
        """
        SELECT t.name, c.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c
        WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
            AND c.type IN ('TEXT', '')
        """
    ).fetchall()
    found = {
        f"{table}.{column}": bool(
            database.execute(
                f"SELECT 1 FROM {table} WHERE instr(lower({column}), ?) LIMIT 1", (CANARY.lower(),)
            ).fetchall()
        )
        for table, column in columns
    }
    database.close()
    return found


@pytest.mark.parametrize("secrets", ["refuse", "redact"])
def test_no_secret_reaches_the_disk(
    service_of: ServiceOf, home: Path, tmp_path: Path, secrets: str
) -> None:
    ana = service_of("ana", KINMEM_SECRETS=secrets)

    refused = gone_through(ana, tmp_path)
    ana.sleep()
    ana.close()

    asked = [name for name, _ in doors() if not name.startswith(("prompt", "answer", "tool"))]
    told = {name for name in asked if not name.startswith(("summary", "record_turn", "page"))}
    assert set(refused) == (told if secrets == "refuse" else set())
    assert CANARY.encode() not in written(home)
    assert CANARY.lower().encode() not in written(home).lower()


def test_every_column_that_holds_a_callers_words_is_reached_by_a_door(
    service_of: ServiceOf, home: Path, tmp_path: Path
) -> None:
    ana = service_of("ana", KINMEM_SECRETS="keep")

    assert gone_through(ana, tmp_path) == []
    ana.sleep()
    ana.close()

    reached = text_columns(home / "kins" / "ana.db")
    told = {name for name, holds_it in reached.items() if holds_it}
    assert len(told) > 20
    assert not told.intersection(OWN_WORDS)
    assert reached.keys() == told | {*OWN_WORDS, *DERIVED}, "a column that no door is tried for"
    shared = text_columns(home / "shared.db")
    assert shared.keys() <= reached.keys() | {*SHARED_ONLY}


def test_what_is_private_is_left_out_everywhere(
    service_of: ServiceOf, home: Path, tmp_path: Path
) -> None:
    ana = service_of("ana", KINMEM_SECRETS="keep")
    said = SAID.replace(CANARY, f"<private>{CANARY}</private>")

    id = ana.memorize(f"Kept: {said}", source_context=said, tags=(said[:60],)).id or ""
    ana.update_memory(id, content=f"Also kept: {said}", subject=said)
    ana.add_document(f"<html><body><p>{said}</p></body></html>", title=said)
    ana.record_turn("s", said, said, tools=[{"tool": "read", "text": said}])
    ana.settle(60)
    ana.close()

    assert CANARY.encode() not in written(home)
    assert b"deploy key is" in written(home)


def test_memorize_says_what_kind_of_secret_it_refuses(service_of: ServiceOf) -> None:
    ana = service_of("ana")

    with pytest.raises(InvalidInput, match=r"content holds a secret \(password\)") as refused:
        ana.memorize("My password is hunter2hunter2")

    assert "hunter2" not in str(refused.value)
    assert not ana.list_memories().memories


def test_allow_is_the_former_name_of_keep(service_of: ServiceOf) -> None:
    assert service_of("ana", KINMEM_SECRETS="allow").settings.learn.secrets == "keep"


def test_what_is_too_large_is_refused_before_secrets_are_looked_for(service: Service) -> None:
    """Looking for secrets in 9 MB takes ten seconds, and would find the one that is in it."""
    id = service.memorize("the office closes at six").id or ""
    large = f"{SAID} {'shelf ' * (3 << 19)}"
    for name in ("content", "subject", "speaker", "source_context", "tags"):
        worded = {name: (large,) if name == "tags" else large}
        note = {"content": "a shelf of wood"} | worded
        with pytest.raises(TooLarge):
            service.memorize(**note)
        [outcome] = service.memorize_many([note])
        assert "the limit is" in str(outcome.reason)
        if name != "content":
            with pytest.raises(TooLarge):
                service.add_document("# Shelf\n\nOf wood.", **worded)
    for name in ("content", "subject", "source_context", "tags", "reason", "batch"):
        changes = {"importance": 3} | {name: (large,) if name == "tags" else large}
        with pytest.raises(TooLarge):
            service.update_memory(id, **changes)
    with pytest.raises(TooLarge):
        service.add_document(large)
