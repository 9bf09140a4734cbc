"""The power may fail at any moment: what was answered is there, whatever was not synced."""

import json
from pathlib import Path

import pytest

from tests.processes import run
from tests.sweeps import WHOLE, rounds

CUTS = rounds(1_000, 30)


@pytest.mark.slow
def test_a_power_cut_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    told = json.loads(run("tests.store.power_cuts", tmp_path, CUTS, 1, "FULL"))

    assert (told["cuts"], told["wrong"]) == (CUTS, [])


@pytest.mark.slow
def test_the_cuts_are_sharp(tmp_path: Path) -> None:
    """With less care, as many other programs take, they do lose something."""
    told = json.loads(run("tests.store.power_cuts", tmp_path, 20, 1, "NORMAL"))

    assert told["lost"] > 5


@pytest.mark.slow
def test_a_server_that_works_on_takes_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured after each of so many rounds of calls, however long this machine takes for them.

    In the short run without the judge, which takes most of the time.
    """
    if not WHOLE:
        monkeypatch.setenv("KINMEM_JUDGE", "off")
    told = json.loads(run("tests.store.soak", tmp_path / "home", 0, rounds(1_000, 10)))

    assert told["errors"] == {}
    assert told["descriptors"][1] <= told["descriptors"][0] + 2
    assert told["threads"][1] <= told["threads"][0] + 2
