"""A disk that is full, that can only be read, or whose locks do nothing."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NoReturn
from unittest.mock import ANY

import pytest

from kinmem.errors import StoreError
from kinmem.store.sqlite import disk
from kinmem.store.sqlite.store import SqliteStore
from tests.keys import has_processes
from tests.store.contract import added, listed
from tests.store.soundness import problems
from tests.store.test_loss import contents, kinmem, told
from tests.sweeps import WHOLE
from tests.test_stdio import SERVER, Process, start

pytestmark = pytest.mark.usefixtures("judge_off")

__all__ = ["start"]

NOBODY = 65534
POWERLESS = (
    "import ctypes, os, sys; [ctypes.CDLL(None).prctl(24, power) for power in (1, 2, 3)];"
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Ends as the command that follows, of a root that no longer overrides the rights of files."""
needs_root = pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0, reason="mounts, and becomes somebody else"
)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody can reach."""
    folder = Path(tempfile.mkdtemp(prefix="kinmem-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def small_disk(place: Path) -> Iterator[Path]:
    """A file system of 8 MiB."""
    folder = place / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if subprocess.run(mounting, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(file: Path) -> None:
    """Take all the room that there is."""
    with file.open("ab", buffering=0) as taken:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while taken.write(bytes(size)):
                    pass
            except OSError:
                pass


def memorize_until_full(server: Process) -> tuple[list[str], str]:
    """The ids of what was stored, and the first refusal."""
    stored: list[str] = []
    while True:
        number = len(stored)
        text = f"Person {number} keeps {number * 7} stamps. " + "filler " * 400
        answer = server.call(number, "memorize", content=text)
        if answer.get("isError"):
            return stored, str(answer["content"][0]["text"])
        stored.append(answer["structuredContent"]["id"])


@needs_root
@pytest.mark.parametrize("by", ["others", *(["itself"] if WHOLE else [])])
def test_on_a_full_disk_all_can_be_forgotten_and_erased_and_nothing_needs_a_restart(
    small_disk: Path, start: Callable[..., Process], by: str
) -> None:
    home = small_disk / "home"
    server = start(KINMEM_HOME=str(home), KINMEM_JUDGE="off")
    server.shake_hands()
    if by == "others":
        for number in range(20):
            told(server, "memorize", content=f"Person {number} keeps {number * 7} stamps")
        fill(small_disk / "others")
    ids, refused = memorize_until_full(server)
    ids += [memory["id"] for memory in _listed(server) if memory["id"] not in ids]

    assert refused.startswith("storage_full: ") and len(ids) >= 20
    assert "stamps" in told(server, "recall", query="who keeps stamps?")
    assert (home / disk.RESERVE).exists()
    half = len(ids) // 2
    for id in ids[:half]:
        assert "forgotten" in told(server, "forget", memory_id=id)
    for id in ids[half:]:
        assert "erased" in told(server, "forget", memory_id=id, erase=True)
    assert contents(server) == []
    assert (home / disk.RESERVE).exists()  # for the next time

    (small_disk / "others").unlink(missing_ok=True)
    assert "created" in told(server, "memorize", content="There is room again")
    server.process.kill()
    server.process.wait()
    with closing(SqliteStore(home, "ana")) as store:
        assert len(listed(store)) == 1
        assert problems(store) == []


def _listed(server: Process) -> list[dict[str, str]]:
    found = server.call("listed", "list_memories", limit=200)["structuredContent"]["memories"]
    return list(found)


@has_processes
@needs_root
def test_commands_list_recall_export_and_forget_on_a_full_disk(
    small_disk: Path, tmp_path: Path
) -> None:
    home = small_disk / "home"
    with closing(SqliteStore(home, "ana")) as store:
        id = added(store, "the spare key hangs in the shed")
        store.reserve_room(begin=True)
    fill(small_disk / "others")

    for command in (["list"], ["recall", "where is the key?"]):
        code, text = kinmem(home, *command)
        assert code == 0 and "spare key" in text, text
    assert kinmem(home, "export", str(tmp_path / "all.jsonl"))[0] == 0
    assert "spare key" in (tmp_path / "all.jsonl").read_text()
    code, text = kinmem(home, "forget", id, "--erase", "--yes")
    assert code == 0, text
    assert kinmem(home, "list")[1].count("spare key") == 0


@has_processes
@needs_root
def test_without_a_reserve_commands_read_on_a_full_disk(small_disk: Path) -> None:
    home = small_disk / "home"
    with closing(SqliteStore(home, "ana")) as store:
        id = added(store, "the spare key hangs in the shed")
    fill(small_disk / "others")

    for command in (["list"], ["recall", "where is the key?"], ["show", id], ["history"]):
        code, text = kinmem(home, *command)
        assert code == 0 and "spare key" in text, text
    code, text = kinmem(home, "forget", id)
    assert code == 1 and "storage_full" in text and "make room" in text
    (small_disk / "others").unlink()
    assert kinmem(home, "forget", id)[0] == 0
    assert problems_of(home) == []


@has_processes
@needs_root
def test_a_command_that_stores_leaves_room_to_forget_on_a_full_disk(small_disk: Path) -> None:
    home = small_disk / "home"
    _, stored = kinmem(home, "memorize", "the spare key hangs in the shed", "--json")
    fill(small_disk / "others")

    code, text = kinmem(home, "forget", json.loads(stored)["id"], "--erase", "--yes")

    assert code == 0, text
    assert kinmem(home, "list")[1].count("spare key") == 0


@has_processes
@needs_root
def test_looking_at_a_full_disk_leaves_the_reserve_as_it_is(small_disk: Path) -> None:
    home = small_disk / "home"
    with closing(SqliteStore(home, "ana")) as store:
        added(store, "the spare key hangs in the shed")
        store.reserve_room(begin=True)
    fill(small_disk / "others")
    before = (home / disk.RESERVE).stat()

    for command in (["list"], ["memorize", "tea is green"], ["list"]):
        kinmem(home, *command)

    after = (home / disk.RESERVE).stat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)


@has_processes
@needs_root
def test_what_makes_room_many_times_has_its_reserve_each_time(small_disk: Path) -> None:
    home = small_disk / "home"
    with closing(SqliteStore(home, "ana")) as store:
        ids = [added(store, f"person {n} keeps {n * 7} stamps") for n in range(6)]
        store.reserve_room(begin=True)
    fill(small_disk / "others")
    before = (home / disk.RESERVE).stat().st_size

    for id in ids:
        assert kinmem(home, "forget", id) == (0, ANY)

    assert (home / disk.RESERVE).stat().st_size > before // 2


@has_processes
@needs_root
def test_a_server_started_on_a_full_disk_stores_as_soon_as_there_is_room(
    small_disk: Path, start: Callable[..., Process]
) -> None:
    home = small_disk / "home"
    with closing(SqliteStore(home, "ana")) as store:
        added(store, "the spare key hangs in the shed")
    fill(small_disk / "others")
    server = start(KINMEM_HOME=str(home), KINMEM_KIN="ana", KINMEM_JUDGE="off")
    server.shake_hands()

    assert told(server, "memorize", content="The tea is in the cellar").startswith("storage_full: ")
    began = time.monotonic()
    assert told(server, "recall", query="where is the key?").startswith("storage_full: ")
    assert time.monotonic() - began < 0.5
    (small_disk / "others").unlink()
    assert "created" in told(server, "memorize", content="The tea is in the cellar")
    assert "shed" in told(server, "recall", query="where is the key?")


@has_processes
@needs_root
def test_beside_a_server_a_full_disk_shows_commands_what_it_has_stored_last(
    small_disk: Path, start: Callable[..., Process]
) -> None:
    home = small_disk / "home"
    server = start(KINMEM_HOME=str(home), KINMEM_KIN="ana", KINMEM_JUDGE="off")
    server.shake_hands()
    assert "created" in told(server, "memorize", content="The tea is in the cellar")
    fill(small_disk / "others")

    assert "tea" in kinmem(home, "list")[1]
    (small_disk / "others").unlink()
    assert "created" in told(server, "memorize", content="The bread is in the box")
    assert "bread" in kinmem(home, "list")[1]


OTHER = (
    "import sys; from pathlib import Path; from kinmem.store.sqlite import driver;"
    "from kinmem.store.sqlite.store import SqliteStore; driver.BUSY_SECONDS = 0.2;"
    "SqliteStore(Path(sys.argv[1]), 'ana').close()"
)
"""Opens a store."""


@has_processes
@needs_root
def test_nobody_writes_what_a_command_reads_on_a_full_disk(small_disk: Path) -> None:
    home = small_disk / "home"
    with closing(SqliteStore(home, "ana")) as store:
        added(store, "the spare key hangs in the shed")
    fill(small_disk / "others")

    with closing(SqliteStore(home, "ana", is_brief=True)) as store:
        assert len(listed(store)) == 1
        (small_disk / "others").unlink()
        other = subprocess.run(
            [sys.executable, "-c", OTHER, str(home)], capture_output=True, text=True
        )
        assert "another process is writing" in other.stderr
        added(store, "there is room again")
        assert len(listed(store)) == 2
    subprocess.run([sys.executable, "-c", OTHER, str(home)], check=True)
    with closing(SqliteStore(home, "ana")) as store:
        assert len(listed(store)) == 2 and problems(store) == []


def test_without_room_for_a_backup_nothing_else_is_tried(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(home, "ana")) as store:
        store.reserve_room(begin=True)
    tried: list[bool] = []

    def without_room(*_: object, **given: bool) -> NoReturn:
        tried.append(given["is_brief"])
        raise StoreError("no room for the backup", "storage_full")

    monkeypatch.setattr("kinmem.store.sqlite.store.SqliteFiles", without_room)
    with pytest.raises(StoreError, match="no room for the backup"):
        SqliteStore(home, "ana", is_brief=True)

    assert tried == [True] and (home / disk.RESERVE).exists()


def problems_of(home: Path) -> list[str]:
    with closing(SqliteStore(home, "ana")) as store:
        return problems(store)


@pytest.fixture
def read_only(
    place: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[[Path], dict[str, str]]]:
    """Makes a home read only for `POWERLESS`, in one of three ways."""
    mounted: list[Path] = []

    def make(home: Path) -> None:
        for path in (home, *home.rglob("*")):
            is_folder = path.is_dir()
            if request.param == "folder" or (request.param == "files" and not is_folder):
                os.chown(path, NOBODY, -1)
            path.chmod(0o755 if is_folder else 0o444)
        if request.param == "mount":
            for options in (["--bind"], ["-o", "remount,bind,ro"]):
                command = ["mount", *options, str(home), str(home)]
                if subprocess.run(command, capture_output=True).returncode:
                    pytest.skip("nothing can be mounted here")
            mounted.append(home)

    yield make  # type: ignore[misc]
    for home in mounted:
        subprocess.run(["umount", "-l", str(home)], check=True)


@needs_root
@pytest.mark.parametrize("read_only", ["folder", "files", "mount"], indirect=True)
@pytest.mark.parametrize("ended", ["killed", *(["in good order"] if WHOLE else [])])
def test_a_home_that_can_only_be_read_is_read_and_nothing_is_left_in_it(
    place: Path, start: Callable[..., Process], read_only: Callable[[Path], None], ended: str
) -> None:
    home = place / "home"
    server = start(KINMEM_HOME=str(home))
    server.shake_hands()
    id = server.call("first", "memorize", content="The spare key hangs in the shed")
    id = id["structuredContent"]["id"]
    if ended == "killed":
        server.process.kill()
    else:
        assert server.process.stdin
        server.process.stdin.close()
    server.process.wait(20)
    shutil.rmtree(home / "run", ignore_errors=True)
    read_only(home)
    before = {path: path.stat().st_size for path in home.rglob("*")}

    reader = start(sys.executable, "-c", POWERLESS, *SERVER, KINMEM_HOME=str(home), HOME=str(place))
    reader.shake_hands()
    assert "spare key" in told(reader, "recall", query="where is the key?")
    assert contents(reader) == ["The spare key hangs in the shed"]
    for tool, arguments in (
        ("memorize", {"content": "another"}),
        ("forget", {"memory_id": id}),
        ("update_memory", {"memory_id": id, "content": "changed"}),
    ):
        text = told(reader, tool, **arguments)
        assert text.startswith("storage_read_only: ") and "recall and list go on" in text
    assert reader.process.stdin
    reader.process.stdin.close()
    assert reader.end()[0] == 0
    left = {path: path.stat().st_size for path in home.rglob("*") if "run" not in path.parts}
    assert left == before


def test_what_others_write_is_seen_although_it_can_only_be_read_here(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(home, "ana")) as writer:
        added(writer, "tea")
    with monkeypatch.context() as patched:
        patched.setattr("kinmem.store.sqlite.connection.is_read_only", lambda path: True)
        reader = SqliteStore(home, "ana")
    with closing(reader):
        assert len(listed(reader)) == 1
        with closing(SqliteStore(home, "ana")) as writer:
            added(writer, "cake")
            assert len(listed(reader)) == 2  # in the log
        assert len(listed(reader)) == 2
        with pytest.raises(StoreError) as refused:
            added(reader, "bread")
        assert refused.value.code == "storage_read_only"


def test_a_file_system_whose_locks_do_nothing_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As behind a library that answers every lock with success."""
    monkeypatch.setattr(disk.fcntl, "lockf", lambda *_: None)

    with pytest.raises(StoreError) as refused:
        SqliteStore(home, "ana")

    assert refused.value.code == "storage_unsupported"
    assert "set KINMEM_HOME to a folder on a local disk" in str(refused.value)
    assert not (home / "kins").exists()
