"""A step of upkeep: what was to be known until a certain time goes into the bin after it."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime

from kinmem.clock import Clock
from kinmem.models import Event, Fate, Living, State
from kinmem.retention import last_used
from kinmem.store.base import Store
from kinmem.upkeep.allowance import Allowance
from kinmem.upkeep.daily import is_believed
from kinmem.upkeep.retain import AHEAD, give


def expire(store: Store, clock: Clock, allowance: Allowance, counts: Counter[str]) -> None:
    """Put own memories into the bin whose `expires_at` has come, in whatever state they are and
    whatever else protects them. What a clock that was ahead has put there comes back.

    Recall has left them out since that moment. They can be restored for KINMEM_PURGE_DAYS. By a
    clock that cannot be right nothing is done. Counts expired, and what is back by its state.
    """
    now = clock()
    expired, back = store.life.living(expired_by=now), list(_too_early(store, now))
    if not (expired or back):
        return
    if not is_believed(store.life.living(), now):
        counts["clock"] += 1
        return
    over = [Fate(one, State.DELETED, "expired", "its time was over") for one in expired]
    found = Counter[str]()
    give(store, over, now, allowance, found)
    if found[State.DELETED]:
        counts["expired"] += found[State.DELETED]
    give(store, back, now, allowance, counts)


def _too_early(store: Store, now: datetime) -> Iterator[Fate]:
    """What has expired at a time that is still to come, and was not touched since: back to the
    state it had."""
    binned = {one.id: one for one in store.life.binned_after(now + AHEAD) if _lasts(one, now)}
    lines: dict[str, list[Event]] = defaultdict(list)
    for line in store.past.about(binned) if binned else ():
        if "state" in line.after:
            lines[line.memory_id].append(line)
    for id, memory in binned.items():
        if id in lines and (last := lines[id][-1]).action == "expired":
            was = State(last.before["state"])
            yield Fate(memory, was, "revived", "its time is not over", last_used(memory))


def _lasts(memory: Living, now: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at > now
