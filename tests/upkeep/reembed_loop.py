"""Embeds a small store anew, is killed at random moments, and goes on until it is done.

Run as `python -m tests.upkeep.reembed_loop <home> <memories> <rounds> <seed>`; prints as JSON how
often it was killed, how many texts were embedded, and the coverage at the end. However fast the
machine is, a process that is to be killed does not get beyond its second batch.
"""

import json
import math
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from kinmem.llm.base import Purpose
from kinmem.models import Vectors
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from tests.processes import begin, tell, told_by
from tests.upkeep.crash_loop import TinyEmbedder


class Told(TinyEmbedder):
    """Tells of each batch before it gives its vectors, and takes a few milliseconds.

    After so many batches it waits to be killed.
    """

    name = "other"

    def __init__(self, pipe: int, batches: float) -> None:
        self._pipe = pipe
        self._left = batches

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        if not self._left:
            signal.pause()
        self._left -= 1
        tell(self._pipe, "batch", str(len(texts)))
        time.sleep(0.004)
        return super().embed(texts)


def opened(home: Path, *embedders: TinyEmbedder) -> Service:
    settings = load({"KINMEM_KIN": "ana", "KINMEM_HOME": home}, environment={})
    return Service(SqliteStore(home, "ana"), embedders, settings, resident=False)


def reembed(home: Path, pipe: int, batches: float) -> None:
    with closing(opened(home, Told(pipe, batches), TinyEmbedder())) as service:
        tell(pipe, "ready")
        service.reembed()
        tell(pipe, "done")


def main(home: Path, memories: int, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    with closing(opened(home, TinyEmbedder())) as service:
        service.memorize_many(f"Cloud number {n} looked like a sheep." for n in range(memories))
        service.reembed()
    killed = embedded = 0
    done = False
    while not done:
        batches = 2 if killed < rounds else math.inf
        process, pipe = begin(partial(reembed, home, batches=batches))
        if killed < rounds:
            pipe.readline()
            time.sleep(chance.uniform(0, 0.02))
            os.kill(process, signal.SIGKILL)
            killed += 1
        os.waitpid(process, 0)
        for said in told_by(pipe):
            if said[0] == "error":
                raise SystemExit(said[1])
            embedded += int(said[1]) if said[0] == "batch" else 0
            done = done or said[0] == "done"
    with closing(opened(home, TinyEmbedder())) as service:
        known = {one.embedder: [one.done, one.total] for one in service.store.index.coverage()}
        damage = [file.damage for file in service.store.health() if file.damage]
    sys.stdout.write(
        json.dumps({"killed": killed, "embedded": embedded, "known": known, "damage": damage})
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
