"""What kinmem asks of a database for steps that see to every memory again and again."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Literal, Protocol

from kinmem.models import Memory

Round = Literal["tagged_at", "linked_at"]
"""The field of Memory that says when the step saw to it last."""


class Rounds(Protocol):
    """Which memories are due, and that they have been seen to. Bookkeeping: nothing here leaves a
    history line or raises a version, since all of it can be worked out again from the memories.

    An edit of the content makes a memory due for all of them.
    """

    def unseen(self, round: Round, limit: int) -> list[Memory]:
        """Own live memories that were never seen to, the newest first."""
        ...

    def due(self, round: Round, before: datetime, limit: int) -> list[Memory]:
        """Own live memories that were last seen to before that moment, the longest ago first."""
        ...

    def holding(self, words: Collection[str], most: int) -> dict[str, list[str]]:
        """For each word, in any of its forms, at most so many live visible memories whose content
        has it."""
        ...

    def tagged(
        self, tags: Mapping[str, tuple[str, ...]], seen: Mapping[str, str], at: datetime
    ) -> int:
        """Set the automatic tags of own memories, by id; how many have changed. As linked."""
        ...

    def linked(self, seen: Mapping[str, str], at: datetime) -> None:
        """Note that the links of these own memories were seen to.

        `seen`: by id the content_hash that was; what has another by now stays due.
        """
        ...
