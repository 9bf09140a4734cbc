"""What steps that change by the calendar share: once a day, by a clock that can be believed."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from kinmem.errors import MemoryNotFound, VersionConflict
from kinmem.models import Memory, Scope
from kinmem.store.base import Store
from kinmem.turns import Batch, Change

DAY_SECONDS = 86400.0
BEHIND = timedelta(days=1)
AHEAD = timedelta(days=400)
SETTLED = timedelta(days=30)
"""What is younger may have been stored by the same wrong clock, and proves nothing."""
TOGETHER = 200
"""Changes in one transaction."""


class Turn:
    """A step's turn of the day: taken by one process, and given back if nothing could be done."""

    def __init__(self, store: Store, step: str) -> None:
        self._journal, self._job = store.journal, f"daily {step}"
        self._holder = uuid.uuid4().hex

    def take(self) -> bool:
        """Whether the step has not had its turn for a day; now it has."""
        return self._journal.lease(self._job, self._holder, DAY_SECONDS)

    def give_back(self) -> None:
        """Let it be taken again at once: the clock was wrong, and may be put right."""
        self._journal.release(self._job, self._holder)


class Calendar:
    """Watches the times of memories that go by, and says whether `now` fits in with them."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._newest: datetime | None = None
        self._settled: datetime | None = None
        self._recent = False

    def saw(self, memory: Memory) -> None:
        """Take in when it was stored, rewritten and used."""
        for at in (memory.created_at, memory.content_updated_at, memory.recalled_at):
            if at is None:
                continue
            self._newest = max(self._newest or at, at)
            if at <= self._now - SETTLED:
                self._settled = max(self._settled or at, at)

    @property
    def is_plausible(self) -> bool:
        """False if the newest time is more than a day ahead of now, or if nothing happened in the
        400 days up to a month ago: then the clock has jumped, or nobody was here for a year.

        Without memories older than a month nothing speaks against the clock.
        """
        if self._newest is None:
            return True
        is_behind = self._now < self._newest - BEHIND
        is_ahead = self._settled is not None and self._now - self._settled > AHEAD
        return not (is_behind or is_ahead)


def change_all(
    store: Store, changes: Sequence[tuple[Memory, dict[str, Any], str]], action: str
) -> int:
    """Set fields of own memories, (memory, fields, reason) each; how many were changed.

    In transactions of 200 of one scope. What was changed by somebody else meanwhile is left alone.
    """
    done = 0
    scopes: tuple[Scope, ...] = ("private", "shared")
    for scope in scopes:
        mine = [
            Change(memory.id, fields, action, reason, memory.version)
            for memory, fields, reason in changes
            if memory.scope == scope
        ]
        for start in range(0, len(mine), TOGETHER):
            part = mine[start : start + TOGETHER]
            done += len(part) if _done(store, scope, part) else _one_by_one(store, scope, part)
    return done


def _one_by_one(store: Store, scope: Scope, changes: Iterable[Change]) -> int:
    return sum(_done(store, scope, [change]) for change in changes)


def _done(store: Store, scope: Scope, changes: Sequence[Change]) -> bool:
    try:
        store.apply(Batch(scope=scope, changes=changes))
    except (VersionConflict, MemoryNotFound):
        return False
    return True
