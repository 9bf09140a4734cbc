"""Candidates for merging: groups of memories so close that one text could stand for them.

Memories are never grouped if a model or a rule refused to merge them, if somebody took them apart
again, or if they exclude each other; if learning was in doubt, upkeep does not decide.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, tzinfo
from functools import cached_property
from itertools import combinations, product

from kinmem.errors import MemoryNotFound
from kinmem.language import atoms
from kinmem.llm.base import Embedder, chunks_of
from kinmem.models import LIVE, Filters, Memory, Scope
from kinmem.store.base import Store
from kinmem.text import folded

COMPARED = 8
# Largest group. Larger merges lose detail (KinBot); the rest follows in the next run.
LARGEST = 3
# Cosine from which memories about two subjects are candidates nevertheless (KinBot).
ACROSS_SUBJECTS = 0.95

RELATIVE_DATES = {"yesterday", "today", "tomorrow", "tonight"}
RELATIVE = re.compile(
    r"\b(?:last|next|this|past|coming|letzte\w?|nächste\w?|diese\w?)\s+(?:week|month|year|night"
    r"|weekend|summer|winter|spring|autumn|fall|morning|evening|Woche|Monat|Jahr)|\bago\b"
    r"|\bvor \w+ (?:Tag|Woche|Monat|Jahr)|\b(?:dernière?|prochaine?|hace|fa)\b",
    re.IGNORECASE,
)


Ids = frozenset[str]
# History lines read of one memory; recalibration adds one every ten days.
HISTORY = 1000


class Apart:
    """The pairs that one step keeps apart."""

    def __init__(self, store: Store, step: str, *also: str) -> None:
        """`also` names other steps whose refusals count."""
        self._store = store
        self._step = step
        self._steps = (step, *also)
        self._lines: dict[str, frozenset[str]] = {}

    def refuse(self, ids: Collection[str]) -> None:
        """Never propose these together again."""
        self._store.decisions.refuse(self._step, ids)
        self._refused.update(_pairs(ids))

    def leave(self, ids: Collection[str]) -> None:
        """Do not propose these together in this run."""
        self._refused.update(_pairs(ids))

    def __contains__(self, pair: Ids) -> bool:
        """Return whether both were refused together, or one memory once superseded both: since they
        are live, that was undone."""
        return pair in self._refused or bool(frozenset.intersection(*map(self._line, pair)))

    @cached_property
    def _refused(self) -> set[Ids]:
        refused = map(self._store.decisions.refused, self._steps)
        return {pair for sets in refused for ids in sets for pair in _pairs(ids)}

    def _line(self, id: str) -> frozenset[str]:
        """Return the memory and everything that has ever superseded it, directly or indirectly."""
        if id not in self._lines:
            line, waiting = {id}, [id]
            while waiting:
                heirs = self._heirs(waiting.pop()) - line
                line |= heirs
                waiting += heirs
            self._lines[id] = frozenset(line)
        return self._lines[id]

    def _heirs(self, id: str) -> set[str]:
        with suppress(MemoryNotFound):  # erased: nothing is known of it
            events = self._store.history(id, HISTORY)
            return {heir for event in events if (heir := event.after.get("superseded_by"))}
        return set()


@dataclass(frozen=True, slots=True)
class Group:
    """Two or three memories of one scope, owner and speaker."""

    memories: tuple[Memory, ...]
    """In the order in which they were said."""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(memory.id for memory in self.memories)


@dataclass(frozen=True, slots=True)
class Found:
    """What may be merged now."""

    groups: list[Group]
    """The closest first; no memory is in two."""
    over: int
    """Number of pairs that are close to a full group."""
    beside: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By id, the hashes of the memory's own text and of those close to it."""


class Groups:
    """Finds groups of at most three memories that are the Kin's own, live, unpinned, of one chunk,
    in no conflict, and not to be kept apart. Pairs share scope and speaker, and have one subject or
    none."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        similarity: float,
        apart: Apart,
        zone: tzinfo,
        may_be_one: Callable[[str, str], bool] = lambda a, b: True,
    ) -> None:
        """`may_be_one` returns whether two texts are worth asking about."""
        self._may_be_one = may_be_one
        self._store = store
        self._embedder = embedder
        self._similarity = similarity
        self._apart = apart
        self._zone = zone

    @cached_property
    def _disputed(self) -> set[str]:
        pairs = [(conflict.newer, conflict.older) for conflict in self._store.decisions.conflicts()]
        memories = self._store.memories({id for pair in pairs for id in pair})
        live = {id for id, memory in memories.items() if memory.state in LIVE}
        return {id for pair in pairs for id in pair if live.issuperset(pair)}

    def of(self, ids: Collection[str], scope: Scope) -> Found:
        """Return the groups that these memories of one scope are in, by the eight nearest of
        each."""
        near = self._near(ids, scope)
        memories = self._eligible({id for pair in near for id in pair})
        edges = {
            pair: cosine
            for pair, cosine in near.items()
            if pair <= memories.keys() and self._joins(pair, memories, cosine)
        }
        return replace(self._united(edges, memories), beside=_beside(edges, memories))

    def _near(self, ids: Collection[str], scope: Scope) -> dict[Ids, float]:
        """Return the pairs that are close enough, with their cosines."""
        eligible = self._eligible(ids)
        vectors = self._store.index.first_vectors(self._embedder.name, list(eligible))
        nearest = self._store.index.nearest_each(
            list(vectors.values()), self._embedder.name, COMPARED, Filters(scope=scope)
        )
        return {
            frozenset((id, other)): cosine
            for id, neighbours in zip(vectors, nearest, strict=True)
            for other, cosine in neighbours
            if cosine >= self._similarity and other != id
        }

    def _eligible(self, ids: Collection[str]) -> dict[str, Memory]:
        return {
            id: memory
            for id, memory in self._store.memories(ids).items()
            if memory.kin == self._store.kin
            and memory.state in LIVE
            and memory.valid_to is None
            and not memory.pinned
            and not memory.is_document
            and id not in self._disputed
            and len(chunks_of(memory.content, self._embedder)) == 1
        }

    def _joins(self, pair: Ids, memories: Mapping[str, Memory], cosine: float) -> bool:
        one, other = sorted(pair)
        return (
            may_join(memories[one], memories[other], cosine, self._zone)
            and self._may_be_one(memories[one].content, memories[other].content)
            and pair not in self._apart
        )

    def _united(self, edges: Mapping[Ids, float], memories: Mapping[str, Memory]) -> Found:
        """Join pairs, closest first, by union-find up to LARGEST."""
        member_of: dict[str, frozenset[str]] = {}
        over = 0
        for pair in sorted(edges, key=lambda pair: (-edges[pair], sorted(pair))):
            one, other = (member_of.get(id, frozenset((id,))) for id in sorted(pair))
            if one == other:
                continue
            joined = one | other
            crossing = map(frozenset, product(one, other))
            if len(joined) <= LARGEST and all(
                self._joins(between, memories, edges.get(between, 0.0)) for between in crossing
            ):
                member_of |= dict.fromkeys(joined, joined)
            else:
                over += 1
        return Found([_group(ids, memories) for ids in dict.fromkeys(member_of.values())], over)


def _beside(edges: Iterable[Ids], memories: Mapping[str, Memory]) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for pair in edges:
        hashes = frozenset(memories[id].content_hash for id in pair)
        found |= {id: found.get(id, frozenset()) | hashes for id in pair}
    return found


def _group(ids: Iterable[str], memories: Mapping[str, Memory]) -> Group:
    return Group(tuple(sorted((memories[id] for id in ids), key=lambda m: (m.said_at, m.id))))


def may_join(a: Memory, b: Memory, cosine: float, zone: tzinfo) -> bool:
    """Return whether two memories could become one: they may differ in nothing but their words.

    Memories of different days stay apart if they name a time relative to their day.
    """
    alike = (
        a.scope == b.scope
        and a.place == b.place
        and a.kin == b.kin
        and folded(a.speaker or "") == folded(b.speaker or "")
        and a.expires_at == b.expires_at
    )
    if not alike or not (one_subject((a, b)) or cosine >= ACROSS_SUBJECTS):
        return False
    is_one_day = a.occurred_at is not None and one_day((a, b), zone)
    return is_one_day or not (_is_relative(a.content) or _is_relative(b.content))


def one_subject(memories: Iterable[Memory]) -> bool:
    """Return whether no two of them name different subjects."""
    return len({folded(memory.subject) for memory in memories if memory.subject}) <= 1


def one_day(memories: Iterable[Memory], zone: tzinfo) -> bool:
    """Return whether all have the same day of `occurred_at`, or none has one."""
    return len({day_of(memory, zone) for memory in memories}) == 1


def weightiest(group: Group) -> Memory:
    """Return the most important memory of a group; the latest on a tie."""
    return max(group.memories, key=lambda m: (m.importance or 5.0, m.said_at, m.id))


def day_of(memory: Memory, zone: tzinfo) -> date | None:
    return None if memory.occurred_at is None else memory.occurred_at.astimezone(zone).date()


def _is_relative(text: str) -> bool:
    dates = atoms(text).dates
    return bool(
        dates & RELATIVE_DATES
        or any(one.startswith("-W-") and not one.endswith("s") for one in dates)
        or RELATIVE.search(text)
    )


def _pairs(ids: Iterable[str]) -> Iterable[Ids]:
    return map(frozenset, combinations(ids, 2))
