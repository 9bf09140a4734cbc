"""What kinmem asks of a database about finding what was said. All of it is one Kin's own."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from kinmem.models import Asked, Coverage, Filters, Found, Pending, Vectors
from kinmem.turns import Message

Cut = Callable[[str], Sequence[str]]
"""The parts of a text that get a vector each."""


class Learned(NamedTuple):
    """What became of something learned from a turn."""

    state: str
    speaker: str | None


class Vectored(Protocol):
    """Whatever has texts that get vectors, as upkeep/embed.py fills them in; see Store."""

    def enroll(self, embedder: str, dimension: int) -> None: ...

    def coverage(self) -> list[Coverage]: ...

    def pending(self, embedder: str, limit: int) -> list[Pending]: ...

    def fill(self, embedder: str, chunks: Sequence[Pending], vectors: Vectors) -> None: ...

    def is_filled(self, embedder: str) -> bool: ...


class Transcript(Vectored, Protocol):
    """The messages of people and assistants, searched as memories are; tools' outputs are not.

    Nothing of it is changed by hand: what becomes of a message in the Journal becomes of it here
    in the same transaction, and what is new or has changed waits to be indexed.
    """

    def waiting(self) -> int:
        """How many messages are to be indexed."""
        ...

    def index(self, limit: int, cut: Cut) -> int:
        """Index up to `limit` waiting messages, the latest first; how many were seen to. What was
        erased is left out."""
        ...

    def search(self, asked: Asked, filters: Filters, session: str | None = None) -> Found:
        """Candidates by meaning and by words, as Store.search. Of the filters times apply only.

        Of trust 0 is what may read as an order to a model.

        Their ids are those of `messages`. A prompt of the last hour to which nothing was said yet
        is not among them: who asks now is not the answer.
        """
        ...

    def messages(self, ids: Collection[str]) -> dict[str, Message]:
        """By id, which is "turn:" and the number of the message."""
        ...

    def learned(self, messages: Collection[Message]) -> Mapping[int, Sequence[Learned]]:
        """By number of a message the own memories learned from its turn or repeated in it, in
        whatever state, and those in the bin whose statement it says word for word."""
        ...

    def drop(self, before: datetime, limit: int | None = None) -> int:
        """Delete what was said before, in all roles, and was learned from; how many messages."""
        ...

    def old(self, before: datetime) -> int:
        """How many messages `drop` would delete."""
        ...
