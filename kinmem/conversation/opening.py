"""What a session is shown at its start: the rules that apply, and where the last conversation
stopped.

No similarity of words tells that an allergy matters in a restaurant, but a reader of both sees it.
So the start shows what applies, once: rules, decisions and preferences first, then what is
important, and the rest if all of it fits. A session without an opening gets the rules with its
first prompt.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from kinmem.conversation.context import Turn, turns_of
from kinmem.language import Weight, sentences
from kinmem.models import Category, Filters, Memory
from kinmem.models.turns import Message, Snapshot
from kinmem.store.base import Store
from kinmem.text import estimated_tokens

CANDIDATES = 20
RULES: tuple[Category, ...] = ("decision", "preference")
MOST_RULES = 60
# Importance from which KinBot's block shows a star.
IMPORTANT = 7
# Memories with a lower importance are shown only when they fit a prompt.
MUNDANE = 4
SHORT_LIVED = frozenset({"ephemeral", "context"})
# Tokens of a line besides the memory itself.
LINE_TOKENS = 15

# Latest turns to look at, among those that no summary replaces.
LATEST = 10
# How a line of an extract begins; without it, nothing worth showing was said.
LINE = "- ["
# The beginning of a summary that is too long, where it says what it is about, gets a third of the
# room.
BEGINNING = 3


def worth_telling(
    store: Store, allowed: Filters, tokens: int, binding: Callable[[], list[Memory]] = list
) -> list[Memory]:
    """Return the memories for an opening by how much they matter: pinned ones, rules, those that
    `binding` returns, important ones; all memories if they fit."""
    ranked = believed(store, store.page(allowed, "importance", CANDIDATES).memories)
    important = [one for one in ranked if (one.importance or 0) >= IMPORTANT]
    pinned, ruling = _pinned(store, allowed), _ruling(store, allowed)
    every = store.page(allowed, "importance", MOST_RULES)
    rest = _once([*pinned, *ruling, *important, *filter(_lasts, believed(store, every.memories))])
    is_all = every.next_cursor is None and sum(map(_tokens, rest)) <= tokens
    if is_all:
        return store.with_present_contexts(rest)
    return store.with_present_contexts(_once([*pinned, *ruling, *binding(), *important]))


def rules(store: Store, allowed: Filters) -> list[Memory]:
    """Return the rules for a session that was shown nothing yet: what is pinned, what applies to
    the current project, and what somebody wants every time."""
    ruling = (
        one
        for one in _ruling(store, allowed)
        if one.place is not None or Weight(one.content).is_standing(one.speaker)
    )
    return store.with_present_contexts(_once([*_pinned(store, allowed), *ruling]))


def _pinned(store: Store, allowed: Filters) -> list[Memory]:
    pinned = store.page(replace(allowed, pinned=True), "importance", CANDIDATES)
    return believed(store, pinned.memories)


def believed(store: Store, memories: Sequence[Memory]) -> list[Memory]:
    """Return the Kin's own memories, and of others' those that its person has confirmed: anybody
    can share anything, and nobody has asked for it."""
    if all(memory.kin == store.kin for memory in memories):
        return list(memories)
    confirmed = store.others.confirmed()
    return [one for one in memories if one.kin == store.kin or one.id in confirmed]


def _ruling(store: Store, allowed: Filters) -> list[Memory]:
    """Return decisions and preferences, those of the project first, then by importance."""
    pages = (
        store.page(replace(allowed, category=category), "importance", MOST_RULES).memories
        for category in RULES
    )
    found = believed(store, [one for page in pages for one in page])
    return sorted(found, key=lambda one: (one.place is None, -(one.importance or 0)))


def _lasts(memory: Memory) -> bool:
    rated = MUNDANE if memory.importance is None else memory.importance
    return memory.category not in SHORT_LIVED and rated >= MUNDANE


def _once(memories: Iterable[Memory]) -> list[Memory]:
    """Return each statement once, even if it is stored both for everywhere and for a project."""
    found: dict[tuple[str | None, ...], Memory] = {}
    for memory in memories:
        found.setdefault((memory.content_hash, memory.speaker, memory.subject), memory)
    return list(found.values())


def _tokens(memory: Memory) -> int:
    return estimated_tokens(memory.content) + LINE_TOKENS


def where_it_stood(last: Snapshot, after: Sequence[Message], limit: int) -> str:
    """Return the last summary, then the most informative of the turns after it, in at most `limit`
    tokens.

    Each gets half of the room, and what the other leaves.
    """
    spare = max(0, limit // 2 - estimated_tokens(last.summary))
    lately = _lately(turns_of(after)[-LATEST:], limit // 2 + spare)
    return f"{_ends(last.summary, limit - estimated_tokens(lately) - 1)}\n{lately}".strip()


def _lately(turns: Sequence[Turn], room: int) -> str:
    """Return what was said in the latest turns, as many as fit."""
    from kinmem.conversation.summarize_turns import extracted  # late: takes 25 ms, used only here

    told = [lines for turn in turns[::-1] if (lines := extracted([turn], room)).startswith(LINE)]
    return "\n".join(_fitting(told, room)[::-1])


def _ends(text: str, room: int) -> str:
    """Drop sentences from the middle of a text that is too long: the latest come last."""
    if estimated_tokens(text) <= room:
        return text
    parts = sentences(text)
    tail = _fitting(parts[::-1], room - room // BEGINNING)
    left = room - sum(map(estimated_tokens, tail))
    head = _fitting(parts[: len(parts) - len(tail)], left)
    return f"{''.join(head).rstrip()} … {''.join(reversed(tail)).lstrip()}".strip()


def _fitting(parts: Sequence[str], room: int) -> list[str]:
    """Return the first parts, as many as fit."""
    kept: list[str] = []
    for part in parts:
        room -= estimated_tokens(part)
        if room < 0:
            break
        kept.append(part)
    return kept
