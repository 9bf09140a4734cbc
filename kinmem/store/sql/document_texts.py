"""The texts of documents, as a whole and in parts."""

from kinmem.errors import MemoryNotFound
from kinmem.models import Memory, Passage
from kinmem.store.sql.document_rows import old_text, passage_of, text_of
from kinmem.store.sql.memory_rows import ALL, IS_LIVE, VISIBLE
from kinmem.store.sql.sharing import Files

HELD_NOTE = "(held back: reads like an instruction)"


class SqlDocuments:
    """See Documents."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def listed(self, limit: int) -> list[str]:
        ids = [
            id
            for file in self._files
            for (id,) in file.database.rows(
                f"SELECT m.id FROM memories m WHERE {VISIBLE} AND m.state <> 'deleted'"
                " AND (PARSED(m.metadata) ->> 'parts') IS NOT NULL",
                self._files.view(file),
            )
        ]
        return sorted(ids, reverse=True)[:limit]

    def text(self, id: str, version: str | None = None) -> str:
        database, row = self._files.holder(id)
        with database.reading() as db:
            text = text_of(db, row)
            present: str = db.value("SELECT content_hash FROM memories WHERE rowid = ?", (row,))
        if version in (None, present):
            return text
        kept = {
            old: (base, change)
            for old, base, change in self._files.own.database.rows(
                "SELECT content_hash, base, delta FROM old_texts WHERE memory_id = ?", (id,)
            )
        }
        return old_text(kept, version or present, present, text, id)

    def readable(self, id: str) -> str:
        read = self.parts(id, most=None)
        if not any(place.held for place, _ in read):
            return self.text(id)
        whole: list[str] = []
        end = 0
        for place, text in read:
            rest = text[max(0, end - place.start) :]
            whole.append(f"{HELD_NOTE}\n\n" if place.held else rest)
            end = max(end, place.start + len(text))
        return "".join(whole)

    def parts(self, id: str, first: int = 0, most: int | None = 100) -> list[tuple[Passage, str]]:
        database, row = self._files.holder(id)
        rows = database.rows(
            """
            SELECT c.metadata, coalesce(c.text, m.content),
                PARSED(m.ingest_metadata) ->> 'held'
            FROM chunks c JOIN memories m ON m.rowid = c.memory
            WHERE c.memory = ? AND c.metadata IS NOT NULL AND c.position >= ?
            ORDER BY c.position LIMIT ?
            """,
            (row, first, ALL if most is None else most),
        )
        return [(passage_of(metadata, held), text) for metadata, text, held in rows]

    def by_source(self, source_ref: str) -> Memory | None:
        found = self._files.own.database.rows(
            f"SELECT max(m.id) FROM memories m WHERE m.source_ref = ?"
            f" AND ({IS_LIVE} OR m.state IN ('archived', 'quarantined'))",
            (source_ref,),
        )[0][0]
        try:
            return None if found is None else self._files.get(found)
        except MemoryNotFound:  # erased meanwhile
            return None
