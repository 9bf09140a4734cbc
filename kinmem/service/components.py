"""The objects that a Kin's memory is made of, each built once and put together here."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from kinmem.backup.backups import Backups
from kinmem.backup.erasure import ErasesInBackups
from kinmem.clock import Clock
from kinmem.conversation.compact import Compact
from kinmem.conversation.notes import Inject
from kinmem.conversation.observe import Conversation, Fitting, Recent
from kinmem.documents.pipeline import Documents
from kinmem.errors import InvalidInput
from kinmem.learn.drafting import project_of
from kinmem.learn.pipeline import Learn
from kinmem.llm.base import ChatModel, ChatModels, Embedder
from kinmem.llm.naming import Naming
from kinmem.models import Answer, Filters, Memory, Note, Progress
from kinmem.models.draft import is_document
from kinmem.models.places import meant, named, same_place, worked_in
from kinmem.recall.pipeline import Recall, RecentAnswers
from kinmem.recall.question import Request
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.store.memory import SHORT
from kinmem.text import clean
from kinmem.undo.undo import Undo
from kinmem.upkeep.background import Background, LongCalls, Outbox, Work
from kinmem.upkeep.embed import Indexing, Transcribe
from kinmem.upkeep.entities_and_tags import tag_these
from kinmem.upkeep.pipeline import Cycle, Upkeep
from kinmem.upkeep.reviewing import Reviewer
from kinmem.upkeep.steps import Budget, Schedule
from kinmem.upkeep.summarize_memories import summarize_these
from kinmem.validation import Border

PLACE_BYTES = 4096


class CurrentPlace:
    """Where the current call is made. See models/places.py."""

    def __init__(self, store: Store, embedder: Embedder, judged: Callable[[Note], Note]) -> None:
        """`judged` gives a note the category that says whether it is bound to a project."""
        self._store = store
        self._embedder = embedder
        self._judged = judged
        self._here: str | None = None
        self._root: str | None = None

    @property
    def here(self) -> str | None:
        """See Service.here."""
        return worked_in() or self._here

    @here.setter
    def here(self, place: str | None) -> None:
        self._here = place

    @property
    def root(self) -> str | None:
        """See Service.root."""
        return worked_in() or self._root

    @root.setter
    def root(self, place: str | None) -> None:
        self._root = place

    def at_hand(self) -> tuple[str, ...] | None:
        """Return the current project, with the places it was moved from; None outside of
        projects."""
        here = self.here
        if here is None:
            return None
        return (here, *(place for place in self._store.places() if same_place(place, here)))

    def named(self, wanted: str | None) -> tuple[str, ...] | None:
        """Return the known places that a filter means; None if it names none."""
        if wanted is None:
            return None
        return named(clean(wanted, "place", PLACE_BYTES), self._store.places())

    def meant(self, wanted: str) -> str | None:
        """Return the path of the project that a memory is to belong to; None for an empty name,
        which means everywhere.

        Raises InvalidInput.
        """
        if not wanted:
            return None
        place = meant(clean(wanted, "place", PLACE_BYTES), self._store.places())
        if place is None:
            told = f"place {wanted!r} is no project known, and in no git repository"
            raise InvalidInput(told, "no_project", given=wanted)
        return place

    def placed(self, note: Note) -> Note:
        """Return the note with the path of the project that it names, or else that it is about.

        A document that names none gets none, since it is about many things.
        """
        if note.place is not None:
            return replace(note, place=self.meant(note.place))
        if is_document(note.content):
            return note
        if self.here:
            with suppress(InvalidInput):  # storing it will report the error
                note = self._judged(note)
        about = note.category, note.content, note.subject
        place = project_of(*about, self.here, self._embedder, self._store.places)
        return replace(note, place=place)


# Characters. Summarising a longer text by rules takes over 5 ms.
AT_ONCE = 4000


class Renewal:
    """Computes again what depends on a memory's fields and text."""

    def __init__(self, store: Store, clock: Clock, summary_model: ChatModel | None) -> None:
        self._store = store
        self._clock = clock
        self._summary_model = summary_model

    def of_rank(self, memory_id: str) -> Memory:
        """Return the memory with its priority recomputed after a change, and its tier if that must
        not wait."""
        self._store.life.renew([memory_id])
        return self._store.get(memory_id)

    def of_texts(self, ids: Iterable[str], *, tags: bool = True) -> None:
        """Tag and summarise changed texts again, as far as that takes no noticeable time; upkeep
        does the rest. Without `tags` if sleep had given none yet."""
        memories = self._store.memories(list(ids)).values()
        rewritten = [
            memory
            for memory in memories
            if memory.kin == self._store.kin and memory.tagged_at is None
        ]
        if tags:
            tag_these(self._store, rewritten, self._clock)
        if self._summary_model is None:
            long = [memory.id for memory in rewritten if SHORT < len(memory.content) <= AT_ONCE]
            summarize_these(self._store, long, None)

    def of_new_document(self, memory_id: str) -> None:
        """Summarise a stored document now if no model is to do it."""
        if self._summary_model is None:
            summarize_these(self._store, [memory_id], None)

    def of_summaries(self, ids: Iterable[str], progress: Progress | None) -> int:
        """See Service.summarize."""
        waiting = list(ids) or self._store.summaries.due(None)
        made = 0
        for done, id in enumerate(waiting):
            if progress:
                progress(done, len(waiting), "summaries")
            made += summarize_these(self._store, [id], self._summary_model)
        return made


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
    def border(self) -> Border:
        """What every text passes before it is stored."""
        return Border(self.settings.learn.secrets)

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
    long_calls: LongCalls = field(default_factory=LongCalls)


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
    jobs = store.jobs if settings.general.store else None
    indexing = Indexing(store, ground.embedders, learn, transcribe, jobs)
    cycle = _cycle(ground, learn, compact, indexing)
    background = _background(ground, indexing, cycle, patience, resident=resident)
    return Components(
        embedder=embedder,
        recall=recall,
        learn=learn,
        documents=Documents(store, embedder, settings, clock),
        conversation=Conversation(
            store,
            Inject(store.shown, settings, clock, store.others.confirmed),
            compact.spill,
            _fitting(recall, background, settings.recall.max_relevant),
            settings,
            clock,
        ),
        compact=compact,
        review=Reviewer(store, embedder, models.review, settings, clock, models.judge),
        undo=Undo(store, embedder, ground.bin_time, clock, models.judge, learn.corrected),
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
