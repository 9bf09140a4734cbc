"""A step of upkeep: what was to be known until a certain time goes into the bin after it."""

from collections import Counter

from kinmem.clock import Clock
from kinmem.models import Fate, State
from kinmem.store.base import Store
from kinmem.upkeep.allowance import Allowance
from kinmem.upkeep.daily import is_believed
from kinmem.upkeep.retain import give


def expire(store: Store, clock: Clock, allowance: Allowance, counts: Counter[str]) -> None:
    """Put own memories into the bin whose `expires_at` has come, in whatever state they are and
    whatever else protects them.

    Recall has left them out since that moment. They can be restored for KINMEM_PURGE_DAYS. By a
    clock that cannot be right nothing is done.
    """
    now = clock()
    expired = store.life.living(expired_by=now)
    if not expired:
        return
    if not is_believed(store.life.living(), now):
        counts["clock"] += 1
        return
    over = [Fate(one, State.DELETED, "expired", "its time was over") for one in expired]
    found = Counter[str]()
    give(store, over, now, allowance, found)
    counts["expired"] += found[State.DELETED]
