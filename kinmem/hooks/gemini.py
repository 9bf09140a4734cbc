"""Gemini CLI: events and names of its own, no id for a turn."""

import re

from kinmem.hooks.events import (
    Compacted,
    Ended,
    Fields,
    Heard,
    Opened,
    Reply,
    Said,
    answer,
    tool_output,
)
from kinmem.language.talk.speech import is_users

TOLD = ("SessionStart", "BeforeAgent")
NO_RESPONSE = "[no response text]"
"""Gemini's own words when its agent said nothing."""

HOOK_CONTEXT = r"<hook_context>(?:(?!</?hook_context>).)*</hook_context>"
WRAPPED = re.compile(rf"\A(?:\s*{HOOK_CONTEXT})+|(?:{HOOK_CONTEXT}\s*)+\Z", re.DOTALL)
"""What hooks have told, ours or others', and Gemini has put before or behind a prompt."""


class GeminiCLI:
    """One call understood, and answered as this client wants it."""

    client = "gemini-cli"

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """AfterAgent repeats the prompt: BeforeAgent may not be among the hooks."""
        session = fields.name("session_id")
        if not session:
            return []
        match event:
            case "SessionStart":
                gone = fields.text("source") == "clear"
                return [*([Compacted(session)] if gone else []), Opened(session)]
            case "BeforeAgent":
                prompt = _prompt(fields)
                if prompt and is_users(prompt):
                    return [Said("prompt", session, None, prompt)]
            case "AfterAgent":
                text = fields.text("prompt_response")
                said = answer(fields, session, None, None if text == NO_RESPONSE else text)
                return [*_asked(fields, session), *said]
            case "AfterTool":
                return [*tool_output(fields, session, None, "tool_response")]
            case "PreCompress":
                return [Compacted(session)]
            case "SessionEnd":
                return [Ended(session)]
        return []

    def tell(self, event: str, notes: str) -> Reply:
        """Notes go in as additional context; Gemini reads nothing but JSON."""
        if not notes or event not in TOLD:
            return {}
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": notes}}


def _prompt(fields: Fields) -> str:
    """What was said, without what hooks have added to it."""
    return WRAPPED.sub("", fields.text("prompt") or "").strip()


def _asked(fields: Fields, session: str) -> list[Said]:
    """The prompt that has been answered; it was heard before if a hook made the agent go on."""
    prompt = _prompt(fields)
    if not prompt or not is_users(prompt) or fields.given.get("stop_hook_active") is True:
        return []
    return [Said("prompt", session, None, prompt, tell=False, again=True)]
