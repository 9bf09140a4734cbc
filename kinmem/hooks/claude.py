"""Claude Code, and Codex and VS Code, whose hooks are modelled on it."""

import json
import os
import stat
from typing import Any

from kinmem.hooks.events import (
    Compacted,
    Ended,
    Fields,
    Heard,
    Opened,
    Reply,
    Said,
    answer,
    digest,
    tool_output,
    untold,
)
from kinmem.language.talk.speech import is_users

EMPTIED = ("compact", "clear")
"""Sources of a SessionStart whose context holds nothing of what was told before."""
TOLD = ("SessionStart", "UserPromptSubmit")
TAIL_BYTES = 512 * 1024
ENVELOPES = ("message", "data", "payload")


class ClaudeCode:
    """Notes go in as additional context at the start of a session and with a prompt."""

    client = "claude-code"

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """What a call says; prompt_id names the turn, and is absent before the first prompt."""
        session = fields.name("session_id")
        return _events(event, fields, session, fields.name("prompt_id")) if session else []

    def tell(self, event: str, notes: str) -> Reply:
        """As additional context. Never on Stop: there it would make the agent go on."""
        if not notes or event not in TOLD:
            return {}
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": notes}}


class Codex(ClaudeCode):
    """Claude Code's events, with turn_id. A reply with a key it does not know is refused; those of
    Claude Code's replies are in its schemas."""

    client = "codex"

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """What a call says; SessionStart and SessionEnd belong to no turn."""
        session = fields.name("session_id")
        return _events(event, fields, session, fields.name("turn_id")) if session else []


class VSCode(ClaudeCode):
    """Claude Code's events with sessionId, no id for a turn, no message in Stop."""

    client = "vscode"

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """What a call says; an answer is read from the transcript, if there is one."""
        session = fields.name("sessionId", "session_id")
        return untold(_events(event, fields, session, None)) if session else []

    def tell(self, event: str, notes: str) -> Reply:
        """Context is read at the start of a session only."""
        return super().tell(event, notes) if event == "SessionStart" else {}


def _events(event: str, fields: Fields, session: str, turn: str | None) -> list[Heard]:
    """The events that Claude Code, Codex and VS Code share."""
    match event:
        case "SessionStart":
            gone = fields.text("source") in EMPTIED
            return [*([Compacted(session)] if gone else []), Opened(session)]
        case "UserPromptSubmit":
            prompt = fields.text("prompt")
            if prompt and is_users(prompt, fields.text("source")):
                return [Said("prompt", session, turn, prompt)]
        case "Stop":
            return [*answer(fields, session, turn, _last_message(fields))]
        case "PostToolUse":
            return [*tool_output(fields, session, turn, "tool_response")]
        case "PreCompact":
            return [Compacted(session)]
        case "PostCompact":
            if summary := _summary(fields):
                return [Said("summary", session, None, summary, digest(summary))]
        case "SessionEnd":
            return [Ended(session)]
    return []


def _summary(fields: Fields) -> str | None:
    """What the agent was asked for as a <summary>, without the <analysis> before it. Its prompt_id
    is that of /compact, which is no turn."""
    whole = fields.text("compact_summary")
    _, _, inside = (whole or "").partition("<summary>")
    return inside.rpartition("</summary>")[0].strip() or whole


def _last_message(fields: Fields) -> str | None:
    """Older versions leave the field out; an empty one means that nothing was said."""
    if "last_assistant_message" in fields:
        return fields.text("last_assistant_message")
    path = fields.text("transcript_path")
    return last_answer(path) if path else None


def last_answer(path: str) -> str | None:
    """What the agent said last, by a client's transcript, unless the user has spoken since; None if
    that cannot be told.

    Transcripts are no interface: each client has a format of its own and changes it. So this looks
    for what all have in common, one JSON object a line with a role and a text, and finds nothing
    rather than the wrong thing.
    """
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
