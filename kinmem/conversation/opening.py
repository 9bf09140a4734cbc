"""What a session is told at its start: the rules at hand, and where the last conversation stood.

No likeness of words tells that an allergy matters in a restaurant; whoever reads both does. So what
fits is told at the start, once: rules, decisions and preferences first, then what is important, and
the rest where all of it fits. The first prompt of a session that had no opening brings the rules.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kinmem.conversation.due import Turn, turns_of
from kinmem.language import is_standing
from kinmem.models import Category, Filters, Memory
from kinmem.sentences import sentences
from kinmem.store.base import Store
from kinmem.text import estimated_tokens
from kinmem.turns import Message, Snapshot

CANDIDATES = 20
RULES: tuple[Category, ...] = ("decision", "preference")
MOST_RULES = 60
IMPORTANT = 7
"""From here KinBot's block has a star."""
MUNDANE = 4
"""What somebody rated lower is told where it fits a prompt only."""
SHORT_LIVED = frozenset({"ephemeral", "context"})
LINE_TOKENS = 15
"""Of what a line has around a memory."""

LATEST = 10
"""Turns that are looked at, of those that no summary stands for."""
LINE = "- ["
"""How a line of an extract begins; without, nothing was said that tells anything."""
BEGINNING = 3
"""Of a summary that is too long a third of the room is its beginning's: what it is about."""


def worth_telling(store: Store, allowed: Filters, tokens: int) -> list[Memory]:
    """For an opening, in the order in which they matter: pinned ones, rules, what is important; all
    there is if it fits."""
    ranked = store.page(allowed, "importance", CANDIDATES).memories
    important = [one for one in ranked if (one.importance or 0) >= IMPORTANT]
    told = _once([*_pinned(store, allowed), *_ruling(store, allowed), *important])
    every = store.page(allowed, "importance", MOST_RULES)
    rest = _once([*told, *filter(_lasts, every.memories)])
    is_all = every.next_cursor is None and sum(map(_tokens, rest)) <= tokens
    return rest if is_all else told


def rules(store: Store, allowed: Filters) -> list[Memory]:
    """For a session that was told nothing yet: what is pinned, what binds the project at hand, and
    what somebody wants every time."""
    ruling = (
        one
        for one in _ruling(store, allowed)
        if one.place is not None or is_standing(one.content, one.speaker)
    )
    return _once([*_pinned(store, allowed), *ruling])


def _pinned(store: Store, allowed: Filters) -> list[Memory]:
    return store.page(replace(allowed, pinned=True), "importance", CANDIDATES).memories


def _ruling(store: Store, allowed: Filters) -> list[Memory]:
    """Those of the project first, then by importance."""
    pages = (
        store.page(replace(allowed, category=category), "importance", MOST_RULES).memories
        for category in RULES
    )
    found = [one for page in pages for one in page]
    return sorted(found, key=lambda one: (one.place is None, -(one.importance or 0)))


def _lasts(memory: Memory) -> bool:
    rated = MUNDANE if memory.importance is None else memory.importance
    return memory.category not in SHORT_LIVED and rated >= MUNDANE


def _once(memories: Iterable[Memory]) -> list[Memory]:
    """Each statement, though what holds everywhere may stand in a project as well."""
    found: dict[tuple[str | None, ...], Memory] = {}
    for memory in memories:
        found.setdefault((memory.content_hash, memory.speaker, memory.subject), memory)
    return list(found.values())


def _tokens(memory: Memory) -> int:
    return estimated_tokens(memory.content) + LINE_TOKENS


def where_it_stood(last: Snapshot, after: Sequence[Message], limit: int) -> str:
    """In at most `limit` tokens the last summary, then the most telling of the turns after it.

    Each has half of the room, and what the other leaves.
    """
    spare = max(0, limit // 2 - estimated_tokens(last.summary))
    lately = _lately(turns_of(after)[-LATEST:], limit // 2 + spare)
    return f"{_ends(last.summary, limit - estimated_tokens(lately) - 1)}\n{lately}".strip()


def _lately(turns: Sequence[Turn], room: int) -> str:
    """What was said in the latest turns, as many of them as fit."""
    from kinmem.conversation.summarize_turns import extracted  # late: 25 ms, here only

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
