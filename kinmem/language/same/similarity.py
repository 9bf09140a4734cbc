"""How two texts relate: one ladder for memorizing, learning, sleep and review; and the atoms that
must not differ between two texts that are called the same.

A vector hardly moves when a number, a name or a `not` changes, so the ladder asks for these before
it believes a cosine. Words and tables: no parser, no model.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import chain, groupby, pairwise, product
from os.path import commonprefix

from kinmem.language import lexicon
from kinmem.language.same.lexemes import (
    Kind,
    Lexeme,
    bare,
    lexemes,
    normalised,
)
from kinmem.text import UNSPACED, late

Words = tuple[str, ...]
SHORT = 4
"""In a text of so few content words each decides what is said."""
CACHED = 4000
"""Characters; a longer text is compared as a whole but seldom, and its atoms are large."""
CIRCUMSTANCES = lexicon.PLACES - lexicon.CLAUSAL
BEGINS_PHRASE = lexicon.PLACES | lexicon.PRONOUNS | lexicon.LINKS


@dataclass(frozen=True, slots=True)
class Atoms:
    """The parts of a text that decide what it says, each in one spelling."""

    numbers: frozenset[str]
    """1,000 is 1000, two is 2, 2:30 pm is 14:30, third is 3rd; a percentage keeps its sign: 5%."""
    dates: frozenset[str]
    """ISO 8601 as far as known: 2023-05-08, --05-08, 2023, -W-1 (a Monday); yesterday."""
    names: frozenset[str]
    units: frozenset[str]
    """km, kg, %, €, h: only those beside a number."""
    negations: int
    """How many."""
    question: bool
    clauses: tuple[Words, ...]
    """All words in order, cut at marks and at `and`; articles and fillers are left out."""
    words: Words
    """The clauses end to end."""


def atoms(text: str) -> Atoms:
    """The text's atoms; an empty text has none. Never raises."""
    return _atoms(text) if len(text) <= CACHED else _atoms.__wrapped__(text)


@lru_cache(maxsize=1024)
def _atoms(text: str) -> Atoms:
    found = lexemes(text)
    clauses = _clauses(found)
    return Atoms(
        numbers=_numbers(found),
        dates=_of(found, "date"),
        names=_of(found, "name"),
        units=_of(found, "unit"),
        negations=negations([lexeme.form for lexeme in found]),
        question=any(lexeme.kind == "question" for lexeme in found),
        clauses=clauses,
        words=tuple(chain.from_iterable(clauses)),
    )


def _of(found: list[Lexeme], kind: Kind) -> frozenset[str]:
    return frozenset(lexeme.form for lexeme in found if lexeme.kind == kind)


def _numbers(found: list[Lexeme]) -> frozenset[str]:
    return frozenset(
        lexeme.form + ("%" if follower.form == "%" else "")
        for lexeme, follower in pairwise([*found, Lexeme("", "break")])
        if lexeme.kind == "number"
    )


def negations(words: Collection[str]) -> int:
    """How often they deny: ne pas and non mai are one."""
    plain = sum(word in lexicon.NEGATORS for word in words)
    concord = sum(word in lexicon.CONCORD for word in words)
    return plain if {"no", "non", "não"} & set(words) else plain + concord


def _clauses(found: list[Lexeme]) -> tuple[Words, ...]:
    runs = groupby(found, key=lambda lexeme: lexeme.kind in ("break", "question"))
    return tuple(tuple(lexeme.form for lexeme in run) for is_end, run in runs if not is_end)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two texts laid side by side."""

    left: Atoms
    right: Atoms
    lost: Counter[str]
    """Words that only the left one has."""
    gained: Counter[str]
    """Words that only the right one has."""

    def either_has(self, words: frozenset[str]) -> bool:
        """Whether one text has a word of these that the other has not."""
        return not (words.isdisjoint(self.lost) and words.isdisjoint(self.gained))

    def both_have(self, words: frozenset[str]) -> bool:
        """Whether each text has a word of these that the other has not."""
        return not (words.isdisjoint(self.lost) or words.isdisjoint(self.gained))

    def differs(self, kinds: Iterable[str] | None = None) -> bool:
        """Whether they differ in any of these ways (keys of DIFFERS), or in any at all.

        If in none they need not say the same: one may say more than the other, and in texts of more
        than SHORT content words one word of no special kind may stand in place of another.
        """
        if self.left.words == self.right.words and self.left.question == self.right.question:
            return False
        return any(DIFFERS[kind](self) for kind in (DIFFERS if kinds is None else kinds))


@lru_cache(maxsize=16)  # one question after the other is asked about a pair
def contrast(a: str, b: str) -> Contrast:
    """The atoms of two texts, and the words that only one of them has."""
    left, right = atoms(a), atoms(b)
    ours, theirs = Counter(left.words), Counter(right.words)
    return Contrast(left, right, ours - theirs, theirs - ours)


def is_content(word: str) -> bool:
    """Whether the word says something by itself."""
    return word not in lexicon.FUNCTION_WORDS


def opposed(lost: Collection[str], gained: Collection[str]) -> bool:
    """Whether a word of the one turns round a word of the other: open, closed; legal, illegal."""
    theirs = _antonyms(gained)
    return any((line, not right) in theirs for line, right in _antonyms(lost)) or any(
        beginning + word in there
        for here, there in ((lost, gained), (gained, lost))
        for word in here
        for beginning in lexicon.REVERSING
    )


def _antonyms(words: Iterable[str]) -> set[tuple[int, bool]]:
    table = lexicon.OPPOSITES
    return {
        side for word in words for stem in forms(word, "ed", "d") for side in table.get(stem, ())
    }


def forms(word: str, *more: str) -> set[str]:
    """The word and what it may be a plural, a third person or a progressive of; `more` endings."""
    stems = {word}
    for ending in ("s", "es", "ing", *more):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word.removesuffix(ending)
            stems |= {stem, stem + "e"} | ({stem[:-1]} if stem[-1] == stem[-2] else set())
    return stems


def _name(pair: Contrast) -> bool:
    left, right = ({*map(bare, side.names)} for side in (pair.left, pair.right))
    return not (left <= {*map(bare, pair.right.words)} and right <= {*map(bare, pair.left.words)})


def _person(pair: Contrast) -> bool:
    """Somebody else: my sister, my brother; I, Anna."""
    persons = lexicon.PERSONS
    lost, gained = persons & pair.lost.keys(), persons & pair.gained.keys()
    names = pair.left.names & pair.lost.keys(), pair.right.names & pair.gained.keys()
    return bool(lost and gained or lost and names[1] or gained and names[0])


def _attribute(pair: Contrast) -> bool:
    classes = lexicon.ATTRIBUTES
    ours, theirs = (
        {classes[word] for word in words if word in classes} for words in (pair.lost, pair.gained)
    )
    return not ours.isdisjoint(theirs)


def _form(pair: Contrast) -> bool:
    """The same word in another form: lives and lived, vive and vivía, Freund and Freundin."""
    lost, gained = _by_start(pair.lost), _by_start(pair.gained)
    return any(
        _is_form(word, other)
        for start in lost.keys() & gained.keys()
        for word, other in product(lost[start][:8], gained[start][:8])  # so that time stays linear
    )


def _by_start(words: Iterable[str]) -> dict[str, list[str]]:
    return {
        start: list(group) for start, group in groupby(sorted(words), key=lambda word: word[:3])
    }


def _is_form(word: str, other: str) -> bool:
    alike = 5 * len(commonprefix((word, other))) >= 3 * max(len(word), len(other))
    return alike and forms(word).isdisjoint(forms(other))


def _order(pair: Contrast) -> bool:
    """Nearly the same words, but not who does what to whom: Anna manages Bob, Bob manages Anna."""
    ours, theirs = Counter(pair.left.words), Counter(pair.right.words)
    kept = {word for word, count in ours.items() if theirs[word] == count}
    if "there" in pair.lost or "there" in pair.gained:
        kept.discard("be")  # there is a man singing: a man is singing
    left, right = (_phrases(side, kept) for side in (pair.left, pair.right))
    in_line = list(chain.from_iterable(left)) == list(chain.from_iterable(right))
    alike = 4 * sum(map(len, left)) >= 3 * min(ours.total(), theirs.total())
    return alike and not in_line and not _rearranged(left, right)


def _rearranged(left: list[Words], right: list[Words]) -> bool:
    """Whether whole phrases have changed places and could not mean another: on Mondays I swim.

    Two statements with a circumstance each could have exchanged them: in Rome he cooks, in Paris
    he sings. So all but one must be circumstances, or there are only two phrases.
    """
    statements = [phrase for phrase in left if phrase[0] not in CIRCUMSTANCES]
    return Counter(left) == Counter(right) and (len(statements) <= 1 or len(left) == 2)


def _phrases(side: Atoms, kept: set[str]) -> list[Words]:
    """The kept words, cut where a preposition, a conjunction or a pronoun begins a phrase."""
    cut: list[list[str]] = []
    for clause in side.clauses:
        cut.append([])
        for word in clause:
            if word in BEGINS_PHRASE and cut[-1] and cut[-1][-1] not in BEGINS_PHRASE:
                cut.append([])
            cut[-1].append(word)
    shorter = (tuple(word for word in phrase if word in kept) for phrase in cut)
    return [phrase for phrase in shorter if phrase]


def _word(pair: Contrast) -> bool:
    """A word in place of another in a short text; any symbol; any sign written without spaces."""
    if any(UNSPACED.match(word) or not word[0].isalnum() for word in chain(pair.lost, pair.gained)):
        return True
    length = min(sum(map(is_content, side.words)) for side in (pair.left, pair.right))
    return length <= SHORT and bool(pair.lost) and bool(pair.gained)


DIFFERS: dict[str, Callable[[Contrast], bool]] = {
    "number": lambda pair: pair.left.numbers != pair.right.numbers,
    "date": lambda pair: pair.left.dates != pair.right.dates,
    "name": _name,
    "unit": lambda pair: pair.left.units != pair.right.units,
    "negation": lambda pair: pair.left.negations != pair.right.negations,
    "opposite": lambda pair: opposed(pair.lost, pair.gained),
    "question": lambda pair: pair.left.question != pair.right.question,
    "person": _person,
    "modality": lambda pair: pair.either_has(lexicon.MODALS),
    "tense": lambda pair: pair.either_has(lexicon.TENSES),
    "quantity": lambda pair: pair.either_has(lexicon.QUANTITIES),
    "place": lambda pair: pair.both_have(lexicon.PLACES),
    "attribute": _attribute,
    "form": _form,
    "order": _order,
    "word": _word,
}
"""Each kind of difference with its test; every test is symmetric."""


class Kinship(Enum):
    """From the same text to nothing in common."""

    SAME_TEXT = "same text"
    DUPLICATE = "duplicate"
    """The same statement: one of them is enough."""
    CONTAINED = "contained"
    """One says all that the other says, clause by clause; `contains` tells which."""
    NEAR = "near"
    """No atom differs, but each may say what the other does not: to be merged, never dropped."""
    CONTRADICTS = "contradicts"
    """About the same thing, and not both are so now."""
    DIFFERENT = "different"


ABOVE_NOISE = 0.2


@dataclass(frozen=True, slots=True)
class Ladder:
    """Cosines from which two texts are so close; they belong to an embedder."""

    duplicate: float = 0.95
    near: float = 0.85
    related: float = 0.60

    @classmethod
    def calibrated(
        cls, noise: float, near: float, duplicate: float, chosen: float | None = None
    ) -> "Ladder":
        """Of an embedder for which unrelated texts stay below `noise`; `chosen`: the user's own
        cosine of duplicates, below which none is found.

        A contradiction may be close to noise: I live in Lyon, I live in Rome have 0.52.
        """
        duplicate = chosen or duplicate
        near = min(near, duplicate)
        related = min(noise + ABOVE_NOISE, near)
        return cls(duplicate, near, related)

    @property
    def alike(self) -> float:
        """Half way from what is worth comparing to what is near."""
        return (self.related + self.near) / 2


SEPARATING = ("question", "modality", "tense", "quantity", "person", "order")
"""Differences with which two texts speak of different things, or do not both say that it is so; the
quickest to find first."""


def compare(a: str, b: str, cosine: float, ladder: Ladder) -> Kinship:
    """How two texts relate. Symmetric; never raises, and no cosine outweighs a differing atom.

    The same text but for case, white space and marks is SAME_TEXT. If atoms differ, CONTRADICTS
    from `related` on where not both can be so, else DIFFERENT. DUPLICATE from `duplicate` on, if no
    word but articles and fillers is left over; from `near` on, CONTAINED if every clause of the one
    stands in the other, else NEAR; else DIFFERENT.
    """
    ours, theirs = normalised(a), normalised(b)
    if ours == theirs:
        return Kinship.SAME_TEXT
    if _marks(a) != _marks(b) or ours.casefold() == theirs.casefold():
        return Kinship.DIFFERENT  # a sign differs, or case where it counts
    pair = contrast(a, b)
    if pair.differs():
        excluded = cosine >= ladder.related and _excluded(pair)
        return Kinship.CONTRADICTS if excluded else Kinship.DIFFERENT
    if cosine >= ladder.duplicate and not pair.lost and not pair.gained:
        return Kinship.DUPLICATE
    if cosine >= ladder.near:
        stands_in = _stands_in(pair.left, pair.right) or _stands_in(pair.right, pair.left)
        return Kinship.CONTAINED if stands_in else Kinship.NEAR
    return Kinship.DIFFERENT


def contains(whole: str, part: str) -> bool:
    """Whether `whole` says all that `part` says, clause by clause, and differs from it in no atom.

    A tea drinker's green tea does not contain tea: `I like tea` says more.
    """
    pair = contrast(whole, part)
    return not pair.differs() and _stands_in(pair.right, pair.left)


def _stands_in(part: Atoms, whole: Atoms) -> bool:
    """Whether each clause of the part is one of the whole's, and none besides restricts them."""
    ours, theirs = Counter(part.clauses), Counter(whole.clauses)
    restricting = lexicon.PLACES | lexicon.LINKS
    return (
        bool(part.clauses)
        and ours <= theirs
        and not any(clause[0] in restricting for clause in theirs - ours)
    )


def _excluded(pair: Contrast) -> bool:
    """Whether not both can be so: the same thing is denied, turned round or given another value."""
    ours, theirs = (set(filter(is_content, side.words)) for side in (pair.left, pair.right))
    about_the_same = 10 * len(ours & theirs) >= 3 * min(len(ours), len(theirs))
    if not about_the_same or pair.either_has(lexicon.SUBJECTS) or pair.differs(SEPARATING):
        return False
    denied = pair.differs(["negation"])
    lost = _rest(pair.left, pair.lost, pair.gained)
    gained = _rest(pair.right, pair.gained, pair.lost)
    if lost and gained:
        values = ((pair.left, lost), (pair.right, gained))
        return not denied and all(_has_another_value(side, words) for side, words in values)
    amount = _has_another_amount(pair) and _keeps_one_amount(pair)
    return [denied, _turned_round(pair), amount].count(True) == 1  # `not open` is `closed`


def _rest(side: Atoms, words: Iterable[str], others: Collection[str]) -> set[str]:
    """The content words that are neither amounts nor negations nor opposites of the others."""
    known = side.numbers | side.dates | side.units | lexicon.NEGATORS | lexicon.CONCORD
    return {
        word
        for word in words
        if is_content(word) and word not in known and not opposed((word,), others)
    }


def _turned_round(pair: Contrast) -> bool:
    """Whether a word stands against its opposite. Sizes and places may be of two things."""
    free = lexicon.PLACES | lexicon.ATTRIBUTES.keys()
    return opposed(pair.lost.keys() - free, pair.gained.keys() - free)


def _has_another_amount(pair: Contrast) -> bool:
    """Whether a number stands in place of a number, a date of a date or a unit of a unit."""
    left, right = pair.left, pair.right
    return any(
        ours & pair.lost.keys() and theirs & pair.gained.keys()
        for ours, theirs in (
            (left.numbers, right.numbers),
            (left.dates, right.dates),
            (left.units, right.units),
        )
    )


def _keeps_one_amount(pair: Contrast) -> bool:
    """Whether it is a state or a single value; events of other days or numbers do not exclude."""
    if _cues(pair.left) & _cues(pair.right):
        return True
    words = {*pair.left.words, *pair.right.words}
    return not any(word in lexicon.PAST or word.endswith("ed") for word in words)


def _cues(side: Atoms) -> frozenset[str]:
    return lexicon.SINGLE_VALUED.intersection(side.words)


def _has_another_value(side: Atoms, values: set[str]) -> bool:
    """Whether the words are what the side says of something that has one value: lives in Lyon."""
    cues = _cues(side)
    before = {word: place for place, word in enumerate(side.words) if word in cues or word == "be"}
    return bool(cues) and min(map(side.words.index, values)) > max(before.values())


# Signs that turn a statement round, or a number into another: >= and <=, 5' and 5", 10² and 10.
_MARKS = late(r"[<>=≤≥≠±~^¹²³⁰⁴-⁹¼½¾⅓⅔]|(?<=\d)['\"′″](?!\d)|\?\s*$|\ba (?:few|little)\b", re.I)


def _marks(text: str) -> list[str]:
    return [mark.group().strip() for mark in _MARKS.finditer(text)]
