"""What a session is told whatever is asked: the rules at hand, and of a small memory all of it.

No likeness of words tells that an allergy matters in a restaurant; whoever reads both does. So what
fits is told at the start, once: rules, decisions and preferences first, then what is important, and
the rest where all of it fits. The first prompt of a session that had no opening brings the rules.
"""

from collections.abc import Iterable
from dataclasses import replace

from kinmem.models import Category, Filters, Memory
from kinmem.rules.evidence import is_standing
from kinmem.store.base import Store
from kinmem.text import estimated_tokens

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
    return list({memory.id: memory for memory in memories}.values())


def _tokens(memory: Memory) -> int:
    return estimated_tokens(memory.content) + LINE_TOKENS
