"""kinmem backup, as a person types it: made, listed, verified, and restored after a look at it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from kinmem.hooks.local_socket import socket_path
from kinmem.hooks.socket_server import StayingWorker
from tests.cli.conftest import Kinmem

Memorized = Callable[..., str]


def test_a_backup_is_made_listed_and_verified(
    kinmem: Kinmem, memorized: Memorized, home: Path
) -> None:
    memorized("Clara plays the cello in Lyon")

    made = kinmem("backup", "--json").json
    listed = kinmem("backup", "list", "--json").json
    verified = kinmem("--json", "backup", "verify").json

    assert Path(made["path"]).parent == home / "backups"
    assert made["files"]["kins/default.db"]["memories"] == 1
    assert [one["path"] for one in listed["backups"]] == [made["path"]]
    assert verified["sound"] and verified["path"] == made["path"]
    name = Path(made["path"]).name
    assert name in kinmem("backup", "list").out
    assert f"{name} is sound" in kinmem("backup", "verify", name).out


def test_a_damaged_backup_is_an_error(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("Clara plays the cello in Lyon")
    path = Path(kinmem("backup", "--json").json["path"])
    path.write_bytes(path.read_bytes()[:-300])

    verified = kinmem("backup", "verify")

    assert verified.code == 1 and "damaged" in verified.err
    assert kinmem("backup", "verify", "nowhere.zip").code == 3


def test_a_restore_shows_what_would_change_and_needs_a_yes(
    kinmem: Kinmem, memorized: Memorized
) -> None:
    id = memorized("Clara plays the cello in Lyon")
    kinmem("backup")
    kinmem("forget", id, "--erase", "--yes")
    kept = memorized("Ben plays the oboe in Rome")
    kinmem("backup", "list")

    plan = kinmem("backup", "restore", "--dry-run")
    asked = kinmem("backup", "restore")

    assert "memories that come back: 0, go: 1" in plan.out and kept[-8:] in plan.out
    assert "Ben plays the oboe in Rome" in plan.out
    assert asked.code == 3 and "--yes does it" in asked.err
    assert kinmem("show", kept).code == 0
    done = kinmem("backup", "restore", "--yes", "--json").json
    assert done["restored"] and done["changes"]["kins/default.db"]["removed"] == [kept]
    assert kinmem("show", kept).code != 0
    kinmem("backup", "restore", Path(done["before"]).name, "--yes")
    assert kinmem("show", kept).code == 0


def test_a_dry_run_shows_texts_of_what_comes_back_goes_and_changes(
    kinmem: Kinmem, memorized: Memorized
) -> None:
    edited = memorized("Clara plays the cello in Lyon")
    tagged = memorized("Tom works at the library")
    kinmem("backup")
    kinmem("update", edited, "--content", "Clara plays the viola in Lyon")
    kinmem("update", tagged, "--pin")
    memorized("Ben plays the oboe\u202e in Rome, " + "and again " * 60)

    lines = kinmem("backup", "restore", "--dry-run").out.splitlines()
    told = kinmem("backup", "restore", "--dry-run", "--json").json["changes"]["kins/default.db"]

    at = next(number for number, line in enumerate(lines) if "viola" in line)
    assert lines[at].strip() == f"{edited[-8:]}  now: Clara plays the viola in Lyon"
    assert lines[at + 1].strip() == "then: Clara plays the cello in Lyon"
    assert any(line.strip() == "pinned: 1 → 0" for line in lines)
    oboe = [line for line in lines if "oboe" in line]
    assert len(oboe) == 1 and "\u202e" not in oboe[0] and oboe[0].rstrip().endswith("…")
    assert told["differences"][edited]["then"] == "Clara plays the cello in Lyon"
    assert told["differences"][tagged]["fields"] == {"pinned": ["1", "0"]}
    assert not any("again" in line for line in lines if line not in oboe)


def test_a_dry_run_shows_no_secrets(
    kinmem: Kinmem, memorized: Memorized, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ"
    memorized("Clara plays the cello in Lyon")
    kinmem("backup")
    monkeypatch.setenv("KINMEM_SECRETS", "keep")
    memorized(f"The key of the server is {key}")

    for form in ((), ("--json",)):
        out = kinmem("backup", "restore", "--dry-run", *form).out
        assert "The key of the server is" in out and key[:12] not in out


@pytest.mark.usefixtures("quick_age")
def test_an_encrypted_backup_elsewhere_is_restored_with_its_passphrase(
    kinmem: Kinmem, memorized: Memorized, tmp_path: Path
) -> None:
    id = memorized("Clara plays the cello in Lyon")
    secret = tmp_path / "secret"
    secret.write_text("correct horse\n", encoding="utf-8")
    disk = tmp_path / "disk"

    made = kinmem("backup", str(disk), "--encrypt", "--passphrase-file", str(secret), "--json")
    path = made.json["path"]

    assert Path(path).parent == disk and path.endswith(".age")
    assert path in kinmem("backup", "list").out.replace("\n", "")
    kinmem("update", id, "--content", "Clara plays the viola in Lyon")
    assert kinmem("backup", "restore", path, "--yes").code == 3  # nobody to ask for it
    restored = kinmem("backup", "restore", path, "--yes", "--passphrase-file", str(secret))
    assert restored.code == 0
    assert "cello" in kinmem("show", id).out
    secret.write_text("wrong", encoding="utf-8")
    refused = kinmem("backup", "verify", path, "--passphrase-file", str(secret))
    assert refused.code == 3 and "passphrase" in refused.err
    erased = kinmem("forget", id, "--erase", "--yes")
    assert path in erased.out.replace("\n", "")


def test_a_backup_that_cannot_be_written_is_not_remembered(
    kinmem: Kinmem, memorized: Memorized, tmp_path: Path
) -> None:
    memorized("Clara plays the cello in Lyon")
    (tmp_path / "file").touch()

    refused = kinmem("backup", str(tmp_path / "file" / "stick"))

    assert refused.code == 1 and refused.err.startswith("storage_failed: ")
    assert kinmem("backup", "list", "--json").json["elsewhere"] == []


def test_a_passphrase_file_that_is_not_there_is_named(
    kinmem: Kinmem, memorized: Memorized, tmp_path: Path
) -> None:
    memorized("Clara plays the cello in Lyon")

    refused = kinmem("backup", "--encrypt", "--passphrase-file", str(tmp_path / "none"))

    assert refused.code == 3 and "none cannot be read" in refused.err


@pytest.mark.parametrize("words", [("backup",), ("backup", "verify"), ("backup", "restore")])
def test_where_nothing_is_there_it_says_so(kinmem: Kinmem, words: tuple[str, ...]) -> None:
    ran = kinmem(*words)

    assert ran.code == 3 and "no" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="no worker stays there")
def test_a_worker_that_waits_for_hooks_makes_way_for_a_restore(
    kinmem: Kinmem, memorized: Memorized, home: Path
) -> None:
    kept = memorized("Clara plays the cello in Lyon")
    kinmem("backup")
    memorized("Ben plays the oboe in Rome")
    worker = subprocess.Popen(
        [sys.executable, "-m", "kinmem", "sleep", "--due", "--quiet", "--linger"],
        env={**os.environ, "KINMEM_HOME": str(home), "KINMEM_JUDGE": "off"},
        stdin=subprocess.DEVNULL,
    )
    socket = Path(socket_path(home, "default") or "")
    while not socket.exists() and worker.poll() is None:
        time.sleep(0.05)

    restored = kinmem("backup", "restore", "--yes", "--json")
    if restored.code:
        worker.kill()

    assert restored.code == 0, restored.err
    assert restored.json["restored"]
    assert worker.wait(timeout=60) == 0
    assert [one["id"] for one in kinmem("list", "--json").json["memories"]] == [kept]


@pytest.mark.skipif(sys.platform == "win32", reason="no worker stays there")
def test_a_worker_that_ends_late_takes_no_time_from_another(
    kinmem: Kinmem, memorized: Memorized, home: Path
) -> None:
    memorized("Clara plays the cello in Lyon")
    kinmem("backup")
    late, quick = StayingWorker(home, "ana"), StayingWorker(home, "bob")
    quick_is_asked = Event()
    waiting: list[tuple[StayingWorker, Any]] = [
        (late, SimpleNamespace(stop=lambda: None)),
        (quick, SimpleNamespace(stop=quick_is_asked.set)),
    ]

    def end(worker: StayingWorker) -> None:
        worker.wait(minutes=1)
        quick_is_asked.wait(60)
        worker.close()

    with ThreadPoolExecutor() as pool:
        for worker, service in waiting:
            worker.answer(service)
            pool.submit(end, worker)
        restored = kinmem("backup", "restore", "--yes")
        left = [not Path(socket_path(home, kin) or "").exists() for kin in ("ana", "bob")]
        for worker, _ in waiting:
            worker.close()
        quick_is_asked.set()

    assert restored.code == 0, restored.err
    assert left == [True, True]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_who_has_the_file_open_is_named(kinmem: Kinmem, memorized: Memorized, home: Path) -> None:
    memorized("Clara plays the cello in Lyon")
    kinmem("backup")
    reading = f"""
import sqlite3
db = sqlite3.connect({str(home / "kins" / "default.db")!r})
db.execute("BEGIN")
db.execute("SELECT count(*) FROM memories").fetchall()
print("reading", flush=True)
input()
"""
    command = [sys.executable, "-c", reading]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        refused = kinmem("backup", "restore", "--yes")
        other.kill()

    assert refused.code != 0
    program = Path(sys.executable).name
    assert f"has default.db open ({other.pid}: {program}):" in refused.err
