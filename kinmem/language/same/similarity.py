"""How two texts relate: one ladder for memorizing, learning, sleep and review."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b

from kinmem.language import lexicon
from kinmem.language.same.atoms import Atoms, Contrast, contrast, is_content, opposed
from kinmem.language.same.lexemes import case_counts
from kinmem.text import late


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


_BULLET = late(r"^[-*•·]\s+")
_STOPS = late(r"(?<=[^\s.!…,;:])[.!…,;:]+$")
_QUOTES = "\"'“”„«»‘’`"


def normalised(text: str) -> str:
    """NFKC, lower case, single spaces; without a bullet before, quotes round or a stop behind it.

    A question mark stays, and the case where it counts: in code and passwords, in units (5 mW is
    not 5 MW). 10² stays apart from 102.
    """
    kept = " ".join(_cased(_composed(text).split()))
    bare = _STOPS.sub("", _BULLET.sub("", _composed(kept)))
    quoted = len(bare) > 1 and bare[0] in _QUOTES and bare[-1] in _QUOTES
    return _STOPS.sub("", bare.strip(_QUOTES)) if quoted else bare


def _composed(text: str) -> str:
    if text.isascii():
        return text
    raised = _RAISED.sub(lambda sign: "^" + sign.group(), text)
    return unicodedata.normalize("NFKC", raised)


def _cased(words: list[str]) -> Iterator[str]:
    """The words in lower case, but for those whose case may mean something."""
    before, secret = "", False
    for word in words:
        small = word.casefold()
        counts = small != word and (secret or before[-1:].isdigit() or case_counts(word))
        yield word if counts else small
        secret = secret or small.strip(":;,.") in _SECRETS
        before = word


_RAISED = late("[¹²³⁰⁴-⁹¼½¾⅓⅔]")
_SECRETS = {"password", "passphrase", "passwort", "token", "key", "code", "pin", "secret"}


def content_hash(text: str) -> str:
    """128 bits of BLAKE2b over the normalised text, in hexadecimal."""
    return blake2b(normalised(text).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


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
