"""A step of upkeep: chunks that lack a vector get one. Can be stopped and taken up at any chunk."""

import logging
from collections.abc import Callable, Iterator, Sequence

from kinmem.errors import ModelError
from kinmem.llm.base import Embedder
from kinmem.models import Pending, Scope, Vector, Vectors
from kinmem.store.base import Store

logger = logging.getLogger(__name__)

# Texts of like length share a batch, since a batch is as slow as its longest text: a pool is
# sorted by length and embedded in slices small enough to stop between.
POOL = 512
SLICE = 64
HARMLESS = "hello"
"""A text that no embedder refuses: if it fails as well, the embedder is away."""
PROBE_SECONDS = 5.0
MOST_REFUSED = 200
"""Chunks; beyond them it is not the texts."""


class Embed:
    """Fills in the vectors of one embedder."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._refused: set[tuple[Scope, int]] = set()

    def enroll(self) -> None:
        """Let every chunk have a vector of this embedder. Raises ModelError if it is away."""
        if all(known.embedder != self._embedder.name for known in self._store.coverage()):
            self._store.enroll(self._embedder.name, self._embedder.dimension)

    def pool(self) -> Iterator[list[tuple[Pending, Vector]]]:
        """Embed up to 512 waiting chunks; after each stored slice what has been filled.

        Nothing is waiting: yields nothing. A text that the embedder refuses while it takes others
        is passed over until the next start, so that it does not hold up those behind it.
        Raises ModelError; what was yielded is stored.
        """
        waiting = self._waiting_chunks()
        waiting.sort(key=lambda chunk: len(chunk.text))
        for start in range(0, len(waiting), SLICE):
            done = self._filled(waiting[start : start + SLICE])
            if done:
                yield done

    def _waiting_chunks(self) -> list[Pending]:
        """Up to 512 that were not refused."""
        waiting = self._store.pending(self._embedder.name, POOL + len(self._refused))
        return [chunk for chunk in waiting if (chunk.scope, chunk.chunk) not in self._refused][
            :POOL
        ]

    def _filled(self, part: Sequence[Pending]) -> list[tuple[Pending, Vector]]:
        try:
            return self._fill(part)
        except ModelError as error:
            return self._one_by_one(part, error)

    def _fill(self, part: Sequence[Pending]) -> list[tuple[Pending, Vector]]:
        vectors: Vectors = self._embedder.embed([chunk.text for chunk in part])
        self._store.fill(self._embedder.name, part, vectors)
        return list(zip(part, vectors, strict=True))

    def _one_by_one(
        self, part: Sequence[Pending], error: ModelError
    ) -> list[tuple[Pending, Vector]]:
        """What can be embedded of a slice that failed. Raises ModelError if nothing can."""
        done: list[tuple[Pending, Vector]] = []
        for chunk in part:
            try:
                done += self._fill([chunk])
            except ModelError as refusal:
                self._embedder.embed([HARMLESS], deadline=PROBE_SECONDS)
                logger.warning("no vector for memory %s: %s", chunk.memory_id, refusal)
                self._refused.add((chunk.scope, chunk.chunk))
                if len(self._refused) >= MOST_REFUSED:
                    raise error from refusal
        return done

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
        """How many chunks wait; none if the embedder was retired meanwhile."""
        for known in self._store.coverage():
            if known.embedder == self._embedder.name:
                return known.total - known.done
        return 0
