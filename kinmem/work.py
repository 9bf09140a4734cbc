"""What is done for a Kin while nobody waits: vectors, what they settle, what was said."""

from collections.abc import Collection, Mapping, Sequence
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
from kinmem.store.base import Store
from kinmem.turns import Run
from kinmem.upkeep.embed import Embed

SETTLED_AT_ONCE = 100
"""Memories."""


class Work:
    """The parts of the background work, each of which may be cut short and is taken up again."""

    def __init__(
        self,
        store: Store,
        embedders: Sequence[Embedder],
        memorize: Memorize,
        cycle: Cycle,
        bin_time: timedelta,
        clock: Clock,
    ) -> None:
        """`embedders`: see Service; the first one's vectors are made, others' while they answer."""
        self._store = store
        self._embedders = embedders
        self._memorize = memorize
        self._cycle = cycle
        self._bin_time = bin_time
        self._clock = clock
        self._embeds = {embedder.name: Embed(store, embedder) for embedder in embedders}
        self._embed = self._embeds[embedders[0].name]
        self._enrolled = False

    def prepare(self) -> None:
        """Load who answers, then who is to make vectors; empty the bin of what was there long."""
        answering, _ = choose(self._embedders, self._store)
        answering.warm()
        self._embedders[0].warm()
        self._empty_bin()

    def part(self, background: Background) -> bool:
        """Counters, vectors and what they settle, then what was said. Whether more may be left."""
        self._store.flush_use()
        failure, more = None, False
        try:
            more = self._vectors(background)
        except ModelError as error:  # an embedder that is away must not keep turns waiting
            failure = error
        run = self._cycle(hurried=background.hurried, stopping=lambda: background.stopping)
        learned = run is not None and bool(run.counts.get("extract.turns"))
        if failure is not None and not learned:
            raise failure
        return more or learned

    def sleep(self, background: Background, compress: bool | None) -> Run:
        """All of it now, whatever is due."""
        while self._vectors(background):
            pass
        run = self._cycle.sleep(compress=compress)
        self._empty_bin()
        return run

    def reembed(self, progress: Progress | None) -> int:
        """See Service.reembed."""
        return self._embed.all(progress)

    def _empty_bin(self) -> None:
        self._store.purge(self._clock() - self._bin_time)

    def _vectors(self, background: Background) -> bool:
        """Fill in a pool of missing vectors, settle what they tell; whether more may be left."""
        more = self._stand_in(background)
        if not self._enrolled:
            self._embed.enroll()
            self._enrolled = True
        for filled in self._embed.pool():
            more = True
            fresh = {chunk.memory_id: vector for chunk, vector in filled if chunk.fresh}
            self._settle(fresh, fresh)
            background.await_calm()
            if background.stopping:
                return more
        if more:
            return True
        name = self._embedders[0].name
        left = {chunk.memory_id for chunk in self._store.unsettled(name, SETTLED_AT_ONCE)}
        self._settle(left, self._store.first_vectors(name, left))
        return bool(left)

    def _stand_in(self, background: Background) -> bool:
        """What is new has to be found meanwhile by the embedder that still answers."""
        answering, filled = choose(self._embedders, self._store)
        more = False
        if answering is not self._embedders[0] and not filled:
            with suppress(ModelError):  # words find it; the new vectors are what counts
                for _ in self._embeds[answering.name].pool():
                    more = True
                    background.await_calm()
                    if background.stopping:
                        break
        return more

    def _settle(self, ids: Collection[str], vectors: Mapping[str, Vector]) -> None:
        """Compare memories that were stored unseen, and note that this was done."""
        self._memorize.settle(vectors)
        if ids:
            self._store.settled(ids)
