"""A step of upkeep: what has lain in the bin for long is erased."""

from collections import Counter
from datetime import datetime, timedelta

from kinmem.clock import Clock
from kinmem.models import Filters, State
from kinmem.store.base import Store
from kinmem.upkeep.allowance import Allowance
from kinmem.upkeep.daily import SETTLED, Calendar, WrongClock

WITNESSES = 50
"""Memories whose times are held against the clock, of the latest and of the settled ones."""
TOGETHER = 20
"""Erased between two looks at the allowance."""
ANY = tuple(State)


def purge(
    store: Store, kept: timedelta, clock: Clock, allowance: Allowance, counts: Counter[str]
) -> None:
    """Erase own memories that were forgotten longer than `kept` ago; counts purged.

    It cannot be undone: nothing is done by a clock that cannot be right (counted as clock).
    """
    now = clock()
    if not store.in_bin(now - kept):
        return
    try:
        _check_clock(store, now)
    except WrongClock:
        counts["clock"] += 1
        return
    if allowance.dry_run:
        counts["purged"] += store.in_bin(now - kept)
        return
    while not allowance.is_over() and (erased := store.purge(now - kept, TOGETHER)):
        counts["purged"] += erased


def _check_clock(store: Store, now: datetime) -> None:
    """Raises WrongClock; see Calendar."""
    calendar = Calendar(now)
    for filters in (Filters(states=ANY), Filters(states=ANY, until=now - SETTLED)):
        for memory in store.page(filters, "newest", WITNESSES).memories:
            calendar.saw(memory)
    calendar.check()
