"""What a memory is connected with: its links, what it took the place of, what it contradicts."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain

from kinmem.links import AUTO, Link
from kinmem.models import Memory, State
from kinmem.store.base import Store

UNSEEN = (State.DELETED, State.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Connection:
    """One end of a link, seen from the other."""

    memory: Memory
    """What stands at the other end."""
    relation: str
    """What it is to this memory: see links.RELATIONS, and INVERSE for the other direction."""
    weight: float = 1.0
    confidence: float = 1.0
    is_automatic: bool = False


def connections(store: Store, ids: Collection[str]) -> dict[str, list[Connection]]:
    """Of each of these memories, as far as it has any, those with links first.

    What follows from the memories themselves (superseded, open contradictions) is among them.
    """
    links = store.links.of(ids)
    implied = _implied(store, ids)
    ends = {
        end for some in chain(links.values(), implied.values()) for one in some for end in one.ends
    }
    known = store.memories(ends)
    found = defaultdict(list)
    for id in ids:
        told = set()
        for one in (*links.get(id, ()), *implied.get(id, ())):
            other, relation = known.get(one.other(id)), one.seen_from(id)
            if other is None or other.state in UNSEEN or (other.id, relation) in told:
                continue
            told.add((other.id, relation))
            found[id].append(
                Connection(other, relation, one.weight, one.confidence, one.origin == AUTO)
            )
    return dict(found)


def _implied(store: Store, ids: Collection[str]) -> dict[str, list[Link]]:
    """Links that nobody stores, since the memories and open conflicts say so already."""
    found = defaultdict(list)
    for id, memory in store.memories(ids).items():
        if memory.superseded_by:
            found[id].append(Link(memory.superseded_by, id, "supersedes", origin=AUTO))
        found[id] += [
            Link(id, other, "supersedes", origin=AUTO) for other in store.past.superseded_by([id])
        ]
    for conflict in store.decisions.conflicts():
        for id in {conflict.newer, conflict.older}.intersection(ids):
            found[id].append(Link(conflict.newer, conflict.older, "contradicts", origin=AUTO))
    return found
