"""What a statement says is so now, without the words that say that it has changed.

"Tom now works at Bosch" corrects "Tom works at Siemens": without the cue both have one form, and
what differs is the value alone. What no pattern knows stays as it is.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from kinmem.language.change.signs import ANNOUNCING, CUES, ENDED, FORMER
from kinmem.language.pattern import Pattern

LONGEST = 400
"""Characters; a longer text tells many things, and no sign is told of all of them."""


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
    if len(text) > LONGEST:
        return Restated(text, False, False, "")
    announced = ANNOUNCING.match(text)
    plain = text[announced.end() :] if announced else text
    now, former = _without(plain, FORMER)
    ends = False
    if not former:
        now, ends = _ended(now)
    before = now
    for cue in CUES:
        now = cue.sub(" ", now)
    cued = now != before
    corrected = announced is not None and bool(announced["corrects"])
    now = _tidy(now) if now != text else text
    return Restated(now, corrected or cued or ends or bool(former), ends, former)


def _ended(text: str) -> tuple[str, bool]:
    for pattern, put in ENDED:
        if pattern.search(text):
            return pattern.sub(put, text), True
    return text, False


def _without(text: str, rules: tuple[tuple[Pattern, str], ...]) -> tuple[str, str]:
    for pattern, put in rules:
        if found := pattern.search(text):
            return pattern.sub(put, text), found["former"].strip()
    return text, ""


def _tidy(text: str) -> str:
    """Single spaces, none before a mark, a capital first."""
    text = re.sub(r"\s+(?=[.,;:!?])", "", " ".join(text.split())).strip(" ,;")
    return text[:1].upper() + text[1:]
