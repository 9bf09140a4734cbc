"""Whether a person should look at two texts as one, where no judge is asked. Symmetric."""

from kinmem.language import vocabulary
from kinmem.language.same.atoms import Contrast, atoms, contrast, is_content
from kinmem.language.same.exact import FIRST_PERSON, holds_all
from kinmem.language.same.lexemes import stem

LIMITING = vocabulary.NEGATORS | vocabulary.CONCORD | vocabulary.MODALS | vocabulary.QUANTITIES
OTHERWISE = (
    *("question", "number", "date", "unit", "name", "negation", "opposite", "person", "attribute"),
    *("modality", "tense", "quantity"),
)
"""Differences, see atoms.DIFFERS, with which two close texts are hardly one statement."""


def resembles(a: str, b: str, *, close: bool) -> bool:
    """Whether one seems to say, in another order or form, no more than the other."""
    pair = contrast(a, b)
    if not close or pair.differs(OTHERWISE) or _are_exchanged(pair):
        return False
    if not holds_all(a, b) and not holds_all(b, a):
        return False
    ours, theirs = (
        {stem(word) for word in side.words if is_content(word)} for side in (pair.left, pair.right)
    )
    return ours <= theirs or theirs <= ours


def _are_exchanged(pair: Contrast) -> bool:
    """Whether two who are named may have changed places: I thank Anna, Anna thanks me."""
    named = {*pair.left.names, *FIRST_PERSON} & {*pair.left.words}
    return len(named) > 1 and pair.differs(("order", "form"))


def is_counterpart(a: str, b: str) -> bool:
    """Whether only numbers, dates, units and names differ: ticket 7 and ticket 8 are two things."""
    pair = contrast(a, b)
    exact = {*pair.left.names, *pair.right.names}
    for side in (pair.left, pair.right):
        exact |= side.numbers | side.dates | side.units
    return bool(pair.lost and pair.gained) and exact.issuperset([*pair.lost, *pair.gained])


def extends(whole: str, part: str) -> bool:
    """Whether the first text is the second with something behind it, and denies no more."""
    longer, shorter = atoms(whole), atoms(part)
    added = longer.words[len(shorter.words) :]
    return (
        bool(added)
        and longer.words[: len(shorter.words)] == shorter.words
        and longer.question == shorter.question
        and LIMITING.isdisjoint(added)
    )
