"""What forbids that one statement ends another, whatever else speaks for it.

A veto stands above every rule and every model that ends something. Word lists are closed classes
only, in seven languages: conjunctions, the words for this and until, for never and always.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from kinmem.language import vocabulary
from kinmem.language.lexicon import either, pattern, word_class
from kinmem.language.same.atoms import atoms, is_content
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
        and (is_content(last) or last in vocabulary.SUBJECTS)
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
        elif before not in vocabulary.STATE_VERBS | vocabulary.PLAIN_VERBS:
            yield before, token


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
