"""What a line of history has changed, for people: field by field, and in texts word by word."""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from kinmem.models import Event

# Fields that only follow from other changes.
UNTOLD = frozenset({"content_hash", "content_updated_at", "evidence", "language", "state_at"})
TEXTS = frozenset({"content", "source_context"})
WORD = re.compile(r"\s+|\w+|[^\w\s]")
# Words of both texts beyond which they are shown one below the other: comparing takes long.
MOST_WORDS = 1500
LONGEST = 2000


class Piece(NamedTuple):
    """A stretch of a text that was kept, added or removed."""

    how: Literal["kept", "added", "removed"]
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """One field that was changed."""

    field: str
    before: str | None
    after: str | None
    pieces: tuple[Piece, ...] = ()
    """Of a text."""


def changes(event: Event) -> Iterator[Changed]:
    """Yield what the line has changed, fields that only follow from others left out."""
    for name, old in event.before.items():
        if name in UNTOLD:
            continue
        new = event.after.get(name)
        pieces = tuple(compared(str(old or ""), str(new or ""))) if name in TEXTS else ()
        yield Changed(name, told(old), told(new), pieces)


def compared(before: str, after: str) -> Iterator[Piece]:
    """Yield the pieces of both texts, in order."""
    before, after = before[:LONGEST], after[:LONGEST]
    old, new = WORD.findall(before), WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        yield from (Piece("removed", before), Piece("added", after))
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, at, until, new_at, new_until in matcher.get_opcodes():
        removed, added = "".join(old[at:until]), "".join(new[new_at:new_until])
        if tag == "equal":
            yield Piece("kept", removed)
            continue
        if removed:
            yield Piece("removed", removed)
        if added:
            yield Piece("added", added)


def told(value: Any) -> str | None:
    """Return a stored value as text; None if there is none."""
    if value is None or value in ((), [], ""):
        return None
    if isinstance(value, list | tuple):
        return ", ".join(str(one["id"]) if isinstance(one, dict) else str(one) for one in value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, datetime):
        return value.isoformat(timespec="minutes")
    return str(value)
