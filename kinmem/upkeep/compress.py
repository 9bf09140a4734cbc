"""A step of upkeep: close memories become one without a model, by their unique sentences (Kore)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from itertools import combinations

from kinmem.clock import Clock
from kinmem.llm.base import Embedder
from kinmem.models import Memory
from kinmem.rules.proof import unproved
from kinmem.rules.similarity import Kinship, Ladder, compare, contains
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.text import sentences
from kinmem.upkeep.excluding import exclude
from kinmem.upkeep.groups import Group, find_groups, last_finished, weightiest
from kinmem.upkeep.merge import fits, merge, stated

STEP = "compress"
READ, LEFT = "compress_read", "compress_left"
"""Counts of its own: a run of consolidate, reported beside it, has not looked for the same."""
MOST = 200
"""Merges in one run; each embeds a text."""
DEEPEST = 3
"""Merges of merges (Kore): further ones gather what is only loosely alike."""


def compress(store: Store, embedder: Embedder, settings: Settings, clock: Clock) -> Counter[str]:
    """The more important memory's text, with the sentences that only the others have behind it.

    Counts: merged, refused (they contradict each other, or it would be too long), known already,
    changed meanwhile; compress_read and compress_left as consolidate's read and left.
    Raises ModelError when the embedder is away.
    """
    counts: Counter[str] = Counter()
    refused = store.journal.refused(STEP) | store.journal.refused("consolidate")
    zone = settings.general.zone
    found = find_groups(
        store,
        embedder,
        settings.upkeep.compress_similarity,
        refused,
        zone,
        since=last_finished(store.journal, READ, LEFT),
    )
    counts[READ] = found.read
    for group in found.groups[:MOST]:
        counts[_settle(store, embedder, group, clock, zone)] += 1
    counts[LEFT] = found.left + max(0, len(found.groups) - MOST) + counts["changed"]
    return counts


def _settle(store: Store, embedder: Embedder, group: Group, clock: Clock, zone: tzinfo) -> str:
    best = weightiest(group)
    texts = dict(zip((memory.id for memory in group.memories), stated(group, zone), strict=True))
    others = [text for id, text in texts.items() if id != best.id]
    whole = united([texts[best.id], *others])
    deep = max(memory.generation for memory in group.memories) >= DEEPEST
    if (
        deep
        or not fits(whole, embedder)
        or contradict(group.memories)
        or unproved(whole, list(texts.values()), ())
    ):
        store.journal.refuse(STEP, group.ids)
        return "refused"
    now, subject = clock(), best.subject or next(_subjects(group), None)
    done = merge(
        store, embedder, group, whole, best.category, subject, step=STEP, now=now, zone=zone
    )
    if done == "known":
        store.journal.refuse(STEP, group.ids)
    return done


def united(texts: Sequence[str]) -> str:
    """The first text, and from the others in order the sentences that nothing before them says."""
    kept = [sentence.strip() for sentence in sentences(texts[0]) if sentence.strip()]
    added: list[str] = []
    for text in texts[1:]:
        for sentence in map(str.strip, sentences(text)):
            if sentence and not any(_says(known, sentence) for known in [*kept, *added]):
                added.append(sentence)
    return "\n".join([texts[0], *added])


def _says(known: str, sentence: str) -> bool:
    same = compare(known, sentence, 1.0, Ladder()) in (Kinship.SAME_TEXT, Kinship.DUPLICATE)
    return same or contains(known, sentence)


def contradict(memories: Sequence[Memory]) -> bool:
    """Whether two of them cannot both be so."""
    return any(exclude(a.content, b.content) for a, b in combinations(memories, 2))


def _subjects(group: Group) -> Iterator[str]:
    return (memory.subject for memory in group.memories if memory.subject)
