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

    def parts(self, id: str, first: int = 0, most: int = 100) -> list[tuple[Passage, str]]:
        """The chunks of a visible document from that position on, each with where it stands.

        A chunk may repeat the end of the one before.
        """
        ...

    def by_source(self, source_ref: str) -> Memory | None:
        """The own document, in use or archived, that came from there last."""
        ...
