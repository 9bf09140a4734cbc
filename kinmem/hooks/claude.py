"""Claude Code. Its hooks are the model for Codex' and VS Code's, whose files build on this one."""

from kinmem.hooks import speech
from kinmem.hooks.fields import Fields, digest
from kinmem.hooks.heard import Compacted, Ended, Heard, Opened, Reply, Said
from kinmem.hooks.transcript import last_answer
from kinmem.rules.talk.speech import is_users

CLIENT = "claude-code"
EMPTIED = ("compact", "clear")
"""Sources of a SessionStart whose context holds nothing of what was told before."""
TOLD = ("SessionStart", "UserPromptSubmit")


def hear(event: str, fields: Fields) -> list[Heard]:
    """What a call says; prompt_id names the turn, and is absent before the first prompt."""
    session = fields.name("session_id")
    return said(event, fields, session, fields.name("prompt_id")) if session else []


def said(event: str, fields: Fields, session: str, turn: str | None) -> list[Heard]:
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
            return [*speech.answer(fields, session, turn, _last_message(fields))]
        case "PostToolUse":
            return [*speech.tool_output(fields, session, turn, "tool_response")]
        case "PreCompact":
            return [Compacted(session)]
        case "PostCompact":
            if summary := _summary(fields):
                return [Said("summary", session, None, summary, digest(summary))]
        case "SessionEnd":
            return [Ended(session)]
    return []


def tell(event: str, notes: str) -> Reply:
    """Notes go in as additional context. Never on Stop: there they would make the agent go on."""
    if not notes or event not in TOLD:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": notes}}


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
