"""A step of upkeep: memories get their automatic tags, and after a week have them refreshed."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta

from kinmem.clock import Clock
from kinmem.models import Memory
from kinmem.store.base import Store
from kinmem.upkeep.auto_tags import auto_tags, subjects
from kinmem.upkeep.budget import Budget

REFRESHED = timedelta(days=7)
PER_RUN = 20
"""Refreshed in one run (Kybernesis)."""
NEW_PER_RUN = 10_000
"""Never tagged before, in one run, 10 s: with 20 an hour an import of as many takes three weeks."""
TOGETHER = 100
"""Memories in one transaction."""
HOLDERS = 4
"""Memories looked at for each word, by title and by text: one besides its own is enough, but the
index also finds other forms of the word and sentences that no tag is taken from."""


def tag(store: Store, clock: Clock, budget: Budget, counts: Counter[str]) -> None:
    """Tag own live memories that were never tagged, or not since their content was edited, and 20
    that were tagged over seven days ago, the longest ago first. Counts seen, and changed.

    Manual tags are never touched. Automatic ones follow from the memory alone, so they are no
    change of it: no history line, no new version.
    """
    rounds = store.rounds
    due = rounds.due("tagged_at", clock() - REFRESHED, PER_RUN)
    due += rounds.unseen("tagged_at", NEW_PER_RUN)
    for start in range(0, len(due), TOGETHER):
        if budget.is_over():
            return
        part = due[start : start + TOGETHER]
        if budget.dry_run:
            tags = _tags(store, part)
            changed = sum(tags[memory.id] != memory.auto_tags for memory in part)
        else:
            changed = tag_these(store, part, clock)
        counts["seen"] += len(part)
        counts["changed"] += changed


def tag_these(store: Store, memories: Sequence[Memory], clock: Clock) -> int:
    """Tag these own memories, and those that had nobody to share a tag with before them; how many
    of all have other tags now."""
    tags = _tags(store, memories)
    seen = {one.id: one.content_hash for one in store.memories(list(tags)).values()}
    return store.rounds.tagged(tags, seen, clock())


def _tags(store: Store, memories: Sequence[Memory]) -> Mapping[str, tuple[str, ...]]:
    """By id what these are to be tagged with, and those own memories whose tags change by it."""
    about = {memory.id: subjects(memory) for memory in memories}
    holders = store.rounds.holding({word for words in about.values() for word in words}, HOLDERS)
    others = store.memories({id for ids in holders.values() for id in ids} - about.keys())
    about |= {id: subjects(memory) for id, memory in others.items()}
    shared: dict[str, set[str]] = defaultdict(set)
    for id, words in about.items():
        for word in words:
            shared[word].add(id)
    known = {word for word, ids in shared.items() if len(ids) > 1}
    tags = {memory.id: auto_tags(memory, known) for memory in memories}
    for id, memory in others.items():
        new = auto_tags(memory, known.union(memory.auto_tags))
        if new != memory.auto_tags and memory.kin == store.kin and memory.tagged_at is not None:
            tags[id] = new
    return tags
