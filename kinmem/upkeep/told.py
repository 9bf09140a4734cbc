"""Who a memory comes from: what a person told is never put away by upkeep, however old it is."""

from kinmem.models import Living, Memory
from kinmem.store.base import Store

BY_A_PERSON = frozenset({"user", "explicit", "import"})
"""Channels by which a person tells something; a model that memorizes does so for its user."""
MACHINES = frozenset({"assistant", "tool", "system"})
BY_UPKEEP = frozenset({"faded", "pruned"})
"""Actions by which upkeep puts a memory away because of its age and use."""


def from_person(memory: Memory | Living) -> bool:
    """Whether a person told it.

    The first release wrote the channel `extraction` whoever spoke in a turn: there the speaker
    decides, and whose words are not known to be a machine's are taken for a person's.
    """
    if memory.channel == "extraction":
        return memory.speaker not in MACHINES
    return memory.channel in BY_A_PERSON


def was_told(store: Store, memory: Memory | Living) -> bool:
    """Whether a person told it, or one of those it was merged from; what is gone may have been."""
    if from_person(memory):
        return True
    waiting, seen = store.parents(memory.id), set[str]()
    while waiting:
        seen.update(waiting)
        known = store.memories(waiting)
        if any(id not in known or from_person(known[id]) for id in waiting):
            return True
        waiting = [parent for id in waiting for parent in store.parents(id) if parent not in seen]
    return False
