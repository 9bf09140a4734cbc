"""Service: what has changed since a reader last looked, by whatever process."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Literal

from kinmem.errors import InvalidInput
from kinmem.service.components import Ground
from kinmem.store.history import EPOCH, Position
from kinmem.validation import checked_count, checked_text

MOST = 1000
START = "0"
COUNTED = tuple(field.name for field in fields(Position))

Part = Literal["memories", "upkeep", "turns", "shared"]


@dataclass(frozen=True)
class Change:
    """One memory, and what was done to it."""

    memory_id: str
    action: str
    """As in Event. Of another Kin's memory `shared`, if it is new or has changed, or `withdrawn`,
    if it is no longer shared."""
    kin: str
    at: datetime
    cursor: str
    """To continue behind this change."""
    write: int | None = None
    """The number of the write it belongs to; None for what another Kin shares."""


@dataclass(frozen=True)
class Changes:
    """What has changed since a cursor."""

    parts: frozenset[Part]
    """memories: own ones, each named in `changed`. upkeep: what was derived from them (vectors,
    links, conflicts), or the bookkeeping of a write. turns: something was said. shared: what Kins
    share. Empty if nothing has changed."""
    changed: Sequence[Change]
    """Own memories in the order of their changes, then those of other Kins, each once."""
    cursor: str
    """To continue behind all of them."""
    is_more: bool = False
    """Whether `changed` was cut off; the cursor continues there."""
    is_reset: bool = False
    """Whether the cursor came from other files, so that everything may have changed."""


class ChangesView:
    """Tells what any process has changed; see `changes`."""

    def __init__(self, ground: Ground) -> None:
        self._store = ground.store

    def changes(self, since: str | None = None, *, limit: int = MOST) -> Changes:
        """Return what has changed since a cursor, by this process or another one; without one only
        the cursor of this moment. The cursor "0" is the beginning.

        While nothing has changed, the call costs two small statements. Muting a Kin, and listening
        to it again, names none of its memories.
        """
        checked_count(limit, "limit", 1, MOST)
        known = None if since is None else _read(since)
        here = self._store.changes.position()
        if known == Position():
            known = replace(known, revision=_epoch(here.revision), published=_epoch(here.published))
        if known is None or _is_of_others(known, here):
            return Changes(frozenset(), (), _cursor(here), is_reset=known is not None)
        if known == here:
            return Changes(frozenset(), (), since or START)
        return self._between(known, here, limit)

    def _between(self, known: Position, here: Position, limit: int) -> Changes:
        """Return the changes after `known`; one more than the limit is read to see whether there
        are more. The cursor of each moves its own number only: the parts are told with the last."""
        found = [*self._own(known, limit + 1)]
        if len(found) <= limit:
            behind = replace(known, line=_last(found, known, here).line)
            found += self._others(behind, limit + 1 - len(found))
            here = _last(found, known, here)
        is_more = len(found) > limit
        changed = [change for change, _ in found[:limit]]
        reached = found[limit - 1][1] if is_more else here
        parts: dict[Part, bool] = {
            "memories": any(change.write is not None for change in changed),
            "upkeep": reached.revision > known.revision,
            "turns": reached.turn > known.turn,
            "shared": (reached.published, reached.shared) != (known.published, known.shared),
        }
        changed_parts = frozenset(part for part, has_changed in parts.items() if has_changed)
        return Changes(changed_parts, changed, _cursor(reached), is_more)

    def _own(self, known: Position, limit: int) -> Iterator[tuple[Change, Position]]:
        """Yield changes of own memories, each with the position behind it."""
        for line in self._store.changes.lines(known.line, limit):
            behind = replace(known, line=line.seq)
            at = _cursor(behind)
            yield Change(line.memory_id, line.action, line.kin, line.at, at, line.write), behind

    def _others(self, known: Position, limit: int) -> Iterator[tuple[Change, Position]]:
        """Do the same for what other Kins share."""
        for one in self._store.changes.shared(known.shared, limit):
            behind = replace(known, shared=one.number)
            action = "shared" if one.is_visible else "withdrawn"
            yield Change(one.memory_id, action, one.kin, one.at, _cursor(behind)), behind


def _last(found: Sequence[tuple[Change, Position]], known: Position, here: Position) -> Position:
    """Return the position behind all of it; some may have come since the look at `here`."""
    last = found[-1][1] if found else known
    return replace(here, line=max(here.line, last.line), shared=max(here.shared, last.shared))


def _cursor(at: Position) -> str:
    return f"{at.line}.{at.revision}.{at.turn}.{at.published}.{at.shared}"


def _read(cursor: str) -> Position:
    """Return the position of a cursor."""
    parts = checked_text(cursor, "since").split(".")
    if parts == [START]:
        parts = ["0"] * 5
    try:
        line, revision, turn, published, shared = (_number(part) for part in parts)
    except ValueError:
        raise InvalidInput(
            f"since {cursor[:60]!r} is no cursor of changes; take one from an answer, or {START!r}"
        ) from None
    return Position(line, revision, turn, published, shared)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ValueError(text)
    return int(text)


def _is_of_others(known: Position, here: Position) -> bool:
    """Return whether the position is one of other files than these."""
    return (
        _epoch(known.revision) != _epoch(here.revision)
        or _epoch(known.published) != _epoch(here.published)
        or any(getattr(known, name) > getattr(here, name) for name in COUNTED)
    )


def _epoch(revision: int) -> int:
    return revision // EPOCH * EPOCH
