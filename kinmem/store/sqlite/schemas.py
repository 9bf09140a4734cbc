"""Whether a file has the schema that its scripts make, and nothing besides.

A trigger or a view that somebody else has put into a file runs with every statement of kinmem, and
can change what it answers. And a file of a development version may bear the number of a released
schema without having it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from hashlib import blake2b
from pathlib import Path

from kinmem.errors import StoreError
from kinmem.store.sql.database import Row, Transaction

Scratch = Callable[[], AbstractContextManager[Transaction]]
"""Opens an empty database in memory."""
Script = tuple[int, str]

PRESENT = "f927366f6f198ad1221818797a436db0"
"""Digest of the schema that this kinmem writes; what has it needs no closer look."""
# SQLite's own, and what FTS5 and vec0 make: tables alone, which run nothing.
OF_EXTENSIONS = re.compile(r"(?:turn_)?words_(?:data|idx|content|docsize|config)|vectors_\d+_\w+")
VECTORS = re.compile(r"vectors_\d+")
OBJECTS = """
    SELECT type, name, coalesce(sql, '') FROM sqlite_schema
    WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name
"""


def check(
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
