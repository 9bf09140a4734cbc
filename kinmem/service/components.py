"""The objects that a Kin's memory is made of, each built once and put together here."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from kinmem.backup.backups import Backups
from kinmem.backup.erasure import ErasesInBackups
from kinmem.clock import Clock
from kinmem.conversation.compact import Compact
from kinmem.conversation.notes import Inject
from kinmem.conversation.observe import Conversation, Fitting, Recent
from kinmem.documents.pipeline import Documents
from kinmem.learn.pipeline import Learn
from kinmem.llm.base import ChatModels, Embedder
from kinmem.llm.naming import Naming
from kinmem.models import Answer, Filters
from kinmem.recall.answer_cache import RecentAnswers
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request
from kinmem.service.current_place import CurrentPlace
from kinmem.service.renewal import Renewal
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.undo.undo import Undo
from kinmem.upkeep.background import Background, Work
from kinmem.upkeep.budget import Budget
from kinmem.upkeep.cycle import Cycle
from kinmem.upkeep.embed import Indexing, Transcribe
from kinmem.upkeep.outbox import Outbox
from kinmem.upkeep.pipeline import Upkeep
from kinmem.upkeep.reviewing import Reviewer
from kinmem.upkeep.schedule import Schedule

QUERY_BYTES = 8 * 1024


@dataclass(frozen=True, slots=True)
class Ground:
    """What everything else is built on."""

    store: Store
    embedders: Sequence[Embedder]
    """The configured one, then those that answer while its vectors are being made."""
    settings: Settings
    models: ChatModels
    clock: Clock
    backups: Backups | None = None
    """Of the home; None for a memory that has none, such as a scratch one."""

    @property
    def in_backups(self) -> ErasesInBackups | None:
        """What erases in them."""
        return None if self.backups is None else ErasesInBackups(self.backups, self.store.kin)

    @property
    def embedder(self) -> Embedder:
        return self.embedders[0]

    @property
    def bin_time(self) -> timedelta:
        """How long a forgotten memory can be restored."""
        return timedelta(days=self.settings.general.purge_days)


@dataclass(frozen=True, slots=True)
class Components:
    """What the groups of Service's methods share."""

    embedder: Embedder
    recall: RecentAnswers
    learn: Learn
    documents: Documents
    conversation: Conversation
    compact: Compact
    review: Reviewer
    undo: Undo
    renewal: Renewal
    current_place: CurrentPlace
    naming: Naming
    indexing: Indexing
    cycle: Cycle
    background: Background


def components(ground: Ground, patience: float | None, *, resident: bool) -> Components:
    """Build all components. The background work is not started yet. For `patience` and `resident`,
    see Service."""
    store, settings, clock = ground.store, ground.settings, ground.clock
    embedder, models = ground.embedder, ground.models
    naming = Naming(models.judge)
    learn = Learn(store, embedder, settings, clock, models, naming)
    recall = RecentAnswers(
        Recall(store, ground.embedders, settings, clock, models),
        store,
        clock,
        settings.recall.rewrite_threshold,
    )
    compact = Compact(store, models.compacting, settings, clock)
    transcribe = Transcribe(store.transcript, ground.embedders) if settings.recall.turns else None
    indexing = Indexing(store, ground.embedders, learn, transcribe)
    cycle = _cycle(ground, learn, compact, indexing)
    background = _background(ground, indexing, cycle, patience, resident=resident)
    return Components(
        embedder=embedder,
        recall=recall,
        learn=learn,
        documents=Documents(store, embedder, settings, clock),
        conversation=Conversation(
            store,
            Inject(store.shown, settings, clock),
            compact.spill,
            _fitting(recall, background, settings.recall.max_relevant),
            settings,
            clock,
        ),
        compact=compact,
        review=Reviewer(store, embedder, models.review, settings, clock, models.judge),
        undo=Undo(store, embedder, ground.bin_time, clock, models.judge),
        renewal=Renewal(store, clock, models.summary),
        current_place=CurrentPlace(store, embedder, learn.screened),
        naming=naming,
        indexing=indexing,
        cycle=cycle,
        background=background,
    )


def _cycle(ground: Ground, learn: Learn, compact: Compact, indexing: Indexing) -> Cycle:
    """Build the work after each turn and in the sleep cycle."""
    store, settings, clock, models = ground.store, ground.settings, ground.clock, ground.models
    return Cycle(
        store,
        Outbox(store, learn, settings, clock),
        compact,
        Upkeep(store, ground.embedder, models, settings, clock),
        indexing.step,
        partial(_back_up, ground),
        Schedule(store.jobs, settings.upkeep.sleep_every, clock),
        clock,
    )


def _back_up(ground: Ground, budget: Budget, counts: Counter[str]) -> None:
    """A step: make the backup of the day, and erase in all of them what waits to be erased."""
    if ground.backups is None or ground.in_backups is None or budget.dry_run:
        return
    counts["rewritten"] += len(ground.in_backups.catch_up(budget.is_over).rewritten)
    counts["made"] += ground.backups.daily(budget.is_over) is not None


def _background(
    ground: Ground, indexing: Indexing, cycle: Cycle, patience: float | None, *, resident: bool
) -> Background:
    prune = ground.settings.life.prune
    work = Work(ground.store, indexing, cycle, ground.bin_time, prune, ground.clock)
    return Background(work.prepare, work.part, patience, resident=resident)


def _fitting(recall: RecentAnswers, background: Background, limit: int) -> Fitting:
    """Return what finds memories that fit a prompt. Their use is counted later, for what is
    shown."""

    def fitting(query: str, recent: Recent, seconds: float, allowed: Filters) -> Answer:
        background.await_ready()
        query = query.encode("utf-8", "ignore")[:QUERY_BYTES].decode("utf-8", "ignore")
        answer = recall(Request(query, limit, allowed, seconds=seconds), recent)
        return recall.beside(query, answer, allowed, seconds)

    return fitting
