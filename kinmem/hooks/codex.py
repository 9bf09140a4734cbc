"""Codex CLI: Claude Code's events, with turn_id. A reply with a key it does not know is refused."""

from kinmem.hooks import claude
from kinmem.hooks.fields import Fields
from kinmem.hooks.heard import Heard, Reply

CLIENT = "codex"


def hear(event: str, fields: Fields) -> list[Heard]:
    """What a call says; SessionStart and SessionEnd belong to no turn."""
    session = fields.name("session_id")
    return claude.said(event, fields, session, fields.name("turn_id")) if session else []


def tell(event: str, notes: str) -> Reply:
    """As for Claude Code: those keys are in Codex' schemas."""
    return claude.tell(event, notes)
