"""Brings a file to the present schema: the numbered scripts in migrations/.

Then looks whether it has the schema that its scripts make, and nothing besides. A trigger or a view
that somebody else has put into a file runs with every statement of kinmem, and can change what it
answers. And a file of a development version may bear the number of a released schema without having
it.

Up to version 6 a shared memory was in shared.db alone. When its author's Kin is opened for the
first time since, its memories there are copied into its own file, with their history and all that
belongs to them, in one transaction that is done once. Whoever has not been opened since goes on
being read from shared.db. What is nobody else's to know is removed there after that, in a second
transaction; cut short between them, the next opening does it. Both files were backed up when their
schema was upgraded (connection.py).
"""

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kinmem.errors import StoreError
from kinmem.models.record import AUTO
from kinmem.store.sql import link_rows
from kinmem.store.sql.database import Row, Transaction
from kinmem.store.sql.history_rows import COLUMNS, next_write
from kinmem.store.sql.link_rows import FIELDS, ORIGIN, PUT_NEW
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.memory_rows import IN_IDS
from kinmem.store.sql.publishing import bring

logger = logging.getLogger(__name__)
APPLICATION_ID = 0x6B696E6D  # "kinm"
MIGRATIONS = Path(__file__).with_name("migrations")
NEW_FILE = Path(__file__).with_name("new_file.sql")
"""What all scripts together make of a new file; scripts/schema_of_new_files.py writes it."""
BeforeUpgrade = Callable[[Path], AbstractContextManager[Callable[[], None]]]
"""Entered before an older file is locked; yields what makes a backup once it is. One process after
the other upgrades, so that each of their backups is of one moment (kinmem/backup)."""


def without_backup(path: Path) -> AbstractContextManager[Callable[[], None]]:
    """Upgrade a file of which nobody needs a backup: a scratch file, or what is a copy already."""
    return nullcontext(lambda: None)


Scratch = Callable[[], AbstractContextManager[Transaction]]
"""Opens an empty database in memory."""


class Migrations:
    """The scripts of a folder."""

    def __init__(self, folder: Path, new: Scratch) -> None:
        self._steps, self._of_new_file = (
            _released() if folder == MIGRATIONS else (numbered(folder), None)
        )
        self._new = new

    @property
    def latest(self) -> int:
        """The schema version this kinmem writes."""
        return self._steps[-1][0]

    def checked_version(self, db: Transaction, path: Path) -> int:
        """Return the file's schema version, 0 for a new file. Raises StoreError for files that
        kinmem must not write to."""
        application, version, tables = db.value(  # all from one moment: it may be migrated now
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)"
            " FROM pragma_application_id, pragma_user_version"
        )
        if application != APPLICATION_ID and (application or version or tables):
            raise StoreError(
                f"{path} is not a kinmem file; move it away or set KINMEM_HOME elsewhere",
                "storage_foreign",
            )
        if version > self.latest:
            raise StoreError(
                f"{path} has schema {version}, this kinmem writes {self.latest};"
                " install the newer kinmem that made it",
                "storage_newer",
            )
        if tables and not version:
            raise StoreError(
                f"{path} has lost the number of its schema; kinmem doctor --repair finds it out",
                "storage_damaged",
            )
        if version:
            check_schema(db, path, version, self._steps, self._new)
        return int(version)

    def number_again(self, db: Transaction, path: Path) -> None:
        """Give a file that has lost the number of its schema that number. Raises StoreError if it
        has none of the schemas."""
        if db.value("PRAGMA user_version"):
            return
        version = version_of(db, self._steps, self._new)
        if version is None:
            raise StoreError(f"{path} has no schema that kinmem knows", "storage_foreign")
        db.run(f"PRAGMA application_id = {APPLICATION_ID}")
        db.run(f"PRAGMA user_version = {version}")

    def apply(self, db: Transaction, path: Path, back_up: Callable[[], None]) -> None:
        """Apply the scripts that the file lacks, in the caller's transaction: nobody can write
        between the backup of an older file and them."""
        found = self.checked_version(db, path)
        if 0 < found < self.latest:
            back_up()
            drop_indexes(db, found, self._steps, self._new)
        if found or self._of_new_file is None:
            for number, script in self._steps:
                if number > found:
                    db.run(script)
        else:
            db.run(self._of_new_file)
        db.run(f"PRAGMA application_id = {APPLICATION_ID}")
        db.run(f"PRAGMA user_version = {self.latest}")


def numbered(folder: Path) -> list[tuple[int, str]]:
    """Return the migrations as (number, script), from 1 on. Raises StoreError if one is missing."""
    steps = sorted(
        (int(match.group(1)), file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if (match := re.fullmatch(r"(\d{4})_\w+\.sql", file.name))
    )
    if [number for number, _ in steps] != list(range(1, len(steps) + 1)) or not steps:
        raise StoreError(f"the migrations in {folder} are incomplete; reinstall kinmem")
    return steps


def of_version(number: int) -> str:
    """Return the first line of NEW_FILE."""
    return f"-- Schema {number}, made by python -m scripts.schema_of_new_files"


Script = tuple[int, str]


@cache
def _released() -> tuple[Sequence[Script], str | None]:
    """Return the migrations and NEW_FILE; None if that is of another version. They are read once:
    each memory that is opened asks for them twice."""
    steps, script = numbered(MIGRATIONS), NEW_FILE.read_text(encoding="utf-8")
    return steps, script if script.startswith(of_version(steps[-1][0])) else None


PRESENT = "de04cc5dd89d893957bb4cc27f54de6a"
"""Digest of the schema that this kinmem writes; what has it needs no closer look."""
# SQLite's own, and what FTS5 and vec0 make: tables alone, which run nothing.
OF_EXTENSIONS = re.compile(r"(?:turn_)?words_(?:data|idx|content|docsize|config)|vectors_\d+_\w+")
VECTORS = re.compile(r"vectors_\d+")
OBJECTS = """
    SELECT type, name, coalesce(sql, '') FROM sqlite_schema
    WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name
"""


def check_schema(
    db: Transaction, path: Path, version: int, scripts: Sequence[Script], new: Scratch
) -> None:
    """Raise StoreError if a file of this version has another schema than its scripts make:
    storage_foreign for anything besides, storage_unsupported for a development version. Indexes of
    an older file that no script makes are left to `drop_indexes`."""
    found = _objects(db)
    if digest(found) == PRESENT:
        return
    extra, missing = _differences(found, version, scripts, new)
    is_older = version < scripts[-1][0]
    if is_older:
        extra = [name for name in extra if not name.startswith("index ")]
    if not (extra or missing):
        return
    if is_older and missing:
        raise StoreError(
            f"{path} says that it has schema {version}, but a development version of kinmem has"
            " made it, which cannot be upgraded; nothing was changed. Move it away, or open it with"
            " that version, `kinmem list --all --json`, and memorize here what you need",
            "storage_unsupported",
        )
    told = [f"has {name}, which kinmem has not made" for name in extra]
    told += [f"lacks {name}" for name in missing]
    raise StoreError(
        f"{path} {'; '.join(told[:3])}: what is in it could change what kinmem answers."
        " kinmem doctor --repair writes the file anew with kinmem's own schema",
        "storage_foreign",
    )


def drop_indexes(db: Transaction, version: int, scripts: Sequence[Script], new: Scratch) -> None:
    """Drop the indexes that no script makes: schema 1 once had some more."""
    extra, _ = _differences(_objects(db), version, scripts, new)
    for name in extra:
        if name.startswith("index "):
            quoted = name.removeprefix("index ").replace('"', '""')
            db.run(f'DROP INDEX "{quoted}"')


def version_of(db: Transaction, scripts: Sequence[Script], new: Scratch) -> int | None:
    """Return the version whose schema a file has; None if it has none of them."""
    found = _objects(db)
    for version in reversed([number for number, _ in scripts]):
        if _differences(found, version, scripts, new) == ([], []):
            return version
    return None


def digest(objects: Iterable[Row]) -> str:
    return blake2b(repr(list(objects)).encode(), digest_size=16).hexdigest()


def _objects(db: Transaction) -> list[Row]:
    return [row for row in db.rows(OBJECTS) if not _is_of_extension(*row)]


def _is_of_extension(type: str, name: str, sql: str) -> bool:
    is_vectors = VECTORS.fullmatch(name) is not None and "USING vec0" in sql
    return type == "table" and (is_vectors or OF_EXTENSIONS.fullmatch(name) is not None)


def _differences(
    found: Sequence[Row], version: int, scripts: Sequence[Script], new: Scratch
) -> tuple[list[str], list[str]]:
    """Return what a file has and the schema has not, and the other way round."""
    expected = _made_by(tuple(script for number, script in scripts if number <= version), new)
    here = {_plain(row) for row in found}
    extra = sorted(f"{type} {name}" for type, name, _ in here - expected)
    return extra, sorted(f"{type} {name}" for type, name, _ in expected - here)


@cache
def _made_by(scripts: tuple[str, ...], new: Scratch) -> frozenset[Row]:
    """Return what scripts make of an empty file. An upgrade asks for it three times a file."""
    with new() as db:
        for script in scripts:
            db.run(script)
        return frozenset(_plain(row) for row in _objects(db))


def _plain(row: Row) -> Row:
    """Leave out how a statement is written: an engine may write one anew."""
    type, name, sql = row
    return type, name, re.sub(r"--[^\n]*|[\s\"`\[\]]+", "", sql).lower()


MARK = "SELECT value FROM marks WHERE name = 'adopted'"
SET_MARK = "INSERT OR REPLACE INTO marks (name, value) VALUES ('adopted', ?)"
HOME, DONE = 1, 2
"""The originals are in the own file; and what was to go from shared.db is gone."""
COPIED = (
    ("lineage", "child", "child, parent"),
    ("tier_changes", "memory_id", "memory_id, from_tier, to_tier, reason, at"),
    ("old_texts", "memory_id", "memory_id, content_hash, base, delta, at"),
    ("others_uses", "memory", "memory, count, at"),
)
"""What else is kept of a memory: the table, the column that names the memory, and all columns."""
TIDIED = (
    "DELETE FROM history WHERE kin = :kin",
    "DELETE FROM tier_changes WHERE memory_id IN (SELECT id FROM memories WHERE kin = :kin)",
    "DELETE FROM old_texts WHERE memory_id IN (SELECT id FROM memories WHERE kin = :kin)",
)
"""What belongs to the originals alone."""
UNCLAIMED = f"""
    SELECT {", ".join(FIELDS)} FROM links WHERE kin = '' AND (
        source IN (SELECT id FROM memories WHERE kin = :kin)
        OR target IN (SELECT id FROM memories WHERE kin = :kin)
    )
"""
LINKED = """
    SELECT id FROM memories
    WHERE scope = 'shared' AND id IN (SELECT source FROM links UNION SELECT target FROM links)
"""


def adopt(own: MemoryFile, shared: MemoryFile, kin: str) -> None:
    """Copy the originals of all that a Kin shares into its own file. Raises StoreError."""
    how_far = own.database.rows(MARK)
    if not how_far:
        _come_home(own, shared, kin)
    if not how_far or how_far[0][0] < DONE:
        try:
            _tidy(own, shared, kin)
        except StoreError as error:
            logger.warning("what has come home is removed from shared.db later: %s", error)


def _come_home(own: MemoryFile, shared: MemoryFile, kin: str) -> None:
    with own.changing() as db, shared.database.snapshot() as source:
        if db.value(MARK):  # another process has done it
            return
        found = source.rows("SELECT id FROM memories WHERE kin = ?", (kin,))
        ids = [id for (id,) in found]
        ended = [id for id in ids if not _adopt(source, own, db, id)]
        for table, column, columns in COPIED:
            rows = source.rows(
                f"SELECT {columns} FROM {table} WHERE {column} {IN_IDS}", {"ids": json.dumps(ids)}
            )
            places = ", ".join("?" * len(columns.split(",")))
            sql = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})"
            db.run_each(sql, rows)
        _bring_history(source, db, kin, but=ended)
        _number_older(db, kin)
        db.run_each(PUT_NEW, _links(source, db, kin, ids))
        # How far steps had come in the changes of shared.db, where there is nothing to do now; and
        # the greatest number of a write, which the history has.
        db.run(
            "DELETE FROM marks WHERE name LIKE '% shared' OR name IN ('write', 'entities private')"
        )
        db.run(SET_MARK, (HOME,))
        db.run_each("INSERT INTO unpublished VALUES (?)", [(id,) for id in ended])


def _bring_history(
    source: Transaction, db: Transaction, kin: str, but: Collection[str] = ()
) -> None:
    """Copy a Kin's lines from another file, behind all that are here, but for some memories'."""
    lines = source.rows(
        f"SELECT {COLUMNS} FROM history WHERE kin = :kin AND memory_id NOT {IN_IDS} ORDER BY seq",
        {"kin": kin, "ids": json.dumps(list(but))},
    )
    db.run_each(f"INSERT INTO history ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", lines)


def _number_older(db: Transaction, kin: str) -> None:
    """Give those lines their numbers that version 2 wrote, in a file that has all of the Kin's."""
    lines = db.rows(
        "SELECT seq, at, memory_id, action FROM history WHERE kin = ? AND write = 0 ORDER BY seq",
        (kin,),
    )
    first = next_write(db, kin)
    for number, write in enumerate(_writes(lines), first):
        db.run_each("UPDATE history SET write = ? WHERE seq = ?", [(number, seq) for seq in write])


def _writes(lines: Sequence[Row]) -> Iterator[list[int]]:
    """Yield the line numbers of each write, in the order in which the writes were done.

    The lines of a memory keep their order, whatever the clock said; writes are ordered by time. A
    move and the change made together with it were recorded in two files, at the same moment.
    """
    writes: dict[str, list[tuple[str, str, list[int]]]] = {}
    for seq, at, memory, action in lines:
        of = writes.setdefault(memory, [])
        when, last, places = of[-1] if of else ("", "created", [])
        if action == "moved" and at == when and last == "updated":
            places.append(seq)
        else:
            of.append((max(at, when), action, [seq]))
    done = [write for of in writes.values() for write in of]
    yield from (places for _, _, places in sorted(done, key=lambda write: (write[0], write[2][0])))


def _adopt(source: Transaction, own: MemoryFile, db: Transaction, id: str) -> bool:
    """Copy a memory, and return whether shared.db has the original. It has not if the memory was on
    its way into the own file, which then has a later version."""
    theirs, known = own.find(source, id), own.find(db, id)
    assert theirs is not None
    if known is not None and known[1].version >= theirs[1].version:
        return False
    if known is not None:
        own.delete(db, id)
    bring(source, *theirs, own, db)
    return True


def _links(source: Transaction, db: Transaction, kin: str, ids: Sequence[str]) -> list[Row]:
    """Return a Kin's links: between own memories all; with others' memories those that upkeep found
    or that the Kin's history mentions. What others have said is theirs to take home."""
    rows = source.rows(UNCLAIMED, {"kin": kin})
    mine = set(ids)
    return [
        row
        for row in rows
        if mine.issuperset(row[:2]) or row[ORIGIN] == AUTO or _has_said(db, *row[:2])
    ]


def _has_said(db: Transaction, one: str, other: str) -> bool:
    """Return whether a line of the Kin's history has changed the links between these two."""
    lines = db.rows(
        "SELECT before, after FROM history WHERE memory_id IN (?, ?)"
        " AND after ->> '$.links' NOT NULL",
        (one, other),
    )
    return any(_said(before, one, other) != _said(after, one, other) for before, after in lines)


def _said(told: str | None, *ends: str) -> list[Any]:
    return [link for link in json.loads(told or "{}").get("links", ()) if link["id"] in ends]


def _tidy(own: MemoryFile, shared: MemoryFile, kin: str) -> None:
    """Remove from shared.db what is in the own file now, and record the owner of each link."""
    with shared.database.writing() as db, own.database.snapshot() as source:
        for sql in TIDIED:
            db.run(sql, {"kin": kin})
        rows = db.rows(UNCLAIMED, {"kin": kin})
        which = "source = ? AND target = ? AND relation = ?"
        for row in rows:
            if source.value(f"SELECT 1 FROM links WHERE {which}", row[:3]):
                db.run(f"DELETE FROM links WHERE {which} AND kin = ''", row[:3])
        linked = source.rows(LINKED)
        for (id,) in linked:
            link_rows.publish(id, kin, source, db)
    with own.database.writing() as db:
        db.run(SET_MARK, (DONE,))
