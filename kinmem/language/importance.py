"""How much a memory matters, told from its words: seven signals, no model.

The signals are Kore's, their weights our own: category, length, specific words, numbers, names,
times, negation. Words count whole: "maize" and "tokenize" are no secrets. docs/benchmarks.md shows
how often each level comes out.
"""

import math
import re
from collections.abc import Mapping

from kinmem.language.evidence import PROPER
from kinmem.language.lexicon import word_class
from kinmem.models import Category
from kinmem.text import words

PRIOR: Mapping[Category, float] = {
    "fact": 5,
    "preference": 7,
    "decision": 7,
    "knowledge": 5,
    "identity": 8,
    "relationship": 7,
    "event": 5,
    "activity": 5,
    "plan": 5,
    "context": 3,
    "ephemeral": 2,
}
PER_LENGTH, LENGTH, MOST_FOR_LENGTH = 0.5, 30, 2.0
"""Points for each started 30 words, but for a remark of a few words none."""
REMARK = 6
SPECIFIC, NUMBERS, NAMES, TIME, NEGATION = 1.5, 0.5, 0.5, 1.0, 1.0

SPECIFIC_WORDS = word_class("specific")
PRESSING = word_class("pressing")
"""Words that say by when or on which day; "last summer" makes nothing more pressing."""
NEGATIVE = word_class("negators", "concord", "negative")
NUMBER = re.compile(r"\d")


def importance(text: str, category: Category) -> float:
    """Between 1 and 10; 5 is an ordinary fact. An empty text has its category's prior."""
    found = words(text)
    told = set(found)
    value = PRIOR[category]
    if len(found) > REMARK:
        value += min(MOST_FOR_LENGTH, PER_LENGTH * math.ceil(len(found) / LENGTH))
    value += SPECIFIC * (not told.isdisjoint(SPECIFIC_WORDS))
    value += NUMBERS * bool(NUMBER.search(text))
    value += NAMES * bool(PROPER.search(text))
    value += TIME * (not told.isdisjoint(PRESSING))
    value += NEGATION * (not told.isdisjoint(NEGATIVE))
    return min(10.0, max(1.0, value))
