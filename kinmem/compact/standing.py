"""Where a conversation stood when it was left: the end of its summary, and what was said since."""

from collections.abc import Sequence

from kinmem.compact.telling import extracted
from kinmem.compact.turns import Turn, turns_of
from kinmem.text import estimated_tokens, sentences
from kinmem.turns import Message, Snapshot

LATEST = 10
"""Turns that are looked at, of those that no summary stands for."""
LINE = "- ["
"""How a line of an extract begins; without, nothing was said that tells anything."""
BEGINNING = 3
"""Of a summary that is too long a third of the room is its beginning's: what it is about."""


def standing(last: Snapshot, after: Sequence[Message], limit: int) -> str:
    """In at most `limit` tokens the last summary, then the most telling of the turns after it.

    Each has half of the room, and what the other leaves.
    """
    spare = max(0, limit // 2 - estimated_tokens(last.summary))
    lately = _lately(turns_of(after)[-LATEST:], limit // 2 + spare)
    return f"{_ends(last.summary, limit - estimated_tokens(lately) - 1)}\n{lately}".strip()


def _lately(turns: Sequence[Turn], room: int) -> str:
    """What was said in the latest turns, as many of them as fit."""
    told = [lines for turn in turns[::-1] if (lines := extracted([turn], room)).startswith(LINE)]
    return "\n".join(_fitting(told, room)[::-1])


def _ends(text: str, room: int) -> str:
    """The text, without sentences in its middle if it is too long: the latest stand last."""
    if estimated_tokens(text) <= room:
        return text
    parts = sentences(text)
    tail = _fitting(parts[::-1], room - room // BEGINNING)
    left = room - sum(map(estimated_tokens, tail))
    head = _fitting(parts[: len(parts) - len(tail)], left)
    return f"{''.join(head).rstrip()} … {''.join(reversed(tail)).lstrip()}".strip()


def _fitting(parts: Sequence[str], room: int) -> list[str]:
    """The first of the parts, as far as they fit."""
    kept: list[str] = []
    for part in parts:
        room -= estimated_tokens(part)
        if room < 0:
            break
        kept.append(part)
    return kept
