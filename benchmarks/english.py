"""Texts of real words in any number, for what depends on the embedder's word pieces."""

import re
from collections import Counter

import numpy as np

from benchmarks.data import own_set

LENGTH, LENGTH_SPREAD = 22, 0.6
"""Median words of a text, and how the logarithm of their number scatters: 8 to 60 are usual."""
SHORTEST, LONGEST = 4, 110


def made(count: int) -> list[str]:
    """Words of our own set, as frequent as there. They make no sense, and no two texts agree."""
    chance = np.random.default_rng(count)
    counted = Counter(_words())
    words = np.array(list(counted))
    weights = np.array(list(counted.values())) / counted.total()
    lengths = np.exp(chance.normal(np.log(LENGTH), LENGTH_SPREAD, count))
    return [
        f"{' '.join(chance.choice(words, int(length), p=weights)).capitalize()} {number}."
        for number, length in enumerate(lengths.clip(SHORTEST, LONGEST))
    ]


def _words() -> list[str]:
    notes = [note for one in own_set()["everyday"] for note in one.notes]
    return re.findall(r"\w+", " ".join(note["content"] for note in notes).lower())
