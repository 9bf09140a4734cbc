"""The components of a Kin's memory, put together."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from kinmem.clock import Clock, utc_now
from kinmem.conversation.compact import Compact
from kinmem.conversation.notes import Inject
from kinmem.conversation.observe import Conversation
from kinmem.documents.pipeline import Documents
from kinmem.learn.from_turns import Learn
from kinmem.learn.memorize import Memorize
from kinmem.learn.projects import settle_places
from kinmem.learn.verdicts import Verdicts
from kinmem.llm.base import ChatModels, Embedder
from kinmem.llm.naming import Naming
from kinmem.models import Answer, Filters, Memory
from kinmem.models.places import worked_in
from kinmem.recall.answer_cache import RecentAnswers
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request
from kinmem.recall.rewrite import Recent
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.store.memory import SHORT
from kinmem.undo.undo import Undo
from kinmem.upkeep.background import Background, Work
from kinmem.upkeep.cycle import Cycle
from kinmem.upkeep.embed import Indexing, Transcribe
from kinmem.upkeep.outbox import Outbox
from kinmem.upkeep.pipeline import Upkeep
from kinmem.upkeep.reviewing import Reviewer
from kinmem.upkeep.schedule import Schedule
from kinmem.upkeep.summarize_memories import summarize_these
from kinmem.upkeep.tag import tag_these

# Characters. Summarising a longer text by rules takes over 5 ms.
AT_ONCE = 4000
QUERY_BYTES = 8 * 1024
NO_MODELS = ChatModels()

Time = str | datetime


class Parts:
    """What the interfaces of Service share, and how it is opened and closed."""

    def __init__(
        self,
        store: Store,
        embedders: Sequence[Embedder],
        settings: Settings,
        *,
        models: ChatModels = NO_MODELS,
        clock: Clock = utc_now,
        patience: float | None = None,
        resident: bool = True,
    ) -> None:
        """`embedders` are the configured one, then those that answer while its vectors are being
        made.

        `patience` limits the seconds that a call waits for the embedder to load; None: no limit.
        Without `resident` no model is loaded and no background work is done, and words alone are
        searched.
        """
        self.store = store
        self._here: str | None = None
        self._root: str | None = None
        self.settings = settings
        self.clock = clock
        self._embedder = embedder = embedders[0]
        self._recall = RecentAnswers(
            Recall(store, embedders, settings, clock, models),
            store,
            clock,
            settings.recall.rewrite_threshold,
        )
        self._naming = Naming(models.judge)
        self._verdicts = Verdicts(store, embedder, settings, clock, models.judge)
        self._memorize = Memorize(store, embedder, settings, clock, self._verdicts, self._naming)
        self.documents = Documents(store, embedder, settings, clock)
        self._summary_model = models.summary
        self._undo = Undo(store, embedder, self._bin_time, clock, models.judge)
        self._review = Reviewer(store, embedder, models.review, settings, clock, models.judge)
        self._compact = Compact(store, models.compacting, settings, clock)
        inject = Inject(store.shown, settings, clock)
        self._conversation = Conversation(
            store, inject, self._compact.spill, self._fitting, settings, clock
        )
        transcribe = Transcribe(store.transcript, embedders) if settings.recall.turns else None
        self._indexing = Indexing(store, embedders, self._memorize, transcribe)
        self._cycle = self._cycle_of(embedder, models)
        prune = settings.life.prune
        self._work = Work(store, self._indexing, self._cycle, self._bin_time, prune, clock)
        self._background = Background(
            self._work.prepare,
            lambda: self._work.part(self._background),
            patience,
            resident=resident,
        )
        settle_places(store)
        self._background.start()

    def _cycle_of(self, embedder: Embedder, models: ChatModels) -> Cycle:
        """Put together the work after each turn and in the sleep cycle."""
        store, settings, clock = self.store, self.settings, self.clock
        learn = Learn(
            store,
            embedder,
            models.extraction,
            settings,
            clock,
            self._verdicts,
            self._naming,
            models.judge,
        )
        return Cycle(
            store,
            Outbox(store, learn, settings, clock),
            self._compact,
            Upkeep(store, embedder, models, settings, clock),
            self._indexing.step,
            Schedule(store.jobs, settings.upkeep.sleep_every, clock),
            clock,
        )

    @property
    def kin(self) -> str:
        """The Kin whose memory this is."""
        return self.store.kin

    @property
    def here(self) -> str | None:
        """The project of the call that is worked on, else the one that this process works for, if
        it is started in one: see models/places.py."""
        return worked_in() or self._here

    @here.setter
    def here(self, place: str | None) -> None:
        """The project of the current call, else the one that this process was started in, if any;
        see models/places.py."""
        self._here = place

    @property
    def root(self) -> str | None:
        """The project that the client has named, which is `here` then: what is said is said in it,
        unless it is said where."""
        return worked_in() or self._root

    @root.setter
    def root(self, place: str | None) -> None:
        """The project that the client has named, which is then `here` as well.

        Messages belong to it unless they name another.
        """
        self._root = place

    def close(self) -> None:
        """Stop background work and close the files. Pending work continues at the next opening."""
        self._background.close()
        self.store.close()

    @property
    def _bin_time(self) -> timedelta:
        return timedelta(days=self.settings.general.purge_days)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _renewed(self, memory_id: str) -> Memory:
        """Return the memory with its priority recomputed after a change, and its tier if that must
        not wait."""
        self.store.life.renew([memory_id])
        return self.store.get(memory_id)

    def _told_anew(self, ids: Iterable[str], *, tags: bool = True) -> None:
        """Tag and summarise changed texts again, as far as that takes no noticeable time; upkeep
        does the rest. Without `tags` if sleep had given none yet."""
        found = self.store.memories(list(ids)).values()
        rewritten = [
            memory for memory in found if memory.kin == self.kin and memory.tagged_at is None
        ]
        if tags:
            tag_these(self.store, rewritten, self.clock)
        if self._summary_model is None:
            long = [memory.id for memory in rewritten if SHORT < len(memory.content) <= AT_ONCE]
            summarize_these(self.store, long, None)

    def _fitting(self, query: str, recent: Recent, seconds: float, allowed: Filters) -> Answer:
        """Find what fits a prompt. Use is counted later, for what is shown."""
        self._background.await_ready()
        limit = self.settings.recall.max_relevant
        query = query.encode("utf-8", "ignore")[:QUERY_BYTES].decode("utf-8", "ignore")
        answer = self._recall(Request(query, limit, allowed, seconds=seconds), recent)
        return self._recall.beside(query, answer, allowed, seconds)
