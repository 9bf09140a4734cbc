"""Which text that no person has written commands the assistant that reads it: by its signs, and
beside them by the judge of language."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from kinmem.errors import ModelError
from kinmem.llm.base import Judge
from kinmem.rules.orders.instructions import hints, suspicious
from kinmem.text import sentences

SURELY = 0.9
"""Chance from which the judge's word is enough."""
PIECE = 240
"""Characters that are judged together; the judge reads about 400."""
MOST = 8
"""Pieces of a tool's output or a statement that are judged, 5 ms each."""


class Gate:
    """Told of texts of tools, pages and documents; without a judge their signs decide."""

    def __init__(self, judge: Judge | None = None) -> None:
        self._judge = judge

    def why(self, text: str) -> str | None:
        """Why it must not be recalled unseen; None if nothing speaks against it."""
        found = suspicious(text)
        return found or next(filter(None, self.commands(sentences(text))), None)

    def commands(self, told: Sequence[str], most: int = MOST) -> list[str]:
        """Of each of these consecutive sentences why it is a command, by the judge alone; empty: it
        is none.

        Of more than `most` pieces those are judged in which an order is likelier to be worded.
        """
        reasons = [""] * len(told)
        if self._judge is None:
            return reasons
        pieces = list(_pieces(told))
        if len(pieces) > most:
            pieces = sorted(pieces, key=lambda one: -hints(one.text).bit_count())[:most]
        with suppress(ModelError):
            for piece in pieces:
                if why := self._reason(piece.text):
                    alone = {at: self._reason(told[at]) for at in piece.of}
                    for at in piece.of:
                        reasons[at] = alone[at] if any(alone.values()) else why
        return reasons

    def _reason(self, text: str) -> str:
        chance = self._judge.commands(text) if self._judge else 0.0
        return f"wants to command an assistant (judge {chance:.2f})" if chance >= SURELY else ""


class _Piece(NamedTuple):
    """What is judged at once."""

    text: str
    of: range
    """The sentences that it is of: several short ones, or a part of a long one."""


def _pieces(told: Sequence[str]) -> Iterator[_Piece]:
    first, text = 0, ""
    for at, one in enumerate(told):
        if text and len(text) + len(one) > PIECE:
            yield _Piece(text.strip(), range(first, at))
            text = ""
        if not text:
            first = at
        text += one if not text or text[-1].isspace() else f" {one}"
        while len(text) > PIECE:
            yield _Piece(text[:PIECE], range(first, at + 1))
            text = text[PIECE:]
    if text.strip():
        yield _Piece(text.strip(), range(first, len(told)))
