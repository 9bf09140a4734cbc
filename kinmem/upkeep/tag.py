"""A step of upkeep: memories get their automatic tags, and after a week have them refreshed."""

from collections import Counter
from datetime import timedelta

from kinmem.clock import Clock
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
        tags = {memory.id: auto_tags(memory) for memory in part}
        if not allowance.dry_run:
            rounds.tagged(tags, {memory.id: memory.content_hash for memory in part}, clock())
        counts["seen"] += len(part)
        counts["changed"] += sum(tags[memory.id] != memory.auto_tags for memory in part)
