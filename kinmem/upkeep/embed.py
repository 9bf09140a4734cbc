"""A step of upkeep: chunks that lack a vector get one. Can be stopped and taken up at any chunk."""

from collections.abc import Callable, Iterator

from kinmem.llm.base import Embedder
from kinmem.models import Pending, Vector, Vectors
from kinmem.store.base import Store

# Texts of like length share a batch, since a batch is as slow as its longest text: a pool is
# sorted by length and embedded in slices small enough to stop between.
POOL = 512
SLICE = 64


class Embed:
    """Fills in the vectors of one embedder."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def enroll(self) -> None:
        """Let every chunk have a vector of this embedder. Raises ModelError if it is away."""
        if all(known.embedder != self._embedder.name for known in self._store.coverage()):
            self._store.enroll(self._embedder.name, self._embedder.dimension)

    def pool(self) -> Iterator[list[tuple[Pending, Vector]]]:
        """Embed up to 512 waiting chunks; after each stored slice what has been filled.

        Nothing is waiting: yields nothing. Raises ModelError; what was yielded is stored.
        """
        waiting = self._store.pending(self._embedder.name, POOL)
        waiting.sort(key=lambda chunk: len(chunk.text))
        for start in range(0, len(waiting), SLICE):
            part = waiting[start : start + SLICE]
            vectors: Vectors = self._embedder.embed([chunk.text for chunk in part])
            self._store.fill(self._embedder.name, part, vectors)
            yield list(zip(part, vectors, strict=True))

    def all(self, progress: Callable[[int, int, str], None] | None = None) -> int:
        """Embed until nothing waits; how many chunks were filled. Raises ModelError."""
        self.enroll()
        done, total = 0, self._waiting()
        while done < total:
            before = done
            for part in self.pool():
                done += len(part)
                if progress:
                    progress(min(done, total), total, "vectors")
            if done == before:
                break
        return done

    def _waiting(self) -> int:
        coverage = {known.embedder: known for known in self._store.coverage()}
        mine = coverage[self._embedder.name]
        return mine.total - mine.done
