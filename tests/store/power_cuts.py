"""Cuts the power at any moment of a recorded run, and looks at what is left.

Run as `python -m tests.store.power_cuts <folder> <cuts> <seed> <synchronous>`; prints a summary as
JSON. A process of its own, because SQLite here reaches every file through a layer that records.

What was synced is on the disk. Of what was written since, each write is there, missing, or torn at
a sector; so is what was noted outside of the files, which may be any earlier note.
"""

import json
import random
import shutil
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from kinmem.models import Chunks, Draft, State
from kinmem.store.sqlite import driver
from kinmem.store.sqlite.disk import HighWater
from kinmem.store.sqlite.store import SqliteStore
from tests.store.contract import TINY, WIDTH, chunks_of, memory_of, vectors_of
from tests.store.soundness import everything, problems

BASE = apsw.vfs_names()[0]
SECTOR = 512
OPERATIONS = 90
WORDS = "amber birch cedar dune ember fjord glade heath islet jetty knoll lagoon".split()

Event = tuple[Any, ...]
"""What happened to which file: write, cut (to a size), sync, delete, note."""
Known = dict[str, Any]


class Recorder(apsw.VFS):
    """Writes down whatever changes a file."""

    def __init__(self) -> None:
        super().__init__("recorder", base=BASE, makedefault=True)
        self.events: list[Event] = []

    def xOpen(self, name: Any, flags: list[int]) -> "RecordedFile":
        return RecordedFile(self.events, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:
        self.events.append(("delete", name))
        super().xDelete(name, sync)


class RecordedFile(apsw.VFSFile):
    def __init__(self, events: list[Event], name: Any, flags: list[int]) -> None:
        self.events = events
        self.path = name.filename() if isinstance(name, apsw.URIFilename) else name
        super().__init__(BASE, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self.events.append(("write", self.path, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self.events.append(("cut", self.path, size))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self.events.append(("sync", self.path))


Answer = tuple[int, int, str, Any]


def recorded(home: Path, seed: int) -> tuple[list[Event], list[Answer]]:
    """Do something; what happened to the files, and of each operation when it began, when it was
    answered, and what is known of a memory since."""
    chance = random.Random(seed)
    recorder = Recorder()
    answers: list[Answer] = []
    note = HighWater.note

    def noting(self: HighWater, count: int) -> None:
        recorder.events.append(("note", str(self._path), count))
        note(self, count)

    HighWater.note = noting  # type: ignore[method-assign]
    with closing(SqliteStore(home, "ana")) as store:
        store.index.enroll(TINY, WIDTH)
        for number in range(OPERATIONS):
            began = len(recorder.events)
            id, after = _operate(store, chance, number)
            answers.append((began, len(recorder.events), id, after))
    HighWater.note = note  # type: ignore[method-assign]
    recorder.unregister()
    return recorder.events, answers


def _operate(store: SqliteStore, chance: random.Random, number: int) -> tuple[str, Any]:
    mine = everything(store)
    what = chance.choice(["add"] * 4 + ["edit", "edit", "move", "forget", "erase", "fill"])
    text = " ".join(chance.choices(WORDS, k=chance.choice([5, 300]))) + f" {number}"
    chunks = chunks_of(text) if chance.random() < 0.7 else Chunks((text,))
    if what == "add" or not mine:
        new = memory_of(text, id=f"{number:03}", scope=chance.choice(["private", "shared"]))
        store.add([Draft(new, chunks)])
        return new.id, [new.scope, text, "active"]
    old = chance.choice(mine)
    if what == "fill":
        waiting = store.index.pending(TINY, 5)
        store.index.fill(TINY, waiting, vectors_of([one.text for one in waiting]))
        return old.id, [old.scope, old.content, old.state]
    if what == "erase":
        store.erase(old.id)
        return old.id, None
    changes: dict[str, Any] = {
        "edit": {"content": text, "content_hash": text},
        "move": {"scope": "private" if old.scope == "shared" else "shared"},
        "forget": {"state": State.ACTIVE if old.state == "deleted" else State.DELETED},
    }[what]
    new = store.update(old.id, changes, chunks=chunks if what == "edit" else None)
    return new.id, [new.scope, new.content, new.state]


def left_by_a_cut(events: Sequence[Event], chance: random.Random) -> dict[str, bytearray]:
    """The files as a disk may have them that lost its power after these events."""
    files: dict[str, bytearray] = {}
    waiting: dict[str, list[Event]] = defaultdict(list)
    notes: dict[str, list[int]] = defaultdict(list)
    for event in events:
        kind, path = event[:2]
        if kind == "sync":
            for one in waiting.pop(path, []):
                _apply(files, one)
        elif kind == "delete":
            waiting.pop(path, None)
            files.pop(path, None)
        elif kind == "note":
            notes[path].append(event[2])
        else:
            waiting[path].append(event)
    for path, lost in waiting.items():
        files.setdefault(path, bytearray())
        for event in lost:
            fate = chance.random()
            if fate < 0.4:
                _apply(files, event)
            elif fate < 0.6 and event[0] == "write":
                _, _, offset, data = event
                for at in range(0, len(data), SECTOR):
                    if chance.random() < 0.5:
                        _apply(files, ("write", path, offset + at, data[at : at + SECTOR]))
    for path, counts in notes.items():
        [last] = chance.choices(counts, weights=range(1, len(counts) + 1))
        high = HighWater(Path(path))
        high.note(last)
        high.close()
    return files


def _apply(files: dict[str, bytearray], event: Event) -> None:
    kind, path, at = event[:3]
    file = files.setdefault(path, bytearray())
    if kind == "cut":
        del file[at:]
        return
    data = event[3]
    if len(file) < at:
        file.extend(bytes(at - len(file)))
    file[at : at + len(data)] = data


def main(folder: Path, cuts: int, seed: int, synchronous: str) -> None:
    settings = [
        f"synchronous = {synchronous}" if pragma.startswith("synchronous") else pragma
        for pragma in driver.PRAGMAS
    ]
    setattr(driver, "PRAGMAS", settings)  # noqa: B010
    home, chance = folder / "home", random.Random(seed)
    events, answers = recorded(home, seed)
    told: dict[str, Any] = {"cuts": cuts, "events": len(events), "lost": 0, "wrong": []}
    for number in range(cuts):
        at = chance.randrange(len(events) + 1)
        shutil.rmtree(home)
        for path in ("kins", "marks"):
            (home / path).mkdir(parents=True)
        for path, content in left_by_a_cut(events[:at], chance).items():
            Path(path).write_bytes(content)
        wrong = _compared(home, answers, at)
        told["lost"] += bool(wrong)
        told["wrong"] += [f"cut {number} at {at}: {problem}" for problem in wrong]
    sys.stdout.write(json.dumps({**told, "wrong": told["wrong"][:10]}))


def _compared(home: Path, answers: Sequence[Answer], at: int) -> list[str]:
    known: Known = {}
    doubtful: Known = {}
    for began, answered, id, after in answers:
        if answered <= at:
            known[id] = after
        elif began < at:
            doubtful[id] = after
    try:
        with closing(SqliteStore(home, "ana")) as store:
            left = {one.id: [one.scope, one.content, one.state] for one in everything(store)}
            wrong = problems(store) if TINY in _enrolled(store) else []
    except Exception as error:
        return [repr(error)]
    for id in known.keys() | left.keys() | doubtful.keys():
        if left.get(id) not in (known.get(id), doubtful.get(id, known.get(id))):
            wrong.append(f"{id}: {left.get(id)}, not {known.get(id)}")
    return wrong


def _enrolled(store: SqliteStore) -> set[str]:
    return {name for (name,) in store.files.own.database.rows("SELECT name FROM embedders")}


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
