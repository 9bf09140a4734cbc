"""Who does what to whom, and what happens where: names in their places beside a verb.

`Ana pays Tom` has the words of `Tom pays Ana`. Only what changes places with something else is
found so; a text may say in another order what its sources say (proof.py).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinmem.rules.grammar import PLACES, by_word, words
from kinmem.rules.same.atoms import is_content
from kinmem.rules.same.lexemes import stem
from kinmem.rules.same.statements import Clause, Reading, bare
from kinmem.rules.vocabulary import NEGATORS, PERSONS

SAME_PERSON = by_word(
    """
    i: i me ich mich mir je moi yo io eu
    he: he him er ihn ihm il lui él
    she: she ella elle lei ela
    we: we us wir uns nous nosotros noi nós
    they: they them ils elles ellos loro eles
    """
)
WITH = words("with mit avec con com and beside near by von par por da")
"""Behind these a name stands on the same side, or the sentence is a passive."""
MUTUAL = words("meet met met marr marri married meets dat dating know knows knew heiratet trifft")
"""Stems of what two do to each other."""
REACH = 8
"""Words between two names."""


class Role(NamedTuple):
    """One name before a verb and one behind it."""

    first: str
    owner: bool
    """Whether it is only whose: Ana's brother."""
    verb: str
    place: str
    second: str


class Slot(NamedTuple):
    """The word and the preposition before a name."""

    word: str
    place: str


def exchanged(whole: Reading, parts: Sequence[Reading]) -> Iterator[str]:
    """Names of the merged text that have changed places, in words."""
    known = {role for part in parts for role in _roles(part)}
    for role in _roles(whole):
        if role not in known and (role._replace(first=role.second, second=role.first) in known):
            yield f"{role.first} and {role.second} have changed places"
    slots = {pair for part in parts for pair in _slots(part)}
    filled = {slot for slot, _ in slots}
    placed = {name for _, name in slots}
    for slot, name in _slots(whole):
        if (slot, name) not in slots and slot in filled and name in placed:
            yield f'"{slot.word} {slot.place} {name}" stands in none of the sources'


def _roles(reading: Reading) -> Iterator[Role]:
    for clause in reading.clauses:
        people = [at for at, word in enumerate(clause.words) if _is_somebody(word, clause)]
        for order, at in enumerate(people):
            if at and clause.words[at - 1] in PLACES:
                continue
            for other in people[order + 1 :]:
                if other - at <= REACH:
                    yield from _between(clause, at, other)


def _between(clause: Clause, at: int, other: int) -> Iterator[Role]:
    place = clause.words[other - 1] if clause.words[other - 1] in PLACES else ""
    if place in WITH:
        return
    first, second = clause.words[at], clause.words[other]
    for word in clause.words[at + 1 : other]:
        verb = stem(word)
        is_verb = is_content(word) and word not in NEGATORS and not _is_somebody(word, clause)
        if is_verb and verb not in MUTUAL:
            owner = first.endswith("'s")
            yield Role(_person(first), owner, verb, place, _person(second))


def _is_somebody(word: str, clause: Clause) -> bool:
    return word in SAME_PERSON or word in PERSONS and is_content(word) or bare(word) in clause.names


def _person(word: str) -> str:
    return SAME_PERSON.get(word) or bare(word)


def _slots(reading: Reading) -> Iterator[tuple[Slot, str]]:
    """Each name behind a preposition, with the content word that leads to it."""
    for clause in reading.clauses:
        exact = clause.atoms
        lead = ""
        for before, word in zip(("", *clause.words), clause.words, strict=False):
            if bare(word) in clause.names:
                if lead and before in PLACES:
                    yield Slot(lead, before), bare(word)
            elif is_content(word) and word not in exact:
                lead = stem(word)
