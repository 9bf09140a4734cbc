"""What is done for a Kin while nobody waits: vectors, what they settle, what was said."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

from kinmem.background import Background
from kinmem.clock import Clock
from kinmem.cycle import Cycle
from kinmem.errors import ModelError
from kinmem.learn.memorize import Memorize
from kinmem.llm.base import Embedder
from kinmem.models import Progress, Vector
from kinmem.recall.search import choose
from kinmem.settings.life import Prune
from kinmem.store.base import Store
from kinmem.upkeep.allowance import WITHOUT_LIMIT, Allowance
from kinmem.upkeep.embed import Embed
from kinmem.upkeep.purge import purge
from kinmem.upkeep.transcribe import Transcribe

SETTLED_AT_ONCE = 100
"""Memories."""


class Vectors:
    """Every memory gets its vectors, and is compared by them with those that are known; then what
    was said gets into the indexes."""

    def __init__(
        self,
        store: Store,
        embedders: Sequence[Embedder],
        memorize: Memorize,
        transcribe: Transcribe | None,
    ) -> None:
        """`embedders`: see Service; the first one's vectors are made, others' while they answer.

        `transcribe`: None where what was said is not to be found.
        """
        self._store = store
        self._embedders = embedders
        self._memorize = memorize
        self._embeds = {embedder.name: Embed(store, embedder) for embedder in embedders}
        self._embed = self._embeds[embedders[0].name]
        self._transcribe = transcribe
        self._enrolled = False

    def warm(self) -> None:
        """Load who answers, then who is to make vectors."""
        answering, _ = choose(self._embedders, self._store)
        answering.warm()
        self._embedders[0].warm()

    def all(self, progress: Progress | None) -> int:
        """See Service.reembed."""
        done = self._embed.all(progress)
        return done if self._transcribe is None else done + self._transcribe.all(progress)

    def step(self, allowance: Allowance, counts: Counter[str]) -> None:
        """A step of upkeep: fill in all that are missing, settle what they tell; counts chunks.

        Raises ModelError if the embedder is away.
        """
        if allowance.dry_run:
            counts["chunks"] += self._missing()
            counts["turns"] += self._turns_waiting()
            return
        self._enroll()
        before, waiting = self._missing(), self._turns_waiting()
        try:
            while not allowance.is_over() and self.part(allowance.is_over):
                pass
        finally:
            counts["chunks"] += max(0, before - self._missing())
            counts["turns"] += max(0, waiting - self._turns_waiting())

    def part(self, is_over: Callable[[], bool]) -> bool:
        """Fill in a pool of missing vectors, settle what they tell; if there is none, see to what
        was said. Whether more may be left."""
        return self._memories(is_over) or self._turns(is_over)

    def _turns(self, is_over: Callable[[], bool]) -> bool:
        if self._transcribe is None or is_over():
            return False
        answering, filled = choose(self._embedders, self._store.transcript)
        stands_in = answering is not self._embedders[0] and not filled
        return self._transcribe.part(is_over, answering if stands_in else None)

    def _turns_waiting(self) -> int:
        return 0 if self._transcribe is None else self._transcribe.waiting()

    def _memories(self, is_over: Callable[[], bool]) -> bool:
        more = self._stand_in(is_over)
        self._enroll()
        for filled in self._embed.pool():
            more = True
            fresh = {chunk.memory_id: vector for chunk, vector in filled if chunk.fresh}
            self._settle(fresh, fresh)
            if is_over():
                return more
        if more:
            return True
        name = self._embedders[0].name
        left = {chunk.memory_id for chunk in self._store.unsettled(name, SETTLED_AT_ONCE)}
        self._settle(left, self._store.first_vectors(name, left))
        return bool(left)

    def _enroll(self) -> None:
        if not self._enrolled:
            self._embed.enroll()
            self._enrolled = True

    def _missing(self) -> int:
        """Chunks; memories, where none has been made yet by this embedder."""
        name = self._embedders[0].name
        for one in self._store.coverage():
            if one.embedder == name:
                return one.total - one.done
        return sum(self._store.counts()["state"].values())

    def _stand_in(self, is_over: Callable[[], bool]) -> bool:
        """What is new has to be found meanwhile by the embedder that still answers."""
        answering, filled = choose(self._embedders, self._store)
        more = False
        if answering is not self._embedders[0] and not filled:
            with suppress(ModelError):  # words find it; the new vectors are what counts
                for _ in self._embeds[answering.name].pool():
                    more = True
                    if is_over():
                        break
        return more

    def _settle(self, ids: Collection[str], vectors: Mapping[str, Vector]) -> None:
        """Compare memories that were stored unseen, and note that this was done."""
        self._memorize.settle(vectors)
        if ids:
            self._store.settled(ids)


class Work:
    """The parts of the background work, each of which may be cut short and is taken up again."""

    def __init__(
        self,
        store: Store,
        vectors: Vectors,
        cycle: Cycle,
        bin_time: timedelta,
        prune: Prune,
        clock: Clock,
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._cycle = cycle
        self._bin_time = bin_time
        self._prune: Prune = prune
        self._clock = clock

    def prepare(self) -> None:
        """Load the models; empty the bin of what was there long: not every process lives to see a
        sleep cycle."""
        self._vectors.warm()
        kept, prune = self._bin_time, self._prune
        purge(self._store, kept, prune, self._clock, WITHOUT_LIMIT, Counter())

    def part(self, background: Background) -> bool:
        """Counters, vectors and what they settle, then what was said. Whether more may be left."""
        self._store.flush_use()
        failure, more = None, False
        try:
            more = self._vectors.part(lambda: _is_stopping(background))
        except ModelError as error:  # an embedder that is away must not keep turns waiting
            failure = error
        run = self._cycle(
            hurried=background.hurried,
            stopping=lambda: background.stopping,
            disturbed=lambda: background.is_woken,
        )
        learned = run is not None and bool(run.counts.get("extract.turns"))
        if failure is not None and not learned:
            raise failure
        return more or learned


def _is_stopping(background: Background) -> bool:
    """Who stores batch after batch is let through first."""
    background.await_calm()
    return background.stopping
