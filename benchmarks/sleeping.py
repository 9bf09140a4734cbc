"""What a sleep cycle costs, next to reading all memories once."""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import apsw

from benchmarks.corpus import made
from benchmarks.doubles import KnownVectors
from benchmarks.kins import PREFIX
from benchmarks.report import Table, Target
from kinmem.models import Filters, Vector
from kinmem.models.turns import Run
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.upkeep.steps import NAMES

MS = 1000.0
CHANGED = 100
MOST_SCANS, MOST_SCANS_OF_DECAY = 20.0, 5.0
MOST_CYCLES = 200
"""Until a store that has never slept is done with: some steps take some hundred memories a run."""
ROUNDS = 5
SEEN = ("tag.seen", "link.seen", "consolidate.read", "summaries.summaries")
VARIABLES = {"KINMEM_KIN": "bench", "KINMEM_COMPRESS": "on", "KINMEM_SLEEP_EVERY": 0}


class CountingStore(SqliteStore):
    """Counts the cosines that it is asked for."""

    pairs = 0

    def nearest_each(
        self, vectors: Sequence[Vector], embedder: str, limit: int, filters: Filters
    ) -> list[list[tuple[str, float]]]:
        """See Store."""
        found = super().nearest_each(vectors, embedder, limit, filters)
        self.pairs += sum(map(len, found))
        return found


class Ahead:
    """A clock that can be moved."""

    def __init__(self) -> None:
        self._by = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._by

    def advance(self, **time: float) -> None:
        self._by += timedelta(**time)


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """Per step the first cycle, catching up, and a cycle a day after 100 memories were changed."""
    count = 2_000 if short else 10_000
    corpus = made(count + ROUNDS * CHANGED, 1)
    texts = [note["content"] for note in corpus.notes]
    clock, double = Ahead(), KnownVectors(texts, corpus.vectors[: len(texts)])
    with ExitStack() as opened:
        home = opened.enter_context(TemporaryDirectory(prefix=PREFIX))
        settings = load({"KINMEM_HOME": home, **VARIABLES}, environment={})
        store = CountingStore(settings.home, settings.general.kin, clock)
        kin = opened.enter_context(Service(store, [double], settings, clock=clock))
        kin.memorize_many(corpus.notes[:count])
        kin.settle()
        clock.advance(days=10)
        first = kin.sleep()
        later = _caught_up(kin, clock)
        ids = _ids(kin)
        runs, scans, compared = [], [], []
        for number in range(ROUNDS):
            clock.advance(hours=25)
            _change(kin, ids, texts[count + number * CHANGED :][:CHANGED], number)
            scans.append(_scan(kin))
            store.pairs = 0
            runs.append(kin.sleep())
            compared.append(store.pairs)
        decay = median(_took(kin.sleep(["retain"])) for _ in range(ROUNDS))
        second = median(_took(kin.sleep()) for _ in range(ROUNDS))
    return _told(count, first, later, runs, median(scans), median(compared), decay, second)


def _told(
    count: int,
    first: Run,
    later: Sequence[Run],
    runs: Sequence[Run],
    scan: float,
    compared: float,
    decay: float,
    second: float,
) -> tuple[list[Table], list[Target]]:
    rows: list[tuple[Any, ...]] = [
        (
            name,
            first.seconds.get(name, 0.0) * MS,
            sum(run.seconds.get(name, 0.0) for run in later) * MS,
            median(run.seconds.get(name, 0.0) for run in runs) * MS,
            median(run.seconds.get(name, 0.0) for run in runs) / scan,
            _counts(runs[-1], name),
        )
        for name in NAMES
    ]
    whole = median(map(_took, runs))
    total = sum(map(_took, later)) * MS
    rows.append(("**all**", _took(first) * MS, total, whole * MS, whole / scan, ""))
    rows.append(("nothing changed", None, None, second * MS, second / scan, ""))
    rows.append(("decay run (retain)", None, None, decay * MS, decay / scan, ""))
    note = (
        f"{count:,} memories with vectors, no model, KINMEM_COMPRESS on. A scan reads all columns"
        f" into Python: {scan * MS:.1f} ms. Then {CHANGED} memories are rewritten and a day goes by"
        f" (what is done daily is due), {ROUNDS} times over, medians. Catching up: {len(later)}"
        f" more cycles until nothing was left. Consolidation and links looked at {compared:,.0f}"
        f" cosines of the vector index in a cycle; there are {count * (count - 1) // 2:,} pairs."
    )
    columns = ("step", "first, ms", "catching up, ms", "100 changed, ms", "scans", "counted")
    table = Table("Sleep cycle", columns, rows, note)
    return [table], [
        Target("sleep cycle, 100 changed / scan", whole / scan, MOST_SCANS),
        Target("decay run / scan", decay / scan, MOST_SCANS_OF_DECAY),
        Target("cosines compared / pairs", compared / (count * (count - 1) / 2), 0.01),
    ]


def _took(run: Run) -> float:
    return sum(run.seconds.values())


def _counts(run: Run, step: str) -> str:
    return ", ".join(f"{name} {count}" for name, count in run.counted(step).items())


def _caught_up(kin: Service, clock: Ahead) -> list[Run]:
    """Cycles, an hour apart, until the steps that take some memories a run have seen all."""
    runs: list[Run] = []
    while len(runs) < MOST_CYCLES:
        clock.advance(hours=1)
        runs.append(kin.sleep())
        done = Counter(runs[-1].counts)
        if not any(done[name] for name in SEEN):
            return runs
    return runs


def _ids(kin: Service) -> list[str]:
    found = []
    cursor = None
    while True:
        page = kin.list_memories(limit=200, cursor=cursor)
        found += [memory.id for memory in page.memories]
        cursor = page.next_cursor
        if cursor is None:
            return found


def _change(kin: Service, ids: Sequence[str], texts: Sequence[str], number: int) -> None:
    """Rewrite as many memories, spread over all of them."""
    apart = len(ids) // len(texts)
    for at, text in enumerate(texts):
        kin.update_memory(ids[(at * apart + number) % len(ids)], content=text)


def _scan(kin: Service) -> float:
    """Seconds that reading all columns of the own file takes, as tuples."""
    path = Path(kin.settings.home) / "kins" / f"{kin.kin}.db"
    code = apsw.SQLITE_OPEN_READONLY
    took = []
    with closing(apsw.Connection(str(path), flags=code)) as db:
        for _ in range(5):
            started = time.perf_counter()
            db.execute("SELECT * FROM memories").fetchall()
            took.append(time.perf_counter() - started)
    return median(took)
