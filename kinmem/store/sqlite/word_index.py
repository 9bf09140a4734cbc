"""The words of one file: FTS5 tables, of memories and chunks of documents, and of what was said."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kinmem.models import Memory, Passage
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.finding import Listing, Sought, Term, all_of
from kinmem.store.sql.memory_rows import IS_LIVE, VISIBLE, View, indexed, spread
from kinmem.store.sql.turn_queue import Entry, TurnWords


def _match(terms: Iterable[Term], join: str) -> str:
    """Return an FTS5 expression. Each term is quoted as a phrase of its tokens, so that nothing in
    it is read as query syntax."""
    return join.join(
        '"' + " ".join(term.tokens) + '"' + (" *" if term.begins else "") for term in terms
    )


def _expression(sought: Sought) -> str:
    return _match(sought.terms, " AND " if sought.needs_all else " OR ")


# Weights of the columns content, subject, context. bm25 as a function and not as the hidden column
# `rank`, which sorts all rows in a statement of its own: half as long again.
WORSE = "bm25(words, 1.0, 1.0, :context)"
ANY_ROW = f"""
    SELECT number, better, {{}} AS has_all FROM (
        SELECT rowid AS number, -{WORSE} AS better FROM words
        WHERE words MATCH :words AND rowid BETWEEN {{}}
        ORDER BY better DESC LIMIT {{}}
    )"""
ALLOWED_ROW = f"""
    SELECT number, better, {{}} AS has_all FROM (
        SELECT words.rowid AS number, -{WORSE} AS better
        FROM words CROSS JOIN memories m ON m.rowid = iif(
            words.rowid > 0, words.rowid, (SELECT memory FROM chunks WHERE id = -words.rowid)
        )
        WHERE words MATCH :words AND words.rowid BETWEEN {{}} AND ({{}})
        ORDER BY better DESC LIMIT {{}}
    )"""
LAST = 2**62
"""No row of `words` has a greater number."""
MEMORIES, PARTS = f"1 AND {LAST}", f"-{LAST} AND -1"
"""Row numbers of `words`: those of memories, those of the chunks of documents."""
HAS_ALL = "number IN (SELECT rowid FROM words WHERE words MATCH :all_words)"

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

    def listed(self, listing: Listing) -> tuple[str, Mapping[str, Any]]:
        terms = listing.sought.terms
        has_all = HAS_ALL if len(terms) > 1 else "1"
        spans = [(MEMORIES, listing.limit)]
        if listing.parts:
            spans.append((PARTS, listing.parts))
        rows = [
            ANY_ROW.format(has_all, span, limit)
            if listing.allowed is None
            else ALLOWED_ROW.format(has_all, span, listing.allowed, limit)
            for span, limit in spans
        ]
        return " UNION ALL ".join(rows), {
            "words": _expression(listing.sought),
            "all_words": _match(terms, " AND "),
            "context": listing.context,
        }

    def holding(self, database: Database, word: str, view: View, most: int) -> list[str]:
        words = _expression(all_of([word]))
        if not words:
            return []
        rows = database.rows(HOLDING, {"words": words, "most": most, **view})
        return [id for (id,) in rows]


ANY = """
    SELECT rowid AS number, -bm25(turn_words, 1.0, :context) AS better, 0 AS has_all
    FROM turn_words WHERE turn_words MATCH :words ORDER BY better DESC LIMIT :listed
    """
ALLOWED = """
    SELECT m.id AS number, -bm25(turn_words, 1.0, :context) AS better, 0 AS has_all
    FROM turn_words CROSS JOIN turns m ON m.id = turn_words.rowid
    WHERE turn_words MATCH :words AND {} ORDER BY better DESC LIMIT :listed
    """


class SaidWords(TurnWords):
    """The words of what was said, by the numbers of the messages."""

    def listed(self, listing: Listing) -> tuple[str, Mapping[str, Any]]:
        sql = ANY if listing.allowed is None else ALLOWED.format(listing.allowed)
        return sql, {
            "words": _expression(listing.sought),
            "context": listing.context,
            "listed": listing.limit,
        }

    def remove(self, db: Transaction, turn: int) -> None:
        db.run("DELETE FROM turn_words WHERE rowid = ?", (turn,))

    def put(self, db: Transaction, entry: Entry) -> None:
        db.run(
            "INSERT INTO turn_words (rowid, content, context, evidence, doubtful)"
            " VALUES (?, ?, ?, ?, ?)",
            (entry.message.id, entry.content, entry.context, entry.evidence, entry.doubtful),
        )
