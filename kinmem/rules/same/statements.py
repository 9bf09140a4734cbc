"""What a text states, clause by clause, and what in each clause must not be lost."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, takewhile

from kinmem.rules import grammar, vocabulary
from kinmem.rules.pattern import late
from kinmem.rules.same.amounts import UNITS
from kinmem.rules.same.atoms import Words, atoms, is_content, negations
from kinmem.rules.same.lexemes import stem
from kinmem.rules.same.similarity import normalised
from kinmem.text import sentences

NEGATING = vocabulary.NEGATORS | vocabulary.CONCORD
SHORT = 4
"""So many words may be put beside a statement: on 8 May 2023, at home."""
YEAR = re.compile(r"\d{4}")
NEITHER = late(r"(?i)\b(?:neither|weder)\b(.{1,80}?)\b(?:nor|noch)\b")
"""Two denials, the second of the same."""
RECURRING = late(r"(?i)\b(?:every|each) ((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b")
"""Every Sunday is on Sundays."""
NEAR = 12
"""Words on either side of a number in which they are looked for."""
REACH = 2
"""Content words on either side of a number that may tell what it counts."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number and what it is of."""

    number: str
    unit: str
    behind: frozenset[str]
    """The content words that follow it, next ones first reached."""
    around: frozenset[str]
    """Those, and the ones before it."""

    def __str__(self) -> str:
        return f"{self.number} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence, and what in it must not be lost."""

    words: Words
    content: frozenset[str]
    """Content words without their endings, and without what negates."""
    context: frozenset[str]
    """Those of them that are no names, numbers or dates."""
    subjects: frozenset[str]
    """Names that the next clause may be about as well: Anna lives in Lyon, works at Bosch."""
    atoms: frozenset[str]
    """Names, numbers and dates."""
    names: frozenset[str]
    dates: frozenset[str]
    amounts: tuple[Amount, ...]
    negations: int
    aside: bool
    """Whether it only adds a circumstance to the clause beside it."""


Sentence = tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is compared: each of its sentences once."""

    sentences: tuple[Sentence, ...]

    @property
    def clauses(self) -> Iterator[Clause]:
        return chain.from_iterable(self.sentences)

    def all(self, part: Callable[[Clause], Iterable[str]]) -> set[str]:
        """What all clauses have of one kind."""
        return {one for clause in self.clauses for one in part(clause)}

    @property
    def negations(self) -> int:
        return sum(clause.negations for clause in self.clauses)


def read(text: str) -> Reading:
    """The text's sentences, each read by itself, so that it means the same beside any other."""
    once = {normalised(part): part for part in sentences(text)}
    read = (_sentence(part) for part in once.values())
    return Reading(tuple(clauses for clauses in read if clauses))


def _sentence(text: str) -> Sentence:
    found = atoms(RECURRING.sub(r"\1s", NEITHER.sub(r"not\1, not", text)))
    return tuple(
        _clause(words, found.names, found.numbers, found.dates, found.units)
        for words in found.clauses
        if words
    )


def _clause(
    words: Words,
    names: frozenset[str],
    numbers: frozenset[str],
    dates: frozenset[str],
    units: frozenset[str],
) -> Clause:
    present = frozenset(words)
    counted = present & (numbers | {number.removesuffix("%") for number in numbers})
    mine = frozenset(bare(name) for name in present & names)
    lead = next((at for at, word in enumerate(words) if word in grammar.PLACES), len(words))
    exact = names | dates | counted
    adds = words[0] in grammar.PLACES or all(word in exact for word in words)
    said = [word for word in words if is_content(word) and word not in NEGATING]
    return Clause(
        words=words,
        content=frozenset(map(stem, said)),
        context=frozenset(stem(word) for word in said if word not in exact),
        subjects=frozenset(bare(word) for word in words[:lead] if word in names),
        atoms=mine | (present & dates) | counted,
        names=mine,
        dates=present & dates,
        amounts=tuple(_amounts(words, counted, counted | dates, units)),
        negations=negations(words),
        aside=adds and len(words) <= SHORT,
    )


def _amounts(
    words: Words, numbers: frozenset[str], exact: frozenset[str], units: frozenset[str]
) -> Iterator[Amount]:
    for at, word in enumerate(words):
        follower = words[at + 1] if at + 1 < len(words) else ""
        spelt = UNITS.get(follower, "")
        if word in numbers or (spelt and YEAR.fullmatch(word)):  # 1953 km is no year
            unit = follower if follower in units else spelt
            rest = words[at + 1 + bool(unit) : at + 1 + NEAR]
            before = words[max(0, at - NEAR) : at]
            next_ones = takewhile(lambda word: is_content(word) and word not in exact, rest)
            around = [*_content(rest, exact)[:REACH], *_content(before, exact)[-REACH:]]
            behind = map(stem, islice(next_ones, REACH))
            yield Amount(word, unit, frozenset(behind), frozenset(around))


def _content(words: Words, exact: frozenset[str]) -> list[str]:
    return [stem(word) for word in words if is_content(word) and word not in exact]


def bare(name: str) -> str:
    return name.removesuffix("'s")


def inheriting(sentence: Sentence) -> Iterator[tuple[Clause, frozenset[str]]]:
    """Each clause that states something, with the subject it takes over if it has none."""
    subject: frozenset[str] = frozenset()
    for clause in sentence:
        if clause.aside:
            continue
        has_own = bool(clause.subjects) or not grammar.SUBJECTS.isdisjoint(clause.words[:1])
        yield clause, frozenset() if has_own else subject
        subject = clause.subjects if has_own else subject


def asides(sentence: Sentence) -> Iterator[tuple[list[Clause], Clause]]:
    """Each circumstance with the statements before and behind it."""
    for at, clause in enumerate(sentence):
        if clause.aside:
            before = [one for one in sentence[:at] if not one.aside][-1:]
            behind = [one for one in sentence[at + 1 :] if not one.aside][:1]
            yield before + behind, clause
