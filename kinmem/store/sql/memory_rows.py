"""What statements are made of: memories as rows, filters as conditions, words as a search.

Both sides of the word search go through `_named` and `_pairs`, so that they agree. FTS5's tokenizer
drops all punctuation and keeps a run of Chinese or Japanese as one token: C# would be "c", and no
part of 乌龙茶 found.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any

from kinmem.models import Memory, State

FIELDS = tuple(field.name for field in fields(Memory))
COLUMNS = ", ".join(f"m.{name}" for name in FIELDS)
INSERT = (
    f"INSERT INTO memories (rowid, {', '.join(FIELDS)}) VALUES (?, {', '.join('?' * len(FIELDS))})"
)

as_text = json.JSONEncoder(ensure_ascii=False).encode

TIMES = frozenset(name for name in FIELDS if name.endswith(("_at", "valid_from", "valid_to")))
TAGS = frozenset({"manual_tags", "auto_tags"})
OBJECTS = frozenset({"metadata", "ingest_metadata"})


@lru_cache(maxsize=64)  # a batch shares its moment
def time_text(at: datetime) -> str:
    """Convert to UTC text of always 27 characters, so that texts sort as times do."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def moment(stored: str | None) -> datetime | None:
    """Convert the result of time_text back; None stays None."""
    return datetime.fromisoformat(stored) if stored else None


def column(name: str, value: Any) -> Any:
    """Return a field of Memory in its stored form; empty collections are NULL."""
    if value is None:
        return None
    if name in TIMES:
        return time_text(value)
    if name in TAGS or name in OBJECTS:
        return as_text(value) if value else None
    return int(value) if isinstance(value, bool) else value


_values = attrgetter(*FIELDS)
_converted = [at for at, name in enumerate(FIELDS) if name in TIMES | TAGS | OBJECTS | {"pinned"}]


def row_of(memory: Memory) -> list[Any]:
    """Return the values of COLUMNS."""
    row = list(_values(memory))
    for at in _converted:
        row[at] = column(FIELDS[at], row[at])
    return row


def memory_of(row: Sequence[Any]) -> Memory:
    """Return the memory in a row of COLUMNS."""
    values = dict(zip(FIELDS, row, strict=True))
    for name in TIMES:
        if values[name] is not None:
            values[name] = datetime.fromisoformat(values[name])
    for name in TAGS:
        values[name] = tuple(json.loads(values[name])) if values[name] else ()
    for name in OBJECTS:
        values[name] = json.loads(values[name]) if values[name] else {}
    values["state"] = State(values["state"])
    values["pinned"] = bool(values["pinned"])
    return Memory(**values)


def fields_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Convert fields of a memory from the history; names that are not fields are left out."""
    return {name: _field(name, stored[name]) for name in FIELDS if name in stored}


def _field(name: str, value: Any) -> Any:
    if name in TAGS:
        return tuple(json.loads(value)) if value else ()
    if name in OBJECTS:
        return json.loads(value) if value else {}
    if value is None:
        return None
    if name in TIMES:
        return datetime.fromisoformat(value)
    if name == "pinned":
        return bool(value)
    return State(value) if name == "state" else value


def as_json(values: Mapping[str, Any]) -> str | None:
    """Return changed fields in the form in which the history stores them; NULL if there are
    none."""
    if not values:
        return None
    return as_text({name: column(name, value) for name, value in values.items()})
