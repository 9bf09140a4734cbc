"""Lets the N-th access to the disk fail in whole journeys: tools, upkeep, migration, backup and
restore.

Run as `python -m tests.store.fault_journeys <folder> <step> <journey>`; prints a summary as JSON.
Besides writing, syncing and shortening (fault_sweep.py), opening and deleting fail.
"""

import json
import shutil
import sys
import traceback
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from kinmem.backup.restore import restore
from kinmem.errors import KinmemError
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring.open_home import open_backups
from kinmem.wiring.open_memory import open_service
from tests.backups import version_6
from tests.store.fault_sweep import Faults, FaultyFile
from tests.store.soundness import everything, problems

TEXTS = [
    *(f"Person {n} keeps {n * 7} stamps in box {n + 40}" for n in range(12)),
    ("The ferry to Sardinia leaves at noon. " * 60).strip(),
]
LATER = "stored after the backup"


class WideFaults(Faults):
    """Opening and deleting files can fail as well."""

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:
        self.tick()
        return super().xOpen(name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        self.tick()
        super().xDelete(name, sync)


@dataclass
class Told:
    """What a journey was answered: texts that must be there, and texts that must not."""

    stored: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    codes: set[str] = field(default_factory=set)

    def attempt(self, act: Callable[[], object]) -> bool:
        try:
            act()
        except KinmemError as error:
            self.codes.add(error.code)
            return False
        return True


def opened(home: Path) -> Service:
    settings = load({"KINMEM_HOME": home, "KINMEM_KIN": "ana", "KINMEM_JUDGE": "off"})
    return open_service(settings, resident=False)


def tools(home: Path, told: Told) -> None:
    """A server's calls."""
    with opened(home) as service:
        ids = {one.content: one.id for one in service.list_memories(limit=200).memories}
        new = ["Emil drives an old Volvo", "Frida prefers window seats"]
        for number, text in enumerate(new):
            scope = ("private", "shared")[number]
            if told.attempt(lambda t=text, s=scope: service.memorize(t, scope=s)):
                told.stored.append(text)
        if told.attempt(lambda: service.forget(ids[TEXTS[0]], erase=True)):
            told.gone.append(TEXTS[0])
        changed = TEXTS[1].replace("stamps", "coins")
        if told.attempt(lambda: service.update_memory(ids[TEXTS[1]], content=changed)):
            told.stored.append(changed)
            told.gone.append(TEXTS[1])
            told.attempt(lambda: service.undo(last=1))
            told.stored.remove(changed)  # told as failed, it may have been done
            told.gone.remove(TEXTS[1])
        told.attempt(lambda: service.forget(ids[TEXTS[2]]))
        told.attempt(lambda: service.recall("who keeps stamps?"))
        told.attempt(lambda: service.record_turn("s", "I moved to Lisbon", "Nice.", turn="1"))
        told.attempt(lambda: service.list_memories())


def upkeep(home: Path, told: Told) -> None:
    """A sleep cycle."""
    with opened(home) as service:
        told.attempt(service.sleep)


def migration(home: Path, told: Told) -> None:
    """Files of an earlier version are opened."""
    told.attempt(lambda: opened(home).close())


def backup(home: Path, told: Told) -> None:
    """A backup is made."""
    backups = open_backups(load({"KINMEM_HOME": home}))
    told.attempt(backups.make)


def restoring(home: Path, told: Told) -> None:
    """The backup is restored; cut short, the next opening ends it."""
    backups = open_backups(load({"KINMEM_HOME": home}))
    [made] = backups.listed()
    told.attempt(lambda: restore(backups, made.path))


JOURNEYS: dict[str, Callable[[Path, Told], None]] = {
    "tools": tools,
    "upkeep": upkeep,
    "migration": migration,
    "backup": backup,
    "restore": restoring,
}


def make_template(home: Path, journey: str) -> set[str]:
    """A home to begin with; what is in it at last if nothing fails."""
    if journey == "migration":
        version_6(home)
        copy = home.with_name("migrated")
        shutil.copytree(home, copy)
        with closing(SqliteStore(copy, "ana")) as store:
            return {one.content for one in everything(store)}
    with opened(home) as service:
        for number, text in enumerate(TEXTS):
            service.memorize(text, scope="shared" if number % 4 == 0 else "private")
        service.record_turn("t", "My sister Lena plays the cello", "Lovely.", turn="0")
    if journey == "restore":
        backups = open_backups(load({"KINMEM_HOME": home}))
        backups.make()
        with opened(home) as service:
            service.memorize(LATER)
    return set(TEXTS)


def wrong_after(home: Path, journey: str, told: Told, expected: set[str]) -> list[str]:
    with closing(SqliteStore(home, "ana")) as store:
        wrong = problems(store)
        left = {one.content for one in everything(store)}
    if journey == "restore":
        whole = (expected, expected | {LATER})
        return wrong if left in whole else [*wrong, f"half a restore: {len(left)} memories"]
    if journey == "tools":
        changed = TEXTS[1].replace("stamps", "coins")
        wrong += [] if left & {changed, TEXTS[1]} else ["lost what was changed"]
        must = {*TEXTS[2:], *told.stored}
        wrong += [f"lost: {text[:40]}" for text in must - left]
        wrong += [f"still there: {text[:40]}" for text in left & set(told.gone)]
        return wrong
    return wrong + [f"lost: {text[:40]}" for text in expected - left]


KINDS = [
    (name, error, sticky)
    for name, error in (("IOERR", apsw.SQLITE_IOERR), ("FULL", apsw.SQLITE_FULL))
    for sticky in (False, True)
]


def attempted(home: Path, journey: str, told: Told) -> str | None:
    """Do the journey; an error that nobody may be shown, if there was one."""
    try:
        JOURNEYS[journey](home, told)
    except KinmemError as failed:
        told.codes.add(failed.code)
    except SystemError as failed:  # of the driver, for a fault raised in Python
        if not isinstance(failed.__cause__, apsw.Error):
            return repr(failed)
    except Exception as failed:
        frames = traceback.extract_tb(failed.__traceback__)
        inside = [one for one in frames if "/kinmem/" in one.filename][-1]
        return f"{failed!r} from {Path(inside.filename).name}:{inside.lineno}"
    return None


def main(folder: Path, step: int, journey: str) -> None:
    """Each kind of fault at every so manieth access, each kind from another one on."""
    template = folder / "template"
    expected = make_template(template, journey)
    faults = WideFaults()
    found: dict[str, Any] = {"points": 0}
    codes: set[str] = set()

    def tried(at: int | None, error: int, *, sticky: bool) -> tuple[list[str], int]:
        home = folder / "run"
        shutil.copytree(template, home, ignore=shutil.ignore_patterns("*.sock"))
        told = Told()
        faults.arm(at, error, sticky=sticky)
        failed = attempted(home, journey, told)
        found["points"] += bool(faults.fired)
        reached = faults.count
        faults.arm(None, error, sticky=False)
        wrong = wrong_after(home, journey, told, expected)
        shutil.rmtree(home)
        codes.update(told.codes)
        return [failed, *wrong] if failed else wrong, reached

    found["wrong"], reached = tried(None, apsw.SQLITE_IOERR, sticky=False)
    for number, (name, error, sticky) in enumerate(KINDS):
        first = 1 + number * min(step, reached) // len(KINDS)
        for at in range(first, reached + 1, step):
            wrong, _ = tried(at, error, sticky=sticky)
            found["wrong"] += [f"{name} {sticky=} at {at}: {problem}" for problem in wrong]
    sys.stdout.write(json.dumps({**found, "wrong": found["wrong"][:10], "codes": sorted(codes)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
