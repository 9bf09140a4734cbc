"""A real MCP client for a real server process, for the demo and for the doctor's self-test."""

import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO, TypeVar

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, TextContent

import kinmem
from kinmem.errors import KinmemError

SECONDS = 30.0
T = TypeVar("T")


class ToolFailed(KinmemError):
    """The tool answered with an error; its text is the message."""

    code = "tool"


class ServerFailed(KinmemError):
    """The server did not start, or ended while it was needed."""

    code = "server"


class Caller:
    """Calls tools of one Kin's server and returns what a model would see."""

    def __init__(self, kin: str, client: Client) -> None:
        self.kin = kin
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured answer. Raises ToolFailed with the text of an error."""
        result = await self.client.call_tool(tool, arguments, read_timeout_seconds=SECONDS)
        assert isinstance(result, CallToolResult)
        if result.is_error:
            texts = [part.text for part in result.content if isinstance(part, TextContent)]
            raise ToolFailed(" ".join(texts).removeprefix(f"Error executing tool {tool}: "))
        return result.structured_content or {}

    async def said(self, tool: str, **arguments: Any) -> str:
        """Return the text of the answer, as hooks read it."""
        logging.getLogger("client").setLevel(logging.ERROR)  # it warns of unlisted tools
        result = await self.client.call_tool(tool, arguments, read_timeout_seconds=SECONDS)
        assert isinstance(result, CallToolResult)
        told = " ".join(part.text for part in result.content if isinstance(part, TextContent))
        if result.is_error:
            raise ToolFailed(told.removeprefix(f"Error executing tool {tool}: "))
        return told

    async def read(self, uri: str) -> str:
        """Return a resource's text."""
        result = await self.client.read_resource(uri)
        return " ".join(part.text for part in result.contents if hasattr(part, "text"))

    async def model_loaded(self) -> None:
        """Wait for the embedder, which loads while the first calls are answered by words."""
        while "embedding" in (await self("recall", query="hello")).get("degraded", []):
            await asyncio.sleep(0.05)


@asynccontextmanager
async def serving(kin: str, home: Path, errors: TextIO) -> AsyncIterator[Caller]:
    """Run a server process for this Kin, started as a client starts it. `errors` gets its stderr.

    It sees the part of the environment that MCP clients pass on: no settings but the home folder.
    """
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "kinmem", "serve", "--kin", kin],
        env={
            "KINMEM_HOME": str(home),
            "PYTHONPATH": str(Path(kinmem.__file__).parent.parent),
            "TZ": os.environ.get("TZ", ""),
        },
    )
    async with Client(stdio_client(parameters, errlog=errors)) as client:
        yield Caller(kin, client)


def converse(talk: Callable[[TextIO], Coroutine[Any, Any, T]]) -> T:
    """Run a conversation with servers. Raises ServerFailed with the last line of their stderr."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            return asyncio.run(talk(errors))
        except Exception as error:
            cause = _first_cause(error)
            if isinstance(cause, KinmemError):
                raise cause from error
            errors.seek(0)
            said = errors.read().strip().rpartition("\n")[2] or "nothing"
            told = f"{type(cause).__name__}: {cause}".rstrip(": ")
            raise ServerFailed(f"the server could not be used ({told}); it said: {said}") from error


def _first_cause(error: BaseException) -> BaseException:
    """Return the first cause inside the task groups that a conversation runs in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
