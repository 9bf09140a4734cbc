"""Stage 4 of learning: is it known already? Decides, does nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from kinmem.models import Memory
from kinmem.rules.similarity import Kinship, Ladder, compare, contains
from kinmem.text import folded


@dataclass(frozen=True)
class Keep:
    """It says something new."""


@dataclass(frozen=True)
class Skip:
    """It says nothing that `known` does not say."""

    known: Memory


Verdict = Keep | Skip


def reconcile(new: Memory, neighbours: Sequence[tuple[Memory, float]], ladder: Ladder) -> Verdict:
    """Skip for the first neighbour that makes the new memory superfluous, else Keep.

    Neighbours come with their cosine, nearest first. A neighbour about another subject, said by
    somebody else or at another time never does; nor does one that differs in an atom.
    """
    for known, cosine in neighbours:
        if (
            known.id != new.id
            and _same_occasion(new, known)
            and _says_all(known, new, cosine, ladder)
        ):
            return Skip(known)
    return Keep()


def _same_occasion(new: Memory, known: Memory) -> bool:
    return (
        new.occurred_at == known.occurred_at
        and _lasts_as_long(known, new)
        and (new.subject is None or folded(new.subject) == folded(known.subject or ""))
        and (new.speaker is None or folded(new.speaker) == folded(known.speaker or ""))
    )


def _lasts_as_long(known: Memory, new: Memory) -> bool:
    if known.expires_at is None:
        return True
    return new.expires_at is not None and known.expires_at >= new.expires_at


def _says_all(known: Memory, new: Memory, cosine: float, ladder: Ladder) -> bool:
    match compare(known.content, new.content, cosine, ladder):
        case Kinship.SAME_TEXT | Kinship.DUPLICATE:
            return True
        case Kinship.CONTAINED:
            return contains(known.content, new.content)
        case _:
            return False
