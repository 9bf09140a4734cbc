"""What is known and since when: entities, their relations, the timeline and the graph. And the
past: history, undo, what was so after a write, what has changed since."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from kinmem.conversation.sanitize import disarmed
from kinmem.knowledge import Card, Picture, Way
from kinmem.models import Event, Memory, Page
from kinmem.service.views import MOST, Changes
from kinmem.undo.undo import Undone
from kinmem.validation import MOST_LISTED
from kinmem.web.rest.declaration import (
    LEFT_OUT,
    Asked,
    Call,
    Group,
    Lines,
    NodeCount,
    Paged,
    Releases,
    Text,
    When,
    Write,
)
from kinmem.web.rest.shapes import HELD

knowledge = Group("Knowledge")
past = Group("Past")


class Prefix(Asked):
    prefix: str = ""
    limit: Lines = 100


@dataclass(frozen=True)
class Names:
    """Names, the most used first."""

    names: Sequence[str]


@knowledge("GET", "/subjects", "read")
def subjects(call: Call, asked: Prefix) -> Names:
    """Return known subjects that begin with a prefix."""
    return Names(call.service.subjects(**asked.given()))


@knowledge("GET", "/entities", "read")
def entity_names(call: Call, asked: Prefix) -> Names:
    """Return names of entities that begin with a prefix."""
    return Names(call.service.entity_names(**asked.given()))


class Sought(Asked):
    name: Annotated[Text, Field(description="an entity or a subject")]
    depth: Annotated[int, Field(ge=1, le=2)] = 1
    to: Annotated[str | None, Field(description="also how it leads to this one")] = None


@dataclass(frozen=True)
class Known:
    """What is known about an entity, and the way to another one."""

    card: Card
    way: Way | None = None


@knowledge("GET", "/explore", "read")
def explore(call: Call, asked: Sought) -> Known:
    """Return relations, aliases and the latest memories of somebody or something."""
    return Known(*call.service.explore(**asked.given()))


class Day(Paged):
    subject: str = LEFT_OUT
    day: Annotated[When, Field(description="a date, month, year or yesterday")] = LEFT_OUT


@knowledge("GET", "/timeline", "read")
def timeline(call: Call, asked: Day) -> Page:
    """Return what happened, earliest first, with what was so before, until its valid_to."""
    return call.service.timeline(**asked.given())


@dataclass(frozen=True)
class Days:
    """How much happened or was said, by day."""

    days: Mapping[date, int]


@knowledge("GET", "/days", "read")
def days(call: Call) -> Days:
    """Return how much happened or was said on each day."""
    return Days(call.service.days())


class Drawn(Asked):
    limit: NodeCount = 500


@knowledge("GET", "/graph", "read")
def graph(call: Call, asked: Drawn) -> Picture:
    """Return the best connected memories, what they are about, and the edges, to be drawn."""
    return call.service.graph(**asked.given())


class Shown(Asked):
    limit: Lines = 100


@dataclass(frozen=True)
class History:
    """Lines of the history, the latest first."""

    events: Sequence[Event]


class OfMemory(Shown):
    before: Annotated[int | None, Field(ge=1, le=2**63 - 1, description="seq of a line")] = None


@past("GET", "/memories/{id}/history", "read")
def history_of(call: Call, asked: OfMemory) -> History:
    """Return what happened to one memory."""
    return _shown(call, call.service.history(call.id, **asked.given()))


class Writes(Shown):
    before: Annotated[int | None, Field(ge=1, le=2**63 - 1, description="a write's number")] = None


@past("GET", "/history", "read")
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


@past("GET", "/as-of", "read")
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


@past("POST", "/undo", "write")
def undo(call: Call, asked: Back) -> Undone:
    """Take back a write, a batch, the last change of a memory, or the last changes. What is held
    back is released only with a token of scope admin, a person's."""
    return call.service.undo(**{**asked.given(), "releases": call.releases(asked.releases)})


class Since(Asked):
    since: Annotated[
        str | None, Field(description="a cursor; 0 is the beginning; left out: from now on")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MOST)] = MOST


@past("GET", "/changes", "read")
def changes(call: Call, asked: Since) -> Changes:
    """Return what any process has changed since a cursor. Cheap to ask again and again."""
    return call.service.changes(**asked.given())
