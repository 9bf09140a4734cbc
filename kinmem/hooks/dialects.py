"""Whose hook is calling, and what it says."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol, cast

from kinmem.hooks.events import IGNORED, Fields, Heard, Hook, Reply, filled

DIALECTS = {
    "claude": ("claude", "ClaudeCode"),
    "codex": ("claude", "Codex"),
    "gemini": ("gemini", "GeminiCLI"),
    "cursor": ("cursor", "Cursor"),
    "vscode": ("claude", "VSCode"),
}
"""By name, the module and class of each."""
GEMINI_EVENTS = frozenset({"BeforeAgent", "AfterAgent", "AfterTool", "PreCompress"})
"""Those that no other client has."""
PLACE_CHARACTERS = 4096


class Dialect(Protocol):
    """How one client speaks."""

    client: str
    """Its name, as it is stored beside what was said."""

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """What this call says; nothing for events that kinmem has no use for."""

    def tell(self, event: str, notes: str) -> Reply:
        """The answer that this client understands; notes may be empty."""


def heard(given: object, hint: str | None = None) -> Hook:
    """One hook's input, understood. `hint` names the client where the input could be of several.

    Whatever is not a hook of the main agent is IGNORED: sub-agents say nothing of their own.
    """
    if not isinstance(given, dict):
        return IGNORED
    fields = Fields(given)
    event = fields.name("hook_event_name", "hookEventName")
    if event is None or _is_subagents(fields):
        return IGNORED
    name = recognised(event, given, hint)
    dialect = dialect_of(name)
    place = fields.text("cwd") or _first_root(given.get("workspace_roots"))
    if place and len(place) > PLACE_CHARACTERS:
        place = None
    return Hook(name, dialect.client, event, place, tuple(dialect.hear(event, fields)))


def reply(hook: Hook, notes: str) -> Reply:
    """The answer in the client's dialect."""
    return dialect_of(hook.dialect).tell(hook.event, notes) if hook.dialect else {}


def recognised(event: str, given: Mapping[str, Any], hint: str | None) -> str:
    """The client that sends such an input: by what only it sends, then by the hint."""
    if "conversation_id" in given or "cursor_version" in given or event[:1].islower():
        return "cursor"
    if "hookEventName" in given or "sessionId" in given:
        return "vscode"
    if "turn_id" in given:
        return "codex"
    if event in GEMINI_EVENTS:
        return "gemini"
    if "prompt_id" in given:
        return "claude"
    if "timestamp" in given:  # Gemini CLI's, or VS Code's in names of one kind
        if hint in ("gemini", "vscode"):
            return hint
        return "vscode" if given.get("source") == "new" or "prompt" in given else "gemini"
    return hint if hint in ("claude", "codex") else "claude"


def dialect_of(name: str) -> Dialect:
    """A client's dialect; the modules of the others are not loaded."""
    module, kind = DIALECTS[name]
    return cast(Dialect, getattr(import_module(f"kinmem.hooks.{module}"), kind)())


def _is_subagents(fields: Fields) -> bool:
    """An id of any kind is one, a number too. Claude Code's own helpers, those that compact for
    instance, have an empty agent_type."""
    ids = [fields.given.get(name) for name in ("agent_id", "agentId")]
    types = [fields.given.get(name) for name in ("agent_type", "agentType")]
    return "" in types or any(
        filled(id) is not None if isinstance(id, str) else id is not None for id in ids
    )


def _first_root(roots: object) -> str | None:
    return Fields({"root": roots[0]}).text("root") if isinstance(roots, list) and roots else None
