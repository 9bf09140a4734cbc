"""The service, the tools, learning and undoing on PostgreSQL: one test of each journey.

With KINMEM_TEST_STORE=postgres all other tests run on it as well; those that read files fail.
"""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from mcp import Client

from kinmem.cli import main
from kinmem.http import lanes
from kinmem.service import Service
from kinmem.web.view import Shown
from kinmem.web.views.manage_pages import kins
from tests.backup.test_jsonl import exported, moved
from tests.backup.test_jsonl import full as full
from tests.test_border import CANARY, SAID
from tests.test_conversation import (
    test_a_new_fact_supersedes_the_old_one_and_the_past_can_be_asked as test_a_new_fact,
)
from tests.test_forgetting import MARK, planted
from tests.test_service import (
    test_a_memory_keeps_its_id_and_history_when_it_is_shared_and_taken_back as test_sharing,
)
from tests.test_service import test_a_question_finds_what_shares_no_word_with_it as test_a_question
from tests.test_service import test_what_is_forgotten_can_be_restored_until_it_is_purged as test_bin
from tests.test_tools import client_of as client_of
from tests.test_tools import (
    test_what_was_memorized_is_recalled_with_where_and_when_it_was_learned as test_two_tools,
)
from tests.test_transcript import (
    test_what_was_not_learned_is_found_where_it_was_said as test_what_was_said,
)
from tests.test_undo import memory as memory
from tests.test_undo import test_a_turn_is_unlearned_and_not_learned_again as test_a_turn_is_undone
from tests.test_undo import test_an_update_is_undone_and_done_again as test_an_update_is_undone

__all__ = ["test_a_new_fact", "test_a_question", "test_sharing"]
__all__ += ["test_a_turn_is_undone", "test_an_update_is_undone", "test_bin", "test_two_tools"]
__all__ += ["test_what_was_said"]


pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def on_a_server(
    request: pytest.FixtureRequest, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every service of these tests keeps its memories there, but for those that are moved."""
    if "full" not in request.fixturenames:
        monkeypatch.setenv("KINMEM_STORE", postgres_url)


def test_a_kin_moves_to_a_server_and_back_without_loss(
    full: Service, service_of: Callable[..., Service], postgres_url: str, tmp_path: Path
) -> None:
    data = exported(full)

    on_server = service_of("ana", resident=False, KINMEM_STORE=postgres_url)
    done = moved(data, tmp_path, on_server)
    assert done.problems == []
    assert exported(on_server) == data

    back = service_of("ana", resident=False, KINMEM_HOME=tmp_path / "elsewhere")
    moved(exported(on_server), tmp_path, back, "back.jsonl")
    assert exported(back) == data


def test_a_night_does_all_its_steps(service: Service) -> None:
    service.memorize("Otto serviced the boiler in May")

    report = service.sleep()

    assert report.problems == ()
    assert report.counts


LONG = "The harbour is closed in winter, as the pilots have told everybody who asked. " * 900


async def test_a_long_text_that_is_sent_again_is_waited_for_and_stored_once(
    client_of: Callable[..., Client], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "PATIENCE", 0.1)
    parts = list[int]()

    async def hear(done: float, total: float | None, what: str | None) -> None:
        parts.append(int(done))

    async with client_of() as client:
        await client.call_tool("memorize", {"content": "The harbour is open in summer"})
        with psycopg.connect(postgres_url) as admin:
            admin.execute("LOCK TABLE kinmem.memories IN SHARE MODE")
            first = await client.call_tool("memorize", {"content": LONG})
            again = await client.call_tool("memorize", {"content": LONG})
        async with client_of(era="legacy") as listening:
            heard = await listening.call_tool("memorize", {"content": LONG}, progress_callback=hear)

    for told in (first, again):
        assert told.is_error and "deadline: not done" in str(told.content)
    assert heard.structured_content and heard.structured_content["status"] == "created"
    assert parts


def bytes_on_disk(url: str) -> bytes:
    """All pages of kinmem's tables and indexes, and of the statistics, in lower case."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CHECKPOINT")
        rows = admin.execute(
            """
            SELECT pg_read_binary_file(pg_relation_filepath(c.oid)) FROM pg_class c
            WHERE c.relkind IN ('r', 'i', 't') AND c.relfilenode > 0 AND (
                c.relnamespace IN ('kinmem'::regnamespace, 'pg_toast'::regnamespace)
                OR c.oid = 'pg_statistic'::regclass
            )
            """
        )
        return b"".join(bytes(pages).lower() for (pages,) in rows)


def test_not_a_byte_of_a_name_is_left(service: Service, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        planted(service)
        admin.execute("ANALYZE")  # statistics hold texts
    assert b"zorblax" in bytes_on_disk(postgres_url).replace(b"zorblaxian", b"")

    proof = service.forget_about(MARK).erase()

    assert proof.places == ()
    assert proof.erased == 13
    assert len(proof.remarks) == 1
    assert "(WAL)" in proof.remarks[0]
    left = bytes_on_disk(postgres_url)
    assert b"zorblax" not in left.replace(b"zorblaxian", b"")
    assert b"stamps from ghana" not in left
    assert b"the zorblaxian wine is sweet" in left
    kept = {one.content for one in service.list_memories(limit=200).memories}
    assert {"The meeting was moved to May", "The zorblaxian wine is sweet"} <= kept
    assert service.recall("what does Carla play").hits[0].memory.content.startswith("Carla")
    assert service.forget_about(MARK).is_empty


def test_what_others_share_about_a_name_stays_and_is_told(
    service: Service, service_of: Callable[..., Service]
) -> None:
    shared = service_of("bob").memorize(f"{MARK} is a friend of Bob", scope="shared").id
    service.memorize(f"{MARK} lives in Paris")

    proof = service.forget_about(MARK).erase()

    assert proof.others == (shared,)
    assert {place.file for place in proof.places} == {"shared: memories"}
    assert service_of("bob").recall(MARK).hits


def test_secrets_that_are_stored_are_taken_out(
    service_of: Callable[..., Service], postgres_url: str
) -> None:
    keeping = service_of("ana", KINMEM_SECRETS="keep")
    id = keeping.memorize(SAID, subject="secrets", scope="shared").id or ""
    keeping.observe("prompt", "talk", "1", f"Keep this: {SAID}", speaker=CANARY)
    keeping.add_document(f"# Plan\n\n{SAID}\n", source_ref="plan.md")
    secret = keeping.scrub()
    assert len(secret.memories) == 2

    secret.carry_out()

    assert "(WAL)" in secret.remarks[-1]
    assert keeping.scrub().is_empty
    assert CANARY.lower().encode() not in bytes_on_disk(postgres_url)
    assert keeping.get(id).content.startswith(SAID[:10])


def test_the_page_lists_all_kins_of_the_server_at_the_machine_alone(
    service: Service, service_of: Callable[..., Service]
) -> None:
    service_of("bob", resident=False)
    for token, listed in ((None, ["ana", "bob"]), ("bob's", ["ana"])):
        asked: Any = SimpleNamespace(service=service, session=SimpleNamespace(token=token))
        shown = kins(asked)
        assert isinstance(shown, Shown)
        assert shown.model["kins"] == listed


def test_backups_are_the_servers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backup"]) == 1
    assert "pg_dump" in capsys.readouterr().err


def test_an_address_with_a_password_is_refused_before_anything_logs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KINMEM_STORE", "postgresql://ana:hidden@127.0.0.1:1/kin")

    assert main(["list"]) == 1
    said = capsys.readouterr()
    assert "PGPASSWORD" in said.err
    assert "hidden" not in said.err + said.out
