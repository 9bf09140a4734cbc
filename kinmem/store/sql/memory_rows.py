"""A memory as a row, and as the texts of the word index.

Word indexes drop all punctuation and keep a run of Chinese or Japanese as one token: C# would be
"c", and no part of 乌龙茶 found. So texts and questions both go through `named` and `pairs`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any

from kinmem.clock import spoken_date
from kinmem.models import ROLES, Memory, State
from kinmem.text import late

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


CJK = late("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
SHARP = late(r"(?<=\b[A-Za-z])#(?!\w)")
PLUS_PLUS = late(r"(?<=[A-Za-z])\+\+")


def indexed(memory: Memory) -> tuple[str, str, str]:
    """Return the texts of the index columns content, subject and context."""
    said = [memory.content]
    said += filter(None, (memory.title, memory.description))
    if memory.speaker and memory.speaker not in ROLES:
        said.insert(0, memory.speaker)
    if memory.occurred_at:
        said.append(spoken_date(memory.occurred_at))
    return (
        spread("\n".join(said)),
        spread(memory.subject or ""),
        spread(memory.source_context or ""),
    )


def spread(text: str) -> str:
    """Return the text with runs of Chinese, Japanese or Korean as overlapping pairs, and with C#,
    F# and C++ as words.

    The last character of a run stands alone as well, so every character begins a token.
    """
    if text.isascii() and "#" not in text and "++" not in text:
        return text
    return CJK.sub(lambda run: f" {' '.join([*pairs(run.group()), run.group()[-1]])} ", named(text))


def named(text: str) -> str:
    return PLUS_PLUS.sub("plusplus", SHARP.sub("sharp", text))


def pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]
