"""The past: history, undo, what was so after a write, and what has changed since."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from kinmem.conversation.sanitize import disarmed
from kinmem.models import Event, Memory
from kinmem.rest.declaration import Asked, Call, Group
from kinmem.rest.fields import Lines, Write
from kinmem.rest.shapes import HELD
from kinmem.service.changes import MOST, Changes
from kinmem.undo.undo import Undone

group = Group("Past")


class Shown(Asked):
    limit: Lines = 100


@dataclass(frozen=True)
class History:
    """Lines of the history, the latest first."""

    events: Sequence[Event]


@group("GET", "/memories/{id}/history", "read")
def history_of(call: Call, asked: Shown) -> History:
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


class AsOf(Asked):
    write: Write


@dataclass(frozen=True)
class Then:
    """Own memories by id."""

    memories: Mapping[str, Memory]


@group("GET", "/as-of", "read")
def as_of(call: Call, asked: AsOf) -> Then:
    """Return every own memory as it was after a write."""
    return Then(call.service.as_of(asked.write))


class Back(Asked):
    what: Annotated[
        int | str | None,
        Field(description="a write's number, a batch's name, or a memory's id; else the `last`"),
    ] = None
    last: Annotated[int, Field(ge=1, le=1000, description="deliberate changes")] = 1
    cascade: Annotated[bool, Field(description="with what builds on it")] = False
    dry_run: bool = False


@group("POST", "/undo", "write")
def undo(call: Call, asked: Back) -> Undone:
    """Take back a write, a batch, the last change of a memory, or the last changes. What is held
    back is released only with a token of scope admin, a person's."""
    return call.service.undo(releases=call.bearer.may("admin"), **asked.given())


class Since(Asked):
    since: Annotated[
        str | None, Field(description="a cursor; 0 is the beginning; left out: from now on")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MOST)] = MOST


@group("GET", "/changes", "read")
def changes(call: Call, asked: Since) -> Changes:
    """Return what any process has changed since a cursor. Cheap to ask again and again."""
    return call.service.changes(**asked.given())
