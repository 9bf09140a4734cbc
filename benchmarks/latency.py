"""How long recall takes, against the least that any hybrid search must do over the same data."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import apsw
import numpy as np
import uuid_utils

from benchmarks.corpus import Corpus, Rows, made
from benchmarks.doubles import KnownVectors
from benchmarks.kins import fresh_kin
from benchmarks.report import Row, Table, Target
from benchmarks.stages import STAGES, timed_stages
from kinmem.language import content_hash
from kinmem.models import Chunks, Draft, Knowledge, Memory, State
from kinmem.service import Service
from kinmem.text import content_words

SIZES = (1_000, 10_000, 100_000)
HUGE = 1_000_000
STORED_AT_ONCE = 5_000
SUPERSEDED = 50
"""One in so many memories has given way to the one after it."""
SHORT_SIZES = (1_000,)
QUESTIONS = 200
WARMING = 20
BARE_LIMIT = 50
TARGETS = {10_000: 3.0, 100_000: 5.0}
MS = 1000.0


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """One row for each size, with and without what turns of a conversation have."""
    totals: list[Row] = []
    stages: list[Row] = []
    targets: list[Target] = []
    for size in SHORT_SIZES if short else SIZES:
        for conversation in (False, True):
            name = f"{size:,} {'turns' if conversation else 'notes'}"
            run = Run(made(size, 2 * QUESTIONS + WARMING, conversation=conversation))
            totals.append((name, *_summary(run)))
            stages.append((name, *(run.stages[stage] for stage in STAGES)))
            if size in TARGETS:
                bound = TARGETS[size]
                targets.append(Target(f"recall / bare search, {name}", run.ratio, bound))
    return [
        Table(
            "Latency of recall, in ms",
            ("memories", "recall p50", "p95", "bare p50", "p95", "ratio", "of sums", "of CPU"),
            totals,
            f"{QUESTIONS} distinct questions, each vector known beforehand. Bare: one FTS5 OR query"
            f" of the content words (bm25, limit {BARE_LIMIT}) and one exact product with all"
            " vectors. Turns have a speaker, a date and 2 x 200 characters of source context, notes"
            " have not; the bare table holds contents and contexts. Ratio: of the medians; of CPU:"
            " of the sums of processor time, which other programs on the machine change least.",
        ),
        Table("Processor time of each stage, p50 in ms", ("memories", *STAGES), stages),
    ], targets


class Spent(NamedTuple):
    """Seconds of one search: on the clock, and of this thread on a processor."""

    wall: float
    cpu: float


class Run:
    """One corpus, stored and asked."""

    def __init__(self, corpus: Corpus) -> None:
        self.recall: list[Spent] = []
        self.bare: list[Spent] = []
        notes = [note["content"] for note in corpus.notes]
        embedder = KnownVectors(notes[:1], corpus.vectors[:1])
        asked = list(zip(corpus.questions, corpus.vectors[len(notes) :], strict=True))
        with fresh_kin(embedder, KINMEM_JUDGE="off") as kin, Bare(corpus) as bare:
            fill(kin, corpus)

            def recall(question: str, vector: Rows) -> None:
                embedder.other = vector
                kin.recall(question)

            _warm(recall, asked[:WARMING])
            for question, vector in asked[WARMING : WARMING + QUESTIONS]:
                self.bare.append(_timed(bare.search, question, vector))
                self.recall.append(_timed(recall, question, vector))
            self.stages = _stages(kin, recall, asked[WARMING + QUESTIONS :])

    @property
    def ratio(self) -> float:
        """Of the processor time of all questions."""
        return sum(spent.cpu for spent in self.recall) / sum(spent.cpu for spent in self.bare)


def fill(kin: Service, corpus: Corpus, name: str = KnownVectors.name) -> None:
    """Memories with their vectors, without comparing any of them with what is there."""
    kin.settle()
    drafts = drafts_of(kin.kin, corpus, kin.clock(), name)
    while part := list(islice(drafts, STORED_AT_ONCE)):
        kin.store.add(part)


def drafts_of(
    kin: str, corpus: Corpus, now: datetime, name: str = KnownVectors.name
) -> Iterator[Draft]:
    """The memories of a corpus with their vectors, a second apart, some superseded by the one
    before."""
    before = ""
    first = now - timedelta(seconds=len(corpus.notes))
    for at, note in enumerate(corpus.notes):
        now = first + timedelta(seconds=at)
        chunks = Chunks((note["content"],), corpus.vectors[at : at + 1], name)
        draft = Draft(_memory(kin, note, at, now, before), chunks, Knowledge())
        before = draft.memory.id
        yield draft


def _memory(kin: str, note: Mapping[str, Any], at: int, now: datetime, before: str) -> Memory:
    has_ended = at % SUPERSEDED == 0 and bool(before)
    said_at = note.get("occurred_at")
    return Memory(
        id=str(uuid_utils.uuid7()),
        kin=kin,
        scope="private",
        content=note["content"],
        category="fact",
        content_hash=content_hash(note["content"]),
        channel="explicit",
        trust=0.8,
        created_at=now,
        content_updated_at=now,
        speaker=note.get("speaker"),
        source_context=note.get("source_context"),
        occurred_at=datetime.fromisoformat(said_at).replace(tzinfo=UTC) if said_at else None,
        state=State.SUPERSEDED if has_ended else State.ACTIVE,
        superseded_by=before if has_ended else None,
        valid_to=now if has_ended else None,
    )


class Bare:
    """The same texts and vectors with nothing around them."""

    def __init__(self, corpus: Corpus) -> None:
        self._folder = TemporaryDirectory(prefix="kinmem-bench-")
        self._vectors = np.ascontiguousarray(corpus.vectors[: len(corpus.notes)])
        self._db = apsw.Connection(str(Path(self._folder.name) / "bare.db"))
        for pragma in ("journal_mode = WAL", "cache_size = -32768"):
            self._db.execute(f"PRAGMA {pragma}").fetchall()
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5 (content, context)")
        rows = [(note["content"], note.get("source_context")) for note in corpus.notes]
        with self._db:
            self._db.executemany("INSERT INTO words VALUES (?, ?)", rows)

    def search(self, question: str, vector: Rows) -> None:
        """Both arms, their results thrown away."""
        match = " OR ".join(f'"{word}"' for word in content_words(question))
        self._db.execute(
            "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
            (match, BARE_LIMIT),
        ).fetchall()
        self._vectors @ vector

    def __enter__(self) -> "Bare":
        return self

    def __exit__(self, *_: object) -> None:
        with closing(self._db):
            pass
        self._folder.cleanup()


def _warm(recall: Callable[[str, Rows], None], asked: Sequence[tuple[str, Rows]]) -> None:
    """Past some thousand memories the first question makes kinmem load the vectors."""
    for _ in range(2):
        for question, vector in asked:
            recall(question, vector)
        finished_loading()


def finished_loading() -> None:
    """Wait for the copies of vectors that are being read."""
    for thread in threading.enumerate():
        if thread.name in ("kinmem-vectors", "kinmem-turns"):
            thread.join()


def _stages(
    kin: Service, recall: Callable[[str, Rows], None], asked: Sequence[tuple[str, Rows]]
) -> dict[str, float]:
    with timed_stages(kin) as times:
        for question, vector in asked:
            times.begin()
            recall(question, vector)
    return {stage: round(_p(50, times.of(stage)) * MS, 2) for stage in STAGES}


def _summary(run: Run) -> list[float]:
    recall, bare = ([spent.wall * MS for spent in side] for side in (run.recall, run.bare))
    percentiles = [_p(p, side) for side in (recall, bare) for p in (50, 95)]
    return [*percentiles, _p(50, recall) / _p(50, bare), sum(recall) / sum(bare), run.ratio]


def _timed(search: Callable[[str, Rows], None], question: str, vector: Rows) -> Spent:
    wall, cpu = time.perf_counter(), time.thread_time()
    search(question, vector)
    return Spent(time.perf_counter() - wall, time.thread_time() - cpu)


def _p(percentile: float, values: Sequence[float]) -> float:
    return float(np.percentile(values, percentile))
