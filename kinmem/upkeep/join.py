"""A step of upkeep: if the judge finds that two memories say the same, one supersedes the other.

Runs after every turn, without a chat model. Nothing is rewritten or erased: the other memory is
superseded, is found through the one that stays, and comes back when the step is undone.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import tzinfo
from hashlib import sha256
from itertools import combinations

from kinmem.clock import Clock
from kinmem.language import Ladder, Pair
from kinmem.learn.occasion import may_be_one
from kinmem.llm.base import Embedder
from kinmem.llm.naming import Naming
from kinmem.llm.relating import LONGEST, SAME, Relating
from kinmem.models import Memory
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.store.upkeep import Jobs
from kinmem.upkeep.candidates import Candidates
from kinmem.upkeep.groups import Group, weightiest
from kinmem.upkeep.merge import Merge, Wording, stated
from kinmem.upkeep.steps import Budget

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
