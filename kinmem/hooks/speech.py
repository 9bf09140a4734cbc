"""What an agent and its tools have said, out of the fields of a hook."""

import json
import re
from typing import Any

from kinmem.hooks.fields import Fields, digest
from kinmem.hooks.heard import Said

OUR_TOOLS = re.compile(
    r"(?:^|[^a-z0-9])kinmem(?:[^a-z0-9]|$)|^MCP:(?:recall|memorize|forget)$", re.I
)
MOST_OF_TOOL = 2_000_000
"""Characters of a tool's output that are kept; in UTF-8 they stay below Service's 8 MiB."""


def is_ours(tool: str, server: str | None = None) -> bool:
    """Whether it is a tool of kinmem, under whatever name the client gives it."""
    return server == "kinmem" or bool(OUR_TOOLS.search(tool))


def answer(fields: Fields, session: str, turn: str | None, text: str | None) -> list[Said]:
    """An agent's answer. One that a hook made the agent continue is another part of the turn."""
    if text is None:
        return []
    part = digest(text) if fields.given.get("stop_hook_active") is True else ""
    return [Said("answer", session, turn, text, part)]


def tool_output(fields: Fields, session: str, turn: str | None, output: str) -> list[Said]:
    """What a tool has answered; `output` is the field it stands in."""
    tool = fields.name("tool_name", "toolName")
    server = fields.object("mcp_server").name("name")
    text = as_text(fields.given.get(output)).strip()[:MOST_OF_TOOL]
    if tool is None or not text or is_ours(tool, server):
        return []
    call = fields.name("tool_use_id", "toolUseId")
    return [Said("tool", session, turn, text, call or digest(tool, text), tool)]


def as_text(value: Any) -> str:
    """A tool's output as a person would read it: MCP's content, a shell's streams, else JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and value and all(isinstance(block, dict) for block in value):
        texts = [block["text"] for block in value if isinstance(block.get("text"), str)]
        if texts or all("type" in block for block in value):
            return "\n".join(texts)
    if isinstance(value, dict):
        for inner in ("content", "llmContent"):
            if isinstance(value.get(inner), str | list):
                return as_text(value[inner])
        if isinstance(value.get("stdout"), str):
            streams = (value["stdout"], value.get("stderr"))
            return "\n".join(stream for stream in streams if stream and isinstance(stream, str))
        if isinstance(value.get("file"), dict):
            return as_text(value["file"])
    return json.dumps(value, ensure_ascii=False)
