"""How much a text matters by its words: of what may be asked, and of what is to be remembered.

Evidence is how much of an answer it can hold, whatever the question. In real talk most turns are
reactions ("Wow, that's great!") or questions back. Statements that people make about themselves,
with names, numbers and times in them, are what is asked for later. Without it recall@10 falls by
2.2 points on LoCoMo and 2.7 on BEAM (docs/benchmarks.md). Importance has seven signals, which are
Kore's, with weights of our own: category, length, specific words, numbers, names, times, negation.
Words count whole: "maize" and "tokenize" are no secrets.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kinmem.language.lexicon import (
    FUNCTION_WORDS,
    MODALS,
    NEGATORS,
    PAST,
    QUANTITIES,
    TENSES,
    word_class,
)
from kinmem.language.sentence_borders import sentences
from kinmem.models import ROLES, Category
from kinmem.text import STOP_WORDS, late, words

ABOUT_SELF = 0.05
PREFERENCE = 0.05
STANDING = 0.1
DETAIL = 0.08
MOST_DETAILS = 8
STATED = 0.03
MOST_STATED = 20
QUESTION = 0.08
# What comes first tells; scanning the rest of a long text would only cost time.
HEAD = 400

SELF = late(r"\b(?:I|I['’]m|I['’]ve|my|we|our)\b")
PREFERS = late(
    r"\bI(?:['’]d| would)? (?:\w+ )?(?:prefer|like to|love|hate|enjoy)"
    r"|[Mm]y (?:preference|favou?rite)\b"
)
INSTRUCTS = late(r"\W*(?:please )?(?:always|never|from now on|remember|whenever)\b", re.IGNORECASE)
PROPER = late(r"(?<=[a-z,] )[A-Z][a-z]+")
TIMES = word_class("times")


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
UNIMPORTANT = 5.0
"""Highest importance of hearsay and of what tools say, so that neither gets a star."""
PER_LENGTH, LENGTH, MOST_FOR_LENGTH = 0.5, 30, 2.0
"""Points for each started 30 words, but for a remark of a few words none."""
REMARK = 6
SPECIFIC, NUMBERS, NAMES, TIME, NEGATION = 1.5, 0.5, 0.5, 1.0, 1.0

SPECIFIC_WORDS = word_class("specific")
PRESSING = word_class("pressing")
"""Words that say by when or on which day; "last summer" makes nothing more pressing."""
NEGATIVE = word_class("negators", "concord", "negative")
NUMBER = late(r"\d")


@dataclass(frozen=True, slots=True)
class Weight:
    """How much a text matters by its words."""

    text: str

    def evidence(self, speaker: str | None) -> float:
        """Between about -0.1 and 0.5; 0 for what assistants and tools say."""
        if speaker in ROLES - {"user"}:
            return 0.0
        head = self.text[:HEAD]
        value = 0.0
        if SELF.search(head) or "My" in head:  # most texts need not be searched further
            value += ABOUT_SELF * bool(SELF.search(head[:200]))
            value += PREFERENCE * bool(PREFERS.search(head))
        value += STANDING * self.is_standing(speaker)
        if speaker is not None and speaker != "user":
            value += _of_talk(self.text, head)
        return value

    def is_standing(self, speaker: str | None) -> bool:
        """Whether a person asks for something once and for all: "Always show the unit"."""
        return speaker not in ROLES - {"user"} and bool(INSTRUCTS.match(self.text))

    def importance(self, category: Category) -> float:
        """Between 1 and 10; 5 is an ordinary fact. An empty text has its category's prior."""
        found = words(self.text)
        told = set(found)
        value = PRIOR[category]
        if len(found) > REMARK:
            value += min(MOST_FOR_LENGTH, PER_LENGTH * math.ceil(len(found) / LENGTH))
        value += SPECIFIC * (not told.isdisjoint(SPECIFIC_WORDS))
        value += NUMBERS * bool(NUMBER.search(self.text))
        value += NAMES * bool(PROPER.search(self.text))
        value += TIME * (not told.isdisjoint(PRESSING))
        value += NEGATION * (not told.isdisjoint(NEGATIVE))
        return min(10.0, max(1.0, value))


def _of_talk(text: str, head: str) -> float:
    """Among people much is small talk: details and statements tell the rest from it."""
    said = words(head)
    details = len(PROPER.findall(head)) + sum(word in TIMES or word.isdigit() for word in said)
    stated = [part for part in sentences(text[: 4 * HEAD]) if not part.rstrip().endswith("?")]
    content = set(words(" ".join(stated))) - STOP_WORDS["en"]
    value = DETAIL * math.log1p(min(details, MOST_DETAILS))
    value += STATED * math.log1p(min(len(content), MOST_STATED))
    return value - QUESTION * text.rstrip().endswith("?")


SHORTEST = 4
"""Letters of a keyword; of Chinese, Japanese and Korean characters two say as much."""
SHORTEST_SIGNS = 2
LONGEST = 40
"""Characters of a keyword; what is longer is no word."""

# What a text does, or is said to: true of any text, and nothing that it is about.
_SAYING = word_class("saying")
_EMPTY = _SAYING | FUNCTION_WORDS | PRESSING | MODALS | NEGATORS | PAST | QUANTITIES | TENSES

_ADDRESS = late(
    r"(?:https?://|www\.)\S+|\S+@\S+|\[\[[^\[\]]*\]\]|\b[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}\b",
    re.IGNORECASE,
)
_HAN, _KANA, _HANGUL = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", "\u30a0-\u30ff", "\uac00-\ud7af"
_TERM = late(
    rf"(?P<han>[{_HAN}々]+)|(?P<katakana>[{_KANA}]+)|(?P<hangul>[{_HANGUL}]+)"
    rf"|(?P<word>(?:(?![{_HAN}{_KANA}{_HANGUL}\u3040-\u309f\u0e00-\u0eff\u1780-\u17ff])[^\W_])+)"
)
# A run of Chinese has no spaces: it is cut at what only holds a sentence together.
_PARTICLES = late(
    "每天|喜欢|[的了是在和与及或我你您他她它们这那有不也就都要会能可很最着过把被给让对从到为以于之而但"
    "吗呢吧啊个每用去来说请没无将曾还又再只喝吃住买做看想]"
)
_JAPANESE = late("[\u3040-\u30ff]")
_LONGEST_RUN = 6
"""Characters between two of them that are taken for a word, or for two that belong together."""
_KOREAN_ENDING = late("(?:에서|에게|으로|까지|부터|은|는|이|가|을|를|의|에|도|와|과|로)$")


def keywords(text: str, language: str) -> list[str]:
    """The words that the text is about: the most frequent first, of equals the first.

    Words of at least four letters that are no stop words of the language; runs of two to four
    characters where no spaces stand between words; nothing of scripts that cannot be cut, as Thai.
    """
    stop = STOP_WORDS[language] | _EMPTY
    counts = Counter(
        term for term in _terms(_ADDRESS.sub(" ", text).casefold()) if term not in stop
    )
    return sorted(counts, key=lambda term: -counts[term])


def _terms(text: str) -> Iterator[str]:
    is_japanese = bool(_JAPANESE.search(text))
    for match in _TERM.finditer(text):
        kind, term = match.lastgroup, match.group()
        if kind == "word":
            letters = sum(map(str.isalpha, term))
            if letters >= SHORTEST and 2 * letters > len(term) and len(term) <= LONGEST:
                yield term
        elif kind == "han":
            yield from _cut(term, is_japanese)
        elif kind == "hangul":
            bare = _KOREAN_ENDING.sub("", term) if len(term) > SHORTEST_SIGNS else term
            if len(bare) >= SHORTEST_SIGNS:
                yield bare
        elif SHORTEST_SIGNS <= len(term) <= LONGEST:
            yield term


def _cut(run: str, is_japanese: bool) -> Iterator[str]:
    """What stands between particles, where it is short enough to be a word; those of Japanese are
    written in another script, and end a run anyway."""
    for part in [run] if is_japanese else _PARTICLES.split(run):
        if SHORTEST_SIGNS <= len(part) <= _LONGEST_RUN:
            yield part
