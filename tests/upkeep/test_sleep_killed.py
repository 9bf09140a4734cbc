"""The sleep cycle is killed at random moments: the next makes of it what it would have been."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kinmem.cli import main
from kinmem.service import Service
from kinmem.upkeep import pipeline
from tests.processes import REPOSITORY, run
from tests.sweeps import rounds

ROUNDS = rounds(60, 2)
SECONDS = 4.0 * ROUNDS
"""After which no more rounds are begun: on a busy machine there may be but one."""
SLEEPER = """
import sys, time
from kinmem.upkeep.pipeline import JOB
from kinmem.upkeep.steps import leased
from kinmem.store.sqlite.store import SqliteStore
from pathlib import Path
store = SqliteStore(Path(sys.argv[1]), "ana")
with leased(store.jobs, JOB):
    print("asleep", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 300)
def test_kill_9_in_a_sleep_loses_and_doubles_nothing(home: Path) -> None:
    told = json.loads(
        run("tests.upkeep.sleep_loop", home, ROUNDS, 1, SECONDS, seconds=SECONDS + 290)
    )

    assert told["wrong"] == []
    assert told["rounds"]
    if told["rounds"] == ROUNDS:
        assert told["killed"] > ROUNDS / 4  # else they had ended before they were hit


def test_the_command_says_who_is_at_it_until_that_one_is_killed(
    service_of: Callable[..., Service],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with service_of("ana", resident=False) as service:
        service.memorize("Clara keeps bees in Lyon.")
    words = ["sleep", "tag", "--json", "--kin", "ana", "--home", str(home)]
    monkeypatch.setattr(pipeline, "PATIENCE", 0.1)
    command = [sys.executable, "-c", SLEEPER, str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=REPOSITORY) as other:
        try:
            assert other.stdout is not None and other.stdout.readline() == b"asleep\n"

            assert main(words) == 1

            (problem,) = json.loads(capsys.readouterr().out)["problems"]
            assert f"process {other.pid} on " in problem
        finally:
            other.send_signal(signal.SIGKILL)
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"tag.seen": 1, "tag.changed": 1}
