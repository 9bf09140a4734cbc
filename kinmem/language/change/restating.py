"""What a statement says is so now, without the words that say that it has changed.

"Tom now works at Bosch" corrects "Tom works at Siemens": without the cue both have one form, and
what differs is the value alone. What no pattern knows stays as it is.
"""

import re
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from kinmem.language.lexicon import by_language, either, word_class
from kinmem.text import late

# Each gap in a rule is bounded, so that time grows with the length alone. Of ENDED and FORMER the
# first rule that fits is used, of CUES all.
_SIGNS = {
    "<gap>": r"[^.!?;\n]{0,60}?",
    "<end>": r"(?=[.,;!?\n]|$)",
    "<few>": r"(?P<former>(?:\w{1,40} ){0,3}\w{1,40})",
    "<it>": r"(?P<former>[^.!?;\n]{0,60}?)",
    "<named>": r"(?P<former>[^.!?;,\n]{1,40}?)",
}
Rules = tuple[tuple[re.Pattern[str], str], ...]


def _rules(name: str) -> Rules:
    """Patterns with what takes the place of what they match, those of one language together."""
    return tuple(
        (late(_SIGN.sub(lambda sign: _SIGNS[sign[0]], rule), re.IGNORECASE), put)
        for rules in by_language(name, "rules").values()
        for rule, put in rules.items()
    )


_SIGN = re.compile("|".join(_SIGNS))
ENDED = _rules("ended")
"""It was so, and is so no longer: what was."""
FORMER = _rules("former")
"""What it was before, named beside what is so now."""
ANNOUNCING = late(
    rf"(?i)(?:(?:{either('opens')})[,.!:]? )*(?:(?P<corrects>{either('corrects')})"
    rf"|{either('announces')})(?!\w) ?[,:!.;–—，：-]{{0,2}} ?"
)
"""Words by which news is announced to somebody, or something is taken back."""
CUES = (
    late(rf"(?i),? ?\b(?:{either('from_now')})\b,?"),
    late(rf"(?i),? ?\b(?:{either('now')})\b,?"),
    late(r"(?i)^ora,? |,? ora(?=[.!]?$)|(?<=[a-z]) ora (?=a |in |da |al )"),
    late(r"(?i),? ?\binstead(?=[.,;!]|$)|,? ?\bstattdessen\b"),
    late(r"现在|如今|目前|从(?:今天|现在)(?:起|开始)|以后"),
)
"""Signs that it was otherwise before; they go."""
CHANGED = word_class("changed")
"""Words that only say that an amount or a day is another one now."""


LONGEST = 400
"""Characters; a longer text tells many things, and no sign is told of all of them."""


class Claim(NamedTuple):
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
def claim(text: str) -> Claim:
    """The statement behind the cues. A text without any is given back as it is. Never raises."""
    if len(text) > LONGEST:
        return Claim(text, False, False, "")
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
    return Claim(now, corrected or cued or ends or bool(former), ends, former)


def _ended(text: str) -> tuple[str, bool]:
    for pattern, put in ENDED:
        if pattern.search(text):
            return pattern.sub(put, text), True
    return text, False


def _without(text: str, rules: Rules) -> tuple[str, str]:
    for pattern, put in rules:
        if found := pattern.search(text):
            return pattern.sub(put, text), found["former"].strip()
    return text, ""


def _tidy(text: str) -> str:
    """Single spaces, none before a mark, a capital first."""
    text = re.sub(r"\s+(?=[.,;:!?])", "", " ".join(text.split())).strip(" ,;")
    return text[:1].upper() + text[1:]


_DAY = r"\d{4}-\d\d-\d\d"
_FIRST = re.compile(rf"Until ({_DAY}): ")
_NEXT = re.compile(rf" Since (then|{_DAY}): ")


class Period(NamedTuple):
    """What was so from a day on, until that of the next."""

    since: str
    """As ISO writes days; empty: from the beginning, whenever that was."""
    said: str


class Periods(list[Period]):
    """What was so by turns, in the order of time."""

    @classmethod
    def of(cls, text: str) -> "Periods":
        """What such a text tells; none if it is no such text."""
        begun = _FIRST.match(text)
        if begun is None:
            return cls()
        first, *more = _NEXT.split(text[begun.end() :])
        days = [begun[1] if day == "then" else day for day in more[::2]]
        return cls([Period("", first), *map(Period, days, more[1::2])])

    @property
    def text(self) -> str:
        """The text of two periods or more."""
        first, second, *more = self
        text = f"Until {second.since}: {first.said} Since then: {second.said}"
        return " ".join([text, *(f"Since {one.since}: {one.said}" for one in more)])

    def on(self, day: date) -> str | None:
        """What was so on that day."""
        held = [one.said for one in self if one.since <= day.isoformat()]
        return held[-1] if held else None
