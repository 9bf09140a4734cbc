"""Every observed turn is stored once, learned once and summarised once, whatever is killed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.slow
def test_kill_9_in_the_cycle_loses_and_doubles_nothing(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cycle.crash_loop", str(home), "300", "1"],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=115,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)

    assert told["wrong"] == []
    assert told["rounds"] == 300
    # Else the talkers did not come far enough to be hit in the middle of something.
    assert told["acknowledged"] > 300
    assert told["two_talkers"] > 30
