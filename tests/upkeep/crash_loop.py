"""Kills the whole cycle at random moments, again and again, and looks at what is left.

Run as `python -m tests.upkeep.crash_loop <home> <rounds> <seed>`; prints a summary as JSON. One
or two processes at a time observe turns of one Kin, learn from them and summarise them in the
background. A talker announces each turn in a pipe ("?") and confirms it when it was answered.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from kinmem.language import Window
from kinmem.llm.base import Calibration, Purpose
from kinmem.models import Filters, Memory, State, Vectors
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from tests.processes import begin, tell, told_by
from tests.store.contract import TINY, WIDTH, vectors_of

WORDS = "amber birch cedar dune ember fjord glade heath islet jetty knoll lagoon".split()
NAMES = "Ada Ben Cleo Dan Eva Finn Gus Hana Ivo Jana Kai Lea".split()
SESSIONS = ("one", "two")


class TinyEmbedder:
    """Implements Embedder; loads nothing, so that a child is at work at once."""

    name, dimension, ready = TINY, WIDTH, True
    calibration = Calibration(noise=0.2, duplicate=0.95, near=0.9)

    def warm(self) -> None:
        """Nothing to load."""

    def window(self, limit: int, overlap: int = 0) -> Window:
        return Window(limit, limit, len, overlap)

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        return [text]

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        return vectors_of(texts)


def opened(home: Path) -> Service:
    settings = load(
        {
            "KINMEM_KIN": "ana",
            "KINMEM_HOME": home,
            "COMPACTING_BATCH_TURNS": 2,
            "COMPACTING_MIN_KEEP_TURNS": 3,
            "COMPACTING_MAX_SNAPSHOTS": 3,
        },
        environment={},
    )
    return Service(SqliteStore(home, "ana"), [TinyEmbedder()], settings)


def talk(home: Path, talker: int, seed: int, pipe: int) -> None:
    """Say something worth remembering in each turn, until killed."""
    chance = random.Random(seed)
    service = opened(home)
    tell(pipe, "ready")
    for n in range(1_000_000):
        turn, session = f"{talker}-{seed}-{n}", chance.choice(SESSIONS)
        said = f"Remember that {chance.choice(NAMES)} keeps the {token(turn)} in the cellar."
        tell(pipe, "?", turn)
        service.observe("prompt", session, turn, said)
        service.observe("answer", session, turn, "Noted.")
        tell(pipe, "ok", turn)
        time.sleep(chance.uniform(0, 0.004))


def token(turn: str) -> str:
    """Words that no other turn has."""
    chance = random.Random(turn)
    made = (
        "".join(chance.choices("bcdfghklmnprstvz", k=4))
        + "o"
        + "".join(chance.choices("klmnprst", k=4))
    )
    return f"{chance.choice(WORDS)} {made}"


def every_memory(service: Service) -> list[Memory]:
    found: list[Memory] = []
    cursor = None
    while True:
        page = service.store.page(Filters(states=tuple(State)), "oldest", 200, cursor)
        found += page.memories
        if (cursor := page.next_cursor) is None:
            return found


def problems(service: Service, acknowledged: set[str]) -> Iterator[str]:
    """Whatever is not stored once, learned once and summarised at most once."""
    turns, snapshots = service.store.turns, service.store.snapshots
    messages = [one for session in SESSIONS for one in turns.messages(session)]
    prompts = Counter(one.turn for one in messages if one.role == "user")
    for turn in acknowledged - prompts.keys():
        yield f"turn {turn} was answered and is lost"
    for one in messages:
        if one.learned_at is None:
            yield f"turn {one.turn} was not learned from ({one.problem})"
    memories = Counter(memory.turn_id for memory in every_memory(service))
    for turn in prompts:
        if memories[turn] != 1:
            yield f"turn {turn} was learned {memories[turn]} times"
    for session in SESSIONS:
        standing = {snapshot.id for snapshot in snapshots.of(session)}
        said = turns.messages(session)
        if any(one.snapshot is not None and one.snapshot not in standing for one in said):
            yield f"a message of {session} lost its summary"
        kept = len({one.turn for one in said if one.snapshot is None})
        covered = sum(snapshot.turns for snapshot in snapshots.of(session))
        if covered + kept != len({one.turn for one in said}):
            yield f"{session}: {covered} turns summarised and {kept} kept do not make up all"


def main(home: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    told = Counter(rounds=0, acknowledged=0, two_talkers=0, checked=0)
    acknowledged: set[str] = set()
    wrong: list[str] = []
    folder = home / "0"
    for at in range(rounds):
        talkers = [
            begin(partial(talk, folder, n, seed + 2 * at + n))
            for n in range(chance.choice([1, 1, 2]))
        ]
        told["two_talkers"] += len(talkers) == 2
        heard: list[list[Any]] = []
        for _, pipe in talkers if chance.random() < 0.9 else []:
            # So far, however slow the machine is; then for as long as chance has it.
            heard += [json.loads(pipe.readline()) for _ in range(chance.randint(1, 4))]
        time.sleep(chance.uniform(0, 0.1))
        for process, _ in talkers:
            os.kill(process, signal.SIGKILL)
        for process, pipe in talkers:
            os.waitpid(process, 0)
            for said in [*heard, *told_by(pipe)]:
                if said[0] == "ok":
                    acknowledged.add(said[1])
                elif said[0] == "error":
                    wrong.append(f"round {at}: {said[1]}")
        told["rounds"] += 1
        if wrong or at % 20 == 19 or at == rounds - 1:
            told["acknowledged"] += len(acknowledged)
            wrong += look(folder, acknowledged, at)
            told["checked"] += 1
            folder, acknowledged = home / str(at + 1), set()
        if wrong:
            break
    sys.stdout.write(json.dumps({**told, "wrong": wrong[:10]}))


def look(folder: Path, acknowledged: set[str], at: int) -> list[str]:
    """Let the work be finished in a child, since this process forks; what is wrong after it."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            try:
                with closing(opened(folder)) as service:
                    service.settle(60)
                    service.sleep()
                    json.dump(list(problems(service, acknowledged)), pipe)
            except BaseException as error:
                json.dump([repr(error)], pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found: list[str] = json.load(pipe)
    os.wait()
    return [f"round {at}: {problem}" for problem in found]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
