"""Writes a damaged file anew: every row that is sound, what the history and backups know of those
that are not, and what is made from rows.

The file that is read is a copy that nobody has open. Triggers are off while rows are copied, so
that they arrive with the sums they had.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from kinmem.models import Memory
from kinmem.models.reports import Earlier, Mended
from kinmem.store.sql import history_rows
from kinmem.store.sql.damage import (
    LINE,
    REWRITTEN,
    SUMMED,
    WIDTH,
    Damage,
    Row,
    link_of,
    rewrite,
    row_sum,
)
from kinmem.store.sql.memory_rows import FIELDS, row_of
from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.driver import SqliteTransaction, connect, is_damage, scratch, untriggered
from kinmem.store.sqlite.mending import (
    CHUNKLESS,
    TABLE_COLUMNS,
    TABLES,
    anew,
    broken_history,
    is_text,
    is_vector,
    key_of,
    sum_of,
    sums_of,
)
from kinmem.store.sqlite.migrating import MIGRATIONS, Migrations

AT_ONCE = 200
Part = TypeVar("Part")
ERASED = "SELECT 1 FROM history WHERE memory_id = ? AND action IN ('erased', 'purged')"
FARTHEST = 40
"""Doublings of the step over rows that cannot be read."""
REMADE = frozenset({"pending", "turn_pending", "turns_to_index", "vector_log"})
"""Tables that are written anew from others."""
OF_VECTORS = ("turn_vectors", "vector_sums")
"""Tables of which nothing is brought back: a vector that is not copied is made again."""


@dataclass(frozen=True)
class _Read:
    """One row of the damaged file."""

    number: int
    values: Mapping[str, Any]
    """By column; texts that are none have replacement characters."""
    is_sound: bool


@dataclass(frozen=True)
class _Gap:
    """Rows that cannot be read: those between two numbers, if the table has numbers."""

    after: int
    before: int
    is_numbered: bool = True


def salvage(copy: Path, target: Path, backups: Earlier, gone: Collection[str] = ()) -> Mended:
    """Write what is sound in a file, or what is the same in one of the `backups` of it, the latest
    first, into a new one. No backup brings back what is about memories that the history says are
    erased, nor about those in `gone`. Raises StoreError if nothing in it can be read."""
    _upgrade(copy)
    SqliteDatabase(target).close()
    with closing(connect(copy)) as damaged, closing(connect(target)) as new, untriggered(new):
        source = SqliteTransaction(damaged, Damage(copy.name))
        found = _Salvage(source, SqliteTransaction(new, Damage(target.name)), _upgraded(backups))
        found.gone.update(gone)
        new.execute("BEGIN IMMEDIATE")
        told = found.run()
        new.execute("COMMIT")
    return told


def _upgraded(backups: Earlier) -> Earlier:
    """Bring each copy to the present schema before it is read, once."""
    done: set[Path] = set()

    def copies() -> Iterator[tuple[str, Path]]:
        for name, path in backups():
            if path not in done:
                done.add(path)
                with suppress(Exception):  # what cannot be upgraded is read as far as it goes
                    _upgrade(path)
            yield name, path

    return copies


def _upgrade(copy: Path) -> None:
    """Bring a copy to the present schema. What else is in it does not matter: it is only read."""
    migrations = Migrations(MIGRATIONS, scratch)
    with closing(connect(copy)) as db:
        migrations.number_again(SqliteTransaction(db, Damage(copy.name)), copy)
        is_older = db.execute("PRAGMA user_version").get < migrations.latest
    if is_older:
        SqliteDatabase(copy).close()


class _Salvage:
    """Copies one file."""

    def __init__(
        self,
        source: SqliteTransaction,
        db: SqliteTransaction,
        backups: Earlier,
    ) -> None:
        self._source = source
        self._db = db
        self._backups = backups
        self.gone: set[str] = set()
        self._lacking: list[tuple[str, _Read]] = []
        self._gaps: list[tuple[str, _Gap]] = []
        self._brought: list[str] = []
        self._lost: list[str] = []

    def run(self) -> Mended:
        before = self._count()
        tables = [table for (table,) in self._db.rows(TABLES) if table not in REMADE]
        for table in tables:
            self._copy(table)
        for table, number in self._source.rows("SELECT name, seq FROM sqlite_sequence"):
            self._db.reserve(table, number)
        self._fill_gaps(FIRST)
        self._bring_back(FIRST)
        self._bring_back_unseen()
        rest = [table for table in tables if table not in FIRST + OF_VECTORS]
        self._fill_gaps(rest)
        self._bring_back(rest)
        self._add_chunks()
        self._close_chain()
        self._derived()
        return Mended(before, self._count(), tuple(self._brought), tuple(self._lost))

    def _count(self) -> int:
        for db in (self._db, self._source):
            with suppress(Exception):
                if count := int(db.value("SELECT count(*) FROM memories")):
                    return count
        return 0

    # copying

    def _copy(self, table: str) -> None:
        columns: list[Row] = self._db.rows(TABLE_COLUMNS, (table,))
        self._db.run(f"DELETE FROM {table}")
        for row in _rows(self._source, table, columns):
            if isinstance(row, _Gap):
                self._gaps.append((table, row))
            elif row.is_sound and _is_as_written(table, row.values):
                self._put(table, row.values)
            else:
                self._lacking.append((table, row))

    def _put(self, table: str, values: Mapping[str, Any]) -> None:
        names, places = ", ".join(values), ", ".join("?" * len(values))
        sql = f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({places})"
        self._db.run(sql, list(values.values()))

    # what is damaged

    def _bring_back(self, tables: Sequence[str]) -> None:
        """Bring single rows of these tables back, in this order."""
        by_history: dict[str, Memory] | None = None
        for table, row in _in_order(self._lacking, tables):
            if table == "memories" and by_history is None:
                by_history = self._remembered()
            named = f"{table} {_key(self._db, table, row.values)}"
            memory = self._of_history(row, by_history or {}) if table == "memories" else None
            if memory is not None:
                stored = dict(zip(FIELDS, row_of(memory), strict=True))
                self._put_summed("memories", {"rowid": row.values["rowid"], **stored})
                self._brought.append(f"{named}: from the history")
            elif backup := self._of_backup(table, row):
                self._brought.append(f"{named}: from {backup}")
            elif table == "chunks" and row.values.get("text") is None:
                self._put_summed(table, row.values)
                self._brought.append(f"{named}: from its memory")
            elif table == "history" and row.is_sound:
                self._put(table, {**row.values, "seal": _resealed(row.values)})
                self._brought.append(f"{named}: as it stands, without proof")
            else:
                self._lost.append(f"{named}: nothing else holds it")

    def _fill_gaps(self, tables: Sequence[str]) -> None:
        """Put what the latest backup has in place of pages that cannot be read. What it does not
        have nobody can name, apart from memories: the history knows them."""
        for table, gap in _in_order(self._gaps, tables):
            columns = self._db.rows(TABLE_COLUMNS, (table,))
            filled, source = 0, ""
            for backup, path in self._backups():
                with suppress(Exception), closing(connect(path)) as other:
                    db = SqliteTransaction(other, Damage(path.name))
                    bound = (gap.after, gap.before)
                    rest = "WHERE rowid > ? AND rowid < ?" if gap.is_numbered else ""
                    for row in _selected(db, table, columns, rest, bound if rest else ()):
                        if row.is_sound and _is_as_written(table, row.values):
                            filled += self._put_missing(table, row.values)
                    source = backup
                    break
            if filled:
                self._brought.append(f"{table}, {filled:,} rows of a lost page: from {source}")
            else:
                self._lost.append(f"{table}: a page, which no backup has")

    def _put_missing(self, table: str, values: Mapping[str, Any]) -> bool:
        keys = key_of(self._db, table)
        where = " AND ".join(f"{key} = ?" for key in keys)
        if self._db.rows(f"SELECT 1 FROM {table} WHERE {where}", [values[key] for key in keys]):
            return False
        return self._put_of_backup(table, values)

    def _put_of_backup(self, table: str, values: Mapping[str, Any]) -> bool:
        """Put a row that a backup has, unless it is about what was erased since; of a line of the
        history stays that there was one."""
        if table == "history" and self._is_gone(values["memory_id"]):
            blank = {**values, **dict.fromkeys(("before", "after", "reason"))}
            values = {**blank, "seal": _resealed(blank)}
        elif any(map(self._is_gone, _named_in(values))) or self._has_no_memory(table, values):
            return False
        self._put(table, values)
        return True

    def _is_gone(self, id: Any) -> bool:
        return isinstance(id, str) and (id in self.gone or bool(self._db.rows(ERASED, (id,))))

    def _has_no_memory(self, table: str, values: Mapping[str, Any]) -> bool:
        number = values.get("memory")
        sql = "SELECT 1 FROM memories WHERE rowid = ?"
        return isinstance(number, int) and not self._db.rows(sql, (number,))

    def _bring_back_unseen(self) -> None:
        """Bring back the memories that the history knows and of which no row was left, or only an
        older one in a backup."""
        if not any(table == "memories" for table, _ in self._gaps):
            return
        here: dict[str, int] = dict(self._db.rows("SELECT id, version FROM memories"))
        for id, memory in self._remembered().items():
            if here.get(id, 0) >= memory.version:
                continue
            stored = dict(zip(FIELDS, row_of(memory), strict=True))
            row = self._db.value("SELECT rowid FROM memories WHERE id = ?", (id,))
            if row is None:
                [row] = self._db.numbers("memories", 1)
            self._put_summed("memories", {"rowid": row, **stored})
            self._brought.append(f"memories {id}: from the history")

    def _add_chunks(self) -> None:
        """Let each memory of which no chunk was left be found by its content."""
        for (row,) in self._db.rows(f"SELECT rowid FROM memories {CHUNKLESS} ORDER BY rowid"):
            [chunk] = self._db.numbers("chunks", 1)
            self._put_summed("chunks", {"id": chunk, "memory": row, "position": 0})

    def _remembered(self) -> dict[str, Memory]:
        """Return the memories that the history tells as a whole, by id."""
        rows = self._db.rows(f"SELECT seq, {history_rows.COLUMNS} FROM history ORDER BY write, seq")
        erased = {row[3] for row in rows if row[4] in ("erased", "purged")}
        told = history_rows.replayed(history_rows.events_of(rows, self._db.damage))
        return {id: memory for id, memory in told.items() if id not in erased}

    def _of_history(self, row: _Read, known: Mapping[str, Memory]) -> Memory | None:
        memory = known.get(str(row.values.get("id")))
        if memory is None:  # the id may be what is damaged
            here = {id for (id,) in self._db.rows("SELECT id FROM memories")}
            alike = [
                one
                for id, one in known.items()
                if id not in here and one.content_hash == row.values.get("content_hash")
            ]
            memory = alike[0] if len(alike) == 1 else None
        if memory is None:
            return None
        version = row.values.get("version")
        return memory if not isinstance(version, int) or version <= memory.version else None

    def _put_summed(self, table: str, values: Mapping[str, Any]) -> None:
        """Put a row that is right now, with its sum."""
        self._put(table, values)
        keys = key_of(self._db, table)
        where = " AND ".join(f"{key} = ?" for key in keys)
        sql = f"UPDATE {table} SET sum = {sum_of(self._db, table)} WHERE {where}"
        self._db.run(sql, [values[key] for key in keys])

    def _of_backup(self, table: str, row: _Read) -> str | None:
        """Put the row with this key that the latest backup has; returns which backup that was."""
        keys = key_of(self._db, table)
        for backup, path in self._backups():
            with suppress(Exception), closing(connect(path)) as other:
                db = SqliteTransaction(other, Damage(path.name))
                columns = db.rows(TABLE_COLUMNS, (table,))
                where = " AND ".join(f"{key} = ?" for key in keys)
                bound = [row.values[key] for key in keys]
                for found in _selected(db, table, columns, f"WHERE {where}", bound):
                    if found.is_sound and _is_as_written(table, found.values):
                        return backup if self._put_of_backup(table, found.values) else None
        return None

    def _close_chain(self) -> None:
        """Let the chain of the history go on over lines that are lost."""
        lines = self._db.rows("SELECT seq, seal FROM history ORDER BY seq")
        known = {seq for seq, _ in lines}
        for table, row in self._lacking:
            seq, seal = row.values.get("seq"), row.values.get("seal")
            if table == "history" and seq not in known and isinstance(seal, bytes):
                sql = "INSERT OR IGNORE INTO erased_lines (last, count, link) VALUES (?, 1, ?)"
                self._db.run(sql, (seq, link_of(seal)))
        for _, number, _ in list(broken_history(self._db)):
            sql = "UPDATE history SET seal = substr(seal, 1, 48) || ? WHERE seq = ?"
            self._db.run(sql, (REWRITTEN, number))

    # what is made from rows

    def _derived(self) -> None:
        db = self._db
        for table in ("words", "turn_words"):
            anew(db, table)
        db.run(
            """
            INSERT INTO turn_pending SELECT e.id, c.id FROM embedders e CROSS JOIN turn_chunks c
            WHERE NOT EXISTS (SELECT 1 FROM turn_vectors WHERE chunk = c.id AND embedder = e.id)
            """
        )
        for number, dimension in db.rows("SELECT id, dimension FROM embedders"):
            self._vectors(number, dimension)

    def _vectors(self, number: int, dimension: int) -> None:
        """Copy the vectors that are some; the others are made again."""
        table = f"vectors_{number:d}"
        made = self._source.value("SELECT sql FROM sqlite_schema WHERE name = ?", (table,))
        self._db.run(made)
        chunks = {id for (id,) in self._db.rows("SELECT id FROM chunks")}
        found: list[Row] = []
        with suppress(Exception):
            found = self._source.rows(f"SELECT chunk, embedding FROM {table}")
        sums = sums_of(self._db, number)
        here = (row for row in found if row[0] in chunks)
        whole = [row for row in here if is_vector(row[1], dimension, sums.get(row[0]))]
        self._db.run_each(f"INSERT INTO {table} (chunk, embedding) VALUES (?, ?)", whole)
        rest = f"embedder = ? AND chunk NOT IN (SELECT chunk FROM {table})"
        self._db.run(f"DELETE FROM vector_sums WHERE {rest}", (number,))
        self._db.run(
            "INSERT INTO pending SELECT ?, id FROM chunks"
            f" WHERE id NOT IN (SELECT chunk FROM {table})",
            (number,),
        )


def _rows(db: SqliteTransaction, table: str, columns: Sequence[Row]) -> Iterator["_Read | _Gap"]:
    """Yield the rows of a table in order, and the gaps where pages cannot be read."""
    if db.value("SELECT wr FROM pragma_table_list WHERE name = ?", (table,)):
        found, is_whole = _readable(db, table, columns, "", ())
        yield from found
        if not is_whole:
            yield _Gap(0, 0, is_numbered=False)
        return
    last, count, step = -(2**62), AT_ONCE, 0
    gap: int | None = None
    while step < FARTHEST:
        rest = f"WHERE rowid > ? ORDER BY rowid LIMIT {count}"
        found, is_whole = _readable(db, table, columns, rest, (last,))
        if found and gap is not None:
            yield _Gap(gap, found[0].number)
            gap, step, count = None, 0, AT_ONCE
        yield from found
        last = found[-1].number if found else last
        if is_whole and len(found) < count:
            break
        if is_whole or (count > 1 and not step):
            count = AT_ONCE if is_whole else 1
            continue
        gap = last if gap is None else gap
        last, step = max(last, 0) + 2**step, step + 1
    if gap is not None:
        yield _Gap(gap, 2**62)


def _readable(
    db: SqliteTransaction, table: str, columns: Sequence[Row], rest: str, bound: Sequence[Any]
) -> tuple[list[_Read], bool]:
    """Return the rows that can be read, and whether these are all."""
    found: list[_Read] = []
    try:
        found.extend(_selected(db, table, columns, rest, bound))
    except Exception as error:
        if not is_damage(error):
            raise
        return found, False
    return found, True


def _selected(
    db: SqliteTransaction, table: str, columns: Sequence[Row], rest: str, bound: Sequence[Any]
) -> Iterator[_Read]:
    """Yield rows with their texts read as bytes."""
    has_number = not db.value("SELECT wr FROM pragma_table_list WHERE name = ?", (table,))
    read = ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END, typeof({name})"
        for name, _ in columns
    )
    number = "rowid" if has_number else "0"
    for row in db.rows(f"SELECT {number}, {read} FROM {table} {rest}", bound):
        values: dict[str, Any] = {}
        is_sound = True
        for (name, type), value, stored in zip(columns, row[1::2], row[2::2], strict=True):
            values[name] = value
            if stored == "text" or (stored == "blob" and type == "TEXT"):
                values[name] = value.decode(errors="replace")
                is_sound = is_sound and stored == "text" and is_text(value)
        yield _Read(row[0], values, is_sound)


def _is_as_written(table: str, values: Mapping[str, Any]) -> bool:
    """Return whether a row has its sum, and its times and objects can be read."""
    if table in SUMMED:
        return bool(values["sum"] == row_sum(*(values[name] for name in SUMMED[table])))
    if table == "history":
        seal = values["seal"] or b""
        return row_sum(seal[:WIDTH], *(values[name] for name in LINE)) == seal[WIDTH : 2 * WIDTH]
    try:
        for name, value in values.items():
            if value and (name == "at" or name.endswith("_at")):
                datetime.fromisoformat(value)
            elif value and name in OBJECTS:
                json.loads(value)
    except (ValueError, TypeError):
        return False
    return True


OBJECTS = ("evidence", "counts", "seconds", "problems", "memories", "ids")
"""Columns of JSON in tables without sums."""


def _named_in(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a row says that may be the id of a memory: a value, or one in a list."""
    for name, value in values.items():
        if name in ABOUT:
            yield value
        elif name in OF_MANY and value:
            yield from json.loads(value)


ABOUT = ("id", "memory_id", "memory", "child", "parent", "newer", "older", "source", "target")
OF_MANY = ("memories", "ids")
FIRST = ("history", "memories")
"""Brought back before all others: the one says what was erased, the other what the rest belongs
to."""


def _in_order(damaged: Sequence[tuple[str, Part]], tables: Sequence[str]) -> list[tuple[str, Part]]:
    """Return what is damaged of these tables, in their order."""
    return [one for table in tables for one in damaged if one[0] == table]


def _resealed(values: Mapping[str, Any]) -> bytes:
    seal = values["seal"] if isinstance(values["seal"], bytes) else b""
    return rewrite(seal.ljust(3 * WIDTH, b"\0"), *(values[name] for name in LINE))


def _key(db: SqliteTransaction, table: str, values: Mapping[str, Any]) -> str:
    if table == "memories":
        return str(values.get("id"))
    return " ".join(str(values.get(key)) for key in key_of(db, table))
