"""Vectors of another embedder are made to the last, whatever is killed meanwhile."""

import json
from pathlib import Path

from kinmem.upkeep.embed import SLICE
from tests.processes import run
from tests.store.contract import TINY
from tests.sweeps import rounds

MEMORIES = rounds(2000, 1000)
ROUNDS = rounds(12, 6)


def test_kill_9_while_the_embedder_changes_costs_a_batch_at_most(home: Path) -> None:
    told = json.loads(run("tests.upkeep.reembed_loop", home, MEMORIES, ROUNDS, 1))

    assert told["killed"] == ROUNDS
    assert told["known"] == {name: [MEMORIES, MEMORIES] for name in (TINY, "other")}
    assert told["damage"] == []
    assert MEMORIES <= told["embedded"] <= MEMORIES + told["killed"] * SLICE
