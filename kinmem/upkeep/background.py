"""The background worker: one thread for each open Kin, the work it does, what it is still to learn
from, and the calls that keep a Kin open as long."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from operator import attrgetter

from kinmem.clock import Clock
from kinmem.conversation.context import Turn
from kinmem.errors import KinmemError, ModelError
from kinmem.learn.pipeline import Learn
from kinmem.models.turns import Batch
from kinmem.settings import Settings
from kinmem.settings.memory_settings import Prune
from kinmem.settings.process import give_back
from kinmem.store.base import Store
from kinmem.upkeep.ageing import purge
from kinmem.upkeep.embed import Indexing
from kinmem.upkeep.pipeline import Cycle
from kinmem.upkeep.steps import (
    UNLIMITED,
    Budget,
    Report,
)

# Turns loaded at once.
AT_ONCE = 50
# Messages before a turn that help to understand it.
BEFORE = 8
# Time after which a turn without an answer counts as complete.
QUIET = timedelta(seconds=30)
TRIES = 3
# Pause before the second try; four times as long before each further one.
FIRST_PAUSE = timedelta(seconds=30)
# Pause until an unavailable model is asked again, with two turns at most.
OUTAGE_PAUSE = timedelta(minutes=2)


class Outbox:
    """What one Kin has heard and not learned yet."""

    def __init__(self, store: Store, learn: Learn, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._turns = store.turns
        self._learn = learn
        self._settings = settings
        self._clock = clock

    def due(self, *, hurried: bool) -> list[Turn]:
        """Return the turns that are complete: answered, followed by another, or left alone. Oldest
        first, but turns that failed come after those that did not, so that none blocks the others.

        `hurried` includes turns that still wait for their answer.
        """
        now = self._clock()
        waiting = sorted(self._turns.learnable(now, AT_ONCE), key=attrgetter("session", "turn"))
        turns = [list(turn) for _, turn in groupby(waiting, attrgetter("session", "turn"))]
        whole = [turn for turn in turns if hurried or self._is_whole(turn, now)]
        return sorted(whole, key=lambda turn: (_tries(turn), turn[0].id))

    def learn(self, turns: Sequence[Turn], report: Report, budget: Budget) -> bool:
        """Learn from each turn until the budget is over; returns whether it lasted to the end.

        A turn that fails is postponed alone, and parked at the third try. If two in a row find the
        model or the disk unavailable, no text is to blame: they and all that are left wait, without
        a try being counted.
        """
        away: list[Turn] = []
        was_there = False
        for number, turn in enumerate(turns):
            if budget.is_over():
                return False
            try:
                self._learned(turn, report)
                was_there = True
            except Exception as error:  # of any kind: the other turns are not to blame
                problem = report.failed("extract", error)
                if not isinstance(error, KinmemError) or not error.retry:
                    self._failed(turn, problem)
                    continue
                away.append(turn)
                self._wait([turn], problem)
                if number and turns[number - 1] in away:
                    self._wait(turns[number + 1 :], problem)
                    return True
        for turn in away if was_there else []:
            self._failed(turn, "the model was there for others, and not for this one")
        return True

    def _learned(self, turn: Turn, report: Report) -> None:
        if self._settings.learn.learn:
            before = self._turns.before(turn[0], BEFORE)
            report.add("extract", self._learn.turn(turn, before))
        else:
            self._store.apply(Batch(learned=[message.id for message in turn]))
        report.counts["extract.turns"] += 1

    def _failed(self, turn: Turn, problem: str) -> None:
        tries = _tries(turn) + 1
        until = self._clock() + FIRST_PAUSE * 4 ** (tries - 1) if tries < TRIES else None
        self._turns.postpone([message.id for message in turn], until, problem)

    def _wait(self, turns: Sequence[Turn], problem: str) -> None:
        ids = [message.id for turn in turns for message in turn]
        self._turns.postpone(ids, self._clock() + OUTAGE_PAUSE, problem, failed=False)

    def _is_whole(self, turn: Turn, now: datetime) -> bool:
        last = turn[-1]
        return (
            any(message.role == "assistant" for message in turn)
            or not timedelta(0) <= now - last.said_at <= QUIET
            or any(later.turn != last.turn for later in self._turns.after(last, 1))
        )


def _tries(turn: Turn) -> int:
    return max(message.tries for message in turn)


logger = logging.getLogger(__name__)
IDLE_SECONDS = 5.0
# What calls and upkeep no longer use is returned to the system once in this long, when all is done.
GIVEN_BACK_SECONDS = 60.0
# A caller that stores batch after batch goes first: two threads that share one interpreter and one
# write lock take twice as long (130 µs a memory instead of 67). The worker waits for
# PATIENCE_SECONDS at most.
CALM_SECONDS = 0.1
PATIENCE_SECONDS = 2.0
# If a provider is down, the work is tried again after this long, or at the next wake.
RETRY_SECONDS = 30.0


class Background:
    """Runs `prepare` once, then `work` whenever it is woken and every few seconds."""

    def __init__(
        self,
        prepare: Callable[[], None],
        work: "Callable[[Background], bool]",
        patience: float | None,
        *,
        resident: bool = True,
    ) -> None:
        """`work` is given this object, does a part and returns whether more is left; both functions
        may raise KinmemError.

        `patience` is how long await_ready waits, in seconds; None: until prepare has ended. Without
        `resident` there is no background work, and nobody waits for it.
        """
        self._prepare = prepare
        self._work = partial(work, self)
        self._patience = patience
        self._ready = threading.Event()
        self._woken = threading.Event()
        self._rest = threading.Condition()
        self._resting = False
        self._failed = False
        self.stopping = self.closing = False
        self._hurried = threading.Event()
        self._woken_at = 0.0
        self._thread = threading.Thread(target=self._run, name="kinmem-background", daemon=True)
        if not resident:
            self._ready.set()
            self.stopping = True

    def start(self) -> None:
        """Start the thread, once its owner is ready to be called."""
        if not self.stopping:
            self._thread.start()

    def await_ready(self) -> None:
        """Wait until prepare has succeeded or failed, but not longer than `patience`."""
        self._ready.wait(self._patience)

    def wake(self) -> None:
        """Announce new work, which is done once no more of it arrives."""
        self._woken_at = time.monotonic()
        with self._rest:
            self._resting = False
            self._woken.set()

    def settle(self, timeout: float | None) -> bool:
        """Wait until nothing is left to do; False if time runs out or the work fails."""
        self._hurried.set()
        self.wake()
        with self._rest:
            done = self._rest.wait_for(lambda: self._resting or self.stopping, timeout)
            return done and not self._failed and not self.stopping

    @property
    def outcome(self) -> bool | None:
        """Whether nothing is left to do; None while work goes on. Unlike `settle` it announces
        nothing, and may be asked again and again."""
        with self._rest:
            if not (self._resting or self.stopping):
                return None
            return not self._failed and not self.stopping

    @property
    def hurried(self) -> bool:
        """Whether a caller is waiting for all work to be done."""
        return self._hurried.is_set()

    @property
    def is_woken(self) -> bool:
        """Whether new work was announced since the current part was begun."""
        return self._woken.is_set()

    def await_calm(self) -> None:
        """Wait between two parts of the work until nothing was announced for a moment, or a caller
        waits for the work to be done."""
        latest = time.monotonic() + PATIENCE_SECONDS
        while (now := time.monotonic()) < latest and not self._hurried.is_set():
            calm = self._woken_at + CALM_SECONDS
            if calm <= now:
                return
            self._hurried.wait(calm - now)

    def stop(self) -> None:
        """End after the current part, without waiting for that."""
        with self._rest:
            self.stopping = self.closing = True
            self._woken.set()
            self._rest.notify_all()
        self._hurried.set()

    def close(self) -> None:
        """End after the current part."""
        self.stop()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)

    def _run(self) -> None:
        self._attempt(self._prepare)
        prepared = not self._failed
        self._ready.set()
        given_back = time.monotonic()
        while not self.stopping:
            self._woken.clear()
            self.await_calm()
            if not prepared:
                self._attempt(self._prepare)
                prepared = not self._failed
            more = prepared and self._attempt(self._work)
            if more and not self.stopping:
                continue
            with self._rest:
                self._resting = not self._woken.is_set()
                if self._resting:
                    self._hurried.clear()
                self._rest.notify_all()
            if time.monotonic() > given_back + GIVEN_BACK_SECONDS:
                give_back()
                given_back = time.monotonic()
            self._woken.wait(RETRY_SECONDS if self._failed else IDLE_SECONDS)

    def _attempt(self, part: Callable[[], bool | None]) -> bool:
        """Run a part. A failure is logged, and the part is tried again later."""
        try:
            more = bool(part())
        except KinmemError as error:
            if not self._failed:
                logger.warning("background work waits: %s", error)
            self._failed = True
            return False
        except Exception:  # of any kind: a waiting caller must not wait for ever
            logger.exception("background work failed")
            self._failed = True
            return False
        self._failed = False
        return more


class LongCalls:
    """Counts calls that may take longer than a memory stays open without being called."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one during the block."""
        self._add(1)
        try:
            yield
        finally:
            self._add(-1)

    def _add(self, count: int) -> None:
        with self._lock:
            self._count += count


class Work:
    """The parts of the background work. Each may be interrupted and is resumed later."""

    def __init__(
        self,
        store: Store,
        indexing: Indexing,
        cycle: Cycle,
        bin_time: timedelta,
        prune: Prune,
        clock: Clock,
    ) -> None:
        self._store = store
        self._indexing = indexing
        self._cycle = cycle
        self._bin_time = bin_time
        self._prune: Prune = prune
        self._clock = clock

    def prepare(self) -> None:
        """Load the models, then purge what is due: not every process lives long enough for a sleep
        cycle."""
        self._indexing.warm()
        kept, prune = self._bin_time, self._prune
        purge(self._store, kept, prune, self._clock, UNLIMITED, Counter())

    def part(self, background: Background) -> bool:
        """Flush usage counters, make vectors and compare new memories, then learn from what was
        said. Returns whether more may be left."""
        self._store.reserve_room()
        self._store.flush_use()
        failure, more = None, False
        try:
            more = self._indexing.part(Budget(lambda: _is_stopping(background)))
        except ModelError as error:  # turns must not wait for an embedder that is unavailable
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
    """Let callers that store batch after batch go first, then return whether to stop."""
    background.await_calm()
    return background.stopping
