"""The way back: nothing lost, nothing half done, and nobody else's hands in it."""

import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinmem.backup.erasure import ErasesInBackups
from kinmem.backup.restore import planned, restore
from kinmem.errors import InvalidInput, StoreError
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.base import Store
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring.open_memory import open_service
from tests.backup.test_backup import begun, filled, killed
from tests.backups import backups_of
from tests.store.contract import added
from tests.store.soundness import everything, problems
from tests.sweeps import WHOLE, rounds

pytestmark = pytest.mark.usefixtures("judge_off")

RESTORE = """
import sys
from pathlib import Path
from kinmem.backup.restore import restore
from tests.backups import backups_of
print("ready", flush=True)
restore(backups_of(Path(sys.argv[1])), Path(sys.argv[2]))
"""
HOLDER = """
import sys
from pathlib import Path
from kinmem.store.sqlite.store import SqliteStore
from tests import keys
store = SqliteStore(Path(sys.argv[1]), "ben")
print("ready", flush=True)
import signal; signal.pause()
"""


def told(home: Path, *kins: str) -> dict[str, Any]:
    """All that each Kin remembers, with its history and what was said."""
    found: dict[str, Any] = {}
    for kin in kins:
        with closing(SqliteStore(home, kin)) as store:
            assert problems(store) == []
            found[kin] = told_by(store, kin)
    return found


def told_by(store: Store, kin: str) -> Any:
    memories = sorted(everything(store), key=lambda one: one.id)  # type: ignore[arg-type]
    history = {one.id: store.history(one.id) for one in memories if one.kin == kin}
    turns = {one.name: store.turns.messages(one.name) for one in store.turns.sessions(None)}
    return memories, history, turns


def lived(service_of: Callable[..., Service], *kins: str) -> None:
    """Memories of all kinds, shared and private, and what was said."""
    for kin in kins:
        service = service_of(kin, resident=False)
        first = service.memorize(f"{kin} keeps the spare key under the mat", scope="shared")
        service.memorize(f"{kin} dislikes coriander")
        assert first.id is not None
        service.update_memory(first.id, content=f"{kin} keeps the spare key in the shed")
        service.record_turn("s", f"I am {kin} and I moved to Lisbon in May.", "How nice.")
        service.close()


@pytest.mark.parametrize("wreck", ["deleted", "truncated", "noise", "gone", "changed"])
def test_the_drill_brings_back_every_memory_and_every_turn(
    home: Path, service_of: Callable[..., Service], wreck: str
) -> None:
    lived(service_of, "ana", "ben")
    before = told(home, "ana", "ben")
    made = backups_of(home).make(folder=home.parent / "disk")

    wrecked(home, wreck)
    done = restore(backups_of(home), made.path)

    assert told(home, "ana", "ben") == before
    if wreck in ("deleted", "noise", "changed"):
        assert done.before is not None and done.before.manifest.reason == "restore"


def wrecked(home: Path, how: str) -> None:
    files = [home / "kins" / "ana.db", home / "kins" / "ben.db", home / "shared.db"]
    match how:
        case "deleted":
            files[0].unlink()
            files[2].unlink()
        case "truncated":
            for file in files:
                file.write_bytes(b"")
        case "noise":
            files[0].write_bytes(random.Random(1).randbytes(100_000))
        case "gone":
            shutil.rmtree(home)
        case "changed":
            with closing(SqliteStore(home, "ana")) as store:
                for one in everything(store):
                    if one.kin == "ana":
                        store.update(one.id, {"content": f"another {one.id}"})
                added(store, "something else", scope="shared")


def test_what_would_change_is_told_first_and_nothing_is_changed(home: Path) -> None:
    filled(home, "ana", "ben")
    made = backups_of(home).make()
    with closing(SqliteStore(home, "ana")) as store:
        store.erase("ana 0")
        store.update("ana 2", {"content": "another"})
        added(store, "later", id="later")
    before = told(home, "ana", "ben")

    plan = planned(backups_of(home), made.path)

    assert plan.files["kins/ben.db"].is_empty and plan.files["shared.db"].is_empty
    ana = plan.files["kins/ana.db"]
    assert (ana.added, ana.removed, ana.changed) == (("ana 0",), ("later",), ("ana 2",))
    assert told(home, "ana", "ben") == before
    assert [one.reason for one in backups_of(home).listed()] == ["manual"]

    done = restore(backups_of(home), made.path)
    assert done.plan.files == plan.files
    assert all(one.is_empty for one in planned(backups_of(home), made.path).files.values())
    assert done.before is not None
    restore(backups_of(home), done.before.path)  # and back again
    assert told(home, "ana", "ben") == before


def test_nothing_is_restored_under_another_process(home: Path) -> None:
    filled(home, "ana", "ben")
    made = backups_of(home).make()
    with closing(SqliteStore(home, "ana")) as store:
        store.erase("ana 0")
    before = told(home, "ana", "ben")
    holder = begun(HOLDER, home)
    try:
        with pytest.raises(StoreError, match=r"ben.db open.*: stop every server") as refused:
            restore(backups_of(home), made.path)
        assert refused.value.code == "storage_busy"
        assert [one.reason for one in backups_of(home).listed()] == ["manual"]
    finally:
        killed(holder)
    assert told(home, "ana", "ben") == before
    restore(backups_of(home), made.path)
    assert told(home, "ana", "ben") != before


def test_a_kill_in_a_restore_leaves_the_old_or_the_new(home: Path, tmp_path: Path) -> None:
    filled(home, "ana", "ben")
    made = backups_of(home).make(folder=tmp_path / "disk")
    new = told(home, "ana", "ben")
    for kin in ("ana", "ben"):
        with closing(SqliteStore(home, kin)) as store:
            for number in range(300):
                added(store, f"{kin} later {number}", id=f"{kin} later {number}", scope="shared")
    old = told(home, "ana", "ben")
    template = tmp_path / "template"
    shutil.copytree(home, template)
    seen = {"old": 0, "new": 0, "ended": 0}
    process, began = begun(RESTORE, home, made.path), time.monotonic()
    process.communicate(timeout=60)
    whole = time.monotonic() - began
    for share in np.linspace(0.2, 1.4, rounds(14, 3)):
        shutil.rmtree(home)
        shutil.copytree(template, home)
        process = begun(RESTORE, home, made.path)
        time.sleep(share * whole)
        killed(process)
        begun_already = (home / "backups/.restoring/begun.json").exists()
        with open_service(load({"KINMEM_KIN": "ana", "KINMEM_HOME": home}), resident=False):
            pass  # whoever opens a memory ends it
        found = told(home, "ana", "ben")
        assert found in (old, new)
        seen["old" if found == old else "new"] += 1
        seen["ended"] += begun_already
        assert not list((home / "backups").glob(".restoring/begun.json"))
    assert not WHOLE or (seen["old"] > 0 and seen["new"] > 0)


def test_a_restore_cut_short_at_each_file_is_ended_by_the_next_opening(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kinmem.store.sqlite.snapshot import SqliteReplaceable

    filled(home, "ana", "ben")
    made = backups_of(home).make()
    new = told(home, "ana", "ben")
    replace = SqliteReplaceable.replace
    for fail_at in range(3):
        with closing(SqliteStore(home, "ana")) as store:
            added(store, f"later {fail_at}", scope="shared", id=f"later {fail_at}")
        count = iter(range(9))

        def failing(
            held: SqliteReplaceable,
            name: str,
            copy: Path,
            at: int = fail_at,
            count: Iterator[int] = count,
        ) -> None:
            if next(count) == at:
                raise KeyboardInterrupt
            replace(held, name, copy)

        with monkeypatch.context() as patched:
            patched.setattr(SqliteReplaceable, "replace", failing)
            with pytest.raises(KeyboardInterrupt):
                restore(backups_of(home), made.path)
        with pytest.raises(StoreError, match="cut short"):
            planned(backups_of(home), made.path)
        with open_service(load({"KINMEM_KIN": "ben", "KINMEM_HOME": home}), resident=False):
            pass
        assert told(home, "ana", "ben") == new


def test_a_kin_that_is_not_in_the_backup_stays_with_what_it_shares(home: Path) -> None:
    filled(home, "ana")
    made = backups_of(home).make()
    filled(home, "ben")
    before = told(home, "ben", "ana")

    done = restore(backups_of(home), made.path)

    assert done.plan.staying == ("kins/ben.db",)
    assert told(home, "ben", "ana") == before


def test_one_kin_alone_is_restored_and_what_it_shares_follows(home: Path) -> None:
    filled(home, "ana", "ben")
    made = backups_of(home).make()
    before = told(home, "ana", "ben")
    for kin in ("ana", "ben"):
        with closing(SqliteStore(home, kin)) as store:
            store.erase(f"{kin} 1")
            added(store, "shared later", id=f"{kin} later", scope="shared")
    after = told(home, "ana", "ben")

    done = restore(backups_of(home), made.path, kins=["ana"])

    assert list(done.plan.files) == ["kins/ana.db"]
    ana = told(home, "ana")["ana"]
    assert ana[1] == before["ana"][1]
    with closing(SqliteStore(home, "ben")) as ben:
        seen = {one.id for one in everything(ben)}
    assert "ana 1" in seen and "ana later" not in seen
    assert "ben 1" not in seen and "ben later" in seen
    assert told(home, "ben")["ben"][1] == after["ben"][1]
    with pytest.raises(InvalidInput, match="has no kins/cleo.db"):
        restore(backups_of(home), made.path, kins=["cleo"])


def test_nobody_but_sqlite_opens_a_file_of_the_home(home: Path) -> None:
    """Closing any other handle would drop the locks that other threads of the process rely on."""
    filled(home, "ana", "ben")
    files = {str(home / name) for name in ("kins/ana.db", "kins/ben.db", "shared.db")}
    opened: list[str] = []

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and watching and str(arguments[0]).startswith(tuple(files)):
            opened.append(str(arguments[0]))

    watching = False
    sys.addaudithook(note)
    with closing(SqliteStore(home, "ana")) as store:
        watching = True
        made = backups_of(home).make()
        with ErasesInBackups(backups_of(home), "ana").erasing(["ana 0"]) as reach:
            store.erase("ana 0")
        assert reach().rewritten == (str(made.path),)
        planned(backups_of(home), made.path)
    restore(backups_of(home), made.path)
    watching = False

    assert opened == []


def test_a_damaged_backup_is_not_restored(home: Path) -> None:
    filled(home, "ana")
    made = backups_of(home).make()
    data = bytearray(made.path.read_bytes())
    data[len(data) // 2] ^= 0x10
    made.path.write_bytes(data)
    before = told(home, "ana")

    with pytest.raises(StoreError) as refused:
        restore(backups_of(home), made.path)
    assert refused.value.code == "storage_damaged"
    assert told(home, "ana") == before


def test_an_unreadable_file_is_kept_aside(home: Path) -> None:
    filled(home, "ana")
    made = backups_of(home).make()
    noise = os.urandom(5000)
    (home / "kins" / "ana.db").write_bytes(noise)

    done = restore(backups_of(home), made.path)

    assert (home / "kins" / "ana.db.damaged-1").read_bytes() == noise
    assert done.before is not None and "kins/ana.db" in done.before.manifest.damaged
