"""Starts the processes that outlive a hook: the worker, and the same hook once more."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import IO

# The working directory of the processes: `python -m` would import modules from the current folder.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120


def start_worker(home: str, kin: str, *, stays: bool) -> None:
    """Start a process that learns from what was heard, and with `stays` answers the next hooks.

    Several at once do no harm: only the first has the lease and the socket.
    """
    words = ["sleep", "--due", "--quiet", *["--linger"] * stays]
    _start(words, {"KINMEM_HOME": home, "KINMEM_KIN": kin}, None)


def start_late(words: Sequence[str], heard: bytes) -> None:
    """Run the same hook again in another process, with all the time it needs."""
    import tempfile  # late: takes 5 ms, which other hooks do not need

    with tempfile.TemporaryFile() as file:
        file.write(heard)
        file.seek(0)
        _start(["hook", *words, "--late"], {}, file)


def _start(words: Sequence[str], settings: Mapping[str, str], stdin: IO[bytes] | None) -> None:
    import subprocess  # late: takes 10 ms, and most hooks start nothing

    subprocess.Popen(
        [sys.executable, "-m", "kinmem", *words],
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, **settings},
        start_new_session=True,
    )
