"""What in the user's place a person has said, and what only looks so. Loads nothing: hooks wait."""

import re

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
