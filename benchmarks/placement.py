"""A simulation: Kins on two database servers by the hash of their names; a third server, one lost.

`python -m benchmarks placement`. What places them is not part of kinmem: each call opens a Kin with
the KINMEM_STORE of its server, as a router in front of several groups of workers would.
"""

import hashlib
import io
import logging
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from benchmarks.corpus import made
from benchmarks.report import Table, Target
from benchmarks.workers import database
from kinmem.errors import StoreError
from kinmem.service import Service
from kinmem.settings import load
from kinmem.wiring.open_memory import open_service

KINS, SHORT_KINS, MEMORIES, BIG = 40, 6, 20, 1_000


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """Two tables: what a Kin takes, and what happens to Kins on servers."""
    with ExitStack() as stack:
        servers = [stack.enter_context(database()) for _ in range(3)]
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kinmem-place-")))
        sizes = size_of_a_kin(home, servers[2], 100 if short else BIG)
        table, targets = on_two(home, servers, SHORT_KINS if short else KINS)
        return [sizes, table], targets


@contextmanager
def opened(home: Path, server: Any, kin: str, *, resident: bool = False) -> Iterator[Service]:
    settings = load({"KINMEM_HOME": home, "KINMEM_KIN": kin, "KINMEM_STORE": server.get_uri()})
    with open_service(settings, resident=resident) as service:
        yield service


def size_of_a_kin(home: Path, server: Any, count: int) -> Table:
    """Bytes in the database for the memories of one Kin, with their vectors."""
    with opened(home, server, "first"):
        before, _ = _sizes(server)
    with opened(home, server, "big", resident=True) as service:
        service.memorize_many(made(count, 1).notes)
        service.settle()
    after, tables = _sizes(server)
    rows: list[tuple[str, int, float]] = [("all", count, (after - before) / count / 1000)]
    rows += [(name, count, size / count / 1000) for name, size in tables[:6]]
    return Table("KB for a memory", ("table with its indexes", "memories", "KB"), rows)


def _sizes(server: Any) -> tuple[int, list[tuple[str, int]]]:
    with psycopg.connect(server.get_uri(), autocommit=True) as admin:
        admin.execute("VACUUM ANALYZE")
        [(size,)] = admin.execute("SELECT pg_database_size(current_database())").fetchall()
        tables = admin.execute(
            "SELECT relname::text, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'kinmem'::regnamespace ORDER BY 2 DESC"
        ).fetchall()
    return int(size), tables


def placed(kin: str, servers: list[Any]) -> Any:
    """The server of a Kin: each has a number for it by hash, and the highest has it. One more
    server takes its share from all others, and nothing moves between those."""
    return max(servers, key=lambda one: hashlib.sha256(f"{kin} {one.pgdata}".encode()).digest())


def on_two(home: Path, servers: list[Any], count: int) -> tuple[Table, list[Target]]:
    """Fill two servers, add a third, then lose the first and bring it back."""
    two, notes = servers[:2], made(MEMORIES * count, 2).notes
    kins = [f"kin{number}" for number in range(count)]
    where = {kin: placed(kin, two) for kin in kins}
    for number, kin in enumerate(kins):
        with opened(home, where[kin], kin) as service:
            service.memorize_many(notes[number * MEMORIES : (number + 1) * MEMORIES])
    moving = [kin for kin in kins if placed(kin, servers) is not where[kin]]
    took, differing = [], 0
    for kin in moving:
        began = time.monotonic()
        differing += not moved(home, kin, where[kin], placed(kin, servers))
        took.append(time.monotonic() - began)
        where[kin] = placed(kin, servers)
    lost, alive, wrongly = _without_first(home, servers, where)
    back = sum(_remembers(home, kin, where[kin]) for kin in kins)
    on_first = sum(server is servers[0] for server in where.values())
    rows = [
        ("Kins on the two servers", f"{[list(where.values()).count(one) for one in two]} after"),
        ("Kins that a third server takes over", len(moving)),
        ("seconds to move one (median)", round(median(took), 2) if took else 0),
        ("exports that differ after the move", differing),
        ("without the first server: Kins that answer", alive),
        ("without the first server: Kins that say storage_busy", lost),
        ("without the first server: answered otherwise", wrongly),
        ("Kins with all their memories once it is back", back),
    ]
    targets = [
        Target("exports that differ", differing, 0),
        Target("Kins that answer without the first server", alive, count - on_first, False),
        Target("Kins with all their memories", back, count, False),
    ]
    return Table(f"{count} Kins by hash", ("what", "measured"), rows), targets


def moved(home: Path, kin: str, source: Any, target: Any) -> bool:
    """Copy a Kin to another server; whether its export there is the same byte by byte. Only then
    its place may change; until then nothing may be written to it."""
    with opened(home, source, kin) as here, opened(home, target, kin) as there:
        before, after = io.BytesIO(), io.BytesIO()
        here.export(before)
        file = home / f"{kin}.jsonl"
        file.write_bytes(before.getvalue())
        there.import_(file)
        there.export(after)
        file.unlink()
    return before.getvalue() == after.getvalue()


def _without_first(home: Path, servers: list[Any], where: dict[str, Any]) -> tuple[int, int, int]:
    """How many Kins are told to come again, answer, and anything else, while a server is away."""
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # it is away, as everybody knows
    servers[0].stop()
    lost = alive = wrongly = 0
    try:
        for kin, server in where.items():
            try:
                alive += _remembers(home, kin, server)
            except StoreError as error:
                lost += error.code == "storage_busy"
                wrongly += error.code != "storage_busy"
    finally:
        servers[0].ensure_postgres_running()
    return lost, alive, wrongly


def _remembers(home: Path, kin: str, server: Any) -> bool:
    with opened(home, server, kin) as service:
        return sum(service.store.counts()["state"].values()) == MEMORIES
