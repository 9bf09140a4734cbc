"""Which of the memories that were stored in bulk are compared with which, once they have vectors.

Every pair is compared once. If a comparison changes a memory, the neighbours of those that wait are
looked up again.
"""

from collections.abc import Iterator, Mapping, Sequence

from kinmem.learn.compare import Compare
from kinmem.learn.reconcile import Neighbour
from kinmem.llm.base import Embedder
from kinmem.models import Chunks, Memory, Vector
from kinmem.store.base import Store

# Pairs that are remembered as compared.
MOST_COMPARED = 20_000
# Memories whose neighbours are looked up at once: so many that a look-up costs a third, so few that
# little is looked up in vain.
SETTLED_TOGETHER = 16


class Unsettled:
    """Memories that were stored before they could be compared."""

    def __init__(self, store: Store, embedder: Embedder, compare: Compare) -> None:
        self._store = store
        self._embedder = embedder
        self._compare = compare
        self._compared: set[frozenset[tuple[str, int]]] = set()
        self._is_outdated = False

    def look_again(self) -> None:
        """Note that a memory was changed, so that others may be near now."""
        self._is_outdated = True

    def pairs(self, vectors: Mapping[str, Vector]) -> Iterator[tuple[Memory, list[Neighbour]]]:
        """Yield each memory with the older memories near it."""
        waiting = list(vectors.items())
        while waiting:
            self._is_outdated = False
            part = waiting[:SETTLED_TOGETHER]
            near = self._compare.related_to_each([vector for _, vector in part])
            for (id, vector), neighbours in zip(part, near, strict=True):
                del waiting[0]
                for pair in self._pairs_of(id, vector, neighbours):
                    yield pair
                    if self._is_outdated:
                        break
                if self._is_outdated:
                    break

    def _pairs_of(
        self, id: str, vector: Vector, near: Sequence[Neighbour]
    ) -> list[tuple[Memory, list[Neighbour]]]:
        """Return the memory beside the older ones, then each newer one beside it."""
        memory = next((memory for memory, _ in near if memory.id == id), None)
        if memory is None or memory.kin != self._store.kin:
            return []  # no longer live, or of several chunks, which say more than one thing
        chunks = Chunks((memory.content,), vector[None], self._embedder.name)
        vectors = self._compare.vectors_of(memory.content, chunks)
        if len(vectors) > 1:
            near = self._compare.related(vectors)
        near = [neighbour for neighbour in near if self._is_first_time(memory, neighbour[0])]
        older = [neighbour for neighbour in near if neighbour[0].id < id]
        newer = [
            (other, [(memory, cosine)])
            for other, cosine in near
            if other.id > id and other.kin == memory.kin
        ]
        return [(memory, older), *newer]

    def _is_first_time(self, a: Memory, b: Memory) -> bool:
        """Return whether these two have not been compared as they are; each is near the other."""
        pair = frozenset({(a.id, a.version), (b.id, b.version)})
        if a.id == b.id or pair in self._compared:
            return False
        if len(self._compared) >= MOST_COMPARED:
            self._compared.clear()
        self._compared.add(pair)
        return True
