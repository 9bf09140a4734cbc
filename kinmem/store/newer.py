"""Which memory may have superseded another, as far as nobody has decided it yet."""

from collections.abc import Collection

from kinmem.models import LIVE, Memory
from kinmem.store.base import Store


def newer_of(store: Store, ids: Collection[str]) -> dict[str, Memory]:
    """Return by id of a memory the latest live one that may have superseded it, in an open
    conflict.

    No entry if the user keeps what exists (KINMEM_CONFLICT_MODE), or if the conflict was settled.
    """
    open_ones = [
        one
        for one in store.decisions.conflicts()
        if one.older in ids and one.mode != "keep_existing"
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
