"""Brings a file to the present schema: the numbered scripts in migrations/.

Then looks whether it has the schema that its scripts make, and nothing besides. A trigger or a view
that somebody else has put into a file runs with every statement of kinmem, and can change what it
answers. And a file of a development version may bear the number of a released schema without having
it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from hashlib import blake2b
from pathlib import Path

from kinmem.errors import StoreError
from kinmem.store.sql.database import Row, Transaction

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


PRESENT = "9d351e74bfda30f4602fd40e40245c2d"
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
