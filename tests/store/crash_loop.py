"""Kills writers at random moments, again and again, and looks at what is left.

Run as `python -m tests.store.crash_loop <home> <rounds> <seed>`; prints a summary as JSON. It is a
process of its own, because it forks: nobody else's threads or open files may be around.

A writer announces each operation in a pipe before it starts it ("?"), with the state that the
memory shall have, and confirms it when the store has answered ("ok").
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from kinmem.models import Chunks, Draft, State
from kinmem.store.sqlite.store import SqliteStore
from tests.processes import begin, tell, told_by
from tests.store.contract import TINY, WIDTH, chunks_of, memory_of, vectors_of
from tests.store.soundness import everything, problems

Known = dict[str, Any]
"""By id: [scope, content, state], None once erased."""
WORDS = "amber birch cedar dune ember fjord glade heath islet jetty knoll lagoon".split()
MOST_MEMORIES = 150
MOST_LINES = 8
"""Of each writer that are waited for, however slow the machine is."""
SECONDS = 0.03
"""That it lives then at most."""
MOST_ROUNDS = 20
"""So many times as many as are asked for: until some were hit before and some after it counted."""


def write(home: Path, writer: int, seed: int, pipe: int) -> None:
    """Change memories of one's own (by the prefix of their ids) until killed."""
    chance = random.Random(seed)
    store = SqliteStore(home, "ana")
    mine = {one.id: one for one in everything(store) if one.id.startswith(f"{writer}-")}
    tell(pipe, "ready")
    for n in range(1_000_000):
        operation = chance.choice(
            ["add"] * 4 + ["edit", "edit", "move", "move", "forget", "erase", "fill"]
        )
        text = " ".join(chance.choices(WORDS, k=chance.choice([5, 5, 300]))) + f" {seed} {n}"
        chunks = chunks_of(text) if chance.random() < 0.7 else Chunks((text,))
        if operation == "add" or not mine:
            scope = chance.choice(["private", "shared"])
            new = memory_of(text, id=f"{writer}-{seed:06}-{n:06}", scope=scope)
            tell(pipe, "?", new.id, [scope, text, "active"])
            store.add([Draft(new, chunks)])
            mine[new.id] = new
            tell(pipe, "ok")
            continue
        old = mine[chance.choice(list(mine))]
        if operation == "fill":
            waiting = store.index.pending(TINY, 5)
            store.index.fill(TINY, waiting, vectors_of([one.text for one in waiting]))
        elif operation == "erase":
            tell(pipe, "?", old.id, None)
            store.erase(old.id)
            del mine[old.id]
            tell(pipe, "ok")
        else:
            changes = {
                "edit": {"content": text, "content_hash": text},
                "move": {"scope": "private" if old.scope == "shared" else "shared"},
                "forget": {"state": State.ACTIVE if old.state == "deleted" else State.DELETED},
            }[operation]
            after = [
                changes.get(name, getattr(old, name)) for name in ("scope", "content", "state")
            ]
            tell(pipe, "?", old.id, after)
            mine[old.id] = store.update(
                old.id, changes, chunks=chunks if operation == "edit" else None
            )
            tell(pipe, "ok")


def main(home: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    known: Known = {}
    told = Counter(rounds=0, acknowledged=0, in_doubt=0, took_effect=0, two_writers=0)
    wrong: list[str] = []
    folder = home / "0"
    for at in range(rounds * MOST_ROUNDS):
        if len(known) > MOST_MEMORIES or at % 60 == 59:  # or the making of the files is not hit
            folder, known = home / str(at), {}
        writers = [
            begin(partial(write, folder, n, seed + 2 * at + n))
            for n in range(chance.choice([1, 1, 2]))
        ]
        told["two_writers"] += len(writers) == 2
        doubtful: Known = {}
        for said in struck(writers, chance):
            pending = None
            for kind, *what in said:
                if kind == "?":
                    pending = what
                elif kind == "ok" and pending:
                    known[pending[0]], pending = pending[1], None
                    told["acknowledged"] += 1
                elif kind == "error":
                    wrong.append(f"round {at}: {what[0]}")
            if pending:
                doubtful[pending[0]] = pending[1]
        known = decided(folder, known, doubtful, told, wrong)
        told["rounds"] += 1
        if wrong or told["rounds"] >= rounds and is_telling(told):
            break
    sys.stdout.write(json.dumps({**told, "wrong": wrong[:10]}))


def struck(writers: list[tuple[int, BinaryIO]], chance: random.Random) -> list[list[Any]]:
    """Kill them at any moment, some before they have begun; what each has told by then."""
    heard: list[list[Any]] = [[] for _ in writers]
    if chance.random() < 0.9:
        for lines, (_, pipe) in zip(heard, writers, strict=True):
            lines += [pipe.readline() for _ in range(chance.randint(1, MOST_LINES))]
    time.sleep(chance.uniform(0, SECONDS))
    for process, _ in writers:
        os.kill(process, signal.SIGKILL)
    for process, _ in writers:
        os.waitpid(process, 0)
    return [
        [*(json.loads(line) for line in lines if line), *told_by(pipe)]
        for lines, (_, pipe) in zip(heard, writers, strict=True)
    ]


def is_telling(told: Counter[str]) -> bool:
    """Whether writers were hit in the middle of something, before it took effect and after it."""
    enough = told["in_doubt"] > told["rounds"] / 6
    return enough and 0 < told["took_effect"] < told["in_doubt"]


def decided(
    folder: Path, known: Known, doubtful: Known, told: Counter[str], wrong: list[str]
) -> Known:
    """What is known after a look at what is left; all else there is goes to what is wrong."""
    with closing(SqliteStore(folder, "ana")) as store:
        store.index.enroll(TINY, WIDTH)
        left = {one.id: [one.scope, one.content, one.state] for one in everything(store)}
        for id, after in doubtful.items():
            told["in_doubt"] += 1
            if left.get(id) == after != known.get(id):
                known[id] = after
                told["took_effect"] += 1
        known = {id: state for id, state in known.items() if state is not None}
        at = told["rounds"]
        for id in known.keys() | left.keys():
            if known.get(id) != left.get(id):
                wrong.append(f"round {at}: {id} {left.get(id)}, not {known.get(id)}")
        wrong += [f"round {at}: {problem}" for problem in problems(store)]
    return known


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
