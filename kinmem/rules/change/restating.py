"""How people say that something has changed, and what they then say it is.

"Tom now works at Bosch" corrects "Tom works at Siemens": without the cue both have one form, and
what differs is the value alone. Patterns for en, de, fr, es, it and pt; what no pattern knows stays
as it is.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from kinmem.rules.change.restating_words import (
    ANNOUNCING,
    BEGINNINGS,
    CORRECTING,
    CUES,
    ENDED,
    FORMER,
    LEFT,
    MOVED,
    NO_LONGER,
    Rule,
)
from kinmem.text import words


class Restated(NamedTuple):
    """What a text says is so now."""

    text: str
    """Without its cues: Tom works at Bosch. Of what has ended, what was so: I drink coffee."""
    corrects: bool
    """Whether it says that it was otherwise."""
    ends: bool
    """Whether it says that this is so no longer, and not what is instead."""
    instead_of: str
    """What was so before, if it is named; else empty."""


@lru_cache(maxsize=2048)
def restated(text: str) -> Restated:
    """The statement behind the cues. A text without any is given back as it is. Never raises."""
    if BEGINNINGS.isdisjoint(word[:5] for word in words(text)):
        return Restated(text, False, False, "")
    announced = ANNOUNCING.match(text)
    plain = text[announced.end() :] if announced else text
    now, former = _without_former(plain, NO_LONGER)
    now, ends = _ended(now)
    if not former:
        now, former = _without_former(now, FORMER)
    now, moved = _replaced(now, MOVED)
    now, cued = _replaced(now, CUES)
    now = _NEW.sub(r"\1 ", now)
    now = _tidy(now) if now != text else text
    corrected = announced is not None and bool(CORRECTING.search(announced[0]))
    return Restated(now, corrected or moved or cued or ends or bool(former), ends, former)


_NEW = re.compile(r"\b(my|our|his|her|their|the) new (?=\w)", re.IGNORECASE)


def _ended(text: str) -> tuple[str, bool]:
    for pattern, put in (*ENDED, *LEFT):
        if pattern.search(text):
            return pattern.sub(put, text, count=1), True
    return text, False


def _without_former(text: str, rules: tuple[Rule, ...]) -> tuple[str, str]:
    for pattern, put in rules:
        if found := pattern.search(text):
            return pattern.sub(put, text, count=1), found["former"].strip()
    return text, ""


def _replaced(text: str, rules: tuple[Rule, ...]) -> tuple[str, bool]:
    before = text
    for pattern, put in rules:
        text = pattern.sub(put, text)
    return text, text != before


def _tidy(text: str) -> str:
    """Single spaces, none before a mark, a capital first."""
    text = re.sub(r"\s+(?=[.,;:!?])", "", " ".join(text.split())).strip(" ,;")
    return text[:1].upper() + text[1:]
