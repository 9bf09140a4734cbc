"""Which words of a text make other facts of what its sources say. See proof.py."""

from collections.abc import Iterable, Iterator, Sequence

from kinmem.rules.same.atoms import is_content
from kinmem.rules.same.bearing import Bearing, Sides, bearings, sides
from kinmem.rules.same.lexemes import stem
from kinmem.rules.same.rates import rates
from kinmem.rules.same.statements import NEGATING, Clause, Reading

SHARE = 0.5
"""Of the content words: less in common, and it is another text whose atoms happen to agree."""
TELLING = 2
"""Content words from which a clause is a statement by itself."""


def altered(whole: Reading, parts: Sequence[Reading], given_up: Reading) -> Iterator[str]:
    """Why, in words: a colour, a relative or a `might` that only one side has, buying for selling,
    a statement nobody made, a word in the place of another."""
    yield from _unlike(whole, parts, given_up)
    yield from _turned(whole, parts, given_up)
    yield from _invented(whole, parts)
    yield from _replaced(whole, parts, given_up)


def meaning(clause: Clause) -> Iterable[str]:
    return clause.content


def _unlike(whole: Reading, parts: Sequence[Reading], given_up: Reading) -> Iterator[str]:
    """Words of bearing.py that only one side has, or has of something else."""
    ours, dropped = _borne(whole), _borne(given_up)
    theirs = [one for part in parts for one in _borne(part)]
    exact = [one for part in parts for one in [*bearings(part), *rates(part, exact=True)]]
    kept, known = _by_what([*ours, *dropped]), _by_what(theirs)
    for one in exact:
        if not any(one.goes_with(other) for other in kept.get(one.what, ())):
            yield f'"{one.told}" of the sources is missing, or is said of something else'
    for one in ours:
        if not any(one.goes_with(other) for other in known.get(one.what, ())):
            yield f'"{one.told}" stands in none of the sources, or is said of something else'


def _borne(reading: Reading) -> list[Bearing]:
    return [*bearings(reading), *rates(reading)]


def _by_what(found: Iterable[Bearing]) -> dict[str, list[Bearing]]:
    table: dict[str, list[Bearing]] = {}
    for one in found:
        table.setdefault(one.what, []).append(one)
    return table


def _turned(whole: Reading, parts: Sequence[Reading], given_up: Reading) -> Iterator[str]:
    """Statements that say the opposite: buy for sell, love for hate."""
    ours, theirs = sides(whole), _together(map(sides, parts))
    kept = _together((ours, sides(given_up)))
    for here, there, all_there in ((ours, theirs, theirs), (theirs, ours, kept)):
        for (line, right), contexts in here.items():
            same = all_there.get((line, right), [])
            if (line, not right) in there and any(_apart(one, same) for one in contexts):
                yield "something is turned into its opposite"


def _together(found: Iterable[Sides]) -> Sides:
    table: Sides = {}
    for one in found:
        for side, contexts in one.items():
            table.setdefault(side, []).extend(contexts)
    return table


def _apart(context: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
    """Whether it is said of nothing that the others are said of."""
    return not any(not context or not one or not context.isdisjoint(one) for one in others)


def _invented(whole: Reading, parts: Sequence[Reading]) -> Iterator[str]:
    """Statements of which no source knows much, however well the others are known."""
    known = set().union(*(part.all(meaning) for part in parts))
    for clause in whole.clauses:
        said = clause.content
        if len(said) >= TELLING and len(said & known) < SHARE * len(said):
            yield f'"{" ".join(clause.words)}" stands in none of the sources'


def _replaced(whole: Reading, parts: Sequence[Reading], given_up: Reading) -> Iterator[str]:
    """Words that no source has, between the same two where a source has one that is gone."""
    kept = whole.all(meaning) | given_up.all(meaning)
    known = set().union(*(part.all(meaning) for part in parts))
    gone = {
        beside: word for part in parts for word, beside in _slots(part) if stem(word) not in kept
    }
    for word, beside in _slots(whole):
        if stem(word) not in known and beside in gone:
            yield f'"{word}" stands where the sources have "{gone[beside]}"'


def _slots(reading: Reading) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each content word with its neighbours, "" where the clause begins or ends."""
    for clause in reading.clauses:
        before, behind = ("", *clause.words[:-1]), (*clause.words[1:], "")
        for word, beside in zip(clause.words, zip(before, behind, strict=True), strict=True):
            if any(beside) and is_content(word) and word not in NEGATING:
                yield word, beside
