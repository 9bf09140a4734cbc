"""A step of upkeep: give memories automatic tags, and refresh them after a week."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta

from kinmem.clock import Clock
from kinmem.models import Memory
from kinmem.store.base import Store
from kinmem.upkeep.auto_tags import auto_tags, subjects
from kinmem.upkeep.budget import Budget

REFRESHED = timedelta(days=7)
# Memories refreshed in one run (Kybernesis).
PER_RUN = 20
# Memories tagged for the first time in one run, 10 s. With 20 an hour, an import of as many would
# take three weeks.
NEW_PER_RUN = 10_000
# Memories in one transaction.
TOGETHER = 100
# Memories read for each word, by title and by text. One besides its own is enough, but the index
# also finds other forms of the word, and sentences from which no tag is taken.
HOLDERS = 4


def tag(store: Store, clock: Clock, budget: Budget, counts: Counter[str]) -> None:
    """Tag own live memories that were never tagged, or not since they were edited, and the 20 that
    were tagged longest ago, more than seven days. Counts seen and changed.

    Manual tags are never touched. Automatic tags follow from the memory alone, so they do not count
    as a change: no history line, no new version.
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
    """Tag these own memories, and those that shared a tag with no other before; returns how many of
    all have other tags now."""
    tags = _tags(store, memories)
    seen = {memory.id: memory.content_hash for memory in store.memories(list(tags)).values()}
    return store.rounds.tagged(tags, seen, clock())


def _tags(store: Store, memories: Sequence[Memory]) -> Mapping[str, tuple[str, ...]]:
    """Return by id the tags of these memories, and of those own memories whose tags change as a
    result."""
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
