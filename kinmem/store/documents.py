"""What kinmem asks of a database about documents: memories whose text is kept in parts."""

from typing import Protocol

from kinmem.models import Memory, Passage


class Documents(Protocol):
    """The texts of one Kin's documents and of those that are shared with it."""

    def text(self, id: str, version: str | None = None) -> str:
        """The whole text of a document; of an earlier version that the history names by its
        content_hash. Of any other memory its content.

        Raises MemoryNotFound if it is not visible, or has no such version any more.
        """
        ...

    def readable(self, id: str) -> str:
        """The whole text of a visible document, with a note in place of what is held back."""
        ...

    def parts(self, id: str, first: int = 0, most: int = 100) -> list[tuple[Passage, str]]:
        """The chunks of a visible document from that position on, each with where it stands; with
        a negative `most` all of them.

        A chunk may repeat the end of the one before.
        """
        ...

    def by_source(self, source_ref: str) -> Memory | None:
        """The own document, in use, archived or quarantined, that came from there last."""
        ...
