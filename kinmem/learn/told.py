"""A turn as a model is shown it: one JSON object a line, so that no text can pose as another's."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, TypeVar

from kinmem.models import Memory
from kinmem.turns import Message

Thing = TypeVar("Thing")

# In characters: a turn with all its tools stays near 8,000 tokens.
SHOWN: Mapping[str, int] = {"user": 8000, "assistant": 4000, "tool": 2000, "system": 2000}
SHOWN_BEFORE, SHOWN_KNOWN = 600, 300
MOST_MESSAGES, MOST_TOOLS, MOST_BEFORE, MOST_KNOWN = 40, 10, 6, 20
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def shown(turn: Sequence[Message]) -> list[Message]:
    """What is sent of a turn: the latest tools, and what was said."""
    tools = [message for message in turn if message.role == "tool"][-MOST_TOOLS:]
    said = [message for message in turn if message.role in ("user", "assistant")][-MOST_MESSAGES:]
    kept = {id(message) for message in (*tools, *said)}
    return [message for message in turn if id(message) in kept]


def aliased(letter: str, things: Sequence[Thing]) -> dict[str, Thing]:
    """m1, m2 ... in their order: no id of ours is shown, and none can be invented."""
    return {f"{letter}{number}": thing for number, thing in enumerate(things, start=1)}


def turn_lines(messages: Mapping[str, Message], zone: tzinfo) -> str:
    return _lines(
        {"id": id, "who": one.who, "role": one.role, "at": _day(one.said_at, zone)}
        | {"text": _cut(one.text, SHOWN[one.role])}
        for id, one in messages.items()
    )


def before_lines(messages: Mapping[str, Message], zone: tzinfo) -> str:
    return _lines(
        {"id": id, "who": one.who, "at": _day(one.said_at, zone)}
        | {"text": _cut(one.text, SHOWN_BEFORE)}
        for id, one in messages.items()
    )


def known_lines(memories: Mapping[str, Memory], zone: tzinfo) -> str:
    return _lines(
        {"id": id, "category": one.category, "subject": one.subject, "who": one.speaker}
        | {"at": _day(one.said_at, zone), "text": _cut(one.content, SHOWN_KNOWN)}
        for id, one in memories.items()
    )


def _lines(objects: Iterable[Mapping[str, Any]]) -> str:
    lines = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in objects]
    return "\n".join(lines) or "(nothing)"


def _day(moment: datetime, zone: tzinfo) -> str:
    local = moment.astimezone(zone)
    return f"{WEEKDAYS[local.weekday()]} {local:%Y-%m-%d %H:%M}"


def _cut(text: str, most: int) -> str:
    """The beginning and the end of what is too long."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end]} [...] {text[-end:]}"
