"""A step of upkeep: chunks that lack a vector get one. Can be stopped and taken up at any chunk."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence

from kinmem.errors import ModelError
from kinmem.llm.base import Embedder
from kinmem.models import Pending, Scope, Vector, Vectors
from kinmem.store.transcript import Vectored
from kinmem.text import in_first_person

logger = logging.getLogger(__name__)

# Texts of like length share a batch, since a batch is as slow as its longest text: a pool is
# sorted by length and embedded in slices small enough to stop between.
POOL = 512
SLICE = 64
GROWS_AFTER = 8
"""Slices in a row; then one that was halved is doubled."""
HARMLESS = "hello"
"""A text that no embedder refuses: if it fails as well, the embedder is away. Asked after each
failure, it also keeps three in a row, which close the way to a provider (llm/breaker.py), from
coming together."""
PROBE_SECONDS = 5.0
REFUSED_SECONDS = 3600.0
"""For which a text is passed over that failed twice in a way that may pass."""
MOST_REFUSED = 200
"""Chunks; beyond them it is not the texts."""

Filled = list[tuple[Pending, Vector]]


class Embed:
    """Fills in the vectors of one embedder."""

    def __init__(self, store: Vectored, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._refused: dict[tuple[Scope, int], float] = {}
        self._size = SLICE
        self._in_a_row = 0

    def enroll(self) -> None:
        """Let every chunk have a vector of this embedder. Raises ModelError if it is away."""
        if all(known.embedder != self._embedder.name for known in self._store.coverage()):
            self._store.enroll(self._embedder.name, self._embedder.dimension)

    def pool(self) -> Iterator[Filled]:
        """Embed up to 512 waiting chunks; after each stored slice what has been filled.

        Nothing is waiting: yields nothing. A text that the embedder refuses while it takes others
        is passed over, for an hour or until the next start, so that it does not hold up those
        behind it. Raises ModelError; what was yielded is stored.
        """
        waiting = self._waiting_chunks()
        waiting.sort(key=lambda chunk: len(chunk.text))
        failed: list[Pending] = []
        while waiting:
            part, waiting = waiting[: self._size], waiting[self._size :]
            if done := self._filled(part, failed):
                yield done
        for chunk in failed:
            if done := self._tried_again(chunk):
                yield done

    def _waiting_chunks(self) -> list[Pending]:
        """Up to 512 that are not passed over."""
        now = time.monotonic()
        self._refused = {chunk: until for chunk, until in self._refused.items() if until > now}
        waiting = self._store.pending(self._embedder.name, POOL + len(self._refused))
        return [chunk for chunk in waiting if (chunk.scope, chunk.chunk) not in self._refused][
            :POOL
        ]

    def _filled(self, part: Sequence[Pending], failed: list[Pending]) -> Filled:
        """What can be embedded of the part, found by halving it; the others are added to `failed`.

        Slices get smaller while they fail, in case it is their size that is too much.
        Raises ModelError if the embedder is away.
        """
        try:
            done = self._fill(part)
        except ModelError:
            self._size, self._in_a_row = max(1, self._size // 2), 0
            self._probe()
            if len(part) == 1:
                failed += part
                return []
            middle = len(part) // 2
            return self._filled(part[:middle], failed) + self._filled(part[middle:], failed)
        self._in_a_row += 1
        if self._in_a_row >= GROWS_AFTER:
            self._size, self._in_a_row = min(SLICE, self._size * 2), 0
        return done

    def _tried_again(self, chunk: Pending) -> Filled:
        """It may have been the moment. Raises ModelError if too many are refused."""
        try:
            return self._fill([chunk])
        except ModelError as error:
            self._probe()
            logger.warning("no vector for memory %s: %s", chunk.memory_id, error)
            lasts = REFUSED_SECONDS if error.retry else math.inf
            self._refused[chunk.scope, chunk.chunk] = time.monotonic() + lasts
            if len(self._refused) >= MOST_REFUSED:
                raise
        return []

    def _fill(self, part: Sequence[Pending]) -> Filled:
        texts = [in_first_person(chunk.text) for chunk in part]
        vectors: Vectors = self._embedder.embed(texts)
        self._store.fill(self._embedder.name, part, vectors)
        return list(zip(part, vectors, strict=True))

    def _probe(self) -> None:
        """Raises ModelError if the embedder is away."""
        self._embedder.embed([HARMLESS], deadline=PROBE_SECONDS)

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
