"""Stored turns that wait to be learned from: which are due, and what becomes of them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

from kinmem.clock import Clock
from kinmem.errors import KinmemError
from kinmem.learn.pipeline import Learn
from kinmem.models.turns import Batch, Message
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.upkeep.budget import Budget
from kinmem.upkeep.steps import Report

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

Turn = list[Message]


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
                if turns[number - 1] in away[:-1]:
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
        tries = max(message.tries for message in turn) + 1
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
