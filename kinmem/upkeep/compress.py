"""A step of upkeep: close memories become one without a model, by their unique sentences (Kore)."""

from collections import Counter
from collections.abc import Sequence
from datetime import tzinfo
from itertools import combinations

from kinmem.clock import Clock
from kinmem.language import Kinship, Ladder, Pair, unproved
from kinmem.llm.base import Embedder
from kinmem.llm.naming import RULES, Naming
from kinmem.models import Memory
from kinmem.sentences import sentences
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.upkeep.budget import UNLIMITED, Budget
from kinmem.upkeep.candidates import Candidates
from kinmem.upkeep.groups import Group, exclude, weightiest
from kinmem.upkeep.merge import Merge, Wording, fits, stated

STEP = "compress"
MOST = 200
"""Groups in one run; each merge embeds a text."""
DEEPEST = 3
"""Merges of merges (Kore): further ones gather what is only loosely alike."""


def compress(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    clock: Clock,
    counts: Counter[str],
    budget: Budget = UNLIMITED,
    naming: Naming = RULES,
) -> None:
    """The text that says what all say; where none does, the more important memory's, with the
    sentences behind it that only the others have. Records of different days stay apart.

    Added to `counts`, also before it fails: merged, refused (they contradict each other, or it
    would be too long), known already, changed meanwhile; read and left as Candidates.counts. A dry
    run counts groups.
    Raises ModelError when the embedder is away.
    """
    similarity, zone = settings.upkeep.compress_similarity, settings.general.zone
    merge = Merge(store, embedder, STEP, clock, zone, naming)
    candidates = Candidates(store, embedder, similarity, STEP, zone, "consolidate")
    if budget.dry_run:
        counts["groups"] += candidates.waiting()
        return
    with candidates.counted(counts):
        for group in candidates:
            wording = _wording(group, embedder, zone)
            candidates.settled(group, merge(group, wording) if wording else "refused")
            if candidates.outcomes.total() == MOST or budget.is_over():
                break


def _wording(group: Group, embedder: Embedder, zone: tzinfo) -> Wording | None:
    """None: they are to stay apart."""
    best = weightiest(group)
    texts = [best.content, *(one.content for one in group.memories if one.id != best.id)]
    whole = _shortest(texts)
    if (
        max(memory.generation for memory in group.memories) >= DEEPEST
        or stated(group, zone) != [memory.content for memory in group.memories]
        or not fits(whole, embedder)
        or contradict(group.memories)
        or unproved(whole, texts, ())
    ):
        return None
    subjects = (memory.subject for memory in (best, *group.memories) if memory.subject)
    return Wording(whole, best.category, next(subjects, None))


def _shortest(texts: Sequence[str]) -> str:
    """The fullest of them if it says what the others do, else all that they say."""
    for text in sorted(texts, key=len, reverse=True):
        if united([text, *(one for one in texts if one != text)]) == text:
            return text
    return united(texts)


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
    """Whether the known sentence can stand for the other, in whatever words, and loses nothing."""
    same = Pair(known, sentence).kinship(1.0, Ladder()) in (Kinship.SAME_TEXT, Kinship.DUPLICATE)
    if same or Pair(known, sentence).known_says_all:
        return True
    return not unproved(known, [known, sentence], ())


def contradict(memories: Sequence[Memory]) -> bool:
    """Whether two of them cannot both be so."""
    return any(exclude(a.content, b.content) for a, b in combinations(memories, 2))
