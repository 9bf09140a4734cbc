"""The past: history, undo, what was so after a write, and what has changed since."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from kinmem.conversation.sanitize import disarmed
from kinmem.models import Event, Memory
from kinmem.service.views import MOST, Changes
from kinmem.undo.undo import Undone
from kinmem.validation import MOST_LISTED
from kinmem.web.rest.declaration import Asked, Call, Group, Lines, Paged, Releases, Write
from kinmem.web.rest.shapes import HELD

group = Group("Past")


class Shown(Asked):
    limit: Lines = 100


@dataclass(frozen=True)
class History:
    """Lines of the history, the latest first."""

    events: Sequence[Event]


class OfMemory(Shown):
    before: Annotated[int | None, Field(ge=1, le=2**63 - 1, description="seq of a line")] = None


@group("GET", "/memories/{id}/history", "read")
def history_of(call: Call, asked: OfMemory) -> History:
    """Return what happened to one memory."""
    return _shown(call, call.service.history(call.id, **asked.given()))


class Writes(Shown):
    before: Annotated[int | None, Field(ge=1, le=2**63 - 1, description="a write's number")] = None


@group("GET", "/history", "read")
def history(call: Call, asked: Writes) -> History:
    """Return the latest writes, each with all its lines."""
    return _shown(call, call.service.history(None, **asked.given()))


def _shown(call: Call, events: Sequence[Event]) -> History:
    """Return the lines; what memories say that are held back opens and begins nothing."""
    known = call.service.store.memories({event.memory_id for event in events})
    held = {id for id, memory in known.items() if memory.is_held}
    return History(
        [
            replace(event, before=_disarmed(event.before), after=_disarmed(event.after))
            if event.memory_id in held
            else event
            for event in events
        ]
    )


def _disarmed(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        name: disarmed(one) if name in HELD and isinstance(one, str) else one
        for name, one in fields.items()
    }


class AsOf(Paged):
    write: Write


@dataclass(frozen=True)
class Then:
    """Own memories by id."""

    memories: Mapping[str, Memory]
    next_cursor: str | None = None


@group("GET", "/as-of", "read")
def as_of(call: Call, asked: AsOf) -> Then:
    """Return the own memories as they were after a write, in the order of their ids."""
    past = call.service.store.past
    found = past.as_of(asked.write, after=asked.cursor or "", limit=asked.limit + 1)
    shown = dict(islice(found.items(), asked.limit))
    return Then(shown, next_cursor=[*shown][-1] if len(found) > len(shown) else None)


class Back(Asked):
    what: Annotated[
        int | str | None,
        Field(description="a write's number, a batch's name, or a memory's id; else the `last`"),
    ] = None
    last: Annotated[int, Field(ge=1, le=MOST_LISTED, description="deliberate changes")] = 1
    cascade: Annotated[bool, Field(description="with what builds on it")] = False
    dry_run: bool = False
    releases: Releases = True


@group("POST", "/undo", "write")
def undo(call: Call, asked: Back) -> Undone:
    """Take back a write, a batch, the last change of a memory, or the last changes. What is held
    back is released only with a token of scope admin, a person's."""
    return call.service.undo(**{**asked.given(), "releases": call.releases(asked.releases)})


class Since(Asked):
    since: Annotated[
        str | None, Field(description="a cursor; 0 is the beginning; left out: from now on")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MOST)] = MOST


@group("GET", "/changes", "read")
def changes(call: Call, asked: Since) -> Changes:
    """Return what any process has changed since a cursor. Cheap to ask again and again."""
    return call.service.changes(**asked.given())
