"""Every observed turn is stored once, learned once and summarised once, whatever is killed."""

import json
from pathlib import Path

import pytest

from tests.processes import run
from tests.sweeps import rounds

ROUNDS = rounds(300, 20)


@pytest.mark.slow
def test_kill_9_in_the_cycle_loses_and_doubles_nothing(home: Path) -> None:
    told = json.loads(run("tests.upkeep.crash_loop", home, ROUNDS, 1))

    assert told["wrong"] == []
    assert told["rounds"] == ROUNDS
    # Else the talkers did not come far enough to be hit in the middle of something.
    assert told["acknowledged"] > ROUNDS / 2
    assert told["two_talkers"] > ROUNDS / 10
