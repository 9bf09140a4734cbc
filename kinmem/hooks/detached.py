"""Processes that outlive the hook, so that no client waits for them."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import kinmem
from kinmem.hooks.place import Place

ROOT = Path(kinmem.__file__).parent.parent
"""Where they start: `python -m` would take modules of the folder it starts in for its own."""


def start_worker(place: Place, *, stays: bool) -> None:
    """Learn from what was heard; one that stays answers the next hooks.

    Several at once do no harm: the first has the lease and the socket.
    """
    settings = {"KINMEM_HOME": place.home, "KINMEM_KIN": place.kin}
    _start(["sleep", "--due", "--quiet", *["--linger"] * stays], settings, subprocess.DEVNULL)


def start_late(words: Sequence[str], heard: bytes) -> None:
    """The same hook again, with all the time it needs."""
    import tempfile  # late: 5 ms that every other hook does without

    with tempfile.TemporaryFile() as file:
        file.write(heard)
        file.seek(0)
        _start(["hook", *words, "--late"], {}, file)


def _start(words: Sequence[str], settings: Mapping[str, str], stdin: int | IO[bytes]) -> None:
    subprocess.Popen(
        [sys.executable, "-m", "kinmem", *words],
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, **settings},
        start_new_session=True,
    )
