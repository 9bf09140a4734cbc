"""A step of upkeep: memories get their automatic tags, and after a week have them refreshed."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from kinmem.clock import Clock
from kinmem.models import Memory
from kinmem.rules.tags import auto_tags
from kinmem.store.base import Store
from kinmem.upkeep.allowance import Allowance

REFRESHED = timedelta(days=7)
PER_RUN = 20
"""Refreshed in one run (Kybernesis)."""
NEW_PER_RUN = 10_000
"""Never tagged before, in one run, 10 s: with 20 an hour an import of as many takes three weeks."""
TOGETHER = 100
"""Memories in one transaction."""


def tag(store: Store, clock: Clock, allowance: Allowance, counts: Counter[str]) -> None:
    """Tag own live memories that were never tagged, or not since their content was edited, and 20
    that were tagged over seven days ago, the longest ago first. Counts seen, and changed.

    Manual tags are never touched. Automatic ones follow from the memory alone, so they are no
    change of it: no history line, no new version.
    """
    rounds = store.rounds
    due = rounds.due("tagged_at", clock() - REFRESHED, PER_RUN)
    due += rounds.unseen("tagged_at", NEW_PER_RUN)
    for start in range(0, len(due), TOGETHER):
        if allowance.is_over():
            return
        part = due[start : start + TOGETHER]
        if allowance.dry_run:
            changed = sum(auto_tags(memory) != memory.auto_tags for memory in part)
        else:
            changed = tag_these(store, part, clock)
        counts["seen"] += len(part)
        counts["changed"] += changed


def tag_these(store: Store, memories: Sequence[Memory], clock: Clock) -> int:
    """Tag these own memories; how many have other tags now."""
    tags = {memory.id: auto_tags(memory) for memory in memories}
    return store.rounds.tagged(tags, {one.id: one.content_hash for one in memories}, clock())
