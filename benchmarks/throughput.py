"""What writing costs: one by one, in batches, and until the vectors are there."""

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import numpy as np

from benchmarks import english
from benchmarks.corpus import Corpus, made
from benchmarks.doubles import KnownVectors
from benchmarks.kins import fresh_kin
from benchmarks.report import Table, Target
from kinmem.llm.builtin import FOLDER, BuiltinEmbedder
from kinmem.service import Service

MS = 1000.0
WALL = (time.perf_counter,)
CPU = (time.process_time,)
MOST_CPU_MS = 3.0
LEAST_RATE = 1 / 3
MOST_TIME = 1.3
BATCH = 100
MODEL_BATCH = 16

Notes = Sequence[Mapping[str, Any]]


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """Three tables."""
    parts = [
        one_by_one(known=500 if short else 10_000, count=100 if short else 500),
        in_batches(rounds=3 if short else 10, count=500 if short else 1_000),
        until_embedded(count=300 if short else 2_000),
    ]
    return [table for table, _ in parts], [target for _, targets in parts for target in targets]


# one by one


def one_by_one(known: int, count: int) -> tuple[Table, list[Target]]:
    """Processor time of memorize, with vectors that cost nothing."""
    rows, targets = [], []
    for conversation in (False, True):
        corpus = made(known + count, 1, conversation=conversation)
        with fresh_kin(_double(corpus)) as kin:
            kin.memorize_many(corpus.notes[:known])
            kin.settle()
            wall, cpu, commit = _each(kin, corpus.notes[known:])
        name = "turns" if conversation else "notes"
        rows.append((name, median(wall) * MS, median(cpu) * MS, commit, median(cpu) * MS - commit))
        spent = median(cpu) * MS - commit
        targets.append(Target(f"CPU of memorize, ms, {name}", spent, MOST_CPU_MS))
    columns = ("what", "wall p50, ms", "CPU p50", "of it a bare commit", "CPU added")
    note = (
        f"{count} calls of memorize in a Kin that knows {known:,}, vectors known beforehand."
        " A bare commit: the CPU of one FULL transaction of one row."
    )
    return Table("memorize", columns, rows, note), targets


def _each(kin: Service, notes: Notes) -> tuple[list[float], list[float], float]:
    wall, cpu = [], []
    for note in notes:
        started, spent = time.perf_counter(), time.thread_time()
        kin.memorize(**note)
        wall.append(time.perf_counter() - started)
        cpu.append(time.thread_time() - spent)
    return wall, cpu, _commit_ms(len(notes))


def _commit_ms(count: int) -> float:
    """What a durable transaction costs the processor, without kinmem."""
    spent = []
    with BareTable() as bare:
        for number in range(count):
            started = time.thread_time()
            bare.add([(f"row {number}", None)], words=False)
            spent.append(time.thread_time() - started)
    return median(spent) * MS


# in batches


def in_batches(rounds: int, count: int) -> tuple[Table, list[Target]]:
    """Memories a second, turn about with bare inserts of the same texts."""
    rows, targets = [], []
    for conversation in (False, True):
        corpus = made(rounds * count, 1, conversation=conversation)
        ours, bare, cpu = [], [], []
        with fresh_kin(_double(corpus)) as kin, BareTable() as table:
            for start in range(0, len(corpus.notes), count):
                notes = corpus.notes[start : start + count]
                spent = time.thread_time()
                ours.append(count / _measured(WALL, _many, kin, notes)[0])
                cpu.append((time.thread_time() - spent) / count)
                kin.settle()
                bare.append(count / _measured(WALL, _plain, table, notes)[0])
        name = "turns" if conversation else "notes"
        ratio = median(a / b for a, b in zip(ours, bare, strict=True))
        rows.append((name, round(median(ours)), round(median(bare)), ratio, median(cpu) * MS))
        what = f"rate of memorize_many / bare inserts, {name}"
        targets.append(Target(what, ratio, LEAST_RATE, at_most=False))
    columns = ("what", "memorize_many, 1/s", "bare inserts, 1/s", "ratio", "CPU each, ms")
    note = (
        f"Batches of {BATCH} at FULL durability. Bare: a row (id, texts, time) and an FTS5 entry."
        f" Median of {rounds} rounds of {count:,}."
    )
    return Table("memorize_many", columns, rows, note), targets


def _many(kin: Service, notes: Notes) -> None:
    for start in range(0, len(notes), BATCH):
        kin.memorize_many(notes[start : start + BATCH])


def _plain(table: "BareTable", notes: Notes) -> None:
    texts = [(note["content"], note.get("source_context")) for note in notes]
    for start in range(0, len(texts), BATCH):
        table.add(texts[start : start + BATCH])


class BareTable:
    """Rows and their words with nothing around them, as durable as kinmem's."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="kinmem-bench-")
        self._db = apsw.Connection(str(Path(self._folder.name) / "bare.db"))
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            self._db.execute(f"PRAGMA {pragma}").fetchall()
        self._db.execute(
            "CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT, context TEXT, at TEXT)"
        )
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5 (content, context)")

    def add(self, texts: Iterable[tuple[str, str | None]], *, words: bool = True) -> None:
        """One transaction."""
        now = datetime.now(UTC).isoformat()
        self._db.execute("BEGIN IMMEDIATE")
        for content, context in texts:
            row = (str(uuid.uuid4()), content, context, now)
            self._db.execute("INSERT INTO memories VALUES (?, ?, ?, ?)", row)
            if words:
                number = self._db.last_insert_rowid()
                self._db.execute(
                    "INSERT INTO words (rowid, content, context) VALUES (?, ?, ?)",
                    (number, content, context),
                )
        self._db.execute("COMMIT")

    def __enter__(self) -> "BareTable":
        return self

    def __exit__(self, *_: object) -> None:
        with closing(self._db):
            pass
        self._folder.cleanup()


# until the vectors are there


def until_embedded(count: int) -> tuple[Table, list[Target]]:
    """From memorize_many until settle returns, against the model alone."""
    texts = english.made(count)
    embedder = BuiltinEmbedder()
    embedder.warm()
    model = BareModel()
    model.embed(texts[:MODEL_BATCH])
    with fresh_kin(embedder) as kin:
        kin.settle()

        def ours() -> None:
            kin.memorize_many(texts)
            kin.settle()

        kinmem = _measured((*WALL, *CPU), ours)
    bare = _measured((*WALL, *CPU), model.embed, texts)
    names = ("wall", "CPU of the process")
    rows = [(name, a, b, a / b) for name, a, b in zip(names, kinmem, bare, strict=True)]
    note = (
        f"{count:,} texts. Bare model: the same file on one thread, batches of {MODEL_BATCH} texts"
        " sorted by length, nothing stored."
    )
    columns = ("clock", "memorize_many to settled, s", "bare model, s", "ratio")
    table = Table("Vectors in the background", columns, rows, note)
    what = "time until embedded / bare model (CPU)"
    return table, [Target(what, kinmem[1] / bare[1], MOST_TIME)]


class BareModel:
    """The built-in model's file, run as its makers would: batches of texts of like length."""

    def __init__(self) -> None:
        import onnxruntime  # type: ignore[import-untyped]
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(FOLDER / "model_int8.onnx", options)
        self._tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
        self._tokenizer.enable_truncation(128)
        self._tokenizer.enable_padding()

    def embed(self, texts: Sequence[str]) -> None:
        """The vectors are thrown away."""
        by_length = sorted(texts, key=len)
        for start in range(0, len(by_length), MODEL_BATCH):
            encoded = self._tokenizer.encode_batch(by_length[start : start + MODEL_BATCH])
            ids = np.array([one.ids for one in encoded], np.int64)
            mask = np.array([one.attention_mask for one in encoded], np.int64)
            self._session.run(["v"], {"input_ids": ids, "attention_mask": mask})


def _double(corpus: Corpus) -> KnownVectors:
    texts = [note["content"] for note in corpus.notes]
    return KnownVectors(texts, corpus.vectors[: len(texts)])


def _measured(
    clocks: Sequence[Callable[[], float]], call: Callable[..., None], *args: object
) -> list[float]:
    started = [clock() for clock in clocks]
    call(*args)
    return [clock() - before for clock, before in zip(clocks, started, strict=True)]
