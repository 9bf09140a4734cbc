"""doctor's last check: start this kinmem as a client would, remember something, find it again."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from kinmem.cli.checks import Check
from kinmem.cli.client import converse, serving
from kinmem.errors import KinmemError

CONTENT = "The self-test of kinmem keeps its umbrella in the hallway."
QUESTION = "Where is something against the rain?"


def self_test() -> Iterator[Check]:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kinmem-doctor-") as folder:
        try:
            told = converse(lambda errors: _talk(Path(folder), errors))
        except KinmemError as error:
            yield Check("self-test", "error", str(error), "run kinmem serve by hand and see")
            return
    took = time.monotonic() - started
    yield Check("self-test", "ok", f"{told} over stdio in {took:.1f} s")


async def _talk(home: Path, errors: TextIO) -> str:
    async with serving("doctor", home, errors) as caller:
        tools = (await caller.client.list_tools()).tools
        made = await caller("memorize", content=CONTENT)
        await caller.model_loaded()
        found = (await caller("recall", query=QUESTION))["memories"]
        if [memory["id"] for memory in found] != [made["id"]]:
            raise SelfTestFailed(f"what was memorized was not recalled: {found}")
        version = caller.client.protocol_version
    return f"{len(tools)} tools, one memory stored and found by meaning, protocol {version}"


class SelfTestFailed(KinmemError):
    """The server answers, but wrongly."""
