"""Which memories are due for the steps that see to every memory again and again."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from kinmem.models import Memory
from kinmem.store.rounds import Round
from kinmem.store.sqlite.book import Book
from kinmem.store.sqlite.filters import IS_LIVE
from kinmem.store.sqlite.rows import COLUMNS, column, memory_of, time_text


class SqliteRounds:
    """See Rounds."""

    def __init__(self, books: Iterable[Book], kin: str) -> None:
        self._books = tuple(books)
        self._kin = kin

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

    def tagged(self, tags: Mapping[str, tuple[str, ...]], at: datetime) -> int:
        new = {id: column("auto_tags", some) for id, some in tags.items()}
        changed = 0
        for book in self._books:
            known: dict[str, str | None] = dict(
                book.database.rows(
                    "SELECT id, auto_tags FROM memories WHERE kin = :kin"
                    " AND id IN (SELECT value FROM json_each(:ids))",
                    {"kin": self._kin, "ids": json.dumps(list(new))},
                )
            )
            different = [id for id, old in known.items() if old != new[id]]
            if different:
                with book.changing() as db:  # filters find other memories from now on
                    db.executemany(
                        "UPDATE memories SET auto_tags = ? WHERE id = ?",
                        [(new[id], id) for id in different],
                    )
            self._stamp(book, "tagged_at", known, at)
            changed += len(different)
        return changed

    def linked(self, ids: Collection[str], at: datetime) -> None:
        for book in self._books:
            self._stamp(book, "linked_at", ids, at)

    def _stamp(self, book: Book, round: Round, ids: Collection[str], at: datetime) -> None:
        which = {"ids": json.dumps(list(ids)), "kin": self._kin, "at": time_text(at)}
        mine = "kin = :kin AND id IN (SELECT value FROM json_each(:ids))"
        if book.database.rows(f"SELECT 1 FROM memories WHERE {mine} LIMIT 1", which):
            with book.database.writing() as db:
                db.execute(f"UPDATE memories SET {round} = :at WHERE {mine}", which)
