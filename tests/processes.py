"""Processes that are killed, and those that kill them.

A loop that forks is run alone: nobody else's threads or open files may be around. Its children tell
what they do through a pipe, one JSON list a line, until they are killed.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

REPOSITORY = Path(__file__).parents[1]


def run(module: str, *arguments: object, seconds: float = 290) -> str:
    """What a module of the tests prints, in a process of its own, within that time."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def begin(work: Callable[[int], None]) -> tuple[int, BinaryIO]:
    """A process that does the work, given the end to `tell`: its id, and the end to read."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        try:
            work(writing)
        except BaseException as error:
            tell(writing, "error", repr(error))
        finally:
            os._exit(1)
    os.close(writing)
    return process, os.fdopen(reading, "rb")


def tell(pipe: int, *said: Any) -> None:
    os.write(pipe, json.dumps(said).encode() + b"\n")


def told_by(pipe: BinaryIO) -> Iterator[list[Any]]:
    """What was told; a line that was cut off was told by nobody."""
    with pipe:
        for line in pipe.read().split(b"\n")[:-1]:
            yield json.loads(line)
