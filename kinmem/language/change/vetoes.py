"""What tells of a change: what a statement says is so now, and what forbids that it ends another.

A veto stands above every rule and every model that ends something. Word lists are closed classes
only, in seven languages: conjunctions, the words for this and until, for never and always.

"Tom now works at Bosch" corrects "Tom works at Siemens": without the cue both have one form, and
what differs is the value alone. What no pattern knows stays as it is.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from kinmem.language import lexicon
from kinmem.language.lexicon import by_language, either, pattern, word_class
from kinmem.language.same.similarity import atoms, is_content
from kinmem.text import folded, late, words

Veto = Callable[[str, str], bool]


@lru_cache(maxsize=4096)
def veto(known: str, new: str) -> str | None:
    """Why the new statement must not end the known one; None: nothing forbids it. Never raises."""
    return next((reason for reason, forbids in VETOES if forbids(known, new)), None)


def is_of_others(text: str) -> bool:
    """Whether it is quoted, or somebody else speaks behind a colon."""
    head, colon, rest = text.partition(": ")
    is_reported = colon and len(head.split()) > 2 and not _SELF.isdisjoint(words(rest)[:1])
    return bool(is_reported or _QUOTATION.search(text))


def is_rule(text: str) -> bool:
    """Whether it forbids or orders something for good."""
    return FOR_GOOD.search(text) is not None or _FORBIDDING.match(text) is not None


def is_event(text: str) -> bool:
    """Whether it tells what was done at some time, and not how something is."""
    said = atoms(text).words
    done = any(
        (word in _DID or word.endswith("ed") and len(word) > 4)
        and (is_content(last) or last in lexicon.SUBJECTS)
        and last not in _AUXILIARIES
        for last, word in zip(said, said[1:], strict=False)
    )
    return done or _DONE.search(text) is not None


_DID = word_class("past_forms") - word_class("not_done")
_AUXILIARIES = word_class("auxiliaries")
_DONE = late(f"(?i){either('perfect')}")
"""The perfect and the preterite where they are told by their endings."""
_QUOTATION = late(pattern("vetoes", "quotation"))
"""At least three words in quotation marks; a name or a title is shorter."""
_SELF = word_class("self_first")
_QUESTION = re.compile(r"[?？¿]")
_IF = late(rf"(?i)\W*(?:(?:{either('if_said')})\s|s['’]il|如果|要是|假如|假设)")
FOR_GOOD = late(rf"(?i)\b(?:{either('for_good')})\b|从不|永远|总是|只能|必须|一律")
_FORBIDDING = re.compile(
    r"(?:please |bitte )?(?:do not|don['’]t|ne pas|nicht|não|non|no|不要|别)\s?\w", re.I
)
_WHILE = late(f"(?i){pattern('vetoes', 'for_a_time')}")
"""A time that ends by itself, unless it says since when or from when on."""


def _is_rule_untouched(known: str, new: str) -> bool:
    """Whether a rule is known, and the new one is none."""
    return is_rule(known) and not is_rule(new)


def _is_passing(known: str, new: str) -> bool:
    """Whether the new one is said of one time only, and the known one is not."""
    return _WHILE.search(new) is not None and _WHILE.search(known) is None


def _are_two_things(known: str, new: str) -> bool:
    """Whether a number, a code or a letter tells that they speak of two: server 3, server 4."""
    ours, theirs = dict(_labels(known)), dict(_labels(new))
    said = set(words(new))
    return any(
        ours[label] != theirs[label] and ours[label] not in said
        for label in ours.keys() & theirs.keys()
    )


def _labels(text: str) -> Iterator[tuple[str, str]]:
    """Which ones are meant, by what they are: server: 3, web-: web-1. What is said last is what is
    said, and not of what: we meet in room 3."""
    said = [word for word in _TOKEN.findall(text) if folded(word) not in _NUMBER]
    for last, word, behind in zip(["", *said], said, said[1:], strict=False):
        token, before = folded(word), folded(last)
        digits = any(map(str.isdigit, token))
        if not digits and not (len(word) == 1 and word.isupper() and last):
            continue
        if digits and token[0].isalpha():
            yield _DIGITS.sub("#", token), token
        elif not before.isalpha() or not is_content(before) or _is_measured(f"{word} {behind}"):
            continue
        elif before not in _NO_LABELS:
            yield before, token


_NO_LABELS = lexicon.STATE_VERBS | lexicon.PLAIN_VERBS | _AUXILIARIES
"""The limit is 600 requests: not the 600 of several."""


def _is_measured(text: str) -> bool:
    said = atoms(text)
    return bool(said.units or said.dates)


_TOKEN = re.compile(r"[^\W_]+(?:[-.:,/][^\W_]+)*")
_DIGITS = re.compile(r"\d+")
_NUMBER = frozenset("no nr num number numero nummer".split())

OF_THINGS = "another number, letter or code tells of another thing"
FOR_A_TIME = "it is so for a time only"
VETOES: tuple[tuple[str, Veto], ...] = (
    ("it is asked", lambda known, new: bool(_QUESTION.search(known + new))),
    ("somebody else says it, or nobody", lambda known, new: is_of_others(new)),
    ("it is a condition", lambda known, new: _IF.match(new) is not None),
    ("what holds for good is ended by its author alone, by name", _is_rule_untouched),
    (OF_THINGS, _are_two_things),
    ("both happened", lambda known, new: is_event(known) and is_event(new)),
    (FOR_A_TIME, _is_passing),
)
"""Each with its reason, the surest first."""


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
    for cue, put in ENDED:
        if cue.search(text):
            return cue.sub(put, text), True
    return text, False


def _without(text: str, rules: Rules) -> tuple[str, str]:
    for cue, put in rules:
        if found := cue.search(text):
            return cue.sub(put, text), found["former"].strip()
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
