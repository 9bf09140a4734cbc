"""How much of a model's context the list of tools takes in every session."""

import json
from typing import Any

import anyio
from mcp import Client

from benchmarks.report import Row, Table, Target
from kinmem.mcp.protocol import build
from kinmem.service import Service

MOST = 6_000
SHOWN = ("name", "title", "description", "inputSchema")
"""What clients put before the model; output schemas are for programs."""


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """One row for each tool."""
    tools = anyio.run(_listed)
    sizes = {tool["name"]: _size({name: tool.get(name) for name in SHOWN}) for tool in tools}
    total = sum(sizes.values())
    rows: list[Row] = [*sizes.items(), ("all", total)]
    note = f"Compact JSON of {', '.join(SHOWN)}; absent fields dropped."
    table = Table("Tool list", ("tool", "characters"), rows, note)
    return [table], [Target("characters of the tool list", total, MOST)]


async def _listed() -> list[dict[str, Any]]:
    async with Client(build(_no_service)) as client:
        listed = await client.list_tools()
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]


def _no_service(kin: str | None) -> Service:
    raise RuntimeError("listing tools opens no memory")


def _size(tool: dict[str, Any]) -> int:
    present = {name: value for name, value in tool.items() if value is not None}
    return len(json.dumps(present, ensure_ascii=False, separators=(",", ":")))
