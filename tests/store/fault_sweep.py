"""Lets the N-th write to disk fail, for every N in turn, and looks at what is left.

Run as `python -m tests.store.fault_sweep <folder> <step>`; prints a summary as JSON. A process of
its own, because SQLite here reaches every file through a layer that can fail.
"""

import json
import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from kinmem.errors import StoreError
from kinmem.models import State
from kinmem.models.turns import Batch, Change, Conflict
from kinmem.store.sqlite.store import SqliteStore
from tests.store.contract import NOON, TINY, WIDTH, chunks_of, draft_of, vectors_of
from tests.store.sessions_contract import kept
from tests.store.soundness import everything, problems

BASE = apsw.vfs_names()[0]
LONG = "many words that fill more than one page of the file " * 100


class Faults(apsw.VFS):
    """Counts what reaches the disk, and fails at a chosen moment."""

    def __init__(self) -> None:
        super().__init__("faults", base=BASE, makedefault=True)
        self.arm(None, apsw.SQLITE_IOERR, sticky=False)

    def arm(self, at: int | None, error: int, *, sticky: bool) -> None:
        self.count, self.at, self.error, self.sticky, self.fired = 0, at, error, sticky, 0

    def tick(self) -> None:
        self.count += 1
        if self.at and (self.count == self.at or (self.sticky and self.count > self.at)):
            self.fired += 1
            raise apsw.exception_for(self.error)

    def xOpen(self, name: Any, flags: list[int]) -> "FaultyFile":
        return FaultyFile(self, name, flags)


class FaultyFile(apsw.VFSFile):
    """One file whose writing may fail. Nothing is synced: no power is cut here."""

    def __init__(self, faults: Faults, name: Any, flags: list[int]) -> None:
        self.faults = faults
        super().__init__(BASE, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self.faults.tick()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self.faults.tick()

    def xTruncate(self, size: int) -> None:
        self.faults.tick()
        super().xTruncate(size)


Stand = list[Any] | None
"""Scope, content and state of a memory; None: there is none."""


class Scenario:
    """One of each kind of write, and what is known of the memories after each."""

    def __init__(self, store: SqliteStore, known: dict[str, Stand]) -> None:
        self.store = store
        self.known = known
        self.doubtful: dict[str, Stand] = {}
        self.codes: set[str] = set()

    def attempt(self, id: str, after: Stand, act: Callable[[], object]) -> None:
        try:
            act()
        except StoreError as error:
            self.codes.add(error.code)
            if id in self.doubtful and self.known.get(id) != after:
                return  # it was in doubt before; only the first doubt is followed
            self.doubtful[id] = after
        else:
            self.known[id] = after

    def run(self) -> None:
        store = self.store
        add, move, text = self.add, self.move, "new content " + LONG
        add("new", "a new fact", "private")
        add("long", LONG, "shared")
        self.attempt(
            "a", ["private", text, "active"],
            lambda: store.update("a", {"content": text}, chunks=chunks_of(text)),
        )  # fmt: skip
        move("b", "a fact b", "shared")
        move("c", "a fact c", "private")
        gone = {"state": State.DELETED}
        self.attempt("d", ["private", "a fact d", "deleted"], lambda: store.update("d", gone))
        self.attempt("e", None, lambda: store.erase("e"))
        self.attempt("f", None, lambda: store.erase("f"))
        try:
            waiting = store.index.pending(TINY, 9)
            store.index.fill(TINY, waiting, vectors_of([one.text for one in waiting]))
        except StoreError as error:
            self.codes.add(error.code)
        self.learn()
        add("last", "the last fact", "private")

    def learn(self) -> None:
        """What was said becomes a memory that takes the place of another."""
        new = draft_of("a learned fact", id="learned")
        gone = {"state": State.SUPERSEDED, "superseded_by": "learned"}
        batch = Batch(
            drafts=[new],
            changes=[Change("g", gone, "superseded")],
            conflicts=[Conflict("learned", "g", "update", "temporal", "it is later")],
            parents={"learned": ["g"]},
            learned=[1, 2, 3],
        )
        self.attempt(
            "learned", ["private", "a learned fact", "active"], lambda: self.store.apply(batch)
        )
        for known in (self.known, self.doubtful):
            if "learned" in known:
                known["g"] = ["private", "a fact g", "superseded"]

    def add(self, id: str, content: str, scope: str) -> None:
        draft = draft_of(content, id=id, scope=scope)
        self.attempt(id, [scope, content, "active"], lambda: self.store.add([draft]))

    def move(self, id: str, content: str, scope: str) -> None:
        self.attempt(
            id, [scope, content, "active"], lambda: self.store.update(id, {"scope": scope})
        )


def make_template(home: Path) -> dict[str, Stand]:
    scopes = {
        "a": "private",
        "b": "private",
        "c": "shared",
        "d": "private",
        "e": "private",
        "f": "shared",
        "g": "private",
    }
    with closing(SqliteStore(home, "ana")) as store:
        store.index.enroll(TINY, WIDTH)
        for id, scope in scopes.items():
            store.add([draft_of(f"a fact {id}", id=id, scope=scope)])
        store.add([draft_of("waits", id="waits", embedder=None)])
        kept(store, "1")
    known: dict[str, Stand] = {id: [s, f"a fact {id}", "active"] for id, s in scopes.items()}
    return {**known, "waits": ["private", "waits", "active"]}


def check(home: Path, scenario: Scenario) -> list[str]:
    known = dict(scenario.known)
    with closing(SqliteStore(home, "ana")) as store:
        left = {one.id: [one.scope, one.content, one.state] for one in everything(store)}
        wrong = problems(store)
        learned = not store.turns.learnable(NOON, 1)
        parts = [learned, bool(store.parents("learned")), bool(store.decisions.conflicts())]
        if parts != ["learned" in left] * 3:
            wrong.append(f"half a batch: {parts}")
    for id, after in scenario.doubtful.items():
        if left.get(id) == after:
            known[id] = after
    known = {id: state for id, state in known.items() if state is not None}
    return wrong + [
        f"{id}: {left.get(id)}, not {known.get(id)}"
        for id in known.keys() | left.keys()
        if known.get(id) != left.get(id)
    ]


def main(folder: Path, step: int) -> None:
    faults = Faults()
    known = make_template(folder / "template")
    told: dict[str, Any] = {"wrong": [], "points": 0, "surfaced": 0, "codes": {}}
    kinds = {"IOERR": apsw.SQLITE_IOERR, "FULL": apsw.SQLITE_FULL}
    for name, error in kinds.items():
        for sticky in (False, True):
            kind, at = f"{name}{' sticky' if sticky else ''}", 1
            codes: set[str] = set()
            while True:
                home = folder / "run"
                shutil.copytree(folder / "template", home)
                store = SqliteStore(home, "ana")
                faults.arm(at, error, sticky=sticky)
                scenario = Scenario(store, dict(known))
                scenario.run()
                reached, fired = faults.count, faults.fired
                faults.arm(None, error, sticky=False)
                store.close()
                wrong = check(home, scenario)
                shutil.rmtree(home)
                told["wrong"] += [f"{kind} at {at}: {problem}" for problem in wrong]
                if not fired:
                    assert reached < at
                    break
                told["points"] += 1
                told["surfaced"] += bool(scenario.codes)
                codes |= scenario.codes
                at += step
            told["codes"][kind] = sorted(codes)
    sys.stdout.write(json.dumps({**told, "wrong": told["wrong"][:10]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
