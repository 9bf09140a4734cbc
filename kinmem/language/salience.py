"""How much a text matters by its words: of what may be asked, and of what is to be remembered; the
words, and the sentences, that say most of it.

Evidence is how much of an answer it can hold, whatever the question. In real talk most turns are
reactions ("Wow, that's great!") or questions back. Statements that people make about themselves,
with names, numbers and times in them, are what is asked for later. Without it recall@10 falls by
2.2 points on LoCoMo and 2.7 on BEAM (docs/benchmarks.md). Importance has seven signals, which are
Kore's, with weights of our own: category, length, specific words, numbers, names, times, negation.
Words count whole: "maize" and "tokenize" are no secrets.

A summary, where no model writes one, is of whole sentences. A sentence counts for how much of the
text is about its words (SumBasic), for names and numbers in it, and for standing where texts say
what they are about; less if it leans on one before it. What one chosen sentence says counts little
for the next. Pure, and the same every time.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kinmem.language.lexicon import (
    FUNCTION_WORDS,
    MODALS,
    NEGATORS,
    PAST,
    QUANTITIES,
    TENSES,
    either,
    word_class,
)
from kinmem.language.secrets.secrets import REMOVED
from kinmem.language.sentence_borders import sentences
from kinmem.models import ROLES, Category
from kinmem.text import STOP_WORDS, cut, language_of, late, words

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
        """Between 1 and 10; 5 is an ordinary fact. An empty text has its category's prior.

        A sentence that has lost its secret does not count: what made it important is gone.
        """
        if REMOVED in self.text:
            whole = "".join(part for part in sentences(self.text) if REMOVED not in part)
            return Weight(whole).importance(category) if whole.strip() else UNIMPORTANT
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


LOOKED_AT = 200_000
"""Characters; of a longer text as much is read, in stretches from all of it."""
STRETCHES = 40
SENTENCE = late(r"""(?<=[.!?…])["'”’)\]*_]*\s+(?=\S)|(?<=[。！？])\s*""")
PARAGRAPHS = late(r"\n[ \t]*\n")
UNTOLD = late(r" {0,3}(?:#{1,6}\s|```|~~~|\||={3,}\s*$|-{3,}\s*$)|\s{4,}\S*[{};=()]\S*\s*$")
"""Headings, code and tables: they are no sentences."""
MARK = late(r"\A\s*(?:[-*+•>]|\d{1,3}[.)])\s+")
LINK = late(r"!?\[([^\]]{0,300})\]\([^)]{0,500}\)")
EMPHASIS = late(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|`")
TAG = late(r"</?[a-zA-Z!?][^<>]{0,300}>")
MARKUP = late(r"""[<>{}|\\]|\w=["']|&\w{2,8};|\w\(\)|;\s*\Z|\$\w|::|://""")
"""What is left of programs, tables and pages."""
ENDED = late(r"""[.!?…。！？]["'”’»)\]]*\Z""")
SHORT_LINE = 0.7
"""Share of the longest line of a paragraph below which one that has no end is a heading, or a row
of a table."""
TOLD_AGAIN = 3
"""Lines without an end, alike but for their numbers, from which they are heads or feet of pages."""
MOST_SIGNS = 0.3
"""Share of a sentence that is neither letters nor spaces."""
LEANS = late(rf"(?i)(?:{either('leans')})\b")
CUE = late(rf"(?i)\b(?:{either('cue')})\b")
_FIGURES = late(r"\d+")
_NAME_OR_NUMBER = late(r"(?<=[\w,;] )[A-ZÄÖÜÉÈ][\w-]+|\d[\d.,:%-]*")
LEAST_WORDS, MOST_CHARACTERS = 3, 400
"""Content words that say something; characters that are still one sentence."""
_MOST_COUNTED = 4
OPENING = 0.2
"""For the first sentence; texts begin with what they are about, and after a few with details."""
USUAL = 150
"""Characters of a sentence that one reads at a glance."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    text: str
    stems: frozenset[str]
    worth: float
    """Without what its words count for."""


def summary(text: str, count: int, characters: int, title: str = "") -> str:
    """At most `count` sentences of the text, in its order, within so many characters.

    Empty where no more sentences are told than that: the text is its own summary.
    """
    told = list(_sentences(_looked_at(text)))
    if len(told) <= count:
        return ""
    told = [one for one in told if _is_prose(one.text)] or told
    weights = _weights(told, title)
    told = list({one.text: one for one in reversed(told)}.values())  # said again, it tells no more
    chosen: list[_Sentence] = []
    room = characters
    while len(chosen) < count:
        left = [one for one in told if one not in chosen and (len(one.text) < room or not chosen)]
        if not left:
            break
        best = max(left, key=lambda one: (_score(one, weights), -one.place))
        chosen.append(best)
        room -= len(best.text) + 1
        for stem in best.stems:  # said once; what is still unsaid comes next
            weights[stem] *= weights[stem]
    chosen.sort(key=lambda one: one.place)
    return cut(" ".join(one.text for one in chosen), characters)


def _looked_at(text: str) -> str:
    """All of it, or stretches of equal length and distance; the first is the beginning."""
    if len(text) <= LOOKED_AT:
        return text
    length, step = LOOKED_AT // STRETCHES, len(text) // STRETCHES
    parts = []
    for start in range(0, step * STRETCHES, step):
        stretch = text[start : start + length]
        first = SENTENCE.search(stretch) if start else None
        parts.append(stretch[first.end() if first else 0 :].rpartition(". ")[0] + ".")
    return "\n\n".join(parts)


def _sentences(text: str) -> Iterator[_Sentence]:
    """Those that say something."""
    stop = STOP_WORDS[language_of(text[:5000])]
    heads = _heads(text)
    place = 0
    for number, paragraph in enumerate(PARAGRAPHS.split(text)):
        for at, said in enumerate(_of_paragraph(paragraph, heads)):
            found = words(said)
            stems = frozenset(_stem(word) for word in found if word not in stop and len(word) > 1)
            if len(stems) < LEAST_WORDS and (said.isascii() or len(said) < 10):
                continue
            worth = _worth(said) + (0.05 if at == 0 else 0.0) + OPENING * math.exp(-place / 5)
            yield _Sentence(place, said, stems, worth + (0.05 if number == 0 else 0.0))
            place += 1


def _heads(text: str) -> frozenset[str]:
    """Lines, without their numbers, that stand on many pages."""
    lines = Counter(_bare(line) for line in text.split("\n") if not ENDED.search(line))
    return frozenset(line for line, count in lines.items() if line and count >= TOLD_AGAIN)


def _bare(line: str) -> str:
    return _FIGURES.sub("", line).strip()


def _of_paragraph(paragraph: str, heads: Collection[str]) -> Iterator[str]:
    """Its sentences, each on one line and without Markdown's marks; items are told apart."""
    prose: list[str] = []
    fenced = False
    lines = paragraph.split("\n")
    short = SHORT_LINE * max(map(len, lines))
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or UNTOLD.match(line) or _bare(line) in heads:
            yield from _split(prose)
            prose = []
            continue
        if MARK.match(line) or prose and _is_apart(prose[-1], line, short):
            yield from _split(prose)
            prose = []
        prose.append(MARK.sub("", line, count=1).strip())
    yield from _split(prose)


def _is_apart(line: str, following: str, short: float) -> bool:
    """Whether a heading or a row of a table ends there, though nothing says so."""
    begins = following.strip()[:1]
    return len(line) < short and not ENDED.search(line) and (begins.isupper() or begins.isdigit())


def _split(lines: list[str]) -> Iterator[str]:
    told = TAG.sub("", EMPHASIS.sub("", LINK.sub(r"\1", " ".join(filter(None, lines)))))
    said = ""
    for part in map(str.strip, sentences(told)):
        goes_on = part[:1].islower() and not MARKUP.search(part)
        if said and (not goes_on or len(said) > MOST_CHARACTERS):
            yield cut(said, MOST_CHARACTERS)
            said = ""
        said = f"{said} {part}".strip()
    if said:
        yield cut(said, MOST_CHARACTERS)


def _is_prose(said: str) -> bool:
    """Whether it is a whole sentence, and no markup, code, or row of a table."""
    if MARKUP.search(said) or not ENDED.search(said) or said[:1].islower():
        return False
    signs = sum(not (letter.isalpha() or letter.isspace()) for letter in said)
    return signs <= MOST_SIGNS * len(said)


def _worth(said: str) -> float:
    details = min(_MOST_COUNTED, len(_NAME_OR_NUMBER.findall(said)))
    worth = 0.03 * details + 0.1 * bool(CUE.search(said))
    worth -= 0.05 * max(0, len(said) - USUAL) / USUAL
    worth -= 0.15 * bool(LEANS.match(said)) + 0.25 * said.rstrip("\"'”’)").endswith("?")
    return worth - 0.1 * (said.endswith(("…", ":")) or len(said) < 25)


def _weights(told: list[_Sentence], title: str) -> dict[str, float]:
    """How much of the text is about each word, 0 to 1; the words of the title are more."""
    counts = Counter(stem for one in told for stem in one.stems)
    most = math.log1p(max(counts.values(), default=1))
    weights = {stem: math.log1p(count) / most for stem, count in counts.items()}
    for word in words(title):
        if (stem := _stem(word)) in weights:
            weights[stem] = min(1.0, weights[stem] + 0.3)
    return weights


def _score(one: _Sentence, weights: dict[str, float]) -> float:
    """By the mean of its words; a short one must not win by its one word."""
    return sum(weights[stem] for stem in one.stems) / (len(one.stems) + 3) + one.worth


def _stem(word: str) -> str:
    return word[:6]
