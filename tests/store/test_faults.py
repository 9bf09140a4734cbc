"""A disk that fails or is full costs the write that met it, and nothing else."""

import json
from pathlib import Path

import pytest

from tests.processes import run
from tests.sweeps import rounds

STEP = rounds(1, 90)
"""Every so manieth write fails once."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("journey", "least"),
    [
        pytest.param("tools", 1_500, id="tools"),
        pytest.param("upkeep", 3_000, id="upkeep"),
        pytest.param("migration", 1_500, id="migration"),
        pytest.param("backup", 800, id="backup"),
        pytest.param("restore", 3_000, id="restore"),
    ],
)
def test_a_fault_anywhere_in_a_journey_is_told_and_loses_nothing(
    tmp_path: Path, journey: str, least: int
) -> None:
    """At each point that is counted a fault was met; the sweep ends where the journey ends."""
    step = rounds(3, 700)
    arguments = (tmp_path, step, journey)
    told = json.loads(run("tests.store.fault_journeys", *arguments, seconds=rounds(3000, 290)))

    assert told["wrong"] == []
    assert told["points"] > least / step
    assert {"storage_failed", "storage_full"} <= set(told["codes"])


@pytest.mark.slow
def test_a_fault_at_any_write_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    told = json.loads(run("tests.store.fault_sweep", tmp_path, STEP))

    assert told["wrong"] == []
    # Each point counted is a fault that was met; the sweep ends where none is met any more.
    assert told["points"] > 2_000 / STEP
    # The others met a copy in shared.db: the write is done, and published by the next one.
    assert told["surfaced"] > 0.7 * told["points"]
    assert told["codes"] == {
        "IOERR": ["storage_failed"],
        "IOERR sticky": ["storage_failed"],
        "FULL": ["storage_full"],
        "FULL sticky": ["storage_full"],
    }
