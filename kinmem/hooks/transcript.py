"""The last answer in a client's transcript, for hooks that do not bring it.

Transcripts are no interface: each client has a format of its own and changes it. So this looks for
what all have in common, one JSON object a line with a role and a text, and finds nothing rather
than the wrong thing.
"""

import json
import os
import stat
from typing import Any

TAIL_BYTES = 512 * 1024
ENVELOPES = ("message", "data", "payload")


def last_answer(path: str) -> str | None:
    """What the agent said last, unless the user has spoken since; None if that cannot be told."""
    for line in reversed(_last_lines(path)):
        role, text = _spoken(_parsed(line))
        if role == "user" and text:
            return None
        if role == "assistant" and text:
            return text
    return None


def _last_lines(path: str) -> list[bytes]:
    """The whole lines at the end of a regular file; never waits for a pipe."""
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
    except (ValueError, RecursionError):  # cut off in the middle, or not meant for us
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _spoken(line: dict[str, Any]) -> tuple[str | None, str]:
    """Role and text of a line; a side chain is a sub-agent's, a meta line nobody's."""
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
