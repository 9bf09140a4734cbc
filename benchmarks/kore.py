"""kinmem and Kore side by side: the same texts, machine and run; Kore's own figures beside them.

Kore runs in a Python of its own: the one KINMEM_BENCH_KORE names, else a virtual environment made
for this run and thrown away. Where it cannot be installed, the table says so.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import english
from benchmarks.corpus import Rows, made
from benchmarks.doubles import KnownVectors
from benchmarks.kins import PREFIX, fresh_kin
from benchmarks.report import Cell, Table, Target
from kinmem.llm.base import Embedder

MS = 1000.0
MEMORIES, SINGLES, QUESTIONS, BATCH = 1_000, 200, 100, 100
ALIKE = 50
"""Pairs of memories that are to be merged."""
COSINE = 0.9
PUBLISHED: Mapping[str, str] = {
    "save": "1-5 by words, 10-50 with its model",
    "batch of 100": "100-500",
    "search": "1-10 by words, 20-100 by meaning",
    "decay run": "50-200",
    "compression": "200-1000",
}
WORKER = Path(__file__).with_name("kore_worker.py")
PACKAGES = ("kore-memory", "numpy", "sqlite-vec")
INSTALL_SECONDS, RUN_SECONDS = 300, 600

Taken = Mapping[str, Sequence[float]]
"""Seconds of each call, by operation; and under `merged` how many merges there were."""


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """One table; no targets, since it is another project's machine-independent promise."""
    count = MEMORIES // 5 if short else MEMORIES
    texts = english.made(count + SINGLES)
    vectors = _paired(made(len(texts), 1).vectors[: len(texts)], count)
    questions = [_question(text) for text in texts[:QUESTIONS]]
    double = KnownVectors(texts, vectors)
    ours = _kinmem(double, texts[:count], texts[count:], questions)
    full = _kinmem(None, texts[:count], texts[count:], questions)
    with _kore() as (python, problem):
        theirs = [
            _of_kore(python, texts[:count], texts[count:], questions, given)
            for given in (None, list(zip(texts, vectors.tolist(), strict=True)))
            if python is not None
        ]
    return [_told(count, ours, full, theirs, problem)], []


def _told(
    count: int,
    ours: Taken,
    full: Taken,
    theirs: Sequence[Taken],
    problem: str,
) -> Table:
    rows: list[list[Cell]] = []
    for name, published in PUBLISHED.items():
        measured = [median(one[name]) * MS for one in (*theirs, ours, full)]
        padding: list[Cell] = [None] * (2 - len(theirs))
        rows.append([name, published, *padding, *measured])
    merged = [int(one["merged"][0]) for one in (*theirs, ours, full)]
    rows.append(["merges", "", *([None] * (2 - len(theirs))), *merged])
    note = (
        f"Medians in ms, called in Python, {count:,} memories and {SINGLES} more one by one;"
        f" searches for 5 among them. {ALIKE} pairs have a cosine of {COSINE}. Given vectors cost"
        " nothing and are the same for both; the last column makes its own with the built-in model."
        " kinmem writes at FULL durability and compares each memory with what it knows."
    )
    if problem:
        note += f" Kore could not be measured: {problem}"
    columns = (
        *("operation", "Kore says", "Kore, words", "Kore, given vectors"),
        *("kinmem, given vectors", "kinmem, own vectors"),
    )
    return Table("Beside Kore", columns, rows, note)


# kinmem


def _kinmem(
    embedder: Embedder | None,
    texts: Sequence[str],
    singles: Sequence[str],
    questions: Sequence[str],
) -> Taken:
    with fresh_kin(embedder, KINMEM_SLEEP_EVERY=0) as kin:
        kin.settle()
        batches = [
            _timed(lambda start=start: kin.memorize_many(texts[start : start + BATCH]))
            for start in range(0, len(texts), BATCH)
        ]
        kin.settle()
        saves = [_timed(lambda text=text: kin.memorize(text)) for text in singles]
        kin.settle()
        searches = [_timed(lambda asked=asked: kin.recall(asked, limit=5)) for asked in questions]
        decay = _timed(lambda: kin.sleep(["retain"]))
        merged: list[int] = []
        compress = _timed(
            lambda: merged.append(
                kin.sleep(["consolidate"], compress=True).counts.get("consolidate.merged", 0)
            )
        )
    return {
        "save": saves,
        "batch of 100": batches,
        "search": searches,
        "decay run": [decay],
        "compression": [compress],
        "merged": [float(merged[0])],
    }


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _paired(vectors: Rows, count: int) -> Rows:
    """Some of the first `count` become near neighbours of the one before them."""
    paired = vectors.copy()
    for at in range(1, 2 * ALIKE, 2):
        near, other = paired[at - 1], paired[at]
        across = other - (other @ near) * near
        across /= np.linalg.norm(across)
        paired[at] = COSINE * near + np.sqrt(1 - COSINE**2) * across
    return paired


def _question(text: str) -> str:
    """Some words of a memory, as a person would ask."""
    return " ".join(text.removesuffix(".").split()[1:6])


# Kore


@contextmanager
def _kore() -> Iterator[tuple[str | None, str]]:
    """A Python that has Kore; or None, and why there is none."""
    given = os.environ.get("KINMEM_BENCH_KORE")
    if given:
        yield given, ""
        return
    with TemporaryDirectory(prefix=PREFIX) as folder:
        python = str(Path(folder) / "venv" / "bin" / "python")
        try:
            for command in (
                [sys.executable, "-m", "venv", str(Path(folder) / "venv")],
                [python, "-m", "pip", "install", "--quiet", *PACKAGES],
            ):
                subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_SECONDS)
        except (subprocess.SubprocessError, OSError) as error:
            yield None, f"it could not be installed ({type(error).__name__})"
            return
        yield python, ""


def _of_kore(
    python: str,
    texts: Sequence[str],
    singles: Sequence[str],
    questions: Sequence[str],
    vectors: Sequence[tuple[str, list[float]]] | None,
) -> Taken:
    with TemporaryDirectory(prefix=PREFIX) as folder:
        given = Path(folder) / "vectors.json"
        given.write_text(json.dumps(vectors), encoding="utf-8")
        asked = Path(folder) / "asked.json"
        asked.write_text(
            json.dumps(
                {
                    "texts": texts,
                    "singles": singles,
                    "questions": questions,
                    "vectors": str(given) if vectors else None,
                }
            ),
            encoding="utf-8",
        )
        ran = subprocess.run(
            [python, str(WORKER), str(asked)],
            check=True,
            stdout=subprocess.PIPE,
            timeout=RUN_SECONDS,
            cwd=folder,
        )
    found = json.loads(ran.stdout.splitlines()[-1])
    return {**found, "merged": [float(found["merged"] or 0)]}
