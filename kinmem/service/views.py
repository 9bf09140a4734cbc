"""Service: views for people and programs: memories, history, changes, entities, graph, figures."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime
from typing import Literal

from kinmem.errors import InvalidInput, TurnNotFound
from kinmem.knowledge import (
    Card,
    Connection,
    Picture,
    Way,
    connections,
    explore,
    picture,
    timeline,
    way,
)
from kinmem.models import TURN, Coverage, Damaged, Event, Memory, Page
from kinmem.models.turns import Run
from kinmem.recall.conversation import as_memory
from kinmem.service.components import Ground
from kinmem.store.history import EPOCH, Position
from kinmem.store.memory import newer_of
from kinmem.text import folded, storable
from kinmem.upkeep.ageing import Vitals, vitals
from kinmem.upkeep.lifecycle import Forecast, forecast
from kinmem.validation import MOST_LISTED, Time, checked_count, checked_text

# Entities that are searched for a prefix.
MOST_NAMES = 1000
GREATEST_WRITE = 2**63 - 1


@dataclass(frozen=True)
class Stats:
    """What a Kin's memory contains, and its condition."""

    kin: str
    counts: Mapping[str, Mapping[str, int]]
    """By state, scope and category; see Store.counts."""
    embedders: list[Coverage]
    embedder: str
    """The configured embedder."""
    conversations: Mapping[str, int]
    """See Turns.counts; unindexed: messages that recall cannot find yet."""
    turns: list[Coverage]
    """The vectors of messages."""
    last_run: Run | None
    """The latest background work."""
    last_sleep: Run | None
    """The latest sleep cycle, or part of one."""
    damaged: list[Damaged]
    """What was found to be damaged, and left out, since the memory was opened."""


class Views:
    """Single memories, their history, what they are about, and how they are connected."""

    def __init__(self, ground: Ground) -> None:
        self._store = ground.store
        self._settings = ground.settings
        self._clock = ground.clock
        self._embedder = ground.embedder

    def get(self, memory_id: str) -> Memory:
        """Return a visible memory in any state, which counts as use; for the id of a turn, its
        message in the form of a memory."""
        for message in self._store.transcript.messages([memory_id]).values():
            return as_memory(message, self._store.kin)
        if memory_id.startswith(TURN):
            raise TurnNotFound(memory_id)
        memory = self._store.get(memory_id)
        self._store.count_use([memory.id], self._clock())
        return memory

    def vitals(self, memory_id: str) -> Vitals | None:
        """Return retention, tier with reason, and priority of an own memory; None if it is not
        live."""
        return vitals(self._store, memory_id, self._settings.life, self._clock())

    def forecast(self, memory_id: str) -> Forecast | None:
        """Return what becomes of one of this Kin's memories that nobody uses from now on; None if
        it is not live."""
        return forecast(self._store, memory_id, self._settings.life, self._clock())

    def newer(self, *memory_ids: str) -> dict[str, str]:
        """For each memory that may no longer hold, return the id of the newer memory that
        contradicts it."""
        newer = newer_of(self._store, self._store.decisions.conflicts(), memory_ids)
        return {id: memory.id for id, memory in newer.items()}

    def links(self, *memory_ids: str) -> dict[str, list[Connection]]:
        """Return the connections of each of these memories that has any."""
        return connections(self._store, memory_ids)

    def timeline(
        self,
        subject: str | None = None,
        day: Time | None = None,
        *,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """Return what happened, earliest first: to a subject, on a day, in a month or year, or
        both.

        Memories superseded since are included, valid until their `valid_to`. Reading counts as use.
        """
        zone = self._settings.general.zone
        now = self._clock()
        page = timeline(
            self._store, now, zone, subject=subject, day=day, limit=limit, cursor=cursor
        )
        self._store.count_use([memory.id for memory in page.memories], now)
        return page

    def explore(
        self, name: str, *, depth: int = 1, to: str | None = None
    ) -> tuple[Card, Way | None]:
        """Return what is known about an entity, and the path to another; see knowledge.

        The memories shown count as used. Raises EntityNotFound.
        """
        now = self._clock()
        card = explore(self._store, name, now, depth=depth)
        path = None if to is None else way(self._store, name, to, now)
        self._store.count_use([memory.id for memory in card.latest], now)
        return card, path

    def entity_names(self, prefix: str = "", limit: int = 100) -> list[str]:
        """Return names of entities that begin with the prefix, those with the most memories
        first."""
        checked_count(limit, "limit", 1, MOST_NAMES)
        wanted = folded(checked_text(prefix, "prefix"))
        known = self._store.graph.most_told(MOST_NAMES)
        return [entity.name for entity in known if entity.key.folded.startswith(wanted)][:limit]

    def graph(self, limit: int = 500) -> Picture:
        """Return the best connected memories, the entities they are about, and the edges, to be
        drawn."""
        return picture(self._store, checked_count(limit, "limit", 1, MOST_LISTED))

    def text(self, memory_id: str) -> str:
        """Return everything that a visible memory says; for a document the whole text."""
        return self._store.documents.text(memory_id)

    def chunk(self, memory_id: str, number: int) -> str:
        """Return the text of a document's chunk, numbered from 1. Raises InvalidInput."""
        is_number = 0 < number <= MOST_LISTED
        chunks = self._store.documents.parts(memory_id, number - 1, 1) if is_number else []
        for place, text in chunks:
            return "(held back: reads like an instruction)" if place.held else text.strip()
        raise InvalidInput(f"memory {memory_id} has no chunk {number}; recall names them")

    def history(
        self, memory_id: str | None = None, limit: int = 100, *, before: int | None = None
    ) -> list[Event]:
        """Return what happened to a visible memory, newest first; `before` is the number (`seq`) of
        a line.

        Without an id, return what this Kin has done: at most `limit` writes, each complete, with
        numbers below `before`.
        """
        checked_count(limit, "limit", 1, MOST_LISTED)
        if before is not None:
            checked_count(before, "before", 1, GREATEST_WRITE)
        if memory_id is not None:
            return self._store.history(memory_id, limit, before=before)
        return self._store.past.writes(limit, before=before)

    def as_of(self, write: int) -> dict[str, Memory]:
        """Return every own memory as it was after that write, by id; see Past.as_of."""
        return self._store.past.as_of(checked_count(write, "write", 0, GREATEST_WRITE))

    def subjects(self, prefix: str = "", limit: int = 100) -> list[str]:
        """Return known subjects that begin with the prefix, most used first."""
        checked_count(limit, "limit", 1, MOST_NAMES)
        return self._store.subjects(storable(checked_text(prefix, "prefix")), limit)

    def growth(self) -> Mapping[str, int]:
        """Return how many visible memories were stored on each day; see Memories.growth."""
        return self._store.growth()

    def days(self) -> Mapping[date, int]:
        """Return how much happened or was said on each day, in the zone of the settings."""
        zone = self._settings.general.zone
        days: Counter[date] = Counter()
        for hour, count in self._store.by_hour().items():
            at = datetime.strptime(hour, "%Y-%m-%dT%H").replace(tzinfo=UTC)
            days[at.astimezone(zone).date()] += count
        return days

    def stats(self) -> Stats:
        """Return counts of memories and messages, the state of the vectors, and the latest
        reports."""
        jobs = self._store.jobs
        return Stats(
            self._store.kin,
            self._store.counts(),
            self._store.index.coverage(),
            self._embedder.name,
            {**self._store.turns.counts(), "unindexed": self._store.transcript.waiting()},
            self._store.transcript.coverage(),
            next(iter(jobs.runs(1)), None),
            next(iter(jobs.runs(1, "sleep")), None),
            self._store.damage,
        )


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
