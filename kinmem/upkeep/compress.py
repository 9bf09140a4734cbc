"""A step of upkeep: merge close memories without a model, keeping each unique sentence (Kore)."""

from collections import Counter
from collections.abc import Sequence
from datetime import tzinfo
from itertools import combinations

from kinmem.clock import Clock
from kinmem.language import Kinship, Ladder, Pair, sentences, unproved
from kinmem.llm.base import Embedder
from kinmem.llm.naming import RULES, Naming
from kinmem.models import Memory
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.upkeep.candidates import Candidates
from kinmem.upkeep.groups import Group, weightiest
from kinmem.upkeep.merge import Merge, Wording, fits, stated
from kinmem.upkeep.steps import UNLIMITED, Budget

STEP = "compress"
# Most groups in one run; each merge embeds a text.
MOST = 200
# Most levels of merges (Kore): further ones collect what is only loosely alike.
DEEPEST = 3


def compress(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    clock: Clock,
    counts: Counter[str],
    budget: Budget = UNLIMITED,
    naming: Naming = RULES,
) -> None:
    """Merge each group into the text that says everything; if there is none, into the more
    important memory's text followed by the sentences that only the others have. Records of
    different days stay apart.

    Adds to `counts`, even if it fails: merged, refused (they contradict each other, or the text
    would be too long), known (already), changed (in the meantime), and read and left as in
    Candidates.counted. A dry run counts groups. Raises ModelError if the embedder is unavailable.
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
    """Return the merged text; None if the memories must stay apart."""
    best = weightiest(group)
    texts = [best.content, *(memory.content for memory in group.memories if memory.id != best.id)]
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
    """Return the longest text that says everything the others do; if there is none, their union."""
    for text in sorted(texts, key=len, reverse=True):
        if united([text, *(other for other in texts if other != text)]) == text:
            return text
    return united(texts)


def united(texts: Sequence[str]) -> str:
    """Return the first text, followed by those sentences of the others, in order, that nothing
    before them says."""
    kept = [sentence.strip() for sentence in sentences(texts[0]) if sentence.strip()]
    added: list[str] = []
    for text in texts[1:]:
        for sentence in map(str.strip, sentences(text)):
            if sentence and not any(_says(known, sentence) for known in [*kept, *added]):
                added.append(sentence)
    return "\n".join([texts[0], *added])


def _says(known: str, sentence: str) -> bool:
    """Return whether the known sentence can stand for the other, however worded, without loss."""
    same = Pair(known, sentence).kinship(1.0, Ladder()) in (Kinship.SAME_TEXT, Kinship.DUPLICATE)
    if same or Pair(known, sentence).known_says_all:
        return True
    return not unproved(known, [known, sentence], ())


def contradict(memories: Sequence[Memory]) -> bool:
    """Return whether two of the memories cannot both hold."""
    return any(Pair(a.content, b.content).excludes for a, b in combinations(memories, 2))
