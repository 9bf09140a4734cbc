"""How much memory a server takes while it is asked: over stdio, with its models, as clients run it.

What the system says of the process (Linux): in memory at all, its share of what several processes
have in common, what is its own alone; and how much of that came from no file.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.cold_start import INITIALIZE, INITIALIZED, ROOT, _answer, _environment, _say
from benchmarks.corpus import Corpus, made
from benchmarks.doubles import KnownVectors
from benchmarks.latency import fill
from benchmarks.report import Row, Table, Target
from kinmem.llm.builtin import NAME
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore

SIZES = (1_000, 10_000, 100_000)
SHORT_SIZES = (1_000,)
ASKED = (1, 40, 80)
"""Questions after which the server is looked at, the last of them eight at a time."""
AT_ONCE = 8
MOST = {100_000: 350.0}
"""MiB at rest, by memories."""
REST = 70.0
"""Seconds after which what is unused was given back; see upkeep/background.py."""
KINDS = ("Rss", "Pss", "Private", "Anonymous")


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """One row for each size and number of questions."""
    if not Path("/proc/self/smaps_rollup").exists():
        raise SystemExit("memory: only Linux says what a process takes")
    rows: list[Row] = []
    targets: list[Target] = []
    for size in SHORT_SIZES if short else SIZES:
        corpus = made(size, max(ASKED))
        with tempfile.TemporaryDirectory(prefix="kinmem-bench-") as home:
            _fill(home, corpus)
            for asked, taken in _asked(home, corpus.questions, 0 if short else REST):
                rows.append((f"{size:,}", asked, *(taken[kind] for kind in KINDS)))
        if size in MOST:
            name = f"MiB of a server with {size:,} memories, {asked}"
            targets.append(Target(name, taken["Rss"], MOST[size]))
    columns = ("memories", "questions", "resident, MiB", "share", "its own", "from no file")
    note = (
        f"Distinct questions through recall over stdio, the last {ASKED[-1] - ASKED[-2]} of them"
        f" {AT_ONCE} at once; vectors made up beforehand, questions read by the built-in models."
    )
    return [Table("Memory of a server", columns, rows, note)], targets


def _fill(home: str, corpus: Corpus) -> None:
    """Store the memories under the name of the built-in embedder."""
    settings = load({"KINMEM_HOME": home, "KINMEM_JUDGE": "off"}, environment={})
    embedder = KnownVectors([], corpus.vectors[:1])
    embedder.name = NAME
    store = SqliteStore(settings.home, settings.general.kin)
    with Service(store, [embedder], settings) as service:
        fill(service, corpus, NAME)


def _asked(
    home: str, questions: Sequence[str], rest: float
) -> Iterator[tuple[str, dict[str, float]]]:
    with _server(home) as process:
        _call(process, 2, "recall", [questions[0]])
        yield "1", _taken(process.pid)
        for at in range(1, ASKED[1]):
            _call(process, 10 + at, "recall", [questions[at]])
        yield str(ASKED[1]), _taken(process.pid)
        for at in range(ASKED[1], ASKED[2], AT_ONCE):
            _call(process, 100 + at, "recall", questions[at : at + AT_ONCE])
        yield str(ASKED[2]), _taken(process.pid)
        time.sleep(rest)
        yield f"{ASKED[2]}, at rest", _taken(process.pid)


def _call(process: Any, first: int, tool: str, questions: Sequence[str]) -> None:
    """Send the questions together, then wait for all answers."""
    ids = [1000 * first + at for at in range(len(questions))]
    for id, question in zip(ids, questions, strict=True):
        params = {"name": tool, "arguments": {"query": question}}
        _say(process, {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    waiting = set(ids)
    for line in process.stdout:
        waiting.discard(json.loads(line).get("id"))
        if not waiting:
            return


@contextmanager
def _server(home: str) -> Iterator["subprocess.Popen[bytes]"]:
    command = (sys.executable, "-m", "kinmem", "serve")
    environment = _environment(home) | {"KINMEM_BACKUP_DAILY": "off"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as process:
        _say(process, INITIALIZE)
        _answer(process, 1)
        _say(process, INITIALIZED)
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _taken(pid: int) -> dict[str, float]:
    """MiB by kind."""
    sums = dict.fromkeys(KINDS, 0.0)
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, kib = line.split()[0].rstrip(":"), int(line.split()[1])
        kind = "Private" if name in ("Private_Clean", "Private_Dirty") else name
        if kind in sums:
            sums[kind] += kib / 1024
    return {kind: round(value, 1) for kind, value in sums.items()}
