"""The texts of documents, present and earlier ones, in both files of a Kin."""

from collections.abc import Sequence
from typing import Protocol

from kinmem.errors import MemoryNotFound
from kinmem.models import Memory, Passage
from kinmem.store.sqlite import parts
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.filters import IS_LIVE, View

HELD_NOTE = "(held back: reads like an instruction)"


class Books(Protocol):
    """The files of a Kin, what it sees in each, and the memories in them."""

    kin: str

    def files(self) -> Sequence[tuple[Database, View]]: ...

    def holder(self, id: str) -> tuple[Database, int]:
        """The file of a visible memory, and its number in it. Raises MemoryNotFound."""
        ...

    def get(self, id: str) -> Memory: ...


class SqliteDocuments:
    """See Documents."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def text(self, id: str, version: str | None = None) -> str:
        database, row = self._books.holder(id)
        with database.reading() as db:
            text = parts.text_of(db, row)
            present: str = db.execute(
                "SELECT content_hash FROM memories WHERE rowid = ?", (row,)
            ).get
        if version in (None, present):
            return text
        kept = {
            old: (base, change)
            for other, _ in self._books.files()
            for old, base, change in other.rows(
                "SELECT content_hash, base, delta FROM old_texts WHERE memory_id = ?", (id,)
            )
        }
        return parts.old_text(kept, version or present, present, text, id)

    def readable(self, id: str) -> str:
        read = self.parts(id, 0, -1)  # all of them
        if not any(place.held for place, _ in read):
            return self.text(id)
        whole: list[str] = []
        end = 0
        for place, text in read:
            rest = text[max(0, end - place.start) :]
            whole.append(f"{HELD_NOTE}\n\n" if place.held else rest)
            end = max(end, place.start + len(text))
        return "".join(whole)

    def parts(self, id: str, first: int = 0, most: int = 100) -> list[tuple[Passage, str]]:
        database, row = self._books.holder(id)
        rows = database.rows(
            """
            SELECT c.metadata, coalesce(c.text, m.content),
                json_extract(m.ingest_metadata, '$.held')
            FROM chunks c JOIN memories m ON m.rowid = c.memory
            WHERE c.memory = ? AND c.metadata IS NOT NULL AND c.position >= ?
            ORDER BY c.position LIMIT ?
            """,
            (row, first, most),
        )
        return [(parts.passage_of(metadata, held), text) for metadata, text, held in rows]

    def by_source(self, source_ref: str) -> Memory | None:
        found: list[str] = []
        for database, view in self._books.files():
            rows = database.rows(
                f"""
                SELECT m.id FROM memories m WHERE m.source_ref = ? AND m.kin = ?
                    AND ({IS_LIVE} OR m.state IN ('archived', 'quarantined'))
                """,
                (source_ref, view["kin"]),
            )
            found += [id for (id,) in rows]
        try:
            return self._books.get(max(found)) if found else None
        except MemoryNotFound:  # erased meanwhile
            return None
