"""The words of one file: an FTS5 table with a row for each memory and each chunk of a document."""

from collections.abc import Iterable, Sequence

from kinmem.models import Memory, Passage
from kinmem.store.sql.conditions import IS_LIVE, VISIBLE, View
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.memory_rows import CJK, indexed, named, pairs, spread
from kinmem.text import late

TOKEN = late(r"[^\W_]+")
# More terms cost time without finding more: 20,000 took 1.1 s (reliability, R20).
MOST_TERMS = 64


def match_any(words: Sequence[str]) -> str:
    """Return an expression for rows with any of the words; empty if the index can contain none of
    them."""
    return " OR ".join(_terms(words))


def match_all(words: Sequence[str], *, beginnings: bool = False) -> str:
    """Return an expression for rows with all of the words, or with words that begin with them."""
    if not beginnings:
        return " AND ".join(_terms(words))
    return " AND ".join(term.removesuffix(" *") + " *" for term in _terms(words))


def _terms(words: Sequence[str]) -> list[str]:
    """Quote each word as a phrase of its tokens, so that nothing in it is read as query syntax."""
    terms: dict[str, None] = {}
    for word in words:
        parted = CJK.sub(
            lambda run: f" {' '.join(pairs(run.group()) or run.group())} ", named(word)
        )
        for part in parted.split():
            if tokens := TOKEN.findall(part):
                begins = " *" if CJK.fullmatch(part) and len(part) == 1 else ""
                terms['"' + " ".join(tokens) + '"' + begins] = None
    return list(terms)[:MOST_TERMS]


SECURE = "INSERT INTO words (words, rank) VALUES ('secure-delete', ?)"
FEW = 50
"""Chunks that are taken out of the index one by one, 2.6 ms each. More are marked as deleted, and
the index is written anew: 0.2 s for 1,600 chunks, and 0.1 s where there are 100,000 memories."""

HOLDING = f"""
    SELECT m.id FROM words CROSS JOIN memories m ON m.rowid = words.rowid
    WHERE words MATCH 'content : (' || :words || ')' AND {VISIBLE} AND {IS_LIVE}
    ORDER BY words.rowid LIMIT :most
"""


class WordIndex:
    """See Words. A memory's row has its number; that of a chunk has the chunk's number below
    zero."""

    def put(self, db: Transaction, rows: Sequence[int], memories: Sequence[Memory]) -> None:
        db.run_each(
            "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, ?)",
            [(row, *indexed(memory)) for row, memory in zip(rows, memories, strict=True)],
        )

    def replace(self, db: Transaction, row: int, memory: Memory) -> None:
        self.remove(db, row)
        self.put(db, [row], [memory])

    def remove(self, db: Transaction, row: int) -> None:
        db.run("DELETE FROM words WHERE rowid = ?", (row,))

    def put_parts(self, db: Transaction, chunks: Iterable[tuple[int, str, Passage]]) -> None:
        db.run_each(
            "INSERT INTO words (rowid, content, subject, context) VALUES (?, ?, ?, '')",
            [
                (-id, spread(text), spread(place.heading))
                for id, text, place in chunks
                if not place.held
            ],
        )

    def remove_parts(self, db: Transaction, chunks: Sequence[int]) -> None:
        rows = [(-chunk,) for chunk in chunks]
        if len(rows) > FEW:
            db.run(SECURE, (False,))
        db.run_each("DELETE FROM words WHERE rowid = ?", rows)
        if len(rows) > FEW:
            db.run(SECURE, (True,))
            # Otherwise they would stay, marked as deleted.
            db.run("INSERT INTO words (words) VALUES ('optimize')")

    def holding(self, database: Database, word: str, view: View, most: int) -> list[str]:
        words = match_all([word])
        if not words:
            return []
        rows = database.rows(HOLDING, {"words": words, "most": most, **view})
        return [id for (id,) in rows]
