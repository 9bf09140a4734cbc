"""The sentences of a text that say most of it: its summary where no model writes one.

A sentence counts for how much of the text is about its words (SumBasic), for names and numbers in
it, and for standing where texts say what they are about; less if it leans on one before it. What
one chosen sentence says counts little for the next. Pure, and the same every time.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kinmem.language.lexicon import either
from kinmem.language.sentence_borders import sentences
from kinmem.text import STOP_WORDS, cut, language_of, late, words

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
NUMBER = late(r"\d+")
DETAIL = late(r"(?<=[\w,;] )[A-ZÄÖÜÉÈ][\w-]+|\d[\d.,:%-]*")
LEAST_WORDS, MOST_CHARACTERS = 3, 400
"""Content words that say something; characters that are still one sentence."""
MOST_DETAILS = 4
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
    return NUMBER.sub("", line).strip()


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
    details = min(MOST_DETAILS, len(DETAIL.findall(said)))
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
