"""Lists of any length, and ids as people type them: the whole one, or the end that lists show."""

from typing import TYPE_CHECKING, Any

from kinmem.errors import InvalidInput
from kinmem.models import LIVE, TURN, Page, State

if TYPE_CHECKING:
    from kinmem.service import Service

PAGE = 200
# The front of a uuid7 is its time: memories of one minute share it. Its end is random.
SHORT = 8
WHOLE = 36


def whole_page(memory: "Service", *, every: bool, limit: int = PAGE, **asked: Any) -> Page:
    """One page of list_memories, or all of them from its cursor on as one."""
    if not every:
        return memory.list_memories(limit=limit, **asked)
    found = []
    cursor = asked.pop("cursor", None)
    while True:
        page = memory.list_memories(limit=PAGE, cursor=cursor, **asked)
        found += page.memories
        cursor = page.next_cursor
        if cursor is None:
            return Page(found)


def short_id(id: str) -> str:
    """The end of an id, enough to tell thousands of memories apart."""
    return id[-SHORT:]


def full_id(memory: "Service", typed: str) -> str:
    """The id that was meant. What no memory ends with comes back as it is, to be refused.

    Raises InvalidInput when several visible memories end so.
    """
    ending = typed.strip().lower()
    if ending.startswith(TURN):
        return ending
    if not SHORT <= len(ending) < WHOLE:
        return ending
    states = (None, *(state for state in State if state not in LIVE))
    pages = (whole_page(memory, every=True, state=state) for state in states)
    found = {one.id for page in pages for one in page.memories if one.id.endswith(ending)}
    if len(found) > 1:
        raise InvalidInput(f"{len(found)} memories end with {ending!r}; give the whole id")
    return found.pop() if found else ending
