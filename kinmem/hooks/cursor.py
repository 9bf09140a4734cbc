"""Cursor. It runs Claude Code's hooks as well, with its own input under either name of an event."""

from kinmem.hooks.events import (
    Compacted,
    Ended,
    Fields,
    Heard,
    Opened,
    Reply,
    Said,
    digest,
    tool_output,
)
from kinmem.language.talk.speech import is_users


class Cursor:
    """One call understood, and answered as this client wants it."""

    client = "cursor"

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """What a call says. `stop` carries no text: afterAgentResponse has brought each answer, of
        which a turn may have several."""
        session = fields.name("conversation_id", "session_id")
        turn = fields.name("generation_id")
        if not session:
            return []
        match _own_name(event):
            case "sessionStart":
                return [Opened(session)]
            case "beforeSubmitPrompt":
                prompt = fields.text("prompt")
                if prompt and is_users(prompt):
                    return [Said("prompt", session, turn, prompt, tell=False)]
            case "afterAgentResponse":
                if text := fields.text("text"):
                    return [Said("answer", session, turn, text, digest(text))]
            case "postToolUse":
                return [*tool_output(fields, session, turn, "tool_output")]
            case "preCompact":
                return [Compacted(session)]
            case "sessionEnd":
                return [Ended(session)]
        return []

    def tell(self, event: str, notes: str) -> Reply:
        """Context is read at the start of a session only; a prompt is to be let through."""
        match _own_name(event):
            case "sessionStart" if notes:
                return {"additional_context": notes}
            case "beforeSubmitPrompt":
                return {"continue": True}
        return {}


def _own_name(event: str) -> str:
    name = event[:1].lower() + event[1:]
    return "beforeSubmitPrompt" if name == "userPromptSubmit" else name
