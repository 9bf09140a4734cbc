"""Words that turn a fact into another one although no number, name or `not` changes.

Colours, relatives, how often, how surely, how much at most: a text that stands for others has
them as they have them (altering.py). What is in none of these tables may be left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kinmem.rules.grammar import PRONOUNS, by_word
from kinmem.rules.grammar import words as grammar_words
from kinmem.rules.same.atoms import is_content
from kinmem.rules.same.lexemes import stem
from kinmem.rules.same.statements import Clause, Reading
from kinmem.rules.vocabulary import ATTRIBUTES, OPPOSITES, PERSONS

STANCES = by_word(
    """
    possible: may might could maybe perhaps possibly probably likely vielleicht wahrscheinlich
    possible: könnte könnten peut pourrait quizás quizá forse potrebbe talvez
    planned: plan plans planned planning intend intends intended intending planen
    considered: consider considers considered considering thinking überlegt überlege
    wished: want wants wanted wish wishes hope hopes hoped hoping möchte wollen wollte hofft hoffe
    wished: veut veux voudrais espère quiere quiero espera espero vuole voglio vorrei spero
    wished: quer quero
    due: must should ought shall muss müssen soll sollte sollten doit devrait debe debería deve
    due: dovrebbe deveria
    coming: will wird sera será sarà
    able: can kann können
    believed: think thinks believe believes guess suppose seems seem apparently allegedly
    believed: supposedly angeblich
    """
)
"""How far what is said is said to be so. German plant means something else in English."""

BOUNDS = by_word(
    """
    over: over above über mindestens
    under: under below unter höchstens
    about: about around roughly approximately nearly almost circa ca etwa ungefähr rund fast environ
    exactly: exactly precisely genau exactement
    """
)
TWO_WORDS = {
    ("more", "than"): "over",
    ("at", "least"): "over",
    ("mehr", "als"): "over",
    ("plus", "de"): "over",
    ("más", "de"): "over",
    ("less", "than"): "under",
    ("fewer", "than"): "under",
    ("at", "most"): "under",
    ("up", "to"): "under",
    ("weniger", "als"): "under",
    ("moins", "de"): "under",
    ("menos", "de"): "under",
}

FREQUENCIES = grammar_words(
    "always often sometimes usually rarely seldom mostly only immer oft manchmal selten meistens",
    "nur toujours souvent parfois rarement seulement siempre nunca sempre spesso",
)
FEELINGS = by_word(
    """
    liking: like likes liked love loves loved adore adores adored enjoy enjoys enjoyed
    disliking: dislike dislikes disliked hate hates hated detest detests detested loathe loathes
    liking: liebt liebe aime adore encanta adora
    disliking: hasst hasse déteste odia detesta odeia
    """
)
"""One may stand for another of its kind, and none may be gone or new."""
ENDINGS = ("er", "es", "en", "em", "e")
"""Of adjectives: rot and roter, noir and noire."""
TURNING = grammar_words("before after avant après antes después prima dopo")
"""Prepositions that are looked up as opposites; with others, phrases differ by habit."""

OTHER_WAYS = (
    ("join", "leave"),
    ("joined", "left"),
    ("give", "get"),
    ("gave", "got"),
    ("gave", "received"),
    ("gekauft", "verkauft"),
    ("geliehen", "verliehen"),
    ("gewonnen", "verloren"),
    ("begonnen", "beendet"),
    ("angenommen", "abgelehnt"),
)
"""Opposites in one happening, which as statements of two days do not exclude each other."""

Side = tuple[int, bool]
Sides = dict[Side, list[frozenset[str]]]


@dataclass(frozen=True, slots=True)
class Bearing:
    """A word, or what it stands for, and the content words it is said with."""

    what: str
    told: str
    """The word itself."""
    near: frozenset[str]
    """In its clause."""
    wide: frozenset[str]
    """In its sentence, of a stance or a feeling: it may hold for several clauses."""

    def goes_with(self, other: "Bearing") -> bool:
        """Whether both are the same, said of something that has a word in common."""
        if self.what != other.what:
            return False
        return not self.near or not other.near or not self.near.isdisjoint(other.wide)


def bearings(reading: Reading) -> list[Bearing]:
    """All of a text, in order."""
    return [
        one
        for sentence in reading.sentences
        for clause in sentence
        for one in _of(clause, frozenset().union(*(clause.content for clause in sentence)))
    ]


def _of(clause: Clause, sentence: frozenset[str]) -> Iterator[Bearing]:
    counted = {amount.number for amount in clause.amounts}
    for at, word in enumerate(clause.words):
        own = {stem(word)}
        if what := STANCES.get(word) or FEELINGS.get(word):
            yield Bearing(what, word, clause.content - own, sentence - own)
        elif what := _kept(word):
            yield Bearing(what, word, clause.content - own, clause.content - own)
        if word in counted and (bound := _bound(clause.words[max(0, at - 2) : at])):
            yield Bearing(f"{bound} {word}", f"{bound} {word}", frozenset(), frozenset())


def _kept(word: str) -> str:
    """The word in one form, if it has to be kept; else nothing."""
    if word in ATTRIBUTES:
        return next(
            (
                bare
                for bare in (word.removesuffix(ending) for ending in ENDINGS)
                if bare != word and ATTRIBUTES.get(bare) == ATTRIBUTES[word]
            ),
            stem(word),
        )
    is_kept = word in FREQUENCIES or word in PERSONS and word not in PRONOUNS
    return stem(word) if is_kept else ""


def _bound(before: Sequence[str]) -> str:
    if not before:
        return ""
    return TWO_WORDS.get((before[0], before[-1])) or BOUNDS.get(before[-1], "")


def sides(reading: Reading) -> Sides:
    """The sides of opposites that a text has, with what else is said in each clause."""
    found: Sides = {}
    for clause in reading.clauses:
        for word in clause.words:
            if is_content(word) or word in TURNING:
                for side in TURNS.get(stem(word), ()):
                    found.setdefault(side, []).append(clause.content - {stem(word)})
    return found


def _by_stem() -> dict[str, frozenset[Side]]:
    table: dict[str, frozenset[Side]] = {}
    for word, found in OPPOSITES.items():
        table[stem(word)] = table.get(stem(word), frozenset()) | found
    for line, pair in enumerate(OTHER_WAYS, start=1):
        for right, word in enumerate(pair):
            side = (-line, bool(right))
            table[stem(word)] = table.get(stem(word), frozenset()) | {side}
    return table


TURNS = _by_stem()
