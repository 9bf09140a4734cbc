"""A lock that is a file: one process at a time, and only what is proven dead is broken."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import kinmem
from kinmem.errors import StoreError
from kinmem.settings import load
from kinmem.store.sqlite import disk, owner_file
from kinmem.store.sqlite.owner_file import OUTERMOST, OWNER, Owner, give_back, take
from kinmem.wiring.open_home import lock_told
from tests.keys import has_processes
from tests.processes import REPOSITORY


def command(home: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and output of a command in a process of its own, to which this one is another."""
    done = subprocess.run(
        [sys.executable, "-m", "kinmem", *arguments],
        cwd=REPOSITORY,
        env={**os.environ, "KINMEM_HOME": str(home), "KINMEM_KIN": "ana"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


HOLDS = """
import kinmem, sys
memory = kinmem.open("ana")
memory.memorize("The ferry leaves at noon")
print("open", flush=True)
sys.stdin.read()
"""
TAKES = """
import os, sys, time
from pathlib import Path
from kinmem.errors import StoreError
from kinmem.store.sqlite.owner_file import choose, take
home = Path(sys.argv[1])
choose(home, "lockfile")
latest = time.monotonic() + 60
while time.monotonic() < latest:
    try:
        take(home)
    except StoreError:
        time.sleep(0.001)
        continue
    with (home / "log").open("a") as log:
        for said in ("in", "out"):
            log.write(f"{os.getpid()} {said}\\n")
            log.flush()
            time.sleep(0.01)
    os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def by_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The home is locked by a file, in this process and in those that it starts."""
    monkeypatch.setenv("KINMEM_LOCKING", "lockfile")
    home.mkdir(parents=True)
    owner_file.choose(home, "lockfile")
    yield
    owner_file._homes.locking.pop(home.absolute())


@contextmanager
def held() -> Iterator[subprocess.Popen[str]]:
    """Another process that has the home open."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    with process, closing(process.stdin):
        assert process.stdout.readline() == "open\n"
        yield process
        process.kill()


def write(home: Path, owner: Owner) -> None:
    (home / OWNER).write_text(json.dumps(asdict(owner)))


def is_refused(home: Path) -> str:
    """What is said to whoever opens the home; the file stays as it is."""
    before = (home / OWNER).read_bytes()
    with pytest.raises(StoreError) as refused:
        take(home)
    assert refused.value.code == "storage_busy"
    assert (home / OWNER).read_bytes() == before
    return str(refused.value)


def is_taken_over(home: Path) -> bool:
    take(home)
    owner = owner_file.owner_of(home)
    give_back(home)
    return owner is not None and owner.pid == os.getpid() and not (home / OWNER).exists()


def test_one_process_at_a_time_has_the_home_and_a_killed_one_has_it_no_more(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held() as other:
        for locking in ("system", "lockfile"):
            monkeypatch.setenv("KINMEM_LOCKING", locking)
            code, said = command(home, "list")
            assert code != 0 and f"in use by process {other.pid} on" in said
        assert "one process at a time" in command(home, "backup")[1]
        assert not list(home.rglob("*-shm")), "the index of the log is in memory"
        os.kill(other.pid, signal.SIGKILL)
        other.wait()

        with kinmem.open("ana") as memory:
            assert [one.content for one in memory.list_memories().memories] == [
                "The ferry leaves at noon"
            ]
            memory.memorize("The spare key is in the shed")
            assert memory.backups is not None and memory.backups.make().path.exists()
    assert not (home / OWNER).exists()


def test_a_file_system_without_locks_is_used_then(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(disk.fcntl, "lockf", lambda *_: None)
    monkeypatch.setattr(disk.fcntl, "flock", fails)

    with kinmem.open("ana") as memory:
        forgotten = memory.memorize("The ferry leaves at noon")
        assert memory.backups is not None
        memory.backups.make()
        memory.forget(forgotten.id, erase=True)
        memory.sleep()


@has_processes
def test_a_hooks_worker_does_not_linger_and_is_told_from_others(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kinmem.open("ana") as memory:
        memory.record_turn("s", "I am Dora and I keep bees", "Nice.")
    code, said = command(home, "sleep", "--due", "--quiet", "--linger")
    assert (code, said, (home / OWNER).exists()) == (0, "", False)

    monkeypatch.setattr(sys, "argv", ["kinmem", "sleep", "--due", "--quiet", "--linger"])
    take(home)
    assert "a hook has started it" in command(home, "list")[1]
    give_back(home)


def test_a_home_is_given_back_when_its_last_kin_is_closed(home: Path) -> None:
    with kinmem.open("ana") as ana:
        with kinmem.open("ben"):
            pass
        assert (home / OWNER).exists()
        ana.memorize("The ferry leaves at noon")
    assert not (home / OWNER).exists()


def test_a_machine_that_was_started_again_takes_over(home: Path) -> None:
    write(home, replace(owner_file._here(), boot="before", namespace=OUTERMOST, name="a"))

    assert is_taken_over(home)


def test_a_pid_that_was_given_to_another_process_is_no_owner(home: Path) -> None:
    write(home, replace(owner_file._here(), started="1", name="a"))

    assert is_taken_over(home)


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"host": "attic", "machine": "0" * 32},
        {"machine": None},
        {"namespace": "pid:[1]"},
        {"boot": "before", "namespace": "pid:[1]"},
    ],
    ids=["another host", "a machine without a name", "a container", "a container, moved"],
)
def test_what_cannot_be_seen_from_here_is_never_broken(
    home: Path, elsewhere: dict[str, str | None]
) -> None:
    write(home, replace(owner_file._here(), pid=1 << 22, name="a", **elsewhere))

    assert f"delete {home / OWNER}" in is_refused(home)
    assert "cannot be seen from here" in str(lock_told(load({"KINMEM_HOME": home})))


def test_a_file_that_names_nobody_is_not_broken(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_file, "PATIENCE", 0.0)
    (home / OWNER).touch()

    assert "delete that file" in is_refused(home)


@pytest.mark.parametrize("pid", ["12", 0, -1])
def test_what_is_no_pid_is_no_process(
    home: Path, monkeypatch: pytest.MonkeyPatch, pid: object
) -> None:
    monkeypatch.setattr(owner_file, "PATIENCE", 0.0)
    told = asdict(replace(owner_file._here(), name="a"))
    (home / OWNER).write_text(json.dumps({**told, "pid": pid}))

    assert "delete that file" in is_refused(home)


def test_a_kill_while_the_file_is_written_keeps_nobody_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(os, "write", lambda *_: os._exit(9))
        child = os.fork()
        if not child:
            take(home)
        os.waitpid(child, 0)

    assert is_taken_over(home)


def test_a_file_system_without_links_is_used_too(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", fails)
    with kinmem.open("ana"):
        assert "in use by process" in command(home, "list")[1]
    assert not (home / OWNER).exists()


def test_a_home_has_two_names_in_one_process(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.symlink_to(home)
    with kinmem.open("ana"), kinmem.open("ben", home=other) as ben:
        ben.memorize("The ferry leaves at noon")

    assert not (home / OWNER).exists()


def test_of_many_that_find_a_dead_owner_one_takes_over(home: Path) -> None:
    """Each is killed with the file in its hands, and the others find it."""
    write(home, replace(owner_file._here(), started="1", name="a"))
    takers = [subprocess.Popen([sys.executable, "-c", TAKES, str(home)]) for _ in range(5)]

    assert [one.wait(90) for one in takers] == [-signal.SIGKILL] * 5
    lines = (home / "log").read_text().split()
    pids, said = lines[::2], lines[1::2]
    assert said == ["in", "out"] * 5
    assert pids[::2] == pids[1::2] and len(set(pids)) == 5
