"""Where sentences end: at their mark, or with a line; at a full stop only where nothing speaks for
an abbreviation, an initial, an ordinal or a version."""

import re
import unicodedata
from collections.abc import Iterator, Mapping

from kinmem.text import STOP_WORDS, language_of

# With its mark (and closing quotes or brackets) before white space, or with a line; Chinese and
# Japanese marks need no space after them.
END = re.compile(r"""(?<=[.!?…])["'”’)\]]*\s+|(?<=[。！？])\s*|\n+""")

ANNOUNCING: Mapping[str, str] = {
    "en": "prof rev gen col capt maj sen rep gov pres hon adm messrs mme mlle",
    "de": "prof ing dipl frl geb abt",
    "fr": "mme mlle prof av boul",
    "es": "sra srta dra prof profa av avda arq ing lic gral",
    "it": "sig dott prof ing avv arch geom rag",
    "pt": "sra dra prof profa eng av exmo exma",
}
"""Titles and addresses that stand before a name and look like words; those without a vowel (Dr, Nr)
are told by that."""
TITLES = frozenset(word for row in ANNOUNCING.values() for word in row.split())
LAST_WORD = re.compile(r"(\S*)\.\Z")
NEXT_WORD = re.compile(r"[^\W_]+")
OPENING = "\"'“‘„«»([{<*_"
DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,2}")
"""e.g., U.S., Ph.D., J.-B."""
DOUBLED = re.compile(r"([A-Z])\1")
"""EE. UU., the plural of what is shortened in Spanish."""
COMPANY = frozenset("inc ltd corp co cia bros".split())
"""A name goes on behind them if the next word has no capital."""
NUMBERED = re.compile(r"(?:no|nr|n|art|fig|vol|num)\b[.º°]?\s?\d", re.IGNORECASE)
"""No. 5: what begins so belongs to what it counts."""
ROMAN = re.compile(r"[IVXLC]{2,}")
NUMBER = re.compile(r"v?\d+(?:\.\d+)*")
IN_NAME = re.compile(r"[^\W_]{2,3} [A-ZÀ-Þ][^\W\d_]")
YEAR = re.compile(r"\d{4}")
VOWELS = frozenset("aeiouyæøœ")
SHORT = 6
"""Letters of most abbreviations, at most; joining two sentences costs less than cutting one."""
VOWELLESS = 4
ORDINAL = 2
"""Digits of a number that may count what follows: am 31. Mai."""
SEEN = 40
"""Characters that are looked at in front of a full stop."""
AROUND = 200
"""Characters on either side by which the language is told."""


def sentences(text: str) -> list[str]:
    """Consecutive parts of the text, each a sentence or a line; joined they are the text again.

    White space after a sentence belongs to it. An empty text has no sentences.
    """
    ends = list(borders(text))
    parts = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part for part in parts if part]


def borders(text: str) -> Iterator[int]:
    """Where a sentence has ended and the next one begins, in order."""
    for match in END.finditer(text):
        if match.end() and not _goes_on(text, match):
            yield match.end()


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether it is no end, but within a sentence: a full stop, or what is quoted ends there."""
    if "\n" in match[0]:
        return False
    if match[0].strip():  # quotation marks or brackets: The sign says "Keep out." in red letters
        return text[match.end() : match.end() + 1].islower()
    if not match[0].isspace() or text[match.start() - 1] != ".":
        return False
    head = text[max(0, match.start() - SEEN) : match.start()]
    before = LAST_WORD.search(head)
    following = NEXT_WORD.match(text, match.end())
    if before is None or following is None:
        return False
    word = before[1].lstrip(OPENING)
    if NUMBER.fullmatch(word):
        return _counts(word, following, text, match.start() - len(word) - 1)
    if not word.replace(".", "").replace("-", "").isalpha():
        return False
    if following[0][0].isdigit():
        return len(word) <= SHORT or word.lower().endswith("str")
    return _is_shortened(word, head[: before.start(1)].rstrip(), following, text)


def _is_shortened(word: str, head: str, following: re.Match[str], text: str) -> bool:
    """Whether the word behind the head is an abbreviation or an initial."""
    after = following[0]
    if after[0].isupper() and word.casefold() in TITLES:
        return True
    if len(word) == 1:
        # "Ana M. De Souza": a particle of a name may follow an initial.
        is_named = head.rpartition(" ")[2][:1].isupper()
        return bool(
            not _begins(following, text) or is_named and IN_NAME.match(text, following.start())
        )
    if DOTTED.fullmatch(word) or _is_vowelless(word, head):
        return not _begins(following, text) or NUMBERED.match(text, following.start()) is not None
    if DOUBLED.fullmatch(word) and DOUBLED.fullmatch(after):
        return True
    if not after[0].islower():
        return False
    if ROMAN.fullmatch(word) or word.casefold() in COMPANY and word[0].isupper():
        return True
    return len(word) <= SHORT and _is_capitalised(text) and not _is_function(following)


def _is_vowelless(word: str, head: str) -> bool:
    """Dr, Nr, bzw; not DNS, and not the unit of a number: 80 kg."""
    if len(word) > VOWELLESS or word.isupper() or head[-1:].isdigit():
        return False
    return VOWELS.isdisjoint(unicodedata.normalize("NFKD", word.casefold()))


def _counts(number: str, following: re.Match[str], text: str, start: int) -> bool:
    """Whether the number marks an item of a list, counts what comes (am 3. Mai), or goes on (3. 5.
    1987)."""
    after = following[0]
    if not text[text.rfind("\n", 0, start) + 1 : start].strip():
        return True
    if after[0].isdigit():
        return len(number) <= SHORT and not YEAR.fullmatch(number)
    if not number.isdigit() or len(number) > ORDINAL or _begins(following, text):
        return False
    return after[0].isupper() or after[0].islower() and _language(following) == "de"


def _begins(following: re.Match[str], text: str) -> bool:
    """Whether the word is one that holds sentences together and has a capital: it begins one."""
    is_initial = len(following[0]) == 1 and text[following.end() : following.end() + 1] == "."
    return following[0][0].isupper() and not is_initial and _is_function(following)


def _is_function(word: re.Match[str]) -> bool:
    return word[0].casefold() in STOP_WORDS[_language(word)]


def _language(word: re.Match[str]) -> str:
    """Of what stands around it."""
    return language_of(word.string[max(0, word.start() - AROUND) : word.end() + AROUND])


def _is_capitalised(text: str) -> bool:
    """Whether its writer begins sentences with capitals."""
    return next((letter.isupper() for letter in text if letter.isalpha()), False)
