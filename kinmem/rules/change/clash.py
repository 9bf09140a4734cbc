"""Whether two statements cannot both be so, and whether that is clear enough to act on it.

similarity.compare finds what excludes itself; here the cues by which people tell a change are read
as well, and doubt is kept apart: a statement may only give way where one thing differs, behind the
verb, and where nothing else that it says would go with it.

Measured without a model, built-in embedder, halves by hash, the second held back (make bench):
of 141 updates of our own 128 are clear and 7 doubtful; of 224 look-alikes two are clear and 16 are
doubtful. SICK's contradictions: clear ones precision 1 and .96, recall .08 (its sentences are about
`a man`, who may be another); with the doubtful ones .92 and .90, recall .58 and .61. The cosine
hardly tells: from .6 to .9 an earlier version stayed above .95, so it only has to be above noise
(near.py). A change told in other words altogether is found by changes.py, whatever the cosine.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise, product, takewhile
from os.path import commonprefix
from typing import Literal

from kinmem.rules import grammar, vocabulary
from kinmem.rules.change.certainty import doubt, likely
from kinmem.rules.change.changes import changed
from kinmem.rules.change.exchanged import beside
from kinmem.rules.change.restating import Restated, restated
from kinmem.rules.change.vetoes import HEARSAY, veto
from kinmem.rules.same.atoms import Contrast, Words, contrast, forms, is_content, opposed
from kinmem.rules.same.similarity import SEPARATING, Kinship, Ladder, compare
from kinmem.text import words

ClashKind = Literal["contradiction", "update", "partial"]

Gap = tuple[int, Words, Words]
_DENYING = vocabulary.NEGATORS | vocabulary.CONCORD
_PLAIN = vocabulary.PLAIN_VERBS
_VERBS = _PLAIN | vocabulary.STATE_VERBS
_ADDING = vocabulary.ADDING_VERBS
_ALSO = vocabulary.ALSO
_RELATIVES = vocabulary.PERSONS - grammar.PRONOUNS
"""One may have two of them: my sister is Ana, my sister is Eva."""
_OF_MANY = _RELATIVES - vocabulary.ONLY_ONES


@dataclass(frozen=True, slots=True)
class Clash:
    """Two statements that cannot both be so now."""

    clear: bool
    """Whether the earlier may give way unasked."""
    kind: ClashKind
    """update: the new one says that it was otherwise; partial: the known one says more besides."""
    reason: str


def clash(known: str, new: str, cosine: float, ladder: Ladder) -> Clash | None:
    """How what is said now excludes what is known; None: both may be so. Never raises.

    `cosine` is that of the texts, or of the known one and what the new one is restated as. What
    vetoes.py forbids is no clash; what is told in a long text, or ends what was done, is unclear.
    """
    found = excluding(known, new, cosine, ladder)
    if found is None:
        is_likely = likely(known, new, cosine) and veto(known, new) is None
        return Clash(False, "update", "may have changed since") if is_likely else None
    forbidden = veto(known, new)
    if forbidden is not None:
        return Clash(False, found.kind, forbidden) if forbidden == HEARSAY else None
    if found.clear and (unclear := doubt(known, new)) is not None:
        return Clash(False, found.kind, unclear)
    return found


def excluding(known: str, new: str, cosine: float, ladder: Ladder) -> Clash | None:
    """The same before any veto, and only what the wording tells: for what must not be merged."""
    before, now = restated(known), restated(new)
    found = None
    if cosine >= ladder.related and not (before.ends and now.ends):
        found = _between(before, now, cosine, ladder) or _of_parts(before, now, cosine, ladder)
    if (found is None or not found.clear) and (reason := changed(known, new)) is not None:
        return Clash(True, "update", reason)
    return found


def _between(before: Restated, now: Restated, cosine: float, ladder: Ladder) -> Clash | None:
    if not _may_be_of_one(before, now):
        return None
    pair = contrast(before.text, now.text)
    whole = len(pair.left.clauses) == 1
    if now.ends or before.ends:
        return _ended(pair, now, whole)
    if now.instead_of and _is_instead(pair, now.instead_of):
        return Clash(whole, "update" if whole else "partial", f"instead of {now.instead_of}")
    if _is_never(pair):
        return Clash(False, "contradiction", "it is said never to be so")
    if pair.differs(SEPARATING) or now.corrects and beside(before.text, now.text):
        return None
    gaps = _gaps(pair.left.words, pair.right.words)
    single = len(gaps) == 1
    if not now.corrects and (len(gaps) > MOST_GAPS or not _is_told(pair, gaps)):
        return None
    if gaps and _adds_up(pair, gaps[0], begins_with_thing=bool(_DEFINITE.match(before.text))):
        return None
    if compare(before.text, now.text, cosine, ladder) is Kinship.CONTRADICTS:
        if not single:
            return Clash(False, "contradiction", "differ in more than one thing")
        if _says_more(*gaps[0][1:]) or len(pair.left.clauses) > len(pair.right.clauses):
            return Clash(False, "partial", "the earlier says more besides")
        kind: ClashKind = "update" if now.corrects else "contradiction"
        clear = now.corrects or not (
            _may_be_another(before.text, pair.left.words[: gaps[0][0]])
            or _in_other_circumstances(before.text, now.text, gaps[0])
        )
        return Clash(clear, kind, "cannot both be so" + ("" if clear else " of the same one"))
    if single:
        named = _DEFINITE.match(before.text) and _DEFINITE.match(now.text)
        return _one_value(pair, gaps[0], now.corrects, bool(named))
    return None


def _may_be_of_one(before: Restated, now: Restated) -> bool:
    """Whether they share enough words to be laid side by side, which takes 100 times as long."""
    ours, theirs = _beginnings(before.text), _beginnings(now.text)
    shared, shorter = len(ours & theirs), min(len(ours), len(theirs))
    return 2 * shared >= shorter or now.corrects and (shared > 0 or shorter <= 2)


@lru_cache(maxsize=4096)
def _beginnings(text: str) -> frozenset[str]:
    return frozenset(word[:4] for word in words(text) if is_content(word))


def _ended(pair: Contrast, now: Restated, whole: bool) -> Clash | None:
    """Whether what has ended is what is known: each word of it, of nobody else."""
    ours, theirs = (pair.left, pair.right) if now.ends else (pair.right, pair.left)
    lost, gained = (pair.lost, pair.gained) if now.ends else (pair.gained, pair.lost)
    strange = [word for word in gained if is_content(word) and not _among(word, lost)]
    persons = vocabulary.PERSONS
    if strange or not any(map(is_content, theirs.words)):
        return None
    if persons & gained.keys() or persons & lost.keys() & set(ours.words[:3]):
        return None
    if ours.negations or ours.question or theirs.question:
        return None
    if not now.ends:
        return Clash(False, "contradiction", "it was said to have ended")
    return Clash(whole, "update" if whole else "partial", "is so no longer")


def _is_instead(pair: Contrast, former: str) -> bool:
    """Whether what is known says the former thing, and of the same."""
    gone = {word for word in contrast(former, former).left.words if is_content(word)}
    if not gone or not gone <= set(pair.left.words):
        return False
    rest = {word for word in pair.left.words if is_content(word)} - gone
    if not _USING.isdisjoint(pair.right.words):
        rest -= _USING
    shared = {word for word in rest if word in pair.right.words or _among(word, pair.gained)}
    persons = vocabulary.PERSONS
    same_one = not (persons & pair.lost.keys() and persons & pair.gained.keys())
    others = pair.left.names & pair.lost.keys() - gone
    return same_one and not others and 2 * len(shared) >= len(rest)


_USING = grammar.words(
    "use uses using nutze nutzt nutzen benutze benutzt benutzen verwende verwendet verwenden",
    "utilise utilisons utilisent usa uso usamos usan utilizo utiliza utilizamos usiamo usano",
)
_NEVER = grammar.words("never nie niemals jamais nunca jamás mai")


def _is_never(pair: Contrast) -> bool:
    """Whether what is known is denied for all times, with its circumstances: every morning."""
    denied = pair.gained.keys() & _NEVER
    more = any(map(is_content, pair.lost))
    return bool(denied) and more and pair.gained.keys() == denied and not pair.left.negations


def _one_value(pair: Contrast, gap: Gap, corrected: bool, definite: bool) -> Clash | None:
    """One value in place of another behind the verb: of the same thing if a cue says so.

    Without a cue a definite thing that is named both times may have had two values: my dentist is.
    """
    at, lost, gained = gap
    if not lost or not gained or not any(map(is_content, gained)):
        return None
    frame = [word for word in pair.left.words if is_content(word) and word not in lost]
    if at == 0 or not frame and not corrected or _says_more(lost, gained):
        return None
    if pair.left.words[0] != pair.right.words[0]:
        return None
    before = pair.left.words[:at]
    if _counts_others(pair, lost, gained):
        return None
    of_somebody = before[0] in pair.left.names or before[0] in grammar.PRONOUNS
    has_verb = _has_verb(before, pair.left.names) or "be" in before
    if not has_verb and sum(map(is_content, lost)) > 1:
        return None  # what is said is another thing, and not another value
    if corrected and of_somebody and before[-1] in _IS:
        return None  # a role, a mood, a bond? changes.py tells them apart
    if corrected and (len(frame) >= 1 or before[0] in grammar.PRONOUNS):
        whose = bool(_DEFINITE.match(f"{before[0]} "))
        said = len(before) - whose > 1 or has_verb
        alike = said and _opening(lost) == _opening(gained)
        return Clash(True, "update", "has another value now") if alike else None
    doing = any(word.endswith("ing") for word in (*lost, *gained))
    doing = doing or any(word in grammar.PLACES for word in (*lost[1:], *gained[1:]))
    if before[-1] != "be" or not definite or doing or _RELATIVES & set(frame):
        return None
    return Clash(False, "contradiction", "two values of one thing")


_IS = frozenset("be ist bin sind est suis sommes es soy está estoy è sono é sou".split())


def _opening(value: Words) -> list[str]:
    """What tells which kind of value it is: in Bonn, on Monday."""
    return list(takewhile((grammar.PLACES | grammar.LINKS).__contains__, value))


def _counts_others(pair: Contrast, lost: Words, gained: Words) -> bool:
    """Whether other things are counted: two cars, three children."""
    ours, theirs = set(lost) - pair.left.numbers, set(gained) - pair.right.numbers
    counted = len(ours) < len(lost) and len(theirs) < len(gained)
    return counted and bool(ours) and bool(theirs) and not any(_among(one, theirs) for one in ours)


def _is_told(pair: Contrast, gaps: Sequence[Gap]) -> bool:
    """Whether they differ in what is said of one thing, and not first in which thing it is.

    Ticket 412 is open, ticket 413 is open; note 3, note 4: what differs stands before the verb, or
    there is none.
    """
    if not gaps:
        return True  # in a sign, or in the order
    at, lost, gained = gaps[0]
    before = pair.left.words[:at]
    if _has_verb(before, pair.left.names) or not _DENYING.isdisjoint({*lost, *gained}):
        return True
    return bool(before) and (
        opposed(lost, gained) and (before[-1] in grammar.SUBJECTS or before[-1] in pair.left.names)
    )


def _adds_up(pair: Contrast, gap: Gap, *, begins_with_thing: bool) -> bool:
    """Whether both may be so whatever the value: I have a dog, a cat; I speak Thai, French.

    How many there are of a thing does not add up: we have two children, three children. What
    stands behind "the" or "my" is no verb: the support ends.
    """
    at, lost, gained = gap
    if not _ALSO.isdisjoint(pair.gained):
        return True
    if not _DENYING.isdisjoint({*lost, *gained}) or opposed(lost, gained):
        return False
    before = pair.left.words[:at]
    verbs = [
        place
        for place, word in enumerate(before)
        if not _VERBS.isdisjoint(_stems(word))
        and (not begins_with_thing if place == 0 else not _DEFINITE.match(f"{before[place - 1]} "))
    ]
    if all(_ADDING.isdisjoint(_stems(before[place])) for place in verbs):
        return before[-1:] == ("with",) and "be" not in before
    counts = verbs[-1] == at - 1 and lost[:1] and gained[:1]
    return not (counts and lost[0] in pair.left.numbers and gained[0] in pair.right.numbers)


def _may_be_another(text: str, before: Words) -> bool:
    """Whether the same words may be said of two: a man, my friend."""
    return bool(_OF_ANY.match(text)) or not _OF_MANY.isdisjoint(before)


def _in_other_circumstances(known: str, new: str, gap: Gap) -> bool:
    """Whether each may be so in its own: in Lyon on weekdays, in Nice at weekends; on Mondays."""
    habits = _WEEKDAYS.search(known) and _WEEKDAYS.search(new)
    return bool(habits) or all(not grammar.PLACES.isdisjoint(side) for side in gap[1:])


_WEEKDAYS = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bweek(?:end|day)s\b", re.I
)


def _stems(word: str) -> set[str]:
    return {word, word.removesuffix("s"), word.removesuffix("es")}


def _has_verb(before: Words, names: frozenset[str]) -> bool:
    """English ones without -s only behind who does it: I run 5 km, and not test run 5."""
    for last, word in pairwise(("", *before)):
        if _stems(word).isdisjoint(_VERBS):
            continue
        if word in _PLAIN and not (last in grammar.SUBJECTS or last in names or last[-1:] == "s"):
            continue
        return True
    return False


def _says_more(lost: Words, gained: Words) -> bool:
    """Whether the earlier has a circumstance more in the place where they differ."""
    beginning = grammar.PLACES | grammar.LINKS
    more = sum(word in beginning for word in lost) > sum(word in beginning for word in gained)
    contents = [sum(map(is_content, side)) for side in (lost, gained)]
    return more and contents[0] > contents[1] or contents[0] > contents[1] + 1


def _gaps(ours: Words, theirs: Words) -> list[Gap]:
    """What stands in place of what, in the order of the text, and where in ours."""
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    return [
        (a, ours[a:b], theirs[c:d]) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"
    ]


def _among(word: str, others: Iterable[str]) -> bool:
    """Whether one of them is the word in another form: work, works, working; fume, fumer."""
    return any(
        5 * len(commonprefix((word, other))) >= 3 * max(len(word), len(other))
        or not forms(word).isdisjoint(forms(other))
        for other in others
    )


_DEFINITE = re.compile(
    r"(?:the|my|our|his|her|their|der|die|das|mein|meine|unser|unsere|le|la|mon|ma|notre|el|mi|il|"
    r"mio|mia|o|meu|minha) ",
    re.IGNORECASE,
)
_OF_ANY = re.compile(
    r"(?:an?|some|somebody|someone|people|two|three|several|many|ein|eine|une?|una|um|uma|uno) ",
    re.I,
)
"""Beginnings of what may be about another one each time: a man, two dogs."""
_PARTS = re.compile(r"[,;:.]\s+|\s+(?:and|und|et|y|e)\s+")
MOST_GAPS = 3
"""Places in which two texts may differ and still be of one thing."""
SHORTEST = 3
"""Words of a part that is compared by itself."""
MOST = 4
"""Parts of a text; a longer one tells many things, none of which it is about."""


def _of_parts(before: Restated, now: Restated, cosine: float, ladder: Ladder) -> Clash | None:
    """Of statements joined in one text: the first of the new one's that clashes with one known."""
    ours, theirs = _parts(before), _parts(now)
    if len(ours) == len(theirs) == 1:
        return None
    for part, other in product(_long(theirs), _long(ours)):
        found = _between(other, part, cosine, ladder)
        if found is None:
            continue
        whole = contrast(before.text, now.text)
        if whole.left.question or whole.right.question or whole.either_has(vocabulary.MODALS):
            return None  # what is asked, or would be if, is not said by its parts
        if len(ours) > 1:
            return Clash(False, "partial", "the earlier says more besides")
        return found
    return None


@lru_cache(maxsize=1024)
def _parts(said: Restated) -> tuple[Restated, ...]:
    parts = _PARTS.split(said.text)
    return tuple(said._replace(text=part) for part in parts) if len(parts) <= MOST else (said,)


def _long(parts: Iterable[Restated]) -> list[Restated]:
    return [part for part in parts if len(part.text.split()) >= SHORTEST]
