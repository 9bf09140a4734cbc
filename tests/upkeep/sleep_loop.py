"""Kills the sleep cycle at random moments and lets the next one go on, again and again.

Run as `python -m tests.upkeep.sleep_loop <home> <rounds> <seed> <seconds>`; prints a summary as
JSON. No round begins after so many seconds. Each begins with a copy of one memory that has
something to do for every step. One or two processes sleep, tell each step that they begin in a
pipe, and are killed; then one sleeps to the end. What it leaves must be what a cycle leaves that
nobody has disturbed, by the same clock.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import apsw

from kinmem.models import LIVE, Memory
from kinmem.service import Service
from kinmem.upkeep import pipeline
from kinmem.upkeep.pipeline import JOB
from kinmem.upkeep.steps import NAMES
from tests.conftest import MovableClock
from tests.processes import begin, tell, told_by
from tests.random_writes import NAMES as PEOPLE
from tests.random_writes import THINGS, TOWNS, WordEmbedder, opened
from tests.store.soundness import everything, problems
from tests.upkeep.conftest import Bench

SETTINGS = {"KINMEM_COMPRESS": True, "KINMEM_SLEEP_EVERY": 0}
ALIKE = (
    "Two pairs of skis lean in the shed behind our old school near the river.",
    "My grandmother paints blue porcelain plates every winter with tiny flowers.",
    "Trains from platform seven leave for Geneva at half past nine each Sunday.",
)
"""What is said so with one more sentence is merged; far from each other, so that it does not matter
in how many runs."""
VARIES = ("id", "tier_reason", "priority")
"""The reason is that of the rule which held first, and links may be there before or after it; a
priority that changes by less than 0.01 is not written."""
MOST_CYCLES = 6
"""What one cycle merges is tagged and linked in the next."""
HELD_UP = 30.0
"""Seconds that the next waits for a lease, which a killed process would still have for 60."""


Kept = dict[str, Counter[str]]
"""By table its rows, with names instead of ids."""


@dataclass
class Told:
    """What has happened so far."""

    whole: float
    """Seconds that a cycle takes which nobody disturbs."""
    counts: Counter[str] = field(default_factory=lambda: Counter(rounds=0, killed=0, two=0))
    hit: Counter[str] = field(default_factory=Counter)
    """By step that was begun last."""


def prepared(home: Path) -> MovableClock:
    """A memory of some months, and the time at which it is to sleep."""
    clock = MovableClock()
    with closing(opened(home, clock, **SETTINGS)) as memory:
        for days in (0, 100, 20):  # forgotten, then long in the bin; faded; new
            clock.advance(days=days)
            grown(memory, clock)
            memory.sleep(["purge"])
        clock.advance(days=9)
        memory.sleep(["purge"])
    return clock


def grown(memory: Service, clock: MovableClock) -> None:
    """Something for every step."""
    chance = random.Random(clock().isoformat())
    bench = Bench(memory, memory.store, WordEmbedder(), clock)
    for number, (name, thing) in enumerate((n, t) for n in PEOPLE[:2] for t in THINGS[:6]):
        bench.keep(
            f"{name} keeps the {thing} of {chance.choice(TOWNS)} in box {number}.",
            category=chance.choice(("fact", "plan", "context", "ephemeral")),
            importance=chance.choice((1, 2, 5, 8)),
            scope=chance.choice(("private", "private", "shared")),
        )
    told = memory.memorize_many(
        f"{name} likes {thing}." for name in PEOPLE[:4] for thing in THINGS[:3]
    )
    for one in told[:4]:
        memory.forget(str(one.id))
    memory.memorize("The lift is being repaired.", expires="1d")
    memory.memorize(
        " ".join(f"The {thing} grew well in {chance.choice(TOWNS)}." for thing in THINGS)
    )
    for said in ALIKE:
        for more in ("", " It is cold in there."):
            bench.keep(f"{said}{more}", importance=5)
    for number in range(2):
        said = f"Remember that I moved the {chance.choice(THINGS)} to room {number}."
        memory.observe("prompt", "talk", f"{clock().date()} {number}", said)
        memory.observe("answer", "talk", f"{clock().date()} {number}", "Noted.")


def asleep(home: Path, clock: MovableClock, pipe: int) -> None:
    """Sleep until nothing is left to do; tell each step that begins, and at the end what went
    wrong and how long the first cycle took."""
    with closing(opened(home, clock, **SETTINGS)) as memory:
        tell(pipe, "opened")
        runs = [memory.sleep(progress=lambda _, __, step: tell(pipe, "step", step))]
        while runs[-1].counts and len(runs) < MOST_CYCLES:
            runs.append(memory.sleep())
        whole = sum(runs[0].seconds.values())
        tell(pipe, "done", [problem for run in runs for problem in run.problems], whole)
    os._exit(0)


def slept(home: Path, clock: MovableClock) -> list[Any]:
    """The last that a process told that was left alone."""
    process, pipe = begin(partial(asleep, home, clock))
    told = list(told_by(pipe))
    os.waitpid(process, 0)
    return told[-1]


def left(home: Path, clock: MovableClock) -> tuple[Kept, list[str]]:
    """All that is kept, with names instead of ids, and what is wrong with it; read in a child,
    since this process forks."""

    def look(pipe: int) -> None:
        with closing(opened(home, clock, **SETTINGS)) as memory:
            wrong = [*problems(memory.store), *_damage(home)]
            if holder := memory.store.jobs.holder(JOB):
                wrong.append(f"{holder} still has the lease")
            tell(pipe, {name: dict(rows) for name, rows in _kept(home, memory).items()}, wrong)
        os._exit(0)

    process, pipe = begin(look)
    ((kept, wrong),) = told_by(pipe)
    os.waitpid(process, 0)
    return {name: Counter(rows) for name, rows in kept.items()}, wrong


def _damage(home: Path) -> Iterator[str]:
    for file in home.rglob("*.db"):
        with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            found = db.execute("SELECT * FROM pragma_integrity_check").fetchall()
            yield from (f"{file.name}: {said}" for (said,) in found if said != "ok")


def _kept(home: Path, memory: Service) -> Kept:
    memories = {one.id: one for one in everything(memory.store)}
    called = {id: f"{one.content} {one.created_at:%d.%m.}" for id, one in memories.items()}
    kept = {"memories": Counter(_told(one, called) for one in memories.values())}
    for file in sorted(home.rglob("*.db")):
        with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            for name, statement in READ.items():
                rows = db.execute(statement).fetchall()
                kept[f"{file.name} {name}"] = Counter(
                    str([_named(value, called) for value in row]) for row in rows
                )
    return kept


def _told(memory: Memory, called: dict[str, str]) -> str:
    values = {name: getattr(memory, name) for name in memory.__slots__ if name not in VARIES}
    values["superseded_by"] = called.get(memory.superseded_by or "")
    if memory.state not in LIVE:
        del values["tier"]  # the one it had when it gave way
    return str(sorted((name, str(value)) for name, value in values.items()))


def _named(value: Any, called: dict[str, str]) -> Any:
    for id, name in called.items() if isinstance(value, str) else ():
        value = value.replace(id, name)
    return value


READ = {
    "history": "SELECT memory_id, action, before, after, reason FROM history",
    "turns": "SELECT turn, role, text, learned_at IS NULL, problem FROM turns",
    "lineage": "SELECT child, parent FROM lineage",
    "entities": "SELECT name, type FROM entities",
    "relations": """
        SELECT s.name, relation, t.name, count(*) FROM relations
        JOIN entities s ON s.id = source JOIN entities t ON t.id = target GROUP BY 1, 2, 3
    """,
    "summaries": """
        SELECT m.id, s.scope, s.text FROM summaries s JOIN memories m ON m.rowid = memory
    """,
    "conflicts": "SELECT newer, older, status FROM conflicts",
    "daily": "SELECT name, value FROM marks WHERE name LIKE 'daily %'",
}


def struck(pipe: BinaryIO, chance: random.Random, whole: float) -> str:
    """Wait for a moment by chance, of the whole or in a step; which step was begun last."""
    heard = ["opened"]
    if chance.random() < 0.3:
        pipe.readline()
        time.sleep(chance.uniform(0, whole / 2))
        return "at any time"
    wanted = chance.choice(NAMES)
    while heard[-1] not in (wanted, "done") and (line := pipe.readline()):
        heard += [str(said) for said in json.loads(line) if isinstance(said, str)]
    time.sleep(chance.uniform(0, whole / 30))
    return heard[-1]


def killed(folder: Path, clock: MovableClock, chance: random.Random, told: Told) -> Iterator[str]:
    """One or two sleep and are killed; whatever they complained about."""
    sleepers = [begin(partial(asleep, folder, clock)) for _ in range(chance.choice([1, 1, 2]))]
    told.counts["two"] += len(sleepers) == 2
    told.hit[struck(sleepers[0][1], chance, told.whole)] += 1
    for process, _ in sleepers:
        os.kill(process, signal.SIGKILL)
    for process, pipe in sleepers:
        os.waitpid(process, 0)
        heard = list(told_by(pipe))
        told.counts["killed"] += bool(heard) and heard[-1][0] == "step"
        yield from (str(what) for kind, *what in heard if kind == "error")


def checked(folder: Path, clock: MovableClock, expected: Kept) -> Iterator[str]:
    """Let one sleep to the end; what is wrong then."""
    patience, pipeline.PATIENCE = pipeline.PATIENCE, HELD_UP
    try:
        kind, *said = slept(folder, clock)
    finally:
        pipeline.PATIENCE = patience
    if kind != "done" or said[0]:
        yield f"the next cycle told {said}"
    kept, unsound = left(folder, clock)
    yield from unsound
    yield from different(expected, kept)


def main(home: Path, rounds: int, seed: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    chance = random.Random(seed)
    clock = prepared(home / "first")
    shutil.copytree(home / "first", home / "whole")
    _, failures, whole = slept(home / "whole", clock)
    expected, wrong = left(home / "whole", clock)
    wrong += failures
    told = Told(whole)
    for number in range(rounds):
        folder = home / str(number)
        shutil.copytree(home / "first", folder)
        found = [*killed(folder, clock, chance, told), *checked(folder, clock, expected)]
        wrong += [f"round {number}: {what}" for what in found]
        told.counts["rounds"] += 1
        shutil.rmtree(folder)
        if wrong or time.monotonic() > until:
            break
    steps = sorted(name for name in told.hit if name in NAMES)
    sys.stdout.write(json.dumps({**told.counts, "steps": steps, "wrong": wrong[:10]}))


def different(expected: Kept, kept: Kept) -> Iterator[str]:
    """What is missing or too much, by table."""
    for name, rows in expected.items():
        for row in (rows - kept[name]).elements():
            yield f"{name} lacks {row}"
        for row in (kept[name] - rows).elements():
            yield f"{name} has too much {row}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
