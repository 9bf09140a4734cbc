"""A disk that fails or is full costs the write that met it, and nothing else."""

import json
from pathlib import Path

import pytest

from tests.processes import run
from tests.sweeps import rounds

STEP = rounds(1, 20)
"""Every so manieth write fails once."""


@pytest.mark.slow
def test_a_fault_at_any_write_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    told = json.loads(run("tests.store.fault_sweep", tmp_path, STEP))

    assert told["wrong"] == []
    # Each point counted is a fault that was met; the sweep ends where none is met any more.
    assert told["points"] > 2_000 / STEP
    # The others met a copy in shared.db: the write is done, and published by the next one.
    assert told["surfaced"] > 0.75 * told["points"]
    assert told["codes"] == {
        "IOERR": ["storage_failed"],
        "IOERR sticky": ["storage_failed"],
        "FULL": ["storage_full"],
        "FULL sticky": ["storage_full"],
    }
