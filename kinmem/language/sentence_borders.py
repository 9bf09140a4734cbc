"""Where a text can be split: into sentences, and into parts that a model reads whole.

A sentence ends at its mark or at the end of a line; at a full stop only if nothing suggests an
abbreviation, an initial, an ordinal or a version.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kinmem.language.lexicon import PRONOUNS, word_class
from kinmem.text import STOP_WORDS, language_of, late

# A mark with closing quotes or brackets before white space, or a line end. Chinese and Japanese
# marks need no space after them.
END = late(r"""(?<=[.!?…])["'”’)\]]*\s+|(?<=[。！？])\s*|\n+""")

# Titles and parts of addresses that precede a name and look like words. Those without a vowel (Dr,
# Nr) are recognised by that.
TITLES = word_class("before_names")
# Somebody breaks off, and may go on: "since September... no, October, I work alone".
BREAKING_OFF = late(r"(?:\.\.+|…)\Z")
LAST_WORD = late(r"(\S*)\.\Z")
NEXT_WORD = late(r"[^\W_]+")
OPENING = "\"'“‘„«»([{<*_"
# Matches e.g., U.S., Ph.D., J.-B.
DOTTED = late(r"(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,2}")
# Spanish doubles the letters of a shortened plural: EE. UU.
DOUBLED = late(r"([A-Z])\1")
# A name goes on behind these if the next word has no capital.
COMPANY = frozenset("inc ltd corp co cia bros".split())
# Matches No. 5: what begins so belongs to what it counts.
NUMBERED = late(r"(?:no|nr|n|art|fig|vol|num)\b[.º°]?\s?\d", re.IGNORECASE)
ROMAN = late(r"[IVXLC]{2,}")
NUMBER = late(r"v?\d+(?:\.\d+)*")
IN_NAME = late(r"[^\W_]{2,3} [A-ZÀ-Þ][^\W\d_]")
YEAR = late(r"\d{4}")
# A day and a month, which German writes with a stop behind each: am 24.12. um neun.
DAY_AND_MONTH = late(r"(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])")
VOWELS = frozenset("aeiouyæøœ")
# Most abbreviations have no more letters than this. Joining two sentences costs less than cutting
# one in half.
SHORT = 6
VOWELLESS = 4
# Most letters of a word with a capital that is taken for an abbreviation unless a pronoun follows:
# Do. um neun, im Dez. bei uns; not "My dog is Max. he is nine."
CAPITALISED = 3
# Most digits of a number that may be an ordinal: am 31. Mai.
ORDINAL = 2
# Characters to look at before a full stop.
SEEN = 40
# Characters on either side from which the language is detected.
AROUND = 200


def sentences(text: str) -> list[str]:
    """Split the text into its sentences and lines, which joined give the text again.

    White space after a sentence belongs to it. An empty text has no sentences.
    """
    ends = list(borders(text))
    parts = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part for part in parts if part]


def borders(text: str) -> Iterator[int]:
    """Yield each position where one sentence has ended and the next begins, in order."""
    for match in END.finditer(text):
        if match.end() and not _goes_on(text, match):
            yield match.end()


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Return whether the sentence goes on: the stop or the quotation ends within it."""
    if "\n" in match[0]:
        return False
    # Quotation marks or brackets: The sign says "Keep out." in red letters.
    if match[0].strip():
        return text[match.end() : match.end() + 1].islower()
    if not match[0].isspace():
        return False
    if BREAKING_OFF.search(text, max(0, match.start() - SEEN), match.start()):
        character = text[match.end() : match.end() + 1]
        return character.islower() or character.isdigit()
    if text[match.start() - 1] != ".":
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
    """Return whether the word, which follows `head`, is an abbreviation or an initial."""
    after = following[0]
    if after[0].isupper() and word.casefold() in TITLES:
        return True
    if len(word) == 1:
        # A particle of a name may follow an initial: "Ana M. De Souza".
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
    is_likely = word[0].isupper() and len(word) <= CAPITALISED
    is_likely = is_likely and after not in PRONOUNS
    is_likely = is_likely or len(word) <= SHORT and not _is_function(following)
    return is_likely and _is_capitalised(text)


def _is_vowelless(word: str, head: str) -> bool:
    """Return whether the word is an abbreviation without vowels (Dr, Nr, bzw), not DNS and not the
    unit of a number (80 kg)."""
    if len(word) > VOWELLESS or word.isupper() or head[-1:].isdigit():
        return False
    return VOWELS.isdisjoint(unicodedata.normalize("NFKD", word.casefold()))


def _counts(number: str, following: re.Match[str], text: str, start: int) -> bool:
    """Return whether the number marks a list item, is an ordinal (am 3. Mai) or a date (am 3.5. um
    neun), or goes on (3. 5. 1987)."""
    after = following[0]
    if not text[text.rfind("\n", 0, start) + 1 : start].strip():
        return True
    if after[0].isdigit():
        return len(number) <= SHORT and not YEAR.fullmatch(number)
    if _begins(following, text):
        return False
    is_german = after[0].islower() and _language(following) == "de"
    if DAY_AND_MONTH.fullmatch(number):  # elsewhere, and before a capital, a version or a price
        return is_german
    if not number.isdigit() or len(number) > ORDINAL:
        return False
    return after[0].isupper() or is_german


def _begins(following: re.Match[str], text: str) -> bool:
    """Return whether the word begins a sentence: it has a capital and is a function word."""
    is_initial = len(following[0]) == 1 and text[following.end() : following.end() + 1] == "."
    return following[0][0].isupper() and not is_initial and _is_function(following)


def _is_function(word: re.Match[str]) -> bool:
    return word[0].casefold() in STOP_WORDS[_language(word)]


def _language(word: re.Match[str]) -> str:
    """Detect the language of the text around the word."""
    return language_of(word.string[max(0, word.start() - AROUND) : word.end() + AROUND])


def _is_capitalised(text: str) -> bool:
    """Return whether the writer begins sentences with capitals."""
    return next((letter.isupper() for letter in text if letter.isalpha()), False)


@dataclass(frozen=True)
class Window:
    """What a model reads at once: characters as the caller limits them, tokens as the model counts
    them."""

    characters: int
    tokens: int
    count: Callable[[str], int]
    overlap: int = 0
    """Characters of the previous part that a part may repeat, in whole sentences."""

    def holds(self, text: str) -> bool:
        return len(text) <= self.characters and self.count(text) <= self.tokens


WORD_AND_SPACE = late(r"\S+\s*|\s+")
# A long run without a space is an address, code, or a script that has no spaces.
PUNCTUATED = late(r"(?<=[!-/:-@\[-`{-~、，；：])")
ZERO_WIDTH_JOINER = "\u200d"
LOOK_BACK = 8


def pieces(text: str, window: Window) -> list[str]:
    """Cut a text into consecutive parts that fit the window. Only white space between parts is
    lost.

    A text that fits is returned as it is. A part begins with the last sentence of the previous part
    if that sentence is within the window's overlap and leaves room for what follows. Cuts fall
    between sentences; in a sentence that is too long, between words; and in a word that is too
    long, between letters.
    """
    if window.holds(text):
        return [text]
    return [part.strip() for part in _cut(text, window, SPLITS) if not part.isspace()]


def _words(text: str) -> list[str]:
    return WORD_AND_SPACE.findall(text)


def _punctuated(text: str) -> list[str]:
    return [part for part in PUNCTUATED.split(text) if part]


SPLITS: tuple[Callable[[str], list[str]], ...] = (sentences, _words, _punctuated)


def _cut(text: str, window: Window, splits: tuple[Callable[[str], list[str]], ...]) -> list[str]:
    """Try each way to split on what the previous way left too long; letters come last."""
    if window.holds(text):
        return [text]
    if not splits:
        return _prefixes(text, window)
    split, *finer = splits
    groups = _grouped(split(text), window, window.overlap if split is sentences else 0)
    return [part for group in groups for part in _cut(group, window, tuple(finer))]


def _grouped(parts: list[str], window: Window, overlap: int) -> list[str]:
    """Join neighbours while the sum of their counts fits. A part that does not fit stays alone.

    The count of a joined text may differ from the sum, so callers have to count it again.
    """
    groups: list[list[str]] = []
    characters = tokens = 0
    last, last_count = "", 0
    for part in parts:
        count = window.count(part)
        characters += len(part)
        tokens += count
        if not groups or characters > window.characters or tokens > window.tokens:
            repeats = groups and len(groups[-1]) > 1 and len(last) <= overlap
            fits = len(last + part) <= window.characters and last_count + count <= window.tokens
            groups.append([last] if repeats and fits else [])
            characters = sum(map(len, groups[-1])) + len(part)
            tokens = count + (last_count if groups[-1] else 0)
        groups[-1].append(part)
        last, last_count = part, count
    return ["".join(group) for group in groups]


def _prefixes(text: str, window: Window) -> list[str]:
    """Cut off as many letters as the window holds, repeatedly, keeping accents with their
    letters."""
    parts = []
    while text:
        lengths = range(1, min(len(text), window.characters) + 1)
        fitting = bisect_right(lengths, window.tokens, key=lambda n: window.count(text[:n]))
        end = before_letter(text, max(1, fitting))
        parts.append(text[:end])
        text = text[end:]
    return parts


def before_letter(text: str, end: int) -> int:
    """Return the last position up to `end`, at most a few letters back, that separates no accent or
    joiner from its letter."""
    candidates = range(end, max(0, end - LOOK_BACK), -1)
    return next((n for n in candidates if not _is_joined(text, n)), end)


def _is_joined(text: str, place: int) -> bool:
    if place >= len(text):
        return False
    before, after = text[place - 1], text[place]
    return ZERO_WIDTH_JOINER in (before, after) or unicodedata.category(after).startswith("M")
