"""A step of upkeep: what has lain in the bin for long is erased."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta

from kinmem.clock import Clock
from kinmem.models import Filters, State
from kinmem.settings.life import Prune
from kinmem.store.base import Store
from kinmem.store.journal import Journal
from kinmem.upkeep.allowance import Allowance
from kinmem.upkeep.daily import SETTLED, Calendar, WrongClock
from kinmem.upkeep.told import BY_UPKEEP, was_told

WITNESSES = 50
"""Memories whose times are held against the clock, of the latest and of the settled ones."""
TOGETHER = 20
"""Erased between two looks at the allowance."""
TURNS = 200
"""Messages deleted in one transaction."""
ANY = tuple(State)
SEEN, LEAPT = "purge", "purge after a leap"
"""Marks: when the bin was looked into last, and when that was the first time for long."""
LEAP, DAY = 30 * 86400, 86400
"""Seconds."""


def purge(
    store: Store,
    kept: timedelta,
    prune: Prune,
    clock: Clock,
    allowance: Allowance,
    counts: Counter[str],
) -> None:
    """Erase own memories that were forgotten longer than `kept` ago; counts purged.

    Only what a person has put into the bin, or let expire, and what `prune` has as it was wanted.
    It cannot be undone: nothing is done by a clock that cannot be right (counted as clock), nor for
    a day where nobody has looked into the bin for 30, or ever: time may have passed, or the clock
    has leapt.
    """
    now = clock()
    has_leapt = _has_leapt(store.journal, now, allowance.dry_run)
    binned = store.in_bin(now - kept)
    spared = _spared(store, binned, prune)
    if len(spared) == len(binned):
        return
    if has_leapt:
        counts["clock"] += 1
        return
    try:
        _check_clock(store, now)
    except WrongClock:
        counts["clock"] += 1
        return
    if allowance.dry_run:
        counts["purged"] += len(binned) - len(spared)
        return
    while not allowance.is_over() and (erased := store.purge(now - kept, TOGETHER, spared)):
        counts["purged"] += erased


def _spared(store: Store, binned: Collection[str], prune: Prune) -> set[str]:
    """What upkeep has put into the bin although nobody wanted it, or a person had told it."""
    came_by = store.life.came_by(binned)
    by_upkeep = [id for id in binned if id in came_by and came_by[id][0] in BY_UPKEEP]
    known = store.memories(by_upkeep)
    return {id for id in by_upkeep if prune == "off" or id in known and was_told(store, known[id])}


def drop_turns(
    store: Store, kept: timedelta, clock: Clock, allowance: Allowance, counts: Counter[str]
) -> None:
    """Delete what was said longer than `kept` ago and was learned from; counts turns. Nothing by a
    clock that may be wrong, as purge. No time: what was said is kept."""
    now = clock()
    if not kept or not (old := store.transcript.old(now - kept)):
        return
    try:
        if _has_leapt(store.journal, now, allowance.dry_run):
            raise WrongClock
        _check_clock(store, now)
    except WrongClock:
        counts["clock"] += 1
        return
    if allowance.dry_run:
        counts["turns"] += old
        return
    while not allowance.is_over() and (dropped := store.transcript.drop(now - kept, TURNS)):
        counts["turns"] += dropped


def _has_leapt(journal: Journal, now: datetime, dry_run: bool) -> bool:
    """Whether it is less than a day that the time went on by more than 30 at once, or was noted for
    the first time; notes the time."""
    at, last, leapt = int(now.timestamp()), journal.mark(SEEN), journal.mark(LEAPT)
    if not last or at - last > LEAP:
        leapt = at
        if not dry_run:
            journal.set_mark(LEAPT, leapt)
    if not dry_run and not 0 <= at - last < DAY:
        journal.set_mark(SEEN, at)
    return 0 <= at - leapt < DAY


def _check_clock(store: Store, now: datetime) -> None:
    """Raises WrongClock; see Calendar."""
    calendar = Calendar(now)
    for filters in (Filters(states=ANY), Filters(states=ANY, until=now - SETTLED)):
        for memory in store.page(filters, "newest", WITNESSES).memories:
            calendar.saw(memory)
    calendar.check()
