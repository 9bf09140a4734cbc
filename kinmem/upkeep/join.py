"""Two steps that merge without a chat model: join what says the same, compress what is near.

Joining runs after every turn: if the judge finds that two memories say the same, one supersedes the
other. Nothing is rewritten or erased: the other memory is found through the one that stays, and
comes back when the step is undone. Compressing keeps each unique sentence (Kore).
"""

from collections import Counter
from collections.abc import Sequence
from datetime import tzinfo
from hashlib import sha256
from itertools import combinations

from kinmem.clock import Clock
from kinmem.language import Kinship, Ladder, Pair, sentences, unproved
from kinmem.learn.occasion import may_be_one
from kinmem.llm.base import Embedder
from kinmem.llm.naming import RULES, Naming
from kinmem.llm.relating import LONGEST, SAME, Relating
from kinmem.models import Memory
from kinmem.settings import Settings
from kinmem.store.base import Jobs, Store
from kinmem.upkeep.candidates import Candidates
from kinmem.upkeep.groups import Group, weightiest
from kinmem.upkeep.merge import Merge, Wording, fits, stated
from kinmem.upkeep.steps import UNLIMITED, Budget

STEP = "join"
# Pairs in one run, each in both directions, 3 to 6 ms a direction; the next run continues.
MOST_ASKED = 12


def join(
    store: Store,
    embedder: Embedder,
    relating: Relating,
    settings: Settings,
    clock: Clock,
    counts: Counter[str],
    budget: Budget,
    naming: Naming,
) -> None:
    """Ask the judge about pairs of which one memory is new; each pair of texts is asked about once.

    The memory that stays has every number, name and date of the other, and neither excludes the
    other; records of different days stay apart. Adds to `counts`: joined, asked. A dry run counts
    pairs. MEMORY_CONSOLIDATION_MAX_GEN = 0 switches it off.
    """
    if settings.upkeep.consolidation_max == 0:
        return
    zone, level = settings.general.zone, embedder.calibration
    related = Ladder.calibrated(level.noise, level.near, level.duplicate).related
    pairs = Pairs(store.jobs)
    fresh = Candidates(
        store, embedder, related, STEP, zone, "consolidate", "compress", may_be_one=pairs.is_open
    )
    if budget.dry_run:
        counts["pairs"] += fresh.waiting()
        return
    merge = Merge(store, embedder, STEP, clock, zone, naming)
    asked = 0
    for group in fresh:
        for pair in combinations(group.memories, 2):
            kept = _standing_for_both(pair, relating, zone)
            asked += 1
            counts["asked"] += 1
            texts = pair[0].content, pair[1].content
            if relating.of(*texts) is not None:  # otherwise the judge had no answer: ask again
                pairs.close(*texts)
            if kept is not None:
                wording = Wording(kept.content, kept.category, kept.subject)
                counts["joined"] += merge(Group(pair), wording) == "merged"
                break
        if asked >= MOST_ASKED or budget.is_over():
            break


class Pairs:
    """The texts that the judge was asked about; stored with the jobs."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def is_open(self, a: str, b: str) -> bool:
        """Return whether it is worth asking: no exact rule keeps them apart, and they were not
        asked about before."""
        if max(len(a), len(b)) > LONGEST:
            return False  # the judge would not answer
        return not self._jobs.mark(_name(a, b)) and (_may_hold(a, b) or _may_hold(b, a))

    def close(self, a: str, b: str) -> None:
        """Never ask about these texts again."""
        self._jobs.set_mark(_name(a, b), 1)


def _may_hold(known: str, new: str) -> bool:
    """Return whether the rules that need no model allow it."""
    return Pair(known, new).known_holds_all(lambda text: ())


def _name(a: str, b: str) -> str:
    texts = "\0".join(sorted((a, b)))
    return f"{STEP} asked {sha256(texts.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def _standing_for_both(pair: Sequence[Memory], relating: Relating, zone: tzinfo) -> Memory | None:
    """Return the memory that says everything; the weightier if both do. None if they stay apart."""
    group = Group(tuple(pair))
    earlier, later = pair
    if stated(group, zone) != [one.content for one in pair] or not may_be_one(earlier, later):
        return None
    whole = [
        one
        for one, other in ((earlier, later), (later, earlier))
        if relating.same(one.content, other.content) >= SAME
    ]
    if len(whole) == 1:
        return whole[0]
    return weightiest(group) if whole else None


COMPRESSING = "compress"
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
    merge = Merge(store, embedder, COMPRESSING, clock, zone, naming)
    candidates = Candidates(store, embedder, similarity, COMPRESSING, zone, "consolidate")
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
