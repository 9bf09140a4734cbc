"""Whether two statements cannot both be so, by how they are built; what they mean the judge knows.

Two texts are laid side by side. What is certain ends the earlier one: they differ in one slot, of
one kind (a number of a number, a name of a name), behind what it is said of, and the later one says
that it has changed, or the slot can have but one value; or the later one says what it is no longer,
or instead of what. All else is asked about or left to the judge (llm/relating.py).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from typing import Literal, NamedTuple

from kinmem.language import lexicon
from kinmem.language.change.vetoes import CHANGED, Claim, claim, is_event, veto
from kinmem.language.lexicon import word_class
from kinmem.language.same.clauses import CONTRASTS
from kinmem.language.same.lexemes import bare
from kinmem.language.same.similarity import (
    Atoms,
    Kinship,
    Ladder,
    Words,
    atoms,
    compare,
    contrast,
    forms,
    is_content,
)
from kinmem.text import late

ClashKind = Literal["contradiction", "update", "partial"]
LONGEST = 12
"""Content words; a longer text tells of more than one thing, and ends nothing."""
WIDEST = 3
"""Content words of a slot."""
SEPARATING = ("question", "modality", "quantity", "person")
"""Differences with which two texts speak of different things, or do not both say that it is so."""
PARTS = re.compile(rf"[,;，；]\s*|\s(?=(?:{'|'.join(sorted(CONTRASTS))})\s)")
"""What ends a part of a sentence: a mark, or a word behind which stands what is so instead."""
_ADDING = word_class("adding_verbs", "using")
"""Verbs whose objects add up: who speaks French may speak German as well."""


@dataclass(frozen=True, slots=True)
class Clash:
    """Two statements that cannot both be so now."""

    clear: bool
    """Whether the earlier may give way unasked."""
    kind: ClashKind
    """update: the new one says that it was otherwise; partial: the known one says more besides."""
    reason: str
    names: bool = False
    """Whether a name stands in place of a name; what each of them names, form cannot tell."""
    chance: float | None = None
    """How likely it is, as the judge has found; None if the form of the texts tells it."""


def clash(known: str, new: str, cosine: float, ladder: Ladder) -> Clash | None:
    """How what is said now excludes what is known; None: both may be so, as far as form can tell.

    Never raises. What vetoes.py forbids is no clash; what was done is never ended.
    """
    found = excluding(known, new, cosine, ladder)
    if found is None or veto(known, new) is not None:
        return None
    if found.clear and is_event(known):
        return Clash(False, found.kind, "what was done stays so")
    return found


def excluding(known: str, new: str, cosine: float, ladder: Ladder) -> Clash | None:
    """The same before any veto: for what must not be merged."""
    before, now = claim(known), claim(new)
    if cosine < ladder.related or before.ends and now.ends:
        return None
    if now.ends or before.ends:
        return _ended(before, now) or _ended_in_part(before, new)
    if now.instead_of:
        return _instead(before, now)
    is_said = any(not _STATES.isdisjoint(forms(word)) for word in atoms(before.text).words)
    excluded = is_said and compare(before.text, now.text, cosine, ladder) is Kinship.CONTRADICTS
    if (slot := slot_of(before, now)) is not None:
        return _other_value(slot, now, excluded)
    if not excluded or len(_gaps(atoms(before.text).words, atoms(now.text).words)) > 1:
        return None
    return Clash(False, "contradiction", "cannot both be so of the same one")


def _ended(before: Claim, now: Claim) -> Clash | None:
    """Whether what has ended is what is known: each word of it, of nobody else."""
    over, still = (now, before) if now.ends else (before, now)
    pair = contrast(still.text, over.text)
    ended, said = _content(pair.right.words), _content(pair.left.words)
    shared = [word for word in ended if _among(word, said)]
    if len(shared) < len(ended) or not shared or pair.differs(["question", "person"]):
        return None
    if _subjects(pair.left) != _subjects(pair.right) or pair.left.negations:
        return None
    if not {bare(name) for name in pair.right.names} <= {bare(word) for word in pair.left.words}:
        return None  # it is Martina who plays no longer, and not Martin
    if not now.ends:
        return Clash(False, "contradiction", "it was said to have ended")
    is_all = len(said) <= LONGEST and all(_among(word, ended) for word in said)
    return Clash(is_all, "update", "is so no longer" if is_all else "a part of it is so no longer")


def _ended_in_part(before: Claim, new: str) -> Clash | None:
    """The same of one part of a sentence: I no longer live in Lyon, I live in Berlin now."""
    parts = PARTS.split(new)
    found = (_ended(before, said) for part in parts[1:] and parts if (said := claim(part)).ends)
    return next((clash for clash in found if clash is not None), None)


def _instead(before: Claim, now: Claim) -> Clash | None:
    """Whether what is known says the former thing, and of the same."""
    former = _content(atoms(now.instead_of).words)
    pair = contrast(before.text, now.text)
    said = _content(pair.left.words)
    if not former or not all(word in said for word in former) or pair.differs(SEPARATING):
        return None
    rest = [word for word in said if word not in former]
    kept = [word for word in rest if _among(word, pair.right.words)]
    if pair.left.names - {*former, *pair.right.words} or 2 * len(kept) < len(rest):
        return None
    whole = len(pair.left.clauses) == 1 and len(said) <= LONGEST
    return Clash(whole, "update" if whole else "partial", f"instead of {now.instead_of}")


class Slot(NamedTuple):
    """The one place in which two statements differ that are built alike."""

    sort: Literal["amount", "name", "word"]
    changed: bool
    """Whether the new one has a verb or an adjective that says so: raised to, the new."""
    names: tuple[Words, Words]
    """What stands there, in the known one and in the new one."""
    single: bool
    """Whether what stands before it has but one value at a time: lives, the port."""
    many: bool = False
    """Whether several may hold: allergic to, a son named."""
    adds: bool = False
    """Whether what is new there only adds to what is known: speaks, has."""
    whole: bool = True
    """Whether it is all that the known one says."""


def _other_value(slot: Slot, now: Claim, excluded: bool) -> Clash | None:
    said = now.corrects or slot.changed
    if slot.adds or not said and (slot.many or not excluded):
        return None
    kind: ClashKind = "update" if said else "contradiction"
    if not slot.whole:
        return Clash(False, "partial", "the earlier says more besides")
    if slot.sort == "word":
        return Clash(False, kind, "may be otherwise now")
    told = "has another value now" if said else "two values of one"
    return Clash(said or slot.single, kind, told, names=slot.sort == "name")


def slot_of(before: Claim, now: Claim) -> Slot | None:
    """Of statements joined in one text, a clause that the new one's first clause fits; what stands
    behind another one may be what somebody else says."""
    ours, theirs = atoms(before.text), atoms(now.text)
    if contrast(before.text, now.text).differs(SEPARATING[:2]):
        return None
    for part, other in product((theirs.words, *theirs.clauses[:1]), (ours.words, *ours.clauses)):
        found = _slot(other, part, ours, theirs)
        if found is not None:
            return found._replace(
                single=found.single and _OF_ANY.match(before.text) is None,
                whole=len(other) == len(ours.words) <= 2 * LONGEST,
            )
    return None


def _slot(known: Words, new: Words, ours: Atoms, theirs: Atoms) -> Slot | None:
    told = tuple(word for word in new if word not in CHANGED or word in known)
    if {*known} & lexicon.SUBJECTS != {*told} & lexicon.SUBJECTS and {*told} & lexicon.SUBJECTS:
        return None
    more = set(new) - set(known)
    changed = CHANGED & more - _AUXILIARIES
    if _AUXILIARIES & more and not changed:
        return None  # it tells of what was
    left, right = _content(known), _content(told)
    gaps = _gaps(left, right)
    moved = bool(changed) and not (len(gaps) == 1 and gaps[0][0])
    if moved:  # who lives in Lyon has moved to Bristol
        left, right = (
            ["", *(word for word in side if _STATES.isdisjoint(forms(word)))]
            for side in (left, right)
        )
        gaps = _gaps(left, right) if known[:1] == told[:1] else []
    if len(gaps) != 1:
        return None
    start, lost, gained = gaps[0]
    if not start or not (0 < len(lost) <= WIDEST and 0 < len(gained) <= WIDEST):
        return None
    openings = {_opening(known, lost), "" if changed else _opening(told, gained)} - {""}
    if _are_persons(lost, gained) or len(openings) > 1 or not openings.isdisjoint(_WITH):
        return None
    sort = _sort(known, lost, ours)
    if sort != _sort(told, gained, theirs) and not changed:
        return None
    behind, before = left[start + len(lost) :], _before(known, lost)
    if sort == "amount" and set(behind) - ours.units and ours.dates.isdisjoint(lost):
        return None  # it tells which one is meant: server 3 is down
    single = _is_single(known, before, lost, ours)
    if changed and sort != "amount":
        sort = "word"  # no form tells "I moved to Bristol" from "I went to Bristol"
    if sort == "word" and not len(lost) == len(gained) == 1:
        return None  # another thing is said of it
    return Slot(
        sort,
        bool(changed),
        (tuple(lost), tuple(gained)),
        single,
        many=sort != "amount" and not single and _is_one_of_many(known, before, lost),
        adds=sort != "amount" and not _ADDING.isdisjoint(forms(before)),
    )


def _before(known: Words, slot: Sequence[str]) -> str:
    """The last word before it that says something."""
    return next((word for word in reversed(known[: known.index(slot[0])]) if is_content(word)), "")


def _is_one_of_many(known: Words, before: str, slot: Sequence[str]) -> bool:
    """Whether it is the object of a verb or of an adjective, or the name of one who may be one of
    several; what something is or where it is, it is alone."""
    said = known[: known.index(slot[0])]
    if said[-1] in _IS:
        only = lexicon.ONLY_ONES
        return not _RELATIVES.isdisjoint(said) and only.isdisjoint(said) or "have" in said
    at = said.index(before) if before else 0
    is_adjective = at > 0 and said[at - 1] in _IS
    return is_adjective or lexicon.PLACES.isdisjoint(said[at + 1 :])


def _is_single(known: Words, before: str, lost: Sequence[str], ours: Atoms) -> bool:
    if not _RELATIVES.isdisjoint(known):
        return False  # one of many: my friend
    told = not _STATES.isdisjoint({form for word in known for form in forms(word)})
    return told and before in lexicon.SINGLE_VALUED and ours.dates.isdisjoint(lost)


def _gaps(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, list[str], list[str]]]:
    """What stands in place of what, and where in ours."""
    found = SequenceMatcher(None, list(ours), list(theirs), autojunk=False).get_opcodes()
    return [(a, list(ours[a:b]), list(theirs[c:d])) for tag, a, b, c, d in found if tag != "equal"]


_RELATIVES = lexicon.PERSONS - lexicon.PRONOUNS | {"son"}
_STATES = lexicon.STATE_VERBS | lexicon.PLAIN_VERBS
_OF_ANY = late(r"(?i)(?:an?|some|eine?|une?|una?|uno|uma?|des) ")
"""Beginnings of what may be about another one each time: a customer."""
_IS = word_class("copulas")
_WITH = word_class("with")
_AUXILIARIES = word_class("of_the_past")


def _sort(said: Words, slot: Sequence[str], side: Atoms) -> Literal["amount", "name", "word"]:
    """A noun with a capital is a name only where a place or what it is called may stand."""
    amounts = side.numbers | side.dates | side.units
    if any(word in amounts for word in slot):
        return "amount" if all(word in amounts for word in slot) else "word"
    at = said.index(slot[0])
    named = at > 0 and said[at - 1] in lexicon.PLACES | _IS
    return "name" if named and all(word in side.names for word in slot) else "word"


def _are_persons(lost: Sequence[str], gained: Sequence[str]) -> bool:
    return not _RELATIVES.isdisjoint([*lost, *gained])


def _opening(words: Words, slot: Sequence[str]) -> str:
    """The preposition before it: in Bonn, on Monday."""
    at = words.index(slot[0])
    before = words[at - 1] if at else ""
    return before if before in lexicon.PLACES and before not in ("to", "auf", "à", "a") else ""


def _content(words: Words | Sequence[str]) -> list[str]:
    return [word for word in words if is_content(word)]


def _subjects(side: Atoms) -> frozenset[str]:
    return frozenset(_ELIDED.get(word, word) for word in lexicon.SUBJECTS & set(side.words))


_ELIDED = {"j": "je"}


def _among(word: str, others: Sequence[str]) -> bool:
    """Whether one of them is the word in another form: work, works, working; fume, fumer."""
    stem = word[: max(4, len(word) - 3)]
    return any(
        word == other
        or not forms(word).isdisjoint(forms(other))
        or min(len(word), len(other)) >= 4
        and (other.startswith(stem) or word.startswith(other[: max(4, len(other) - 3)]))
        for other in others
    )
