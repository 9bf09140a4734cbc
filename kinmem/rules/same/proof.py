"""Whether a text may stand for others: nothing in it that they do not say, nothing of theirs lost.

A model that merges memories may drop a number, change a name or lose a `not`, and nobody would
notice before the original is gone. So what it writes is laid beside its sources, atom by atom
(atoms.py), then word by word (altering.py). In doubt it is not proved: what is refused
loses nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from kinmem.rules.grammar import words
from kinmem.rules.pattern import late
from kinmem.rules.same.altering import SHARE, altered, meaning
from kinmem.rules.same.atoms import is_content
from kinmem.rules.same.denials import is_half, turned
from kinmem.rules.same.lexemes import stem
from kinmem.rules.same.roles import exchanged
from kinmem.rules.same.similarity import normalised
from kinmem.rules.same.statements import (
    NEGATING,
    Amount,
    Clause,
    Reading,
    Sentence,
    asides,
    bare,
    inheriting,
    read,
)
from kinmem.text import sentences

BEGINNING = 3
"""Letters by which words of one family are known."""
MOST_READ = 8_000
"""Characters of all texts together: time grows with their square."""
CAPITAL = late(r"(?<=[a-zà-ÿ,] )[A-ZÀ-Þ][\w'-]+")
"""Within a sentence."""
BESIDE = words("with mit avec con com")
"""What stands behind them is somebody, or something that somebody has."""


def unproved(merged: str, sources: Sequence[str], superseded: Sequence[str]) -> list[str]:
    """Why `merged` may not stand for its sources, in words; empty if it may.

    Every number with what it counts, every date, name, unit and negation of the sources is in it,
    or in one of the statements that are superseded; it brings none that no source has, and joins
    no two that stood apart. So it is with the words of bearing.py, and no word of its own
    stands in the place of one that is gone. At least half of each source's content words are in
    it, and half of its own, and of each of its statements', are the sources'. Other words of the
    sources may be left out. A text of all their sentences is always proved.
    A superseded statement counts only where it stands in a source. Texts of over 8,000 characters
    together are not proved.
    """
    if len(merged) + sum(map(len, sources)) > MOST_READ:
        return ["the texts are too long to be compared"]
    whole, parts = read(merged), [read(source) for source in sources]
    given_up = Reading(
        tuple(
            sentence
            for text in superseded
            for sentence in read(text).sentences
            if any(_stands_in(sentence, part) for part in parts)
        )
    )
    found = [*_lost(whole, parts, given_up), *_brought(whole, parts), *_joined(whole, parts)]
    found += _denied(whole, parts, given_up)
    found += [*turned(whole, parts, given_up), *_halved(merged, sources)]
    found += [*exchanged(whole, parts), *_unmarked(merged, sources, whole, parts)]
    found += [*altered(whole, parts, given_up), *_silent(whole, parts, given_up)]
    return list(dict.fromkeys(found))


def _stands_in(sentence: Sentence, source: Reading) -> bool:
    """Whether each clause of the sentence is, word for word, a part of one of the source's."""
    return all(
        any(set(clause.words) <= set(known.words) for known in source.clauses)
        for clause in sentence
    )


def _names(clause: Clause) -> Iterable[str]:
    return clause.names


def _words(clause: Clause) -> Iterable[str]:
    return map(bare, clause.words)


def _lost(whole: Reading, parts: Sequence[Reading], given_up: Reading) -> Iterator[str]:
    """What a source has and neither the merged text nor the superseded statements."""
    kept = whole.all(_words) | given_up.all(_words)
    there = [*_of(whole), *_of(given_up)]
    days = [*_days(whole), *_days(given_up)]
    for part in parts:
        for name in sorted(part.all(_names) - kept):
            yield f"the name {name} of the sources is missing"
        for amount in _of(part):
            if not any(_same(amount, other) for other in there):
                yield f"the number {amount} of the sources is missing, or counts something else"
        for day in _days(part):
            if not any(_same_day(day, other) for other in days):
                yield f"the date {day[0]} of the sources is missing, or belongs to something else"


def _brought(whole: Reading, parts: Sequence[Reading]) -> Iterator[str]:
    """What the merged text has and none of the sources."""
    known = set().union(*(part.all(_words) for part in parts))
    for name in sorted(whole.all(_names) - known):
        yield f"the name {name} stands in none of the sources"
    days = [day for part in parts for day in _days(part)]
    for day in _days(whole):
        if not any(_same_day(other, day) for other in days):
            yield f"the date {day[0]} stands in none of the sources, or belongs to something else"
    there = [amount for part in parts for amount in _of(part)]
    for amount in _of(whole):
        if not any(_same(other, amount) for other in _closest(amount, there)):
            yield f"the number {amount} stands in none of the sources, or counts something else"


def _of(reading: Reading) -> list[Amount]:
    return [amount for clause in reading.clauses for amount in clause.amounts]


def _same(source: Amount, merged: Amount) -> bool:
    """Whether both give the same number of the same thing."""
    if (source.number, source.unit) != (merged.number, merged.unit):
        return False
    if source.unit or not source.around:
        return True
    return not (source.behind or source.around).isdisjoint(merged.around)


def _closest(amount: Amount, others: Sequence[Amount]) -> list[Amount]:
    """Those of its unit with most words like its own: the pin of the safe, not of the phone."""
    shared = [(len(amount.around & one.around), one) for one in others if one.unit == amount.unit]
    best = max((count for count, _ in shared), default=0)
    return [one for count, one in shared if count == best]


def _days(reading: Reading) -> list[tuple[str, frozenset[str]]]:
    """Each date with the words of what it is said of."""
    found = []
    for sentence in reading.sentences:
        beside = {id(aside): near for near, aside in asides(sentence)}
        for clause in sentence:
            near = [clause, *beside.get(id(clause), ())]
            # By their beginnings: somebody's flight, somebody flies.
            context = frozenset(word[:BEGINNING] for one in near for word in one.context)
            found += [(date, context) for date in sorted(clause.dates)]
    return found


def _same_day(source: tuple[str, frozenset[str]], merged: tuple[str, frozenset[str]]) -> bool:
    """Whether both say the same date of something that has a word in common."""
    has_context = bool(source[1] and merged[1])
    return source[0] == merged[0] and not (has_context and source[1].isdisjoint(merged[1]))


@dataclass(frozen=True, slots=True)
class Group:
    """What is said together."""

    names: frozenset[str]
    exact: frozenset[str]
    """Numbers and dates."""

    @property
    def atoms(self) -> frozenset[str]:
        return self.names | self.exact


def _joined(whole: Reading, parts: Sequence[Reading]) -> Iterator[str]:
    """Atoms that one statement of the merged text has together and no statement of a source.

    A number or a date may be joined with what stands apart from it if both stand with the same
    atom, and all names that stand with them are there too: I run 5 km on Tuesdays, on Tuesdays I
    run with Tom.
    """
    groups = [group for part in parts for sentence in part.sentences for group in _groups(sentence)]
    linked = {pair for group in groups for pair in _pairs(group.atoms)}
    for sentence in whole.sentences:
        for clause, inherited in inheriting(sentence):
            there = clause.atoms | inherited
            for pair in sorted(_pairs(there) - linked):
                exact = there - clause.names - inherited
                if exact.isdisjoint(pair) or not _anchored(pair, there, groups):
                    yield f"{' and '.join(pair)} belong together in none of the sources"
        for beside, clause in asides(sentence):
            if beside and not any(_pairs(one.atoms | clause.atoms) <= linked for one in beside):
                yield f"{', '.join(sorted(clause.atoms))} belongs to something else in the sources"


def _anchored(pair: tuple[str, str], there: frozenset[str], groups: Sequence[Group]) -> bool:
    """Whether both stand, with none but names that are there, beside an atom that is there."""
    one, other = (
        frozenset().union(
            *(group.atoms for group in groups if atom in group.atoms and group.names <= there)
        )
        for atom in pair
    )
    return not (one & other).isdisjoint(there.difference(pair))


def _groups(sentence: Sentence) -> Iterator[Group]:
    """What a sentence says together: each clause with its subject and circumstances."""
    for clause, inherited in inheriting(sentence):
        beside = [aside for near, aside in asides(sentence) if clause in near]
        names = clause.names.union(inherited, *(aside.names for aside in beside))
        yield Group(
            names, clause.atoms.union(inherited, *(aside.atoms for aside in beside)) - names
        )
    yield from (Group(clause.names, clause.atoms - clause.names) for clause in sentence)


def _pairs(group: frozenset[str]) -> set[tuple[str, str]]:
    return set(combinations(sorted(group), 2))


def _denied(whole: Reading, parts: Sequence[Reading], given_up: Reading) -> Iterator[str]:
    """Statements that are denied on one side and not on the other."""
    merged = [*whole.clauses, *_with_asides(whole)]
    theirs = [clause for part in parts for clause in part.clauses]
    dropped = list(given_up.clauses)
    for clause in theirs:
        if clause.negations and not _matched(clause, merged) and not _matched(clause, dropped):
            yield f'the negation in "{" ".join(clause.words)}" is missing'
    for clause in whole.clauses:
        if not _matched(clause, theirs):
            yield f'"{" ".join(clause.words)}" is denied in one text and not in the other'
    most = max((part.negations for part in parts), default=0)
    if whole.negations + given_up.negations < most:
        yield "a negation is missing"
    if whole.negations > sum(part.negations for part in parts):
        yield "a negation stands in none of the sources"


def _with_asides(reading: Reading) -> Iterator[Clause]:
    """Statements together with a circumstance that is cut off by a comma: without filler."""
    for sentence in reading.sentences:
        for beside, aside in asides(sentence):
            for clause in beside:
                yield replace(
                    clause,
                    content=clause.content | aside.content,
                    negations=clause.negations + aside.negations,
                )


def _matched(clause: Clause, others: Sequence[Clause]) -> bool:
    """Whether one of the clauses that share most words with it denies as often as it does."""
    if not others:
        return not clause.negations
    told = clause.content or frozenset(clause.words) - NEGATING
    shared = [len(told & (one.content or frozenset(one.words))) for one in others]
    best = max(shared)
    if not best and told:
        return not clause.negations
    return any(
        one.negations == clause.negations
        for one, count in zip(others, shared, strict=True)
        if count == best
    )


def _silent(whole: Reading, parts: Sequence[Reading], given_up: Reading) -> Iterator[str]:
    """Sources of which little is left, or a text that says much besides."""
    said, dropped = whole.all(meaning), given_up.all(meaning)
    for part in parts:
        meant = part.all(meaning)
        if len(meant & (said | dropped)) < SHARE * len(meant):
            first = " ".join(next(part.clauses).words)
            yield f'little is left of the source that begins "{first}"'
    meant = set().union(*(part.all(meaning) for part in parts))
    if len(said & meant) < SHARE * len(said):
        yield "most of the text stands in none of the sources"
    if not said and meant:
        yield "the text says nothing"


def _halved(merged: str, sources: Sequence[str]) -> Iterator[str]:
    """A negation of two words that has one of them."""
    known = {normalised(one) for source in sources for one in sentences(source) if is_half(one)}
    for one in sentences(merged):
        if is_half(one) and normalised(one) not in known:
            yield f'a negation in "{one.strip()}" has lost a word'


def _unmarked(
    merged: str, sources: Sequence[str], whole: Reading, parts: Sequence[Reading]
) -> Iterator[str]:
    """Words that no source has and that may be names in small letters."""
    known = {stem(word) for part in parts for word in part.all(_words)}
    written = set(re.findall(r"[\w'-]+", merged))
    named = {name for source in sources for name in CAPITAL.findall(source)}
    is_careless = any(name not in written and name.lower() in written for name in named)
    for clause in whole.clauses:
        for before, word in zip(("", *clause.words), clause.words, strict=False):
            is_new = is_content(word) and word not in NEGATING and stem(bare(word)) not in known
            if is_new and (is_careless or before in BESIDE):
                yield f'"{word}" stands in none of the sources and may be a name'
