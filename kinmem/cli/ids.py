"""Ids as people type them: the whole one, or the end of it that lists show."""

from typing import TYPE_CHECKING

from kinmem.errors import InvalidInput

if TYPE_CHECKING:
    from kinmem.service import Service

# The front of a uuid7 is its time: memories of one minute share it. Its end is random.
SHORT = 8
WHOLE = 36


def short_id(id: str) -> str:
    """The end of an id, enough to tell thousands of memories apart."""
    return id[-SHORT:]


def full_id(memory: "Service", typed: str) -> str:
    """The id that was meant. Raises InvalidInput when more than one visible memory ends so.

    What no memory ends with comes back as it is, for the service to refuse.
    """
    ending = typed.strip().lower()
    if len(ending) < SHORT or len(ending) >= WHOLE:
        return ending
    found = {id for id in _visible_ids(memory) if id.endswith(ending)}
    if len(found) > 1:
        raise InvalidInput(f"{len(found)} memories end with {ending!r}; give the whole id")
    return found.pop() if found else ending


def _visible_ids(memory: "Service") -> "list[str]":
    from kinmem.models import LIVE, State

    ids = []
    for state in (None, *(state for state in State if state not in LIVE)):
        cursor = None
        while True:
            page = memory.list_memories(state=state, limit=200, cursor=cursor)
            ids += [one.id for one in page.memories]
            cursor = page.next_cursor
            if cursor is None:
                break
    return ids
