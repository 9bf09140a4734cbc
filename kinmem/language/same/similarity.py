"""How two texts relate: one ladder for memorizing, learning, sleep and review."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Set
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b

from kinmem.language import grammar, vocabulary
from kinmem.language.same.amounts import DAY_NAMES
from kinmem.language.same.atoms import DIFFERS, Atoms, Contrast, contrast, is_content, opposed
from kinmem.language.same.lexemes import case_counts, stem


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


REWORDED = 0.3
"""Share of the shorter text's words: where more are other words, it is reworded; where fewer are,
one word in place of another is what the two texts are about."""
SHORTEST_NAME = 3
"""Letters; shorter ones are mostly abbreviations: UK, Fr, St."""
FIRST_PERSON = grammar.words("i me ich mich mir je moi yo io eu")
AGENT = grammar.words("by von durch par por da")
"""What names in a passive who does it."""
BINDING = (
    vocabulary.QUANTITIES
    | (grammar.LINKS - {"who", "which", "that"})
    | grammar.words("before after vor nach avant après antes después prima dopo depois")
) - grammar.words("every each once twice jede jeder jedes jeden chaque cada ogni")
"""Words of which it matters what they stand with: only, before, because."""


def are_apart(a: str, b: str) -> bool:
    """Whether what can be told exactly keeps two texts from being one statement.

    They may not each have a number, a day or a name that the other has not. Texts in nearly the
    same words must agree in every atom, and texts in just the same words in who does it to whom.
    """
    pair = contrast(a, b)
    left, right = pair.left, pair.right
    if (
        _each_has_more(_values(left), _values(right))
        or _each_has_more(_days(left), _days(right))
        or _names_another(a, right)
        and _names_another(b, left)
    ):
        return True
    shorter = min(len(left.words), len(right.words))
    is_close = max(pair.lost.total(), pair.gained.total()) <= max(1, REWORDED * shorter)
    if is_close and (_marks(a) != _marks(b) or pair.differs(DIFFERS.keys() - {"order"})):
        return True
    if _matter(left) == _matter(right) and _is_exchanged(pair):
        return True
    return _timeless(left) == _timeless(right) and pair.differs({"tense", "modality"})


def covers(whole: str, part: str) -> bool:
    """Whether one of two texts that are taken for the same can stand for the other: it has every
    number, day, unit and name of it, and not noticeably fewer words that say something."""
    pair = contrast(whole, part)
    left, right = pair.left, pair.right
    kept, given_up = (_matter(side).total() for side in (left, right))
    return (
        _values(right) <= _values(left)
        and _days(right) <= _days(left)
        and right.units <= left.units
        and not _names_another(part, left)
        and given_up <= kept + max(1, kept // 3)
    )


def says_more(a: str, b: str) -> bool:
    """Whether one of the texts has all words of the other in their order, and says more besides."""
    pair = contrast(a, b)
    part, whole = sorted((pair.left.words, pair.right.words), key=len)
    rest = iter(whole)
    added = Counter(whole) - Counter(part)
    return all(word in rest for word in part) and any(map(is_content, added))


def _each_has_more(ours: Set[str], theirs: Set[str]) -> bool:
    return bool(ours - theirs) and bool(theirs - ours)


_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_CLOCK = re.compile(r"(\d\d):\d\d")


def _values(side: Atoms) -> set[str]:
    """Its numbers; the 12th is 12, six in the evening is 6, and one is no number."""
    values = set()
    for number in side.numbers:
        if ordinal := _ORDINAL.fullmatch(number):
            number = ordinal[1]
        elif clock := _CLOCK.fullmatch(number):
            number = str(int(clock[1]) % 12)
        values.add(number.rstrip("%"))
    return values - {"0", "1"}


def _days(side: Atoms) -> set[str]:
    """On Monday, on Mondays."""
    return {date.removesuffix("s") for date in side.dates}


_CAPITAL = re.compile(r"(?<=[\w,;:'’)] )[\"'“(]?([A-ZÀ-ÞА-Я][\w-]+)")


def _names_another(text: str, other: Atoms) -> bool:
    """Whether it has a name, within a sentence, that is no word of the other.

    In the same letters but for the genitive's: Anna is not Anne, and Jan not Jana. It keeps two
    wordings apart where a noun of a language that gives nouns a capital stands in another case.
    """
    words = {word.removesuffix("'s") for word in other.words}
    return any(
        len(name) >= SHORTEST_NAME
        and not any(day.startswith(name) for day in DAY_NAMES)
        and name not in words
        for name in map(str.casefold, _CAPITAL.findall(text))
    )


def _matter(side: Atoms) -> Counter[str]:
    return Counter(stem(word) for word in side.words if is_content(word))


def _timeless(side: Atoms) -> set[str]:
    """What matters besides whether it is so, was so, or is wished."""
    return _matter(side).keys() - _IN_TIME


_IN_TIME = {stem(word) for word in vocabulary.TENSES | vocabulary.MODALS}


def _is_exchanged(pair: Contrast) -> bool:
    """Whether, of texts in the same words, two have changed places, or what a word binds."""
    if not pair.differs(("order", "form")):
        return False
    if BINDING & {*pair.left.words, *pair.right.words}:
        return True
    ours, theirs = _parties(pair.left), _parties(pair.right)
    is_passive = AGENT.isdisjoint(pair.left.words) != AGENT.isdisjoint(pair.right.words)
    return len(ours) > 1 and (ours == theirs) is is_passive


def _parties(side: Atoms) -> list[str]:
    return [
        "i" if word in FIRST_PERSON else word.removesuffix("'s")
        for word in side.words
        if word in FIRST_PERSON or word in side.names
    ]


def contains(whole: str, part: str) -> bool:
    """Whether `whole` says all that `part` says, clause by clause, and differs from it in no atom.

    A tea drinker's green tea does not contain tea: `I like tea` says more.
    """
    pair = contrast(whole, part)
    return not pair.differs() and _stands_in(pair.right, pair.left)


def _stands_in(part: Atoms, whole: Atoms) -> bool:
    """Whether each clause of the part is one of the whole's, and none besides restricts them."""
    ours, theirs = Counter(part.clauses), Counter(whole.clauses)
    restricting = grammar.PLACES | grammar.LINKS
    return (
        bool(part.clauses)
        and ours <= theirs
        and not any(clause[0] in restricting for clause in theirs - ours)
    )


_BULLET = re.compile(r"^[-*•·]\s+")
_STOPS = re.compile(r"(?<=[^\s.!…,;:])[.!…,;:]+$")
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


_RAISED = re.compile("[¹²³⁰⁴-⁹¼½¾⅓⅔]")
_SECRETS = {"password", "passphrase", "passwort", "token", "key", "code", "pin", "secret"}


def content_hash(text: str) -> str:
    """128 bits of BLAKE2b over the normalised text, in hexadecimal."""
    return blake2b(normalised(text).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _excluded(pair: Contrast) -> bool:
    """Whether not both can be so: the same thing is denied, turned round or given another value."""
    ours, theirs = (set(filter(is_content, side.words)) for side in (pair.left, pair.right))
    about_the_same = 10 * len(ours & theirs) >= 3 * min(len(ours), len(theirs))
    if not about_the_same or pair.either_has(grammar.SUBJECTS) or pair.differs(SEPARATING):
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
    known = side.numbers | side.dates | side.units | vocabulary.NEGATORS | vocabulary.CONCORD
    return {
        word
        for word in words
        if is_content(word) and word not in known and not opposed((word,), others)
    }


def _turned_round(pair: Contrast) -> bool:
    """Whether a word stands against its opposite. Sizes and places may be of two things."""
    free = grammar.PLACES | vocabulary.ATTRIBUTES.keys()
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
    return not any(word in vocabulary.PAST or word.endswith("ed") for word in words)


def _cues(side: Atoms) -> frozenset[str]:
    return vocabulary.SINGLE_VALUED.intersection(side.words)


def _has_another_value(side: Atoms, values: set[str]) -> bool:
    """Whether the words are what the side says of something that has one value: lives in Lyon."""
    cues = _cues(side)
    before = {word: place for place, word in enumerate(side.words) if word in cues or word == "be"}
    return bool(cues) and min(map(side.words.index, values)) > max(before.values())


# Signs that turn a statement round, or a number into another: >= and <=, 5' and 5", 10² and 10.
_MARKS = re.compile(
    r"[<>=≤≥≠±~^¹²³⁰⁴-⁹¼½¾⅓⅔]|(?<=\d)['\"′″](?!\d)|\?\s*$|\ba (?:few|little)\b", re.I
)


def _marks(text: str) -> list[str]:
    return [mark.group().strip() for mark in _MARKS.finditer(text)]
