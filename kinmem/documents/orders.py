"""Stage 2b: which sentences of a document read like instructions to a model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from kinmem.rules.orders.instructions import hints, may_be_suspicious, suspicious

TOGETHER = 3
"""Sentences in which an order may be worded that none of them alone gives."""
WRAP = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence, a heading, a table or lines of code."""

    text: str
    is_prose: bool
    """Whether a line may end within a sentence."""

    @property
    def flowing(self) -> str:
        """As one reads it, over the ends of lines."""
        return WRAP.sub(" ", self.text) if self.is_prose else self.text


def orders(told: Sequence[Told]) -> list[str]:
    """Of each of these consecutive sentences why it is held back; empty: it is not.

    As little as possible is: one sentence of many, or the few that only together give an order.
    """
    found = [hints(one.flowing) for one in told]
    reasons: list[str] = []
    while (first := len(reasons)) < len(told):
        few = slice(first, first + TOGETHER)
        told_of = reduce(or_, found[few])
        if may_be_suspicious(told_of) and (why := _reason(told[few], told_of)):
            reasons += _smallest(told[few], why, told_of)
        else:
            reasons.append("")
    return reasons


def _smallest(few: Sequence[Told], why: str, told_of: int) -> list[str]:
    """Reasons of these, up to the first order among them, which is as short as there is one."""
    for count in range(1, len(few)):
        for first in range(len(few) - count + 1):
            if found := _reason(few[first : first + count], told_of):
                return [""] * first + [found] * count
    return [why] * len(few)


def _reason(told: Sequence[Told], told_of: int) -> str | None:
    """`told_of`: hints of these, and maybe of more."""
    said = "".join(one.text for one in told)
    read = "".join(one.flowing for one in told)
    return suspicious(said, told_of) or (suspicious(read, told_of) if read != said else None)
