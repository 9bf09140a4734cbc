"""Which stored statements are shown to the judge beside a new one: a pair costs 3 to 6 ms of a
processor, and of a hundred neighbours two or three could matter."""

import re
from collections.abc import Sequence
from math import sqrt

MOST = 6
SHARED = 0.5
"""Of the part of words that two texts share, beside their cosine."""
LEAST = 0.2
"""Of that sum: what is neither near nor shares a word."""
BEHIND = 0.4
"""Of that sum, what is so far behind the first."""
# Chosen with the 1,005 cards of training/, in files of about 110 memories: of what says the same,
# replaces or contradicts a memory 98.0, 73.3 and 94.7 % are asked about, with 2.1 to 4.8 pairs a
# statement. The nearest eight were 98.2, 75.4 and 92.6 %.
WORD = re.compile(r"[^\W_]+")
BEGINNING = 6
"""Letters of a word by which it is taken for the same: an ending says little."""
WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def worth_judging(
    new: str, near: Sequence[tuple[str, float]], most: int = MOST, least: float = LEAST
) -> list[int]:
    """Places in `near` of those that could be the same as the new statement or exclude it, the
    likeliest first, `most` at most.

    `near`: texts with their cosines to it, on the scale of Calibration.scaled.
    """
    own = beginnings(new)
    sums = [cosine + SHARED * _shared(own, beginnings(text)) for text, cosine in near]
    floor = max(least, max(sums, default=0.0) - BEHIND)
    order = sorted(range(len(near)), key=lambda at: -sums[at])
    return [at for at in order if sums[at] >= floor][:most]


def beginnings(text: str) -> frozenset[str]:
    """Of its words; of a script without spaces every two signs."""
    found: set[str] = set()
    for word in WORD.findall(text):
        if WITHOUT_SPACES.search(word):
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        else:
            found.add(word.casefold()[:BEGINNING])
    return frozenset(found)


def _shared(own: frozenset[str], other: frozenset[str]) -> float:
    """0 to 1: the cosine of the two sets."""
    if not own or not other:
        return 0.0
    return len(own & other) / sqrt(len(own) * len(other))
