"""What the life of memories costs, against reading them; and how important they are thought."""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.corpus import made
from benchmarks.data import data_sets, own_set
from benchmarks.kins import PREFIX
from benchmarks.replay import extracted
from benchmarks.report import Row, Table, Target
from kinmem.models import Category, Chunks, Draft, Fate, Memory, Place, State, Tier
from kinmem.settings.memory_settings import LifeSettings
from kinmem.store.sqlite.store import SqliteStore
from kinmem.upkeep.ageing import tier
from kinmem.upkeep.lifecycle import retain
from kinmem.upkeep.steps import UNLIMITED

MEMORIES, CHANGED, ROUNDS = 10_000, 100, 7
MOST_SCANS = 5.0
"""What a decay run may take, in scans of all columns."""
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
KINDS: Sequence[Category] = ("fact", "preference", "decision", "event", "plan", "context")
OLDEST_DAYS, USED = 300, 0.3
DOCUMENTED = (5, 35, 40, 15, 5)
"""Percent of memories on each of Kore's levels, by its documentation."""

Counts = Counter[str]


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """Two tables."""
    decay, targets = decay_runs(2_000 if short else MEMORIES)
    return [decay, importance_levels(short)], targets


def decay_runs(count: int) -> tuple[Table, list[Target]]:
    """Steps of upkeep turn about with the scan that they are measured against."""
    changed = count * CHANGED // MEMORIES
    with TemporaryDirectory(prefix=PREFIX) as home:
        store = SqliteStore(Path(home), "bench", lambda: NOW)
        store.add(_drafts(count))
        first = [_timed(_retain, store), _timed(_tier, store)]
        later: list[list[float]] = []
        for turn in range(ROUNDS):
            _fade(store, changed, turn)
            later.append([_timed(run, store)[0] for run in (_scan, _retain, _tier, _retain)])
        store.close()
    scan, *runs = (median(column) for column in zip(*later, strict=True))
    named = [
        ("decay run, the first", *first[0]),
        ("tiers, the first", *first[1]),
        ("decay run", runs[0], changed),
        ("tiers", runs[1], changed),
        ("decay run, nothing to do", runs[2], 0),
    ]
    rows: list[Row] = [("scan of all columns", scan * 1000, 1.0, 0)]
    rows += [(name, seconds * 1000, seconds / scan, done) for name, seconds, done in named]
    note = (
        f"{count:,} memories of up to {OLDEST_DAYS} days, three in ten used, without a model. The"
        f" scan fetches SELECT * into tuples. Median of {ROUNDS} rounds, but for the first runs."
    )
    table = Table("The life of memories", ("what", "ms", "in scans", "changed"), rows, note)
    what = f"decay run with {changed} of {count:,} changed / scan"
    return table, [Target(what, runs[0] / scan, MOST_SCANS)]


def _timed(run: Callable[[SqliteStore, Counts], None], store: SqliteStore) -> tuple[float, int]:
    """Seconds, and how many memories were changed."""
    counts = Counts()
    started = time.perf_counter()
    run(store, counts)
    return time.perf_counter() - started, counts.total()


def _scan(store: SqliteStore, counts: Counts) -> None:
    store.files.own.database.rows("SELECT * FROM memories")


def _retain(store: SqliteStore, counts: Counts) -> None:
    retain(store, LifeSettings(), lambda: NOW, UNLIMITED, counts)


def _tier(store: SqliteStore, counts: Counts) -> None:
    tier(store, lambda: NOW, UNLIMITED, counts)


def _fade(store: SqliteStore, count: int, turn: int) -> None:
    """Put fresh memories where the next runs will not leave them: stale, and in no fit tier."""
    fresh = [one for one in store.life.living() if one.state == State.ACTIVE]
    some = [fresh[(turn * count + at) % len(fresh)] for at in range(count)]
    wrong: Mapping[Tier, Tier] = {"hot": "archive", "warm": "archive", "archive": "warm"}
    store.life.to_tiers([Place(one, wrong[one.tier], "benchmark", 0.0) for one in some])
    store.life.to_states([Fate(one, State.STALE, "faded", "benchmark") for one in some])


def _drafts(count: int) -> list[Draft]:
    chance = np.random.default_rng(count)
    ages = chance.uniform(0, OLDEST_DAYS, count)
    notes = made(count, 1, conversation=True).notes
    drafts = []
    for number, (note, age) in enumerate(zip(notes, ages.tolist(), strict=True)):
        at = NOW - timedelta(days=age)
        uses = int(chance.integers(1, 20)) if chance.random() < USED else 0
        memory = Memory(
            id=f"memory-{number:08}",
            kin="bench",
            scope="private",
            content=note["content"],
            content_hash=str(number),
            category=KINDS[number % len(KINDS)],
            importance=float(chance.integers(1, 11)),
            channel="extraction",
            source_context=note["source_context"],
            speaker=note["speaker"],
            recalled_count=uses,
            recalled_at=NOW - timedelta(days=age / 2) if uses else None,
            created_at=at,
            content_updated_at=at,
        )
        drafts.append(Draft(memory, Chunks((memory.content,))))
    return drafts


def importance_levels(short: bool) -> Table:
    """What is learned from conversations without a model, by the level of its importance."""
    rows: list[Row] = [("as Kore documents it", None, *DOCUMENTED)]
    for name, conversations in (own_set() if short else data_sets()).items():
        notes = [note for one in conversations for note in extracted(one)[0]]
        levels = Counter(math.ceil((note.importance or 5) / 2) for note in notes)
        shares = [100 * levels[level] / len(notes) for level in range(1, 6)]
        rows.append((name, len(notes), *(round(share, 1) for share in shares)))
    columns = (
        "conversations",
        "memories",
        "1 low",
        "2 normal",
        "3 important",
        "4 high",
        "5 critical",
    )
    note = "Percent of memories on each level: half of the importance, rounded up."
    return Table("Importance without a model", columns, rows, note)
