"""Knowledge: entities, their relations, the order of time, and how memories hang together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated

from pydantic import Field

from kinmem.knowledge.connections import Picture
from kinmem.knowledge.explore import Card, Way
from kinmem.models import Page
from kinmem.web.rest.declaration import (
    LEFT_OUT,
    Asked,
    Call,
    Group,
    Lines,
    NodeCount,
    Paged,
    Text,
    When,
)

group = Group("Knowledge")


class Prefix(Asked):
    prefix: str = ""
    limit: Lines = 100


@dataclass(frozen=True)
class Names:
    """Names, the most used first."""

    names: Sequence[str]


@group("GET", "/subjects", "read")
def subjects(call: Call, asked: Prefix) -> Names:
    """Return known subjects that begin with a prefix."""
    return Names(call.service.subjects(**asked.given()))


@group("GET", "/entities", "read")
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


@group("GET", "/explore", "read")
def explore(call: Call, asked: Sought) -> Known:
    """Return relations, aliases and the latest memories of somebody or something."""
    return Known(*call.service.explore(**asked.given()))


class Day(Paged):
    subject: str = LEFT_OUT
    day: Annotated[When, Field(description="a date, month, year or yesterday")] = LEFT_OUT


@group("GET", "/timeline", "read")
def timeline(call: Call, asked: Day) -> Page:
    """Return what happened, earliest first, with what was so before, until its valid_to."""
    return call.service.timeline(**asked.given())


@dataclass(frozen=True)
class Days:
    """How much happened or was said, by day."""

    days: Mapping[date, int]


@group("GET", "/days", "read")
def days(call: Call) -> Days:
    """Return how much happened or was said on each day."""
    return Days(call.service.days())


class Drawn(Asked):
    limit: NodeCount = 500


@group("GET", "/graph", "read")
def graph(call: Call, asked: Drawn) -> Picture:
    """Return the best connected memories, what they are about, and the edges, to be drawn."""
    return call.service.graph(**asked.given())
