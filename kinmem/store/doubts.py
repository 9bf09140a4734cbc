"""What may hold no longer: memories in an open conflict, with the newer ones that speak against."""

from collections.abc import Collection

from kinmem.models import LIVE, Memory
from kinmem.store.base import Store


def newer_of(store: Store, ids: Collection[str]) -> dict[str, Memory]:
    """By id of the older one the latest live memory that may have taken its place.

    None where the user keeps what exists (KINMEM_CONFLICT_MODE), or the conflict was settled.
    """
    open_ones = [
        one for one in store.journal.conflicts() if one.older in ids and one.mode != "keep_existing"
    ]
    found = store.memories({one.newer for one in open_ones}) if open_ones else {}
    newer: dict[str, Memory] = {}
    for one in open_ones:
        memory = found.get(one.newer)
        if memory is None or memory.state not in LIVE:
            continue
        known = newer.get(one.older)
        if known is None or (known.said_at, known.id) < (memory.said_at, memory.id):
            newer[one.older] = memory
    return newer
