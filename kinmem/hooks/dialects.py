"""The dialects of the clients: which client calls, what its events mean, and how it is answered.

The hooks of Codex and VS Code are modelled on Claude Code's; Gemini CLI and Cursor have their own.
"""

import re
from collections.abc import Mapping
from typing import Any, Protocol

from kinmem.hooks.events import (
    IGNORED,
    Compacted,
    Ended,
    Fields,
    Heard,
    Hook,
    Opened,
    Reply,
    Said,
    answer,
    digest,
    filled,
    last_answer,
    tool_output,
    untold,
)

# Events that only Gemini CLI has.
GEMINI_EVENTS = frozenset({"BeforeAgent", "AfterAgent", "AfterTool", "PreCompress"})
PLACE_CHARACTERS = 4096


# A command has no further slash in its name: /home/ana/notes.txt begins a sentence.
SLASH_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?:\s|$)")
# What clients write there: output of local commands, reminders, news of other tasks.
CLIENTS_OWN = re.compile(
    r"<(?:local-command|command-|bash-|task-notification|system-reminder|user-memory-input)"
)
PEOPLE = frozenset({None, "user", "sdk"})
"""Sources of prompts that people speak through; wake-ups, schedules and the like are none."""


def is_users(prompt: str, source: str | None = None) -> bool:
    """Whether a prompt is what a person said; `source` as Claude Code names it, if it does."""
    start = prompt.lstrip()
    return source in PEOPLE and not SLASH_COMMAND.match(start) and not CLIENTS_OWN.match(start)


class Dialect(Protocol):
    """The hook format of one client."""

    client: str
    """The client's name, stored beside what was said."""

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """Return what this call reports; nothing for events that kinmem does not use."""

    def tell(self, event: str, notes: str) -> Reply:
        """Return the answer in the client's format. The notes may be empty."""


def heard(given: object, hint: str | None = None) -> Hook:
    """Parse one hook's input. `hint` names the client in case the input could come from several.

    Anything that is not a hook of the main agent is IGNORED, sub-agents included.
    """
    if not isinstance(given, dict):
        return IGNORED
    fields = Fields(given)
    event = fields.name("hook_event_name", "hookEventName")
    if event is None or _is_subagents(fields):
        return IGNORED
    name = recognised(event, given, hint)
    dialect = DIALECTS[name]
    place = fields.text("cwd") or _first_root(given.get("workspace_roots"))
    if place and len(place) > PLACE_CHARACTERS:
        place = None
    return Hook(name, dialect.client, event, place, tuple(dialect.hear(event, fields)))


def reply(hook: Hook, notes: str) -> Reply:
    """Return the answer in the client's dialect."""
    return DIALECTS[hook.dialect].tell(hook.event, notes) if hook.dialect else {}


def recognised(event: str, given: Mapping[str, Any], hint: str | None) -> str:
    """Return the client that sends such input, by what only it sends, or else by the hint."""
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
    if "timestamp" in given:  # Gemini CLI's, or VS Code's in snake case
        if hint in ("gemini", "vscode"):
            return hint
        return "vscode" if given.get("source") == "new" or "prompt" in given else "gemini"
    return hint if hint in ("claude", "codex") else "claude"


def _is_subagents(fields: Fields) -> bool:
    """Return whether a sub-agent is calling: it has an id of any type.

    Claude Code's own helpers, such as the one that compacts, have an empty agent_type.
    """
    ids = [fields.given.get(name) for name in ("agent_id", "agentId")]
    types = [fields.given.get(name) for name in ("agent_type", "agentType")]
    return "" in types or any(
        filled(id) is not None if isinstance(id, str) else id is not None for id in ids
    )


def _first_root(roots: object) -> str | None:
    return Fields({"root": roots[0]}).text("root") if isinstance(roots, list) and roots else None


# Sources of a SessionStart with an empty context.
EMPTIED = ("compact", "clear")
CLAUDE_TOLD = ("SessionStart", "UserPromptSubmit")


class ClaudeCode:
    """Takes notes as additional context, at the start of a session and with a prompt."""

    client = "claude-code"

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """See Dialect. prompt_id names the turn; it is missing before the first prompt."""
        session = fields.name("session_id")
        return _claude_events(event, fields, session, fields.name("prompt_id")) if session else []

    def tell(self, event: str, notes: str) -> Reply:
        """See Dialect. Never on Stop, where additional context would make the agent continue."""
        if not notes or event not in CLAUDE_TOLD:
            return {}
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": notes}}


class Codex(ClaudeCode):
    """Claude Code's events, with turn_id.

    Codex refuses a reply with an unknown key; its schemas have the keys of Claude Code's replies.
    """

    client = "codex"

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """See Dialect. SessionStart and SessionEnd belong to no turn."""
        session = fields.name("session_id")
        return _claude_events(event, fields, session, fields.name("turn_id")) if session else []


class VSCode(ClaudeCode):
    """Claude Code's events, with sessionId, without an id of the turn, and without a message in
    Stop."""

    client = "vscode"

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """See Dialect. An answer is read from the transcript, if there is one."""
        session = fields.name("sessionId", "session_id")
        return untold(_claude_events(event, fields, session, None)) if session else []

    def tell(self, event: str, notes: str) -> Reply:
        """See Dialect. VS Code reads context at the start of a session only."""
        return super().tell(event, notes) if event == "SessionStart" else {}


def _claude_events(event: str, fields: Fields, session: str, turn: str | None) -> list[Heard]:
    """Return the events that Claude Code, Codex and VS Code share."""
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
    """Return the content of <summary>, without the <analysis> before it.

    Its prompt_id is that of /compact, which is no turn.
    """
    whole = fields.text("compact_summary")
    _, _, inside = (whole or "").partition("<summary>")
    return inside.rpartition("</summary>")[0].strip() or whole


def _last_message(fields: Fields) -> str | None:
    """Return the last message.

    Older versions leave the field out; an empty one means that nothing was said.
    """
    if "last_assistant_message" in fields:
        return fields.text("last_assistant_message")
    path = fields.text("transcript_path")
    return last_answer(path) if path else None


GEMINI_TOLD = ("SessionStart", "BeforeAgent")
# Gemini's own words for an agent that said nothing.
NO_RESPONSE = "[no response text]"

HOOK_CONTEXT = r"<hook_context>(?:(?!</?hook_context>).)*</hook_context>"
# What hooks (ours or others') have added and Gemini has put before or after a prompt. Not compiled,
# since the hooks of other clients need not wait for that.
WRAPPED = rf"\A(?:\s*{HOOK_CONTEXT})+|(?:{HOOK_CONTEXT}\s*)+\Z"


class GeminiCLI:
    """Has its own events and names, without an id of the turn."""

    client = "gemini-cli"

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """See Dialect. AfterAgent repeats the prompt, in case BeforeAgent is not configured."""
        session = fields.name("session_id")
        if not session:
            return []
        match event:
            case "SessionStart":
                gone = fields.text("source") == "clear"
                return [*([Compacted(session)] if gone else []), Opened(session)]
            case "BeforeAgent":
                prompt = _gemini_prompt(fields)
                if prompt and is_users(prompt):
                    return [Said("prompt", session, None, prompt)]
            case "AfterAgent":
                text = fields.text("prompt_response")
                said = answer(fields, session, None, None if text == NO_RESPONSE else text)
                return [*_answered_prompt(fields, session), *said]
            case "AfterTool":
                return [*tool_output(fields, session, None, "tool_response")]
            case "PreCompress":
                return [Compacted(session)]
            case "SessionEnd":
                return [Ended(session)]
        return []

    def tell(self, event: str, notes: str) -> Reply:
        """See Dialect. Notes go in as additional context; Gemini reads nothing but JSON."""
        if not notes or event not in GEMINI_TOLD:
            return {}
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": notes}}


def _gemini_prompt(fields: Fields) -> str:
    """Return the prompt without what hooks have added to it."""
    return re.sub(WRAPPED, "", fields.text("prompt") or "", flags=re.DOTALL).strip()


def _answered_prompt(fields: Fields, session: str) -> list[Said]:
    """Return the prompt that was answered; nothing if a hook made the agent continue, since it was
    reported before."""
    prompt = _gemini_prompt(fields)
    if not prompt or not is_users(prompt) or fields.given.get("stop_hook_active") is True:
        return []
    return [Said("prompt", session, None, prompt, tell=False, again=True)]


class Cursor:
    """Runs Claude Code's hooks too, with its own input under either name of an event."""

    client = "cursor"

    def hear(self, event: str, fields: Fields) -> list[Heard]:
        """See Dialect.

        `stop` carries no text: each answer, of which a turn may have several, has come with
        afterAgentResponse.
        """
        session = fields.name("conversation_id", "session_id")
        turn = fields.name("generation_id")
        if not session:
            return []
        match _cursor_event(event):
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
        """See Dialect.

        Cursor reads context at the start of a session only; a prompt has to be let through.
        """
        match _cursor_event(event):
            case "sessionStart" if notes:
                return {"additional_context": notes}
            case "beforeSubmitPrompt":
                return {"continue": True}
        return {}


def _cursor_event(event: str) -> str:
    name = event[:1].lower() + event[1:]
    return "beforeSubmitPrompt" if name == "userPromptSubmit" else name


DIALECTS: Mapping[str, Dialect] = {
    "claude": ClaudeCode(),
    "codex": Codex(),
    "gemini": GeminiCLI(),
    "cursor": Cursor(),
    "vscode": VSCode(),
}
