"""Whether two texts hold statements that cannot both be so; where learning doubts, upkeep waits."""

from itertools import product

from kinmem.rules.change.clash import excluding
from kinmem.rules.same.similarity import Kinship, Ladder, compare
from kinmem.rules.same.statements import read
from kinmem.text import sentences

ALIKE = 0.6
"""Share of the shorter clause's words from which two clauses speak of the same."""
LADDER = Ladder()


def exclude(earlier: str, later: str) -> bool:
    """Whether a sentence of the later text denies, turns round or replaces one of the earlier."""
    return any(
        compare(one, other, 1.0, LADDER) == Kinship.CONTRADICTS
        or excluding(one, other, 1.0, LADDER) is not None
        or _denies(one, other)
        for one, other in product(sentences(earlier), sentences(later))
    )


def _denies(one: str, other: str) -> bool:
    """Whether nearly the same is denied in one and not in the other: likes, does not like."""
    return any(
        a.negations != b.negations
        and len(a.content & b.content) >= ALIKE * min(len(a.content), len(b.content)) > 0
        for a, b in product(read(one).clauses, read(other).clauses)
    )
