"""Candidates for merging: groups of memories so close that one could stand for them."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from itertools import combinations, product

from kinmem.llm.base import Embedder
from kinmem.models import Filters, Memory, Vector
from kinmem.rules.atoms import atoms
from kinmem.store.base import Store
from kinmem.store.journal import Journal
from kinmem.text import folded
from kinmem.upkeep.reading import read_live

# Newest first; a run that read more would hold up the turn after it.
MOST_READ = 5000
COMPARED = 8
LARGEST = 3
"""Larger merges lose detail (KinBot); what is left over goes on in the next run."""
ACROSS_SUBJECTS = 0.95
"""Cosine from which memories about two subjects are candidates all the same (KinBot)."""
RUNS = 20

RELATIVE_DATES = {"yesterday", "today", "tomorrow", "tonight"}
RELATIVE = re.compile(
    r"\b(?:last|next|this|past|coming|letzte\w?|nächste\w?|diese\w?)\s+(?:week|month|year|night"
    r"|weekend|summer|winter|spring|autumn|fall|morning|evening|Woche|Monat|Jahr)|\bago\b"
    r"|\bvor \w+ (?:Tag|Woche|Monat|Jahr)|\b(?:dernière?|prochaine?|hace|fa)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Group:
    """Two or three memories of one scope, owner and speaker."""

    memories: tuple[Memory, ...]
    """The earliest said first."""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(memory.id for memory in self.memories)


@dataclass(frozen=True, slots=True)
class Found:
    """What may be merged now."""

    groups: list[Group]
    """The closest first; no memory is in two."""
    read: int
    left: int
    """Memories for the next run: without a vector yet, or close to a group that is full."""


Pair = frozenset[str]


def find_groups(
    store: Store,
    embedder: Embedder,
    similarity: float,
    refused: Collection[frozenset[str]],
    zone: tzinfo,
    *,
    since: datetime | None = None,
) -> Found:
    """Groups of at most three, by the vector index: own, live, unpinned, of one chunk, in no
    conflict, and not refused before. Pairs are of one scope and speaker and one subject, or none.

    `since`: only pairs of which one was stored or rewritten after it. Of each memory its eight
    nearest are looked at.
    """
    memories = {memory.id: memory for memory in _eligible(store)}
    vectors = store.first_vectors(embedder.name, list(memories))
    barred = {frozenset(pair) for ids in refused for pair in combinations(sorted(ids), 2)}
    edges: dict[Pair, float] = {}
    for id, vector in vectors.items():
        if since is None or memories[id].content_updated_at >= since:
            edges |= _edges(memories[id], vector, memories, store, embedder, similarity)
    edges = {
        pair: cosine
        for pair, cosine in edges.items()
        if pair not in barred and _joins(pair, memories, cosine, zone)
    }
    groups, over = _united(edges, memories, zone, barred)
    return Found(groups, len(memories), len(memories.keys() - vectors.keys()) + over)


def last_finished(journal: Journal, read: str, left: str) -> datetime | None:
    """When a step last began a run that left nothing over; None: not within the last runs.

    `read` and `left` are what the step calls its counts, whatever the report puts before them.
    """
    for run in journal.runs(RUNS):
        counts = {name.rpartition(".")[2]: count for name, count in run.counts.items()}
        if read in counts:
            return None if counts.get(left) else run.started_at
    return None


def _eligible(store: Store) -> Iterator[Memory]:
    disputed = {id for one in store.journal.conflicts() for id in (one.newer, one.older)}
    for memory in read_live(store, MOST_READ):
        if (
            memory.kin == store.kin
            and not memory.pinned
            and memory.id not in disputed
            and memory.valid_to is None
        ):
            yield memory


def _edges(
    memory: Memory,
    vector: Vector,
    memories: Mapping[str, Memory],
    store: Store,
    embedder: Embedder,
    similarity: float,
) -> dict[Pair, float]:
    """The cosines of what is close enough to one memory, each of a single chunk."""
    nearest = store.nearest(vector, embedder.name, COMPARED, Filters(scope=memory.scope))
    near = {id: cosine for id, cosine in nearest if cosine >= similarity and id in memories}
    if len(near.keys() - {memory.id}) == 0:
        return {}
    chunks = store.cosines(vector, embedder.name, {*near, memory.id})
    if len(chunks.get(memory.id, ())) != 1:
        return {}
    return {
        frozenset((memory.id, id)): cosine
        for id, cosine in near.items()
        if id != memory.id and len(chunks.get(id, ())) == 1
    }


def _joins(pair: Pair, memories: Mapping[str, Memory], cosine: float, zone: tzinfo) -> bool:
    one, other = sorted(pair)
    return may_join(memories[one], memories[other], cosine, zone)


def may_join(a: Memory, b: Memory, cosine: float, zone: tzinfo) -> bool:
    """Whether two memories could become one: nothing but their words may differ.

    Words for a time that depends on the day they were said on keep memories of two days apart.
    """
    alike = (
        a.scope == b.scope
        and a.kin == b.kin
        and folded(a.speaker or "") == folded(b.speaker or "")
        and a.expires_at == b.expires_at
    )
    if not alike or not (one_subject((a, b)) or cosine >= ACROSS_SUBJECTS):
        return False
    is_one_day = a.occurred_at is not None and one_day((a, b), zone)
    return is_one_day or not (_is_relative(a.content) or _is_relative(b.content))


def one_subject(memories: Iterable[Memory]) -> bool:
    """Whether no two of them name different subjects."""
    return len({folded(memory.subject) for memory in memories if memory.subject}) <= 1


def one_day(memories: Iterable[Memory], zone: tzinfo) -> bool:
    """Whether all happened, or were said, on the same day, or nobody knows when."""
    return len({day_of(memory, zone) for memory in memories}) == 1


def weightiest(group: Group) -> Memory:
    """The most important memory of a group; of equals the latest."""
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


def _united(
    edges: Mapping[Pair, float],
    memories: Mapping[str, Memory],
    zone: tzinfo,
    barred: Collection[Pair],
) -> tuple[list[Group], int]:
    """Union-find over the pairs, closest first, up to LARGEST; and how many pairs are left over."""
    member_of: dict[str, frozenset[str]] = {}
    over = 0
    for pair in sorted(edges, key=lambda pair: (-edges[pair], sorted(pair))):
        one, other = (member_of.get(id, frozenset((id,))) for id in sorted(pair))
        joined = one | other
        crossing = map(frozenset, product(one, other))
        if one == other:
            continue
        if len(joined) <= LARGEST and all(
            between not in barred and _joins(between, memories, edges.get(between, 0.0), zone)
            for between in crossing
        ):
            member_of |= dict.fromkeys(joined, joined)
        else:
            over += 1
    groups = [
        Group(tuple(sorted((memories[id] for id in ids), key=lambda m: (m.said_at, m.id))))
        for ids in dict.fromkeys(member_of.values())
    ]
    return groups, over
