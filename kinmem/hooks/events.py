"""What a client's hook reports: its fields, read tolerantly, and the events that they stand for.

Named tuples are used here and in the modules beside it, because dataclasses would load inspect,
which costs every prompt 5 ms.
"""

import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

# One JSON object in the client's format; empty if there is nothing to say.
Reply: TypeAlias = dict[str, Any]
PLACEHOLDER = re.compile(r"\$\{[^{}]*\}")
SURROGATES = re.compile("[\ud800-\udfff]")
# The rest of a longer id is replaced by its digest.
NAME_CHARACTERS = 200
OUR_TOOLS = re.compile(
    r"(?:^|[^a-z0-9])kinmem(?:[^a-z0-9]|$)|^MCP:(?:recall|memorize|forget)$", re.I
)
# Characters of a tool's output that are kept; in UTF-8 they stay below Service's 8 MiB.
MOST_OF_TOOL = 2_000_000
# Bytes at the end of a transcript that are searched for its last answer.
TAIL_BYTES = 512 * 1024
# Keys in which a line of a transcript may hold the message.
ENVELOPES = ("message", "data", "payload")


class Said(NamedTuple):
    """Something was said in a session. The fields are those of Service.observe."""

    event: Literal["prompt", "answer", "tool", "summary"]
    session: str
    turn: str | None
    """The client's id of the turn; None if it gives none."""
    text: str
    part: str = ""
    tool: str | None = None
    tell: bool = True
    """Whether the client passes notes for a prompt on to its model."""
    again: bool = False
    """Whether a prompt without an id may be reported a second time, after its answer."""


class Opened(NamedTuple):
    """A session has begun, or continues with an emptied context."""

    session: str


class Compacted(NamedTuple):
    """The client compacts its context, so that the notes shown to the session are lost."""

    session: str


class Ended(NamedTuple):
    """A session is over, and perhaps the server that would have learned from it as well."""

    session: str


Heard: TypeAlias = Said | Opened | Compacted | Ended


def untold(heard: Iterable[Heard]) -> list[Heard]:
    """Return the events as those of a client that passes no notes on to its model."""
    return [event._replace(tell=False) if isinstance(event, Said) else event for event in heard]


class Hook(NamedTuple):
    """One call of a hook, parsed."""

    dialect: str
    """Key of dialects.DIALECTS."""
    client: str
    """The client's name, stored beside what was said."""
    event: str
    """The client's own name for it."""
    place: str | None
    """The folder in which the session works."""
    heard: tuple[Heard, ...]


IGNORED = Hook("", "", "", None, ())


class Fields:
    """The fields of one JSON object."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def text(self, *names: str) -> str | None:
        """Return the first of these fields that holds text."""
        return next((said for name in names if (said := filled(self.given.get(name)))), None)

    def name(self, *names: str) -> str | None:
        """Return the first of these fields that holds an id, shortened and on one line."""
        found = self.text(*names)
        if found is None:
            return None
        found = " ".join(found.split())
        return found if len(found) <= NAME_CHARACTERS and found.isascii() else digest(found)

    def object(self, name: str) -> "Fields":
        """Return the object in that field; empty if there is none."""
        value = self.given.get(name)
        return Fields(value if isinstance(value, dict) else {})


def filled(value: object) -> str | None:
    """Return the text if the client has filled it in: some send `${prompt_id}` as it stands."""
    if not isinstance(value, str):
        return None
    value = SURROGATES.sub("\ufffd", value.replace("\0", ""))
    return value if value.strip() and not PLACEHOLDER.fullmatch(value.strip()) else None


def digest(*texts: str) -> str:
    """Return a short name for the texts, the same in every process."""
    from hashlib import blake2b  # late: it loads OpenSSL, and most hooks do not need it

    return blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=12).hexdigest()


def is_ours(tool: str, server: str | None = None) -> bool:
    """Return whether it is a tool of kinmem, whatever name the client gives it."""
    return server == "kinmem" or bool(OUR_TOOLS.search(tool))


def answer(fields: Fields, session: str, turn: str | None, text: str | None) -> list[Said]:
    """Return an agent's answer.

    If a hook made the agent continue, it is another part of the turn.
    """
    if text is None:
        return []
    part = digest(text) if fields.given.get("stop_hook_active") is True else ""
    return [Said("answer", session, turn, text, part)]


def tool_output(fields: Fields, session: str, turn: str | None, output: str) -> list[Said]:
    """Return the output of a tool; `output` names the field that holds it."""
    tool = fields.name("tool_name", "toolName")
    server = fields.object("mcp_server").name("name")
    text = as_text(fields.given.get(output)).strip()[:MOST_OF_TOOL]
    if tool is None or not text or is_ours(tool, server):
        return []
    call = fields.name("tool_use_id", "toolUseId")
    return [Said("tool", session, turn, text, call or digest(tool, text), tool)]


def as_text(value: Any) -> str:
    """Return a tool's output as a person would read it: MCP's content, a shell's streams, else
    JSON."""
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


def last_answer(path: str) -> str | None:
    """Return what the agent said last in a client's transcript; None if the user has spoken since,
    or if that cannot be found out.

    Transcripts are no interface: each client has its own format and changes it. So this looks for
    what all have in common, one JSON object per line with a role and a text, and prefers to find
    nothing over the wrong thing.
    """
    for line in reversed(_last_lines(path)):
        role, text = _spoken(_parsed(line))
        if role == "user" and text:
            return None
        if role == "assistant" and text:
            return text
    return None


def _last_lines(path: str) -> list[bytes]:
    """Return the whole lines at the end of a regular file. Never waits for a pipe."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return []
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        os.close(file)
        return []
    with os.fdopen(file, "rb") as opened:
        opened.seek(max(0, status.st_size - TAIL_BYTES))
        lines = opened.read(TAIL_BYTES).split(b"\n")
    return lines[1:] if status.st_size > TAIL_BYTES else lines


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):  # cut off in the middle, or not a transcript
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _spoken(line: dict[str, Any]) -> tuple[str | None, str]:
    """Return role and text of a line; nothing for a side chain, which is a sub-agent's, or a meta
    line."""
    if line.get("isSidechain") or line.get("isMeta") or line.get("isApiErrorMessage"):
        return None, ""
    inner = next((line[key] for key in ENVELOPES if isinstance(line.get(key), dict)), line)
    role = inner.get("role") or line.get("role") or str(line.get("type", "")).partition(".")[0]
    kind = str(line.get("type", ""))
    if role not in ("user", "assistant") or ("." in kind and not kind.endswith(".message")):
        return None, ""
    content = inner.get("content", inner.get("text"))
    if isinstance(content, list):
        content = "\n".join(
            block["text"]
            for block in content
            if isinstance(block, dict) and isinstance(block.get("text"), str)
        )
    return role, content.strip() if isinstance(content, str) else ""
