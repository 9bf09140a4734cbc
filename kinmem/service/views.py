"""Service: views for people and programs: single memories, history, entities, graph, statistics."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from kinmem.errors import InvalidInput
from kinmem.knowledge.connections import Connection, Picture, connections, picture
from kinmem.knowledge.explore import Card, Way, explore, timeline, way
from kinmem.models import (
    Coverage,
    Damaged,
    Event,
    Memory,
    Page,
)
from kinmem.models.turns import Run
from kinmem.recall.conversation import as_memory
from kinmem.service.components import Ground
from kinmem.store.memory import newer_of
from kinmem.text import folded, storable
from kinmem.upkeep.forecast import Forecast, forecast
from kinmem.upkeep.priority import Vitals, vitals
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
        newer = newer_of(self._store, memory_ids)
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
