"""Service: what has changed since a reader last looked, by whatever process."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from kinmem.errors import InvalidInput
from kinmem.models import State
from kinmem.service.components import Ground
from kinmem.store.history import Position
from kinmem.validation import checked_count, checked_text

# A copy of what another Kin shares is written a moment after its original.
LATE = timedelta(seconds=2)
MOST = 1000
START = "0"

Part = Literal["memories", "upkeep", "turns", "shared"]


@dataclass(frozen=True)
class Change:
    """One memory, and what was done to it."""

    memory_id: str
    action: str
    """As in Event; for what another Kin shares `shared` or `withdrawn`."""
    kin: str
    at: datetime
    write: int | None = None
    """The number of the write it belongs to; None for what another Kin shares."""


@dataclass(frozen=True)
class Changes:
    """What has changed since a cursor."""

    cursor: str
    """To continue from."""
    parts: frozenset[Part]
    """memories: own ones, each named in `changed`. upkeep: what was derived from them (vectors,
    links, conflicts), or the bookkeeping of a write. turns: something was said. shared: what Kins
    share. Empty if nothing has changed."""
    changed: Sequence[Change]
    """In order. Of what other Kins share, only changes of text and state name their memory."""
    is_more: bool = False
    """Whether `changed` was cut off; the cursor continues there."""
    is_reset: bool = False
    """Whether the cursor came from other files, so that everything may have changed."""


class ChangesView:
    """Tells what any process has changed; see `changes`."""

    def __init__(self, ground: Ground) -> None:
        self._store = ground.store
        self._clock = ground.clock

    def changes(self, since: str | None = None, *, limit: int = MOST) -> Changes:
        """Return what has changed since a cursor, by this process or another one; without one only
        the cursor of this moment. The cursor "0" is the beginning.

        While nothing has changed, the call costs two small statements.
        """
        checked_count(limit, "limit", 1, MOST)
        now = self._clock()
        known, looked = (None, now) if since is None else _read(since)
        here = self._store.changes.position()
        if known is None:
            return Changes(_cursor(here, now), frozenset(), ())
        if _is_ahead(known, here):
            return Changes(_cursor(here, now), frozenset(), (), is_reset=True)
        if known == here:
            return Changes(since or START, frozenset(), ())
        return self._between(known, here, looked, limit)

    def _between(self, known: Position, here: Position, looked: datetime, limit: int) -> Changes:
        lines = self._store.changes.lines(known.line, limit + 1)
        is_more = len(lines) > limit
        if is_more:
            here = replace(known, line=lines[limit - 1].seq)
        own = [
            Change(line.memory_id, line.action, line.kin, line.at, line.write)
            for line in lines[:limit]
        ]
        others = [] if here.published == known.published else self._shared(looked)
        parts: dict[Part, bool] = {
            "memories": bool(own),
            "upkeep": here.revision > known.revision,
            "turns": here.turn > known.turn,
            "shared": here.published > known.published,
        }
        changed = frozenset(part for part, has_changed in parts.items() if has_changed)
        cursor = _cursor(here, looked if is_more else self._clock())
        return Changes(cursor, changed, [*own, *others], is_more)

    def _shared(self, looked: datetime) -> list[Change]:
        return [
            Change(
                memory.id,
                "withdrawn" if memory.state == State.DELETED else "shared",
                memory.kin,
                max(memory.content_updated_at, memory.state_at or memory.content_updated_at),
            )
            for memory in self._store.changes.shared(looked, MOST)
            if memory.state != State.QUARANTINED
        ]


def _cursor(here: Position, now: datetime) -> str:
    looked = max(0, int((now - LATE).timestamp() * 1000))
    return f"{here.line}.{here.revision}.{here.turn}.{here.published}.{looked}"


def _read(cursor: str) -> tuple[Position, datetime]:
    """Return the position of a cursor, and since when others' memories are of interest."""
    parts = checked_text(cursor, "since").split(".")
    if parts == [START]:
        parts = ["0"] * 5
    try:
        line, revision, turn, published, looked = (_number(part) for part in parts)
        return Position(line, revision, turn, published), datetime.fromtimestamp(looked / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(
            f"since {cursor[:60]!r} is no cursor of changes; take one from an answer, or {START!r}"
        ) from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ValueError(text)
    return int(text)


def _is_ahead(known: Position, here: Position) -> bool:
    return known.revision > here.revision or known.published > here.published
