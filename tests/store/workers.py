"""What tests do in other processes, each with a store of its own, from a common moment on.

They are forked from one that has imported this module: the imports take more than a second each.
"""

import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any

from kinmem.errors import StoreError, VersionConflict
from kinmem.models import Scope
from kinmem.store.sqlite import driver
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.store import SqliteStore
from tests.backups import backups_of
from tests.store.contract import chunks_of, draft_of, found_by_words
from tests.store.sessions_contract import turn

_begins: Any = None
"""Where the processes of one call wait for each other."""


def in_processes(work: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The results of calling it with each of the arguments, side by side."""
    context = get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(
        len(arguments),
        mp_context=context,
        initializer=_wait_at,
        initargs=(context.Barrier(len(arguments)),),
    ) as processes:
        return [one.result(280) for one in [processes.submit(work, *these) for these in arguments]]


def _wait_at(barrier: Any) -> None:
    global _begins
    _begins = barrier


def all_together() -> None:
    """Return when each of the processes has come so far."""
    _begins.wait(280)


def add_all(home: Path, kin: str, texts: Sequence[str]) -> list[str]:
    """Add the texts one by one from a common moment on; their ids."""
    with closing(SqliteStore(home, kin)) as store:
        all_together()
        # Ids count from 1 in every process.
        return [store.add([draft_of(text, kin, id=f"{os.getpid()}-{text}")])[0] for text in texts]


def write_all(home: Path, scope: Scope, count: int) -> None:
    """Add, change, share or unshare, and erase, so many times, from a common moment on."""
    other: Scope = "private" if scope == "shared" else "shared"
    with closing(SqliteStore(home, "ana")) as store:
        all_together()
        for number in range(count):
            text = f"{os.getpid()} {number}"
            [id] = store.add([draft_of(text, "ana", id=text, scope=scope)])
            store.update(id, {"importance": 3.0})
            if number % 3 == 1:
                store.update(id, {"scope": other})
            if number % 3 == 2:
                store.erase(id)


def observe_all(home: Path, turns: Sequence[str]) -> list[bool]:
    """Add the messages of these turns one by one from a common moment on; which ones were new."""
    with closing(SqliteStore(home, "ana")) as store:
        all_together()
        return [new for name in turns for one in turn(name) for new in store.turns.add([one])]


def append(home: Path, id: str, numbers: Sequence[int]) -> None:
    """Append numbers to a memory's content, each upon what is there, until it is taken."""
    with closing(SqliteStore(home, "ana")) as store:
        all_together()
        for number in numbers:
            while True:
                old = store.get(id)
                text = f"{old.content} {number}"
                try:
                    store.update(
                        id,
                        {"content": text, "content_hash": text, "scope": scope_for(number)},
                        chunks=chunks_of(text),
                        if_version=old.version,
                    )
                    break
                except VersionConflict:
                    pass


def scope_for(number: int) -> str:
    return "shared" if number % 3 == 0 else "private"


def open_new(home: Path) -> str:
    """Open a home that is not there yet, with everybody else."""
    all_together()
    with closing(SqliteStore(home, "ana")) as store:
        return store.add([draft_of(f"by {os.getpid()}", id=f"{os.getpid()}")])[0]


def open_and_close(home: Path, kin: str) -> None:
    """Open a Kin's memory, with everybody else."""
    all_together()
    SqliteStore(home, kin).close()


def migrate(path: Path, migrations: Path) -> int:
    upgrading = backups_of(path.parents[1]).upgrading
    with closing(SqliteDatabase(path, migrations, upgrading)) as database:
        return int(database.rows("PRAGMA user_version")[0][0])


def write_while_locked(home: Path, patience: float) -> tuple[str, float, list[str]]:
    """The error code of a write, how long it took, and what a search finds meanwhile."""
    driver.BUSY_SECONDS = patience
    with closing(SqliteStore(home, "ana")) as store:
        started = time.monotonic()
        try:
            store.add([draft_of("another", id="another")])
            code = "none"
        except StoreError as error:
            code = error.code
        return code, time.monotonic() - started, found_by_words(store, "tea")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
