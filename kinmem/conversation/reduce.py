"""Tool results get shorter as they get older, without a model. Pure; nothing is changed in place.

The latest groups of tool calls stay whole (TOOL_RESULT_MASK_KEEP_LAST), those before are cut
(OBSERVATION_COMPACTION_WINDOW of them, to OBSERVATION_MAX_CHARS), still older ones become a line.
A group is what the tools of one turn gave in a row. The zones are KinBot's.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kinmem.settings import CompactSettings
from kinmem.turns import Message

TRUNCATED = " [truncated]"
LONG_TEXT, LONG_OLD_TEXT = 2000, 500
"""Characters of a text that is not a tool's, before the zone of cut results and before that of
lines; longer ones are squeezed, then cut."""
LONG_VALUE = 100
KEYS = 5
NAMED = ("path", "file_path", "filePath", "file", "filename", "url", "uri")
"""What a collapsed result keeps: where it can be had again."""
FILE_TOOL = re.compile(r"(?i)read|write|edit|file|image|fetch|download|open|browse|notebook|url")
PLACE = re.compile(r"https?://[^\s\"'<>]+|(?:[A-Za-z]:\\|~?/|\.{1,2}/)[^\s\"'<>:,;]+")
LONGEST_PLACE = 200
LOOKED_AT = 500
"""Characters of a text in which a file's place is looked for: tools name it first."""


def reduce(messages: Sequence[Message], settings: CompactSettings) -> list[Message]:
    """The same messages, shorter where they are old; all as they are if the window is 0."""
    if not settings.window:
        return list(messages)
    groups = groups_of(messages)
    kept = settings.keep_last + settings.window
    collapsed = groups[: max(0, len(groups) - kept)]
    cut = groups[len(collapsed) : max(0, len(groups) - settings.keep_last)]
    shorter = {at: _collapsed(messages[at]) for group in collapsed for at in group}
    shorter |= {at: _result_cut(messages[at], settings.max_chars) for group in cut for at in group}
    old = collapsed[-1][-1] if collapsed else -1
    ageing = cut[0][0] if cut else len(messages) - 2 * kept  # as if each group had a question
    return [
        shorter.get(at, message) if message.role == "tool" else _squeezed(message, at, old, ageing)
        for at, message in enumerate(messages)
    ]


def groups_of(messages: Sequence[Message]) -> list[list[int]]:
    """Places of the tool results that stand in a row in one turn, group by group."""
    groups: list[list[int]] = []
    for at, message in enumerate(messages):
        if begins_group(messages, at):
            groups.append([at])
        elif message.role == "tool":
            groups[-1].append(at)
    return groups


def begins_group(messages: Sequence[Message], at: int) -> bool:
    """Whether it is a tool's result and none of the same turn stands before it."""
    message, before = messages[at], messages[at - 1] if at else None
    if message.role != "tool":
        return False
    return before is None or before.role != "tool" or before.turn != message.turn


def _result_cut(message: Message, characters: int) -> Message:
    """A spilled one keeps the name of its file, which stands at its end."""
    shorter = _cut(message, characters)
    if message.spill and shorter is not message:
        return replace(shorter, text=f"{shorter.text} [whole: {message.spill}]")
    return shorter


def _cut(message: Message, characters: int) -> Message:
    if len(message.text) <= characters:
        return message
    return replace(message, text=message.text[:characters] + TRUNCATED)


def _squeezed(message: Message, at: int, old: int, ageing: int) -> Message:
    """Texts before the boundary lose blank lines, runs of blanks and what is beyond the limit."""
    limit = LONG_OLD_TEXT if at <= old else LONG_TEXT
    if at >= ageing or len(message.text) <= limit:
        return message
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]{2,}", " ", message.text))
    return _cut(replace(message, text=text), limit)


def _collapsed(message: Message) -> Message:
    """[grep, 12,345 characters: list of 40]; what is a short line anyway stays as it is."""
    text = message.text
    if len(text) <= LONG_VALUE and "\n" not in text:
        return message
    try:
        kind = _value(json.loads(text))
    except (ValueError, RecursionError):
        kind = _text(message)
    whole = f"; whole: {message.spill}" if message.spill else ""
    return replace(message, text=f"[{_tool(message)}, {len(text):,} characters: {kind}{whole}]")


def _tool(message: Message) -> str:
    return " ".join((message.tool or "tool").split())


def _text(message: Message) -> str:
    """Short ones in a line; of a long one that it is text, for file tools which file's."""
    line = " ".join(message.text.split())
    if len(line) <= LONG_VALUE:
        return line
    place = PLACE.search(message.text[:LOOKED_AT]) if FILE_TOOL.search(_tool(message)) else None
    return f"text, {place[0][:LONGEST_PLACE]}" if place else "text"


def _value(value: Any) -> str:
    """In a line: lists by their length, objects by their first keys, long texts by their length."""
    if isinstance(value, list):
        return f"list of {len(value):,}"
    if isinstance(value, dict):
        named = [key for key in NAMED if isinstance(value.get(key), str)]
        keys = [*named, *(key for key in value if key not in named)][:KEYS]
        told = ", ".join(f"{_inner(key)}: {_inner(value[key], key in named)}" for key in keys)
        more = len(value) - len(keys)
        return f"{told}, and {more:,} more" if more > 0 else told or "empty object"
    return _inner(value)


def _inner(value: Any, whole: bool = False) -> str:
    """A value in an object; `whole`: a place, which is of use only as it is."""
    if isinstance(value, list):
        return f"list of {len(value):,}"
    if isinstance(value, dict):
        return f"object of {len(value):,}"
    if isinstance(value, str):
        line = " ".join(value.split())
        most = LONGEST_PLACE if whole else LONG_VALUE
        return line if len(line) <= most else f"text of {len(value):,} characters"
    return json.dumps(value)
