"""A step of upkeep: give vectors to all memories and to all that was said; may stop at any chunk.

`Indexing` is the step: it makes missing vectors (`Embed`), indexes what was said (`Transcribe`),
then compares memories that were stored without a vector.
"""

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from kinmem.errors import ModelError
from kinmem.learn.pipeline import Learn
from kinmem.llm.base import Embedder, chunks_of
from kinmem.models import Pending, Progress, Vector, Vectors
from kinmem.recall.search import choose
from kinmem.store.base import Jobs, Store
from kinmem.store.sessions import Transcript, Vectored
from kinmem.text import in_first_person
from kinmem.upkeep.steps import Budget, leased

logger = logging.getLogger(__name__)

# Texts of similar length share a batch, since a batch is as slow as its longest text: a pool is
# sorted by length and embedded in slices small enough to stop between.
POOL = 512
SLICE = 64
# Successful slices in a row after which a reduced slice size is doubled.
GROWS_AFTER = 8
# A text that no embedder refuses: if it fails as well, the embedder is unavailable. Sent after each
# failure, it also prevents three failures in a row, after which a provider is not asked for a while
# (llm/deadline.py).
HARMLESS = "hello"
PROBE_SECONDS = 5.0
# How long a text is skipped after two failures that may be temporary.
REFUSED_SECONDS = 3600.0
# Refused chunks from which the texts are not to blame.
MOST_REFUSED = 200

Filled = list[tuple[Pending, Vector]]

JOB = "embed"

# Messages indexed in one transaction.
AT_ONCE = 50

# Memories compared at once.
SETTLED_AT_ONCE = 100


class Indexing:
    """Makes vectors for all memories, uses them to compare new memories with known ones, and
    indexes what was said."""

    def __init__(
        self,
        store: Store,
        embedders: Sequence[Embedder],
        learn: Learn,
        transcribe: "Transcribe | None",
        jobs: Jobs | None = None,
    ) -> None:
        """For `embedders`, see Service; the first one's vectors are made, and others' while they
        are in use.

        `transcribe` is None if what was said is not searchable. `jobs`: where several processes
        see to a Kin, they take turns by a lease.
        """
        self._jobs = jobs
        self._store = store
        self._embedders = embedders
        self._learn = learn
        self._embeds = {embedder.name: Embed(store.index, embedder) for embedder in embedders}
        self._embed = self._embeds[embedders[0].name]
        self._transcribe = transcribe
        self._enrolled = False

    def warm(self) -> None:
        """Load the embedder in use, then the configured one, which makes the vectors."""
        answering, _ = choose(self._embedders, self._store.index)
        answering.warm()
        self._embedders[0].warm()

    def all(self, progress: Progress | None) -> int:
        """See Service.reembed."""
        done = self._embed.all(progress)
        return done if self._transcribe is None else done + self._transcribe.all(progress)

    def step(self, budget: Budget, counts: Counter[str]) -> None:
        """A step of upkeep: make all missing vectors and settle new memories; counts chunks.

        Raises ModelError if the embedder is unavailable.
        """
        if budget.dry_run:
            counts["chunks"] += self._missing()
            counts["turns"] += self._turns_waiting()
            return
        self._enroll()
        before, waiting = self._missing(), self._turns_waiting()
        try:
            while not budget.is_over() and self.part(budget):
                pass
        finally:
            counts["chunks"] += max(0, before - self._missing())
            counts["turns"] += max(0, waiting - self._turns_waiting())

    def part(self, budget: Budget) -> bool:
        """Make a pool of missing vectors; if none is missing, index what was said; after that,
        compare some new memories. Returns whether more may be left that no other process does."""
        if self._jobs is None:
            return self._part(budget)
        if not self._waits:
            return False
        with leased(self._jobs, JOB) as lease:
            return lease is not None and self._part(budget)

    def _part(self, budget: Budget) -> bool:
        return self._memories(budget) or self._turns(budget) or self._settle(budget)

    @property
    def _waits(self) -> bool:
        """Whether there is anything to do: only then a lease is worth its two writes."""
        name = self._embedders[0].name
        return bool(
            not self._enrolled
            or self._missing()
            or (self._transcribe is not None and self._transcribe.is_behind())
            or self._store.index.unsettled(name, 1)
        )

    def _turns(self, budget: Budget) -> bool:
        if self._transcribe is None or budget.is_over():
            return False
        answering, filled = choose(self._embedders, self._store.transcript)
        stands_in = answering is not self._embedders[0] and not filled
        return self._transcribe.part(budget, answering if stands_in else None)

    def _turns_waiting(self) -> int:
        return 0 if self._transcribe is None else self._transcribe.waiting()

    def _memories(self, budget: Budget) -> bool:
        more = self._stand_in(budget)
        self._enroll()
        return self._embed.part(budget) or more

    def _enroll(self) -> None:
        if not self._enrolled:
            self._embed.enroll()
            self._enrolled = True

    def _missing(self) -> int:
        """Count chunks without a vector; memories, if this embedder has made none yet."""
        name = self._embedders[0].name
        for coverage in self._store.index.coverage():
            if coverage.embedder == name:
                return coverage.total - coverage.done
        return sum(self._store.counts()["state"].values())

    def _stand_in(self, budget: Budget) -> bool:
        """Make vectors with the embedder still in use, so that new memories are found in the
        meantime."""
        answering, filled = choose(self._embedders, self._store.index)
        if answering is self._embedders[0] or filled:
            return False
        # Words still find it, and the configured embedder's vectors matter more.
        return self._embeds[answering.name].part(budget, stands_in=True)

    def _settle(self, budget: Budget) -> bool:
        """Compare memories that were stored without a vector, and record that this was done. All
        have vectors by then, so each is compared once."""
        if budget.is_over():
            return False
        name = self._embedders[0].name
        left = {chunk.memory_id for chunk in self._store.index.unsettled(name, SETTLED_AT_ONCE)}
        if left:
            self._learn.settle(self._store.index.first_vectors(name, left))
            self._store.index.settled(left)
        return bool(left)


class Transcribe:
    """Indexes waiting messages, a part at a time."""

    def __init__(self, transcript: Transcript, embedders: Sequence[Embedder]) -> None:
        """For `embedders`, see Service."""
        self._transcript = transcript
        self._configured = embedders[0]
        self._embeds = {embedder.name: Embed(transcript, embedder) for embedder in embedders}
        self._cut = partial(chunks_of, embedder=embedders[0])

    def waiting(self) -> int:
        """Return how many messages wait to be indexed."""
        return self._transcript.waiting()

    def is_behind(self) -> bool:
        """Return whether a message waits to be indexed, or a part of one for its vector."""
        name = self._configured.name
        return self.waiting() > 0 or bool(self._transcript.pending(name, 1))

    def part(self, budget: Budget, stand_in: Embedder | None = None) -> bool:
        """Index some messages or, if none waits, make some vectors; returns whether more may be
        left.

        `stand_in` is the embedder in use until the configured one has made its vectors, and needs
        vectors of new messages. Raises ModelError if the embedder is unavailable.
        """
        if self._transcript.index(AT_ONCE, self._cut):
            return True
        if stand_in is not None:
            self._embeds[stand_in.name].part(budget, stands_in=True)
        return self._embeds[self._configured.name].part(budget)

    def all(self, progress: Callable[[int, int, str], None] | None = None) -> int:
        """Index until nothing waits; returns how many parts got vectors. Raises ModelError."""
        while self._transcript.index(AT_ONCE, self._cut):
            pass
        return self._embeds[self._configured.name].all(progress)


class Embed:
    """Makes the vectors of one embedder."""

    def __init__(self, store: Vectored, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._refused: dict[tuple[bool, int], float] = {}
        self._size = SLICE
        self._in_a_row = 0

    def enroll(self) -> None:
        """Register the embedder, so that every chunk gets a vector of it. Raises ModelError if it
        is unavailable."""
        if all(known.embedder != self._embedder.name for known in self._store.coverage()):
            self._store.enroll(self._embedder.name, self._embedder.dimension)

    def pool(self) -> Iterator[Filled]:
        """Embed up to 512 waiting chunks; yields each slice once it is stored, nothing if no chunk
        waits.

        A text that the embedder refuses while it accepts others is skipped, for an hour or until
        the next start, so that it does not block those behind it. Raises ModelError; what was
        yielded is stored.
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

    def part(self, budget: Budget, *, stands_in: bool = False) -> bool:
        """Embed a pool, as far as the budget goes; returns whether more may be left. Of an embedder
        that `stands_in` it does not matter whether it is available."""
        more = False
        with suppress(*((ModelError,) if stands_in else ())):
            for _ in self.pool():
                more = True
                if budget.is_over():
                    break
        return more

    def _waiting_chunks(self) -> list[Pending]:
        """Return up to 512 waiting chunks that are not skipped."""
        now = time.monotonic()
        self._refused = {chunk: until for chunk, until in self._refused.items() if until > now}
        waiting = self._store.pending(self._embedder.name, POOL + len(self._refused))
        return [chunk for chunk in waiting if (chunk.is_own, chunk.chunk) not in self._refused][
            :POOL
        ]

    def _filled(self, part: Sequence[Pending], failed: list[Pending]) -> Filled:
        """Embed what can be embedded, halving the part to isolate failures, which are added to
        `failed`.

        Slices get smaller while they fail, in case their size is the problem. Raises ModelError if
        the embedder is unavailable.
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
        """Embed a chunk once more, in case the failure was temporary. Raises ModelError if too many
        are refused."""
        try:
            return self._fill([chunk])
        except ModelError as error:
            self._probe()
            logger.warning("no vector for memory %s: %s", chunk.memory_id, error)
            lasts = REFUSED_SECONDS if error.retry else math.inf
            self._refused[chunk.is_own, chunk.chunk] = time.monotonic() + lasts
            if len(self._refused) >= MOST_REFUSED:
                raise
        return []

    def _fill(self, part: Sequence[Pending]) -> Filled:
        texts = [in_first_person(chunk.text) for chunk in part]
        vectors: Vectors = self._embedder.embed(texts)
        self._store.fill(self._embedder.name, part, vectors)
        return list(zip(part, vectors, strict=True))

    def _probe(self) -> None:
        """Raise ModelError if the embedder is unavailable."""
        self._embedder.embed([HARMLESS], deadline=PROBE_SECONDS)

    def all(self, progress: Callable[[int, int, str], None] | None = None) -> int:
        """Embed until nothing waits; returns how many chunks got vectors. Raises ModelError."""
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
        """Return how many chunks wait; none if the embedder was retired in the meantime."""
        for known in self._store.coverage():
            if known.embedder == self._embedder.name:
                return known.total - known.done
        return 0
