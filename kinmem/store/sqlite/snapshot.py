"""All files of a home at one moment: copied beside writers, compared, and replaced as a whole.

Nothing here opens a database file but SQLite: closing any other handle would drop its locks. A home
is consistent over its files when each copy in shared.db is as its original is or waits in that
Kin's outbox; so the files have to be copied as of one moment. Every writer is kept waiting for as
long as it takes to begin one reading transaction for each file, which is milliseconds; the copies
are made from those transactions afterwards.
"""

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any

import apsw

from kinmem.errors import StoreError
from kinmem.models.reports import Difference, Earlier, FileChanges, FileFacts, Mended
from kinmem.settings import KIN_NAME
from kinmem.store.base import Store
from kinmem.store.history import new_epoch
from kinmem.store.sql.forgetting import ERASED
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.disk import accept, note_of, noted_files
from kinmem.store.sqlite.driver import (
    Connection,
    can_encrypt,
    connect,
    counted,
    make_private,
    set_key,
    shut,
    translated,
)
from kinmem.store.sqlite.encryption import keys_for
from kinmem.store.sqlite.migrating import APPLICATION_ID, MIGRATIONS, numbered, without_backup
from kinmem.store.sqlite.owner_file import is_used, taken
from kinmem.store.sqlite.salvage import salvage
from kinmem.store.sqlite.store import SqliteStore, examine

logger = logging.getLogger(__name__)

SHARED = "shared.db"
PAGES = 2000
"""Copied at a time; in between the copy may be told to stop."""
PATIENCE = 2.0
"""Seconds to wait until nobody has a file open: a hook may be at work for a moment."""
DAMAGE_SHOWN = 5
TOLD = """content subject category scope state importance pinned speaker occurred_at expires_at
    manual_tags source_context superseded_by""".split()
"""Columns that say whether two rows are the same memory to a person; every schema has them."""
# Characters of a text that are kept to be shown; more than a line, so that a secret within the line
# is seen as a whole.
BEGINNING = 4000
CLAIM = """
    INSERT INTO unpublished
    SELECT id FROM memories WHERE scope = 'shared' UNION SELECT value FROM json_each(:copies)
"""


class SqliteHome:
    """See HomeFiles."""

    @property
    def schema(self) -> int:
        return numbered(MIGRATIONS)[-1][0]

    def names(self, home: Path) -> list[str]:
        kins = sorted(
            f"kins/{path.name}"
            for path in (home / "kins").glob("*.db")
            if KIN_NAME.fullmatch(path.stem) and _is_file(path)
        )
        return [*kins, *([SHARED] if _is_file(home / SHARED) else [])]

    @contextmanager
    def taken(self, home: Path) -> Iterator[bool]:
        with taken(home):
            yield is_used(home)

    def copy(
        self,
        home: Path,
        folder: Path,
        *,
        locked: Path | None = None,
        stopping: Callable[[], bool] = bool,
    ) -> Mapping[str, str]:
        damaged: dict[str, str] = {}
        with ExitStack() as open_files:
            readers = _readers(home, self.names(home), locked, damaged, open_files)
            _copy_all(readers, folder, damaged, stopping)
        return damaged

    def facts(self, path: Path, *, thorough: bool = True) -> FileFacts:
        try:
            with translated(path), closing(connect(path)) as db:
                if db.execute("PRAGMA application_id").get != APPLICATION_ID:
                    return FileFacts(0, 0, 0, ("it is not a file of kinmem",))
                found = _damage(db) if thorough else ()
                schema: Any = db.execute("PRAGMA user_version").get
                turns = _count(db, "turns") if schema > 1 else 0
                return FileFacts(schema, _count(db, "memories"), turns, found)
        except StoreError as error:
            return FileFacts(0, 0, 0, (str(error),))

    def changes(self, present: Path | None, copy: Path) -> FileChanges:
        before, turns_before = _contents(present)
        after, turns_after = _contents(copy)
        both = before.keys() & after.keys()
        changed = {id for id in both if before[id] != after[id]}
        touched = sorted(changed | (before.keys() ^ after.keys()))
        return FileChanges(
            tuple(sorted(after.keys() - both)),
            tuple(sorted(before.keys() - both)),
            tuple(sorted(changed)),
            len(turns_after - turns_before),
            len(turns_before - turns_after),
            {id: _difference(before.get(id), after.get(id)) for id in touched},
        )

    @contextmanager
    def alone(self, home: Path) -> Iterator["SqliteReplaceable"]:
        with ExitStack() as open_files:
            held = {}
            for name in self.names(home):
                if (db := _locked_out(home / name)) is not None:
                    held[name] = db
                    open_files.callback(shut, db)
            yield SqliteReplaceable(home, held)

    def encrypt(self, home: Path, key: str | None) -> int:
        """Encrypt all files with that key, or decrypt them. Returns how many there are.

        Raises StoreError, storage_busy while a process has one of them open. Cut short, some files
        have the new key and others the old one: the same call ends it.
        """
        with self.alone(home) as files:
            return files.encrypt(key)

    def damage(self, path: Path) -> list[str]:
        try:
            with closing(SqliteDatabase(path)) as database:
                found = examine(database, path.parent, deep=True)
        except StoreError as error:
            return [str(error)]
        return [*found.damage, *(one.told for one in found.damaged)]

    def salvage(
        self, copy: Path, target: Path, backups: Earlier, gone: Collection[str] = ()
    ) -> Mended:
        with translated(copy):
            mended = salvage(copy, target, backups, gone)
            _settle(target)
            return mended

    def claim(self, home: Path, names: Collection[str]) -> None:
        shared = home / SHARED
        for name in names:
            if name != SHARED:
                with translated(home / name):
                    _claim(home / name, shared if _is_file(shared) else None)

    @contextmanager
    def opened(self, folder: Path, kin: str) -> Iterator[Store]:
        with closing(SqliteStore(folder, kin, before_upgrade=without_backup)) as store:
            yield store
        for name in (f"kins/{kin}.db", SHARED):
            with translated(folder / name):
                _settle(folder / name)

    def missing(self, home: Path) -> Mapping[str, int | None]:
        found: dict[str, int | None] = {}
        for name, noted in noted_files(home):
            path = home / name
            if not _is_file(path) or not path.stat().st_size:
                found[name] = None
                continue
            with translated(path), closing(connect(path)) as db:
                lacking = noted - counted(db)
            if lacking > 0:
                found[name] = lacking
        return found

    def accept(self, home: Path, name: str) -> None:
        path = home / name
        if _is_file(path) and path.stat().st_size and (db := _locked_out(path)) is not None:
            with translated(path), closing(db):
                _begin_epoch(db)
        accept(note_of(home, name))
        if _is_file(path := home / name) and not path.stat().st_size:
            _put_aside(path)  # its log belongs to what it was

    def erased(self, home: Path, kin: str) -> set[str]:
        path = home / "kins" / f"{kin}.db"
        if not _is_file(path):
            return set()
        with translated(path), closing(connect(path)) as db:
            rows = db.execute("SELECT DISTINCT memory_id FROM history WHERE action = 'erased'")
            return {str(id) for (id,) in rows}

    def erased_turns(self, home: Path, kin: str) -> Sequence[tuple[int, str]]:
        path = home / "kins" / f"{kin}.db"
        if not _is_file(path):
            return []
        with translated(path), closing(connect(path)) as db:
            rows: Any = db.execute("SELECT id, session FROM turns WHERE text = ?", (ERASED,))
            return list(rows)

    def erase_turns(self, folder: Path, kin: str, turns: Sequence[tuple[int, str]]) -> int:
        path = folder / "kins" / f"{kin}.db"
        with translated(path), closing(connect(path)) as db:
            before = db.total_changes()
            db.executemany(
                "UPDATE turns SET text = ?, spill = NULL"
                " WHERE id = ? AND session = ? AND text != ?",
                [(ERASED, id, session, ERASED) for id, session in turns],
            )
            return db.total_changes() - before

    def ids(self, path: Path, among: Collection[str]) -> set[str]:
        with translated(path), closing(connect(path)) as db:
            rows = db.execute(
                "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(among)),),
            )
            return {str(id) for (id,) in rows}


class SqliteReplaceable:
    """See Replaceable."""

    def __init__(self, home: Path, held: Mapping[str, Connection]) -> None:
        self._home = home
        self._held = held

    def copy(self, folder: Path) -> Mapping[str, str]:
        damaged = dict.fromkeys(self.unreadable, "it cannot be read as a database")
        _copy_all(self._held, folder, damaged, bool)
        return damaged

    @property
    def unreadable(self) -> set[str]:
        """The names of files that cannot be read as databases."""
        return set(SqliteHome().names(self._home)) - self._held.keys()

    def encrypt(self, key: str | None) -> int:
        """See SqliteHome."""
        for name, db in self._held.items():
            with translated(self._home / name):
                change_key(db, key)
        return len(self._held)

    def replace(self, name: str, copy: Path) -> None:
        path = self._home / name
        accept(note_of(self._home, name))  # before it has fewer writes than were noted
        with translated(path), closing(connect(copy)) as source:
            held = self._held.get(name)
            key = keys_for(path)[0] if held is None else held.key
            if source.key != key:
                change_key(source, key)
            _begin_epoch(source)
            if held is not None:
                _overwrite(held, source)
                return
            _put_aside(path)
            make_private(path)
            with closing(connect(path)) as new:
                _overwrite(new, source)


def _begin_epoch(db: Connection) -> None:
    """Let whoever knows a position in another file than this one be told so."""
    db.execute("UPDATE revision SET number = ?", (new_epoch(),))


UNMARKED = (
    "it does not say that it is a file of kinmem, so it is in no backup; kinmem doctor --repair"
    " mends it if it is one"
)


def _readers(
    home: Path,
    names: Sequence[str],
    locked: Path | None,
    damaged: dict[str, str],
    open_files: ExitStack,
) -> dict[str, Connection]:
    """Begin to read every file at one moment: while all of them are locked for writing, in an order
    that is the same for everybody."""
    readers = {}
    with ExitStack() as gates:
        for name in names:
            path = home / name
            try:
                with translated(path):
                    if path != locked:
                        gate = connect(path)
                        gates.callback(shut, gate)
                        gate.execute("BEGIN IMMEDIATE")
                    reader = connect(path)
                    open_files.callback(shut, reader)
                    reader.execute("BEGIN")
                    if reader.execute("PRAGMA application_id").get == APPLICATION_ID:
                        readers[name] = reader
                    elif reader.execute("SELECT count(*) FROM sqlite_schema").get:
                        damaged[name] = f"{path.name}: {UNMARKED}"
            except StoreError as error:
                if error.code != "storage_damaged":
                    raise
                damaged[name] = str(error)
        for name in list(readers):
            try:
                with translated(home / name):
                    readers[name].execute("SELECT count(*) FROM sqlite_schema").fetchall()
            except StoreError as error:
                damaged[name] = str(error)
                del readers[name]
    return readers


def _copy_all(
    readers: Mapping[str, Connection],
    folder: Path,
    damaged: dict[str, str],
    stopping: Callable[[], bool],
) -> None:
    for name, reader in readers.items():
        target = folder / name
        make_private(target)
        try:
            with translated(target):
                _copy_pages(reader, target, stopping)
        except StoreError as error:
            if error.code != "storage_damaged":
                raise
            damaged[name] = str(error)
            target.unlink(missing_ok=True)


def _copy_pages(reader: Connection, target: Path, stopping: Callable[[], bool]) -> None:
    """Copy page by page; the file that results needs no log beside it."""
    with closing(apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)) as copy:
        set_key(copy, reader.key)  # SQLite copies between files of the same key only
        copy.execute("PRAGMA synchronous = OFF")  # whoever packs it syncs the result
        with copy.backup("main", reader, "main") as pages:
            while not pages.done:
                if stopping():
                    raise StoreError("the copy was stopped; nothing was kept", "storage_busy")
                pages.step(PAGES)
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()


def _locked_out(path: Path) -> Connection | None:
    """Open the file so that nobody else can, and empty its log; None if it is too damaged for
    that."""
    latest = time.monotonic() + PATIENCE
    try:
        with translated(path):
            db = connect(path)
            try:
                db.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
                while True:
                    try:
                        db.execute("PRAGMA journal_mode = DELETE").fetchall()
                        db.execute("BEGIN EXCLUSIVE")
                        db.execute("COMMIT")
                        return db
                    except apsw.BusyError:
                        if time.monotonic() > latest:
                            raise
                        time.sleep(0.05)
            except BaseException:
                db.close()
                raise
    except StoreError as error:
        if error.code == "storage_busy":
            raise StoreError(
                f"another process has {path.name} open{_users_of(path)}: stop every server, client"
                " and command that uses this home, then try again; nothing was changed",
                "storage_busy",
            ) from error
        if error.code == "storage_damaged":
            return None
        raise


def _users_of(path: Path) -> str:
    """Name the processes that have the file open, as far as the system tells us of them."""
    opened = str(path.resolve())
    others = (one for one in Path("/proc").glob("[0-9]*") if one.name != str(os.getpid()))
    told = [f"{one.name}: {_command_of(one)}" for one in others if opened in _open_files(one)]
    return f" ({'; '.join(told)})" if told else ""


def _open_files(process: Path) -> Iterator[str]:
    with suppress(OSError):
        for one in (process / "fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                yield str(one.readlink())


def _command_of(process: Path) -> str:
    """Return what it runs, without arguments: a memory may be among them."""
    with suppress(OSError):
        words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        names = [PurePath(word).name for word in words]
        if "kinmem" not in names:
            return names[0]
        at = names.index("kinmem")
        return " ".join(names[at : at + 2]).strip()
    return "it has ended"


def change_key(db: apsw.Connection, key: str | None) -> None:
    """Encrypt the file of this connection, which nobody else has open, with that key; None: no
    longer."""
    if key is not None or can_encrypt():
        db.pragma("rekey", "" if key is None else f"raw:{key}")


def _overwrite(target: apsw.Connection, source: apsw.Connection) -> None:
    """Write all pages in one transaction: a crash leaves what was there before."""
    with target.backup("main", source, "main") as pages:
        pages.step(-1)


def _put_aside(path: Path) -> None:
    """Keep what cannot be read as a file, for whoever can make something of it."""
    number = 1
    while (kept := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for suffix in ("", "-wal", "-shm", "-journal"):
        old = path.with_name(path.name + suffix)
        if old.exists():
            old.rename(kept.with_name(kept.name + suffix))
            logger.warning("%s cannot be read and is kept as %s", old.name, kept.name + suffix)


def _settle(path: Path) -> None:
    """Let everything be in the file itself."""
    with closing(connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE").fetchall()


def _claim(path: Path, shared: Path | None) -> None:
    copies: list[str] = []
    if shared is not None:
        with closing(connect(shared)) as others:
            rows = others.execute("SELECT id FROM memories WHERE kin = ?", (path.stem,))
            copies = [str(id) for (id,) in rows]
    with closing(connect(path)) as db:
        if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'unpublished'").get:
            db.execute(CLAIM, {"copies": json.dumps(copies)})


def _contents(path: Path | None) -> tuple[dict[str, tuple[Any, ...]], set[Any]]:
    """Return the fields in TOLD of each memory, a long text as its beginning and a hash, and what
    identifies each message; nothing if the file cannot be read."""
    if path is None:
        return {}, set()
    try:
        with translated(path), closing(connect(path)) as db:
            found = db.execute(f"SELECT id, {', '.join(TOLD)} FROM memories").fetchall()
            has_turns = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'turns'").get
            sql = "SELECT session, turn, role, part, text FROM turns"
            turns = set(db.execute(sql)) if has_turns else set()
    except StoreError:
        return {}, set()
    return {str(id): (*_short(str(content)), *row) for id, content, *row in found}, turns


def _short(content: str) -> tuple[str, bytes]:
    """Return the beginning of a text, and what tells it from others that begin alike."""
    rest = content[BEGINNING:]
    return content[:BEGINNING], hashlib.blake2b(rest.encode(), digest_size=16).digest()


def _difference(now: tuple[Any, ...] | None, then: tuple[Any, ...] | None) -> Difference:
    fields = {}
    if now is not None and then is not None:
        pairs = zip(TOLD[1:], now[2:], then[2:], strict=True)
        fields = {
            name: (str("" if a is None else a), str("" if b is None else b))
            for name, a, b in pairs
            if a != b
        }
    return Difference(None if now is None else now[0], None if then is None else then[0], fields)


def _damage(db: apsw.Connection) -> tuple[str, ...]:
    sql = f"PRAGMA integrity_check({DAMAGE_SHOWN})"
    found = [str(said) for (said,) in db.execute(sql)]
    return () if found == ["ok"] else tuple(found)


def _count(db: apsw.Connection, table: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table}").get)


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
