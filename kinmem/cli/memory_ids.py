"""Pages of any length, and ids as people type them: whole, or the end that lists show."""

from typing import TYPE_CHECKING, Any

from kinmem.errors import InvalidInput
from kinmem.models import LIVE, TURN, Page, State

if TYPE_CHECKING:
    from kinmem.service import Service

PAGE = 200
# A uuid7 begins with its time, which memories of one minute share. Its end is random.
SHORT = 8
WHOLE = 36


def whole_page(memory: "Service", *, every: bool, limit: int = PAGE, **asked: Any) -> Page:
    """Return one page of list_memories, or with `every` all pages from its cursor on as one."""
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
    """Return the end of an id, which is enough to tell thousands of memories apart."""
    return id[-SHORT:]


def full_id(memory: "Service", typed: str) -> str:
    """Return the id that was meant. An ending that no memory has is returned as it is, to be
    refused.

    Raises InvalidInput if several visible memories have this ending.
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
