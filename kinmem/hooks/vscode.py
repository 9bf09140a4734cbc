"""VS Code's agent: Claude Code's events with sessionId, no id for a turn, no message in Stop."""

from kinmem.hooks import claude
from kinmem.hooks.fields import Fields
from kinmem.hooks.heard import Heard, Reply, untold

CLIENT = "vscode"


def hear(event: str, fields: Fields) -> list[Heard]:
    """What a call says; an answer is read from the transcript, if there is one."""
    session = fields.name("sessionId", "session_id")
    return untold(claude.said(event, fields, session, None)) if session else []


def tell(event: str, notes: str) -> Reply:
    """Context is read at the start of a session only."""
    return claude.tell(event, notes) if event == "SessionStart" else {}
