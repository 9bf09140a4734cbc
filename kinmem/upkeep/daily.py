"""What the steps that follow from time share: once a day, by a clock that can be right.

Whichever process comes first does the work.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from kinmem.errors import MemoryNotFound, VersionConflict
from kinmem.models import LIVE, Living, Memory
from kinmem.models.turns import Batch, Change
from kinmem.store.base import Store
from kinmem.upkeep.steps import Budget

DAY_SECONDS = 86400
BEHIND = timedelta(days=1)
AHEAD = timedelta(days=400)
# Anything younger may have been stored by the same wrong clock, and proves nothing.
SETTLED = timedelta(days=30)
# Time for which something that was undone is not done again.
UNDONE = timedelta(days=30)
# Changes in one transaction.
TOGETHER = 200


def once_a_day(
    store: Store,
    step: str,
    now: datetime,
    budget: Budget,
    counts: Counter[str],
    work: Callable[[Sequence[Living]], None],
) -> None:
    """Do the work with the own memories in use, unless this step was done within the last day.

    A step that fails, is interrupted or killed does not count as done. A clock that cannot be right
    is counted as `clock`; the step is not marked, since the clock may be corrected at any time.
    """
    mark, at = f"daily {step}", int(now.timestamp())
    if 0 <= at - store.jobs.mark(mark) < DAY_SECONDS:
        return
    memories = [memory for memory in store.life.living() if memory.state in LIVE]
    if not is_believed(memories, now):
        counts["clock"] += 1
        return
    work(memories)
    if not budget.dry_run and not budget.is_over():
        store.jobs.set_mark(mark, at)


def known_living(
    store: Store, now: datetime, budget: Budget, counts: Counter[str]
) -> Sequence[Living] | None:
    """Return own memories once their use is written; None, counted as `clock`, if `now` cannot be
    right."""
    if not budget.dry_run:
        store.flush_use()
    memories = store.life.living()
    if is_believed(memories, now):
        return memories
    counts["clock"] += 1
    return None


class Calendar:
    """Collects the times of memories, and checks whether `now` agrees with them."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._settled: datetime | None = None
        self._all = self._early = 0

    def saw(self, memory: Memory | Living) -> None:
        """Take note of when it was stored, rewritten and used."""
        self._all += 1
        self._early += memory.created_at > self._now + BEHIND
        for at in (memory.created_at, memory.content_updated_at, memory.recalled_at):
            if at is not None and at <= self._now - SETTLED:
                self._settled = max(self._settled or at, at)

    @property
    def agrees(self) -> bool:
        """Whether `now` can be right: not if half of the memories were stored more than a day after
        it, nor if the latest event that is over a month old is over 400 days old. Then the clock
        has jumped, or nobody was here for a year.

        If the clock was ahead for a while, what it stored or used is less than half and blocks
        nothing. If the clock is behind, little is old, so little can be done wrongly. If no memory
        is older than a month, nothing contradicts the clock.
        """
        is_behind = self._early > 0 and 2 * self._early >= self._all
        is_ahead = self._settled is not None and self._now - self._settled > AHEAD
        return not (is_behind or is_ahead)


def is_believed(memories: Iterable[Memory | Living], now: datetime) -> bool:
    """Return whether a calendar of these memories agrees with `now`."""
    calendar = Calendar(now)
    for memory in memories:
        calendar.saw(memory)
    return calendar.agrees


def is_undone(came_by: tuple[str, datetime] | None, now: datetime) -> bool:
    """Return whether a memory has its state from an undo that upkeep must still respect."""
    return came_by is not None and came_by[0] == "undone" and now - came_by[1] < UNDONE


def change_all(
    store: Store,
    changes: Sequence[tuple[Memory | Living, dict[str, Any], str]],
    action: str,
    budget: Budget,
) -> int:
    """Set fields of own memories, each given as (memory, fields, reason); returns how many were
    changed, or would be in a dry run.

    Uses transactions of 200. What was changed by others in the meantime is left alone.
    """
    if budget.dry_run:
        return len(changes)
    done = 0
    wanted = [
        Change(memory.id, fields, action, reason, memory.version)
        for memory, fields, reason in changes
    ]
    for start in range(0, len(wanted), TOGETHER):
        if budget.is_over():
            return done
        part = wanted[start : start + TOGETHER]
        done += len(part) if _done(store, part) else _one_by_one(store, part)
    return done


def _one_by_one(store: Store, changes: Iterable[Change]) -> int:
    return sum(_done(store, [change]) for change in changes)


def _done(store: Store, changes: Sequence[Change]) -> bool:
    try:
        store.apply(Batch(changes=changes))
    except (VersionConflict, MemoryNotFound):
        return False
    return True
