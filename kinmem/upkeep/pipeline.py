"""The sleep cycle, which improves a Kin's memories: its steps as a table, what they work with, and
which of them are left in a night."""

from collections import Counter
from datetime import timedelta
from functools import partial

from kinmem.clock import Clock
from kinmem.llm.base import ChatModels, Embedder
from kinmem.llm.naming import Naming
from kinmem.llm.relating import Relating
from kinmem.settings import Settings
from kinmem.store.base import Jobs, Store
from kinmem.upkeep.ageing import drop_turns, prune, purge, recalibrate, tier
from kinmem.upkeep.consolidate import consolidate, everywhere, join
from kinmem.upkeep.entities_and_tags import entities, tag
from kinmem.upkeep.lifecycle import expire, retain
from kinmem.upkeep.link import link
from kinmem.upkeep.merge import compress
from kinmem.upkeep.steps import NAMES, Budget, Step, StepName, Work
from kinmem.upkeep.summarize_memories import summarize


class Upkeep:
    """The steps of upkeep. Each may be repeated at any time."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        models: ChatModels,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._models = models
        self._naming = Naming(models.judge)
        self._settings = settings
        self._clock = clock

    def table(
        self, back_up: Work, learn: Work, embed: Work, sweep: Work, without_model: bool | None
    ) -> list[Step]:
        """Return all steps in order, each with the seconds that a run may spend on it.

        The backup of the day comes first, then new material, then what is made of it, then what
        follows from time and use; erasing comes last. Steps that read all memories run once a day
        (steps.once_a_day). For `without_model`, see _consolidate.
        """
        store, clock, naming = self._store, self._clock, self._naming
        return [
            Step("backup", 600, back_up),
            Step("learn", 300, learn),
            Step("expire", 60, partial(expire, store, clock)),
            Step("embed", 300, embed),
            Step("entities", 60, partial(entities, store, naming), goes_on=True),
            Step("tag", 60, partial(tag, store, clock), goes_on=True),
            Step("link", 60, partial(link, store, self._embedder, clock), goes_on=True),
            Step("consolidate", 300, partial(self._consolidate, without_model)),
            Step("recalibrate", 60, partial(recalibrate, store, clock)),
            Step("retain", 60, partial(retain, store, self._settings.life, clock)),
            Step("tier", 60, partial(tier, store, clock)),
            Step("summaries", 300, partial(summarize, store, self._models.summary)),
            Step("prune", 60, partial(prune, store, self._settings.life.prune, clock)),
            Step("purge", 60, self._purge),
            Step("sweep", 60, sweep),
            Step("housekeeping", 60, self._keep_house),
        ]

    def _purge(self, budget: Budget, counts: Counter[str]) -> None:
        """Erase forgotten memories, and delete what was said, each when it is old enough."""
        days = self._settings.general.purge_days, self._settings.upkeep.turns_days
        in_bin, turns = (timedelta(days=one) for one in days)
        prune = self._settings.life.prune
        purge(self._store, in_bin, prune, self._clock, budget, counts)
        drop_turns(self._store, turns, self._clock, budget, counts)

    def _keep_house(self, budget: Budget, counts: Counter[str]) -> None:
        """Keep the files in order, whatever they contain: fill half-empty blocks of vectors, free
        unused space, empty the logs. Counts blocks and freed_kib."""
        counts.update(self._store.keep_house(budget.is_over, budget.dry_run))

    def _consolidate(
        self, without_model: bool | None, budget: Budget, counts: Counter[str]
    ) -> None:
        """Let what several projects have in common hold everywhere. Then merge similar memories:
        those that the judge finds equal, those that a chat model merges (if there is one), and
        those that rules merge, if KINMEM_COMPRESS or `without_model` says so."""
        everywhere(self._store, budget, counts)
        with_all = self._store, self._embedder
        settings, clock = self._settings, self._clock
        if relating := Relating(self._models.judge):
            join(*with_all, relating, settings, clock, counts, budget, self._naming)
        if self._models.consolidation is not None:
            model = self._models.consolidation
            consolidate(*with_all, model, settings, clock, counts, budget, self._naming)
        if settings.upkeep.compress if without_model is None else without_model:
            compress(*with_all, settings, clock, counts, budget, self._naming)


# The mark of when the night began; with a step behind it, of the night in which that was last done.
MARK = "sleep"


class Schedule:
    """Which steps of the current night are left.

    A night is named by the second it began. Each step records the night in which it was last done,
    so that after a process was killed the next one continues with what is left.
    """

    def __init__(self, jobs: Jobs, minutes: int, clock: Clock) -> None:
        """`minutes` from one night to the next; 0: no nights."""
        self._jobs = jobs
        self._length = timedelta(minutes=minutes)
        self._clock = clock

    def left(self) -> list[StepName]:
        """Return the steps to be done now; a new night begins when the last is over.

        A night that began in the future was begun by a wrong clock, and counts as over.
        """
        if not self._length:
            return []
        began = self._jobs.mark(MARK)
        if not 0 <= self._now - began < self._length.total_seconds():
            return list(NAMES)
        return [name for name in NAMES if self._jobs.mark(_mark(name)) != began]

    def begin(self) -> None:
        """Begin a night: all of its steps are left."""
        self._jobs.set_mark(MARK, self._now)

    def done(self, step: StepName) -> None:
        """Record that the step was done in the current night, successfully or not."""
        self._jobs.set_mark(_mark(step), self._jobs.mark(MARK))

    @property
    def _now(self) -> int:
        return int(self._clock().timestamp())


def _mark(step: StepName) -> str:
    return f"{MARK} {step}"
