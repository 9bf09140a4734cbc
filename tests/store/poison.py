"""A home with something in every table, what can be damaged in it, and all that is done with it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.driver import connect
from kinmem.wiring.open_memory import open_service
from tests.conftest import MovableClock

PEOPLE = ("Dora", "Emil", "Frida", "Gustav", "Hanna")
FACTS = (
    "{} lives in Bremen and works at Nokia",
    "{} is allergic to peanuts",
    "The first dog of {} was called Rex",
    "{} moved the meeting to 14:30 on 3 May 2026",
    "{} prefers tea to coffee in the morning",
    "The budget of {} is 4,500 euros",
)
TEXT = "The heating is serviced each spring by the same company from Bremen. " * 30
UNDECODABLE, NO_JSON, BYTES = b"a\xff\xfeb", b'{"a": [1,', None
"""Kinds of damage: text that is no UTF-8, text that is no JSON and no date, bytes for text."""
PAGE = 4096


def open_on(home: Path, clock: MovableClock, kin: str = "ana", **settings: object) -> Service:
    told = {"KINMEM_KIN": kin, "KINMEM_HOME": home, "KINMEM_JUDGE": "off", **settings}
    return open_service(load(told), clock=clock, resident=False)


def full_home(home: Path, clock: MovableClock) -> None:
    """Two Kins' memories with tags, links, entities, a document, turns, summaries and history."""
    with closing(open_on(home, clock, "ben")) as ben:
        ben.memorize("Ben says the door is locked at 21:15", scope="shared")
    with closing(open_on(home, clock)) as ana:
        for fact in FACTS:
            for name in PEOPLE:
                ana.memorize(fact.format(name), subject=name, tags=["people", name.lower()])
                clock.advance(minutes=1)
        shared = ana.memorize("The shared kitchen is cleaned on Mondays", scope="shared")
        ana.update_memory(str(shared.id), content="The shared kitchen is cleaned on Tuesdays")
        gone = ana.memorize("Something that Emil wants forgotten")
        ana.forget(str(gone.id), erase=True)
        ana.memorize("# Guide\n\n" + "\n\n".join(f"## Part {n}\n\n{TEXT}" for n in range(40)))
        for n in range(6):
            said = f"I am {PEOPLE[n % 5]} and my new flat is in street {n}"
            ana.record_turn("s1", said, "I will remember that.", turn=f"t{n}")
        ana.compacted("s1")
        ana.sleep()
        ana.settle()


@dataclass(frozen=True)
class Spot:
    """One value in a file."""

    file: str
    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.file}-{self.table}-{self.column}"


def spots(home: Path, file: str = "kins/ana.db") -> Iterator[Spot]:
    """All columns of text in tables that hold something."""
    with closing(connect(home / file)) as db:
        tables = db.execute(
            "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"
            " AND name NOT LIKE 'sqlite_%' ORDER BY name"
        ).fetchall()
        for (table,) in tables:
            if not db.execute(f"SELECT count(*) FROM {table}").get:
                continue
            for name, type in db.execute("SELECT name, type FROM pragma_table_info(?)", (table,)):
                if type == "TEXT":
                    yield Spot(file, table, name)


def poison(
    home: Path, spot: Spot, value: bytes | None, *, row: str | None = None, like: str = "%"
) -> bool:
    """Damage the value in one row, as a flipped bit in its page would: without any trigger. That is
    the row with this id, or the middle one of those whose value is `like` this."""
    with closing(connect(home / spot.file)) as db:
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        column, table = spot.column, spot.table
        keys = [name for (name,) in db.execute(
            "SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", (table,)
        )] or ["rowid"]  # fmt: skip
        named = ", ".join(keys)
        rows = db.execute(
            f"SELECT {named} FROM {table} WHERE {column} LIKE ? AND (? IS NULL OR id = ?)"
            if table == "memories"
            else f"SELECT {named} FROM {table} WHERE {column} LIKE ? AND ? IS ?",
            (like, row, row),
        ).fetchall()
        if not rows:
            return False
        key = rows[len(rows) // 2]
        new = f"CAST({column} AS BLOB)" if value is None else "CAST(? AS TEXT)"
        bound = () if value is None else (value,)
        where = " AND ".join(f"{key} = ?" for key in keys)
        db.execute(f"UPDATE {table} SET {column} = {new} WHERE {where}", (*bound, *key))
        return True


def uses(service: Service, clock: MovableClock) -> dict[str, Callable[[], Any]]:
    """What people, agents and upkeep do, by name."""

    def memorize() -> Any:
        return service.memorize("The new bicycle of Frida is red", subject="Frida")

    def export() -> Any:
        return list(service.store.transfer.records())

    def by_subject() -> Any:
        return service.recall("where does she live?", subject="Dora")

    return {
        "recall": lambda: service.recall("who is allergic to peanuts?"),
        "recall elsewhere": lambda: service.recall("when is the door locked?"),
        "recall by subject": by_subject,
        "list": lambda: service.list_memories(limit=100),
        "review": service.review_memories,
        "memorize": memorize,
        "record_turn": lambda: service.record_turn("s2", "Emil has a cat called Miezi", "Nice."),
        "opening": lambda: service.opening("s3"),
        "context": lambda: service.context("s1"),
        "sessions": service.sessions,
        "stats": service.stats,
        "subjects": service.subjects,
        "graph": service.graph,
        "timeline": lambda: service.timeline("Dora"),
        "explore": lambda: service.explore("Dora"),
        "history": service.history,
        "export": export,
        "sleep": service.sleep,
    }


def failures(home: Path, clock: MovableClock) -> list[str]:
    """What does not go on in a home, in words."""
    found = []
    with closing(open_on(home, clock)) as service:
        for name, use in uses(service, clock).items():
            try:
                done = use()
            except Exception as error:
                found.append(f"{name}: {type(error).__name__}: {error}")
                continue
            if name == "sleep" and done.problems:
                found.append(f"sleep: {done.problems}")
    return found


def copied(home: Path, target: Path) -> Path:
    shutil.copytree(home, target)
    return target


def pages(home: Path, file: str, like: str) -> list[int]:
    """The pages of the tables and indexes with such names."""
    with closing(connect(home / file)) as db:
        sql = "SELECT pageno FROM dbstat WHERE name GLOB ? ORDER BY pageno"
        return [page for (page,) in db.execute(sql, (like,))]


def in_use(home: Path, file: str) -> list[tuple[int, list[int]]]:
    """Each page of a table or an index, with the bytes of it that hold something."""
    raw = (home / file).read_bytes()
    with closing(connect(home / file)) as db:
        found = db.execute("SELECT pageno, pagetype, unused FROM dbstat ORDER BY pageno").fetchall()
    return [
        (page, list(range(PAGE - unused)))
        if kind == "overflow"
        else (page, sorted(_held(raw[(page - 1) * PAGE : page * PAGE], 100 * (page == 1))))
        for page, kind, unused in found
    ]


def _held(page: bytes, head: int) -> set[int]:
    """The bytes of a page of a tree (sqlite.org/fileformat2.html): its head, the places of its
    cells, the cells, and the heads of the gaps between them."""
    kind, gap, count = page[head], _number(page, head + 1), _number(page, head + 3)
    places = head + (12 if kind in (2, 5) else 8)
    held = set(range(places + 2 * count))
    for at in range(places, places + 2 * count, 2):
        start = _number(page, at)
        held.update(range(start, max(start + 4, _end(page, start, kind))))
    while gap:
        held.update(range(gap, gap + 4))
        gap = _number(page, gap)
    return held


def _end(page: bytes, at: int, kind: int) -> int:
    """Where a cell ends: of a table inside (5) or at a leaf (13), of an index (2, 10)."""
    at += 4 * (kind in (2, 5))
    length, at = _varint(page, at)
    if kind == 5:
        return at
    if kind == 13:
        _, at = _varint(page, at)
    most = PAGE - 35 if kind == 13 else (PAGE - 12) * 64 // 255 - 23
    if length <= most:
        return at + length
    least = (PAGE - 12) * 32 // 255 - 23
    here = least + (length - least) % (PAGE - 4)
    return at + (here if here <= most else least) + 4


def _number(page: bytes, at: int) -> int:
    return int.from_bytes(page[at : at + 2], "big")


def _varint(page: bytes, at: int) -> tuple[int, int]:
    value = 0
    for byte in page[at : at + 8]:
        at, value = at + 1, value << 7 | byte & 127
        if byte < 128:
            return value, at
    return value << 8 | page[at], at + 1


def flip(home: Path, file: str, page: int, byte: int, bit: int) -> None:
    """Flip one bit of a page, as a disk does."""
    with (home / file).open("r+b") as raw:
        raw.seek((page - 1) * PAGE + byte)
        [was] = raw.read(1)
        raw.seek((page - 1) * PAGE + byte)
        raw.write(bytes([was ^ (1 << bit)]))
