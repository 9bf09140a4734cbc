"""Files that vanish, shrink or are replaced are noticed; nothing is made anew in silence."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kinmem.cli import main
from kinmem.store.sqlite import disk
from kinmem.store.sqlite.disk import HighWater, note_of
from kinmem.store.sqlite.store import SqliteStore
from tests.store.contract import added, listed
from tests.sweeps import WHOLE
from tests.test_stdio import Process, start

pytestmark = pytest.mark.usefixtures("judge_off", "no_self_test")

__all__ = ["start"]

NOTES = """
Bob plays chess
The tea is in the cellar
Carla was born in Lisbon
We pay invoices on Fridays
The router stands behind the sofa
Dora is allergic to nuts
Paris is the capital of France
The garden gate sticks
Emil drives an old Volvo
Deploys go out on Tuesdays
Frida prefers window seats
The spare key hangs in the shed
""".strip().splitlines()


def kinmem(home: Path, *arguments: str, kin: str = "ana") -> tuple[int, str]:
    """Exit code and output of a command, which is run in this process."""
    said = StringIO()
    where = {"KINMEM_HOME": str(home), "KINMEM_KIN": kin}
    with patch.dict(os.environ, where), redirect_stdout(said), redirect_stderr(said):
        code = main(arguments)
    return code, said.getvalue()


def opened(start: Callable[..., Process], **environment: str) -> Process:
    server = start(**environment)
    server.shake_hands()
    return server


def told(server: Process, tool: str, **arguments: Any) -> str:
    """What a call gives, as text."""
    return str(server.call(f"{tool} {arguments}", tool, **arguments)["content"][0]["text"])


@pytest.fixture(scope="module")
def killed_with_notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose server was killed when it had answered all of the notes."""
    home = tmp_path_factory.mktemp("killed") / ".kinmem"
    server = Process(home, KINMEM_JUDGE="off")
    server.shake_hands()
    for note in NOTES:
        assert "created" in told(server, "memorize", content=note)
    server.close()
    return home


def copied(home: Path, to: Path) -> None:
    shutil.copytree(home, to, ignore=shutil.ignore_patterns("*.sock"))


def contents(server: Process) -> list[str]:
    answer = server.call("contents", "list_memories", limit=200)["structuredContent"]
    return [memory["content"] for memory in answer["memories"]]


def without_log(own: Path) -> None:
    Path(f"{own}-wal").unlink()


def with_half_a_log(own: Path) -> None:
    log = Path(f"{own}-wal")
    os.truncate(log, log.stat().st_size // 2)


def emptied(own: Path) -> None:
    os.truncate(own, 0)


def gone(own: Path) -> None:
    for path in own.parent.glob(f"{own.name}*"):
        path.unlink()


def gone_with_its_folder(own: Path) -> None:
    shutil.rmtree(own.parent)


@pytest.mark.slow
@pytest.mark.parametrize(
    "lose",
    [with_half_a_log, emptied, gone_with_its_folder, *([without_log, gone] if WHOLE else [])],
)
def test_what_was_lost_while_nothing_ran_is_told_until_somebody_accepts_it(
    killed_with_notes: Path,
    home: Path,
    start: Callable[..., Process],
    lose: Callable[[Path], None],
) -> None:
    copied(killed_with_notes, home)
    own = home / "kins" / "ana.db"
    lose(own)
    size = own.stat().st_size if own.exists() else None

    server = opened(start)
    for tool, arguments in (
        ("recall", {"query": "number"}),
        ("list_memories", {}),
        ("memorize", {"content": "another"}),
    ):
        text = told(server, tool, **arguments)
        assert text.startswith("storage_lost: ana.db")
        assert "kinmem backup restore" in text and "kinmem backup accept" in text
    left = own.stat().st_size if own.exists() else None
    if size:  # what was left of the log may be in it now
        assert left is not None and left >= size
    else:
        assert left == size  # not made anew
    for command in ("list", "doctor"):
        code, text = kinmem(home, command)
        assert code == 1 and "storage_lost" in text

    code, text = kinmem(home, "backup", "accept")
    assert code == 0 and "kins/ana.db" in text
    assert set(contents(server)) < set(NOTES)
    assert "created" in told(server, "memorize", content="another")
    code, text = kinmem(home, "backup", "accept", "--json")
    assert (code, json.loads(text)) == (0, {"accepted": {}})


def test_doctor_names_a_shared_file_in_whose_place_an_older_copy_is(
    home: Path, tmp_path: Path
) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        added(store, "the printer is in room 4", scope="shared")
    shutil.copy(home / "shared.db", tmp_path / "older.db")
    with closing(SqliteStore(home, "ana")) as store:
        added(store, "the boiler is in room 5", scope="shared")
    shutil.copy(tmp_path / "older.db", home / "shared.db")

    code, text = kinmem(home, "doctor")

    told = " ".join(text.split())
    assert code == 1 and "storage_lost: shared.db lacks the last 1 writes" in told
    assert "kinmem backup restore" in told and "kinmem backup accept" in told
    assert "shared.db goes on without the last 1 write" in kinmem(home, "backup", "accept")[1]


def test_doctor_misses_the_shared_file_for_a_kin_that_has_none_of_its_own(home: Path) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        added(store, "the printer is in room 4", scope="shared")
    before = kinmem(home, "doctor", kin="bob")[1]
    for path in home.glob("shared.db*"):
        path.unlink()

    told = [kinmem(home, command, kin="bob") for command in ("doctor", "list")]

    assert "bob has none yet" in before
    assert all(code == 1 and "storage_lost: shared.db" in text for code, text in told)


def test_a_restored_backup_is_not_taken_for_a_loss(
    home: Path, start: Callable[..., Process]
) -> None:
    server = opened(start)
    told(server, "memorize", content=NOTES[0])
    assert kinmem(home, "backup")[0] == 0
    for note in NOTES[1:]:
        told(server, "memorize", content=note)
    server.process.kill()
    server.process.wait()
    without_log(home / "kins" / "ana.db")

    code, text = kinmem(home, "backup", "restore", "--yes")

    assert code == 0, text
    server = opened(start)
    assert contents(server) == NOTES[:1]
    assert "created" in told(server, "memorize", content="another")


def home_deleted(home: Path) -> None:
    shutil.rmtree(home)


def home_renamed(home: Path) -> None:
    home.rename(home.with_name("elsewhere"))


def home_made_anew(home: Path) -> None:
    home_renamed(home)
    SqliteStore(home, "ana").close()


def home_replaced_by_a_copy(home: Path) -> None:
    copied(home, home.with_name("copy"))
    home_renamed(home)
    home.with_name("copy").rename(home)


def file_replaced_by_a_copy(home: Path) -> None:
    own = home / "kins" / "ana.db"
    shutil.copy(own, home / "copy")
    (home / "copy").rename(own)


def file_emptied(home: Path) -> None:
    emptied(home / "kins" / "ana.db")


def log_deleted(home: Path) -> None:
    without_log(home / "kins" / "ana.db")


@pytest.mark.parametrize(
    "lose",
    [
        home_deleted,
        home_made_anew,
        file_replaced_by_a_copy,
        *([home_renamed, home_replaced_by_a_copy, file_emptied, log_deleted] if WHOLE else []),
    ],
)
def test_a_server_whose_files_are_taken_away_reads_and_stores_nothing_any_more(
    home: Path, start: Callable[..., Process], lose: Callable[[Path], None]
) -> None:
    server = opened(start, KINMEM_BACKUP_DAILY="off")  # it might be made just now, of the new files
    id = server.call("first", "memorize", content=NOTES[0])["structuredContent"]["id"]
    lose(home)
    before = sorted(home.rglob("*")) if home.exists() else None

    for tool, arguments in (
        ("memorize", {"content": "another"}),
        ("recall", {"query": "number"}),
        ("list_memories", {}),
        ("update_memory", {"memory_id": id, "content": "changed"}),
        ("forget", {"memory_id": id}),
        ("forget", {"memory_id": id, "erase": True}),
    ):
        assert told(server, tool, **arguments).startswith("storage_replaced: ")
    assert (sorted(home.rglob("*")) if home.exists() else None) == before


def test_a_home_moved_by_mistake_is_used_again_once_it_is_back(
    home: Path, start: Callable[..., Process]
) -> None:
    server = opened(start)
    told(server, "memorize", content=NOTES[0])
    home_renamed(home)
    assert told(server, "list_memories").startswith("storage_replaced: ")
    home.with_name("elsewhere").rename(home)

    assert contents(server) == NOTES[:1]
    assert "created" in told(server, "memorize", content=NOTES[1])


def test_a_copy_of_a_home_is_opened_elsewhere(killed_with_notes: Path, tmp_path: Path) -> None:
    copy = tmp_path / "another machine"
    copied(killed_with_notes, copy)

    with closing(SqliteStore(copy, "ana")) as store:
        assert len(listed(store)) == len(NOTES)


def test_what_is_cut_short_before_it_is_noted_is_no_loss(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        added(store, "noted")
        before = HighWater(note_of(home, "kins/ana.db")).read()
        with monkeypatch.context() as patched:
            patched.setattr(HighWater, "note", lambda *_: None)
            added(store, "not noted")
    assert HighWater(note_of(home, "kins/ana.db")).read() == before > 0

    with closing(SqliteStore(home, "ana")) as store:
        assert len(listed(store)) == 2


def test_a_note_that_was_torn_leaves_the_one_before(tmp_path: Path) -> None:
    high = HighWater(tmp_path / "x.mark")
    for count in range(1, 8):
        high.note(count)
    high.close()
    whole = (tmp_path / "x.mark").read_bytes()
    for at in range(len(whole)):
        torn = bytearray(whole)
        torn[at] ^= 0xFF
        (tmp_path / "x.mark").write_bytes(torn)
        assert HighWater(tmp_path / "x.mark").read() in (6, 7)
    for size in range(len(whole)):
        (tmp_path / "x.mark").write_bytes(whole[:size])
        assert HighWater(tmp_path / "x.mark").read() in (0, 6, 7)


def test_a_home_from_before_there_were_notes_is_opened(home: Path) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        added(store, "tea")
    shutil.rmtree(home / disk.FOLDER)

    with closing(SqliteStore(home, "ana")) as store:
        assert len(listed(store)) == 1
        added(store, "cake")
    assert HighWater(note_of(home, "kins/ana.db")).read() > 0
