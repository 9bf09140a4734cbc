"""Which memories are due for the steps that see to every memory again and again."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from kinmem.models import Memory
from kinmem.store.rounds import Round
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.filters import IS_LIVE, VISIBLE, View
from kinmem.store.sqlite.rows import COLUMNS, column, memory_of, time_text
from kinmem.store.sqlite.words import match_all

# Own memories that still say what was seen; the first condition finds them by the index.
SEEN = """
    kin = :kin AND id IN (SELECT key FROM json_each(:seen))
    AND (id, content_hash) IN (SELECT key, value FROM json_each(:seen))
"""

HOLDING = f"""
    SELECT m.id FROM words CROSS JOIN memories m ON m.rowid = words.rowid
    WHERE words MATCH 'content : (' || :words || ')' AND {VISIBLE} AND {IS_LIVE} LIMIT :most
"""


class SqliteRounds:
    """See Rounds."""

    def __init__(self, books: Iterable[Book], kin: str, view: Callable[[Book], View]) -> None:
        self._books = tuple(books)
        self._kin = kin
        self._view = view

    def unseen(self, round: Round, limit: int) -> list[Memory]:
        found = self._own(f"m.{round} IS NULL", "m.rowid DESC", limit, {})
        found.sort(key=lambda memory: memory.id, reverse=True)
        return found[:limit]

    def due(self, round: Round, before: datetime, limit: int) -> list[Memory]:
        found = self._own(
            f"m.{round} < :before", f"m.{round}", limit, {"before": time_text(before)}
        )
        found.sort(key=lambda memory: (getattr(memory, round), memory.id))
        return found[:limit]

    def _own(
        self, condition: str, order: str, limit: int, bound: Mapping[str, Any]
    ) -> list[Memory]:
        rows = [
            row
            for book in self._books
            for row in book.database.rows(
                f"SELECT {COLUMNS} FROM memories m WHERE {condition} AND {IS_LIVE}"
                f" AND m.kin = :kin ORDER BY {order} LIMIT :limit",
                {"kin": self._kin, "limit": limit, **bound},
            )
        ]
        return [memory_of(row) for row in rows]

    def holding(self, words: Collection[str], most: int) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {word: [] for word in words}
        for book in self._books:
            for word, ids in found.items():
                bound = {"words": match_all([word]), "most": most, **self._view(book)}
                if bound["words"]:
                    ids += [id for (id,) in book.database.rows(HOLDING, bound)]
        return found

    def tagged(
        self, tags: Mapping[str, tuple[str, ...]], seen: Mapping[str, str], at: datetime
    ) -> int:
        new = {id: column("auto_tags", some) for id, some in tags.items()}
        changed = 0
        for book in self._books:
            known: dict[str, str | None] = dict(
                book.database.rows(
                    f"SELECT id, auto_tags FROM memories WHERE {SEEN}", self._seen(seen)
                )
            )
            different = [id for id, old in known.items() if old != new[id]]
            if different:
                with book.changing() as db:  # filters find other memories from now on
                    db.executemany(
                        "UPDATE memories SET auto_tags = ? WHERE id = ? AND content_hash = ?",
                        [(new[id], id, seen[id]) for id in different],
                    )
            self._stamp(book, "tagged_at", seen, at)
            changed += len(different)
        return changed

    def linked(self, seen: Mapping[str, str], at: datetime) -> None:
        for book in self._books:
            self._stamp(book, "linked_at", seen, at)

    def _stamp(self, book: Book, round: Round, seen: Mapping[str, str], at: datetime) -> None:
        which = self._seen(seen)
        if book.database.rows(f"SELECT 1 FROM memories WHERE {SEEN} LIMIT 1", which):
            with book.database.writing() as db:
                db.execute(
                    f"UPDATE memories SET {round} = :at WHERE {SEEN}",
                    {**which, "at": time_text(at)},
                )

    def _seen(self, seen: Mapping[str, str]) -> dict[str, str]:
        """What SEEN asks for."""
        return {"kin": self._kin, "seen": json.dumps(dict(seen))}
