"""Review: what may need a decision, the decisions, and whom not to listen to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from kinmem.models import Review, Scope, Settled
from kinmem.web.rest.declaration import LEFT_OUT, Asked, Call, Group, Id, Releases

group = Group("Review")

Issues = Annotated[tuple[Id, ...], Field(max_length=200)]


class About(Asked):
    subject: str = LEFT_OUT
    scope: Scope = LEFT_OUT


class Decided(About):
    apply: Annotated[Issues, Field(description="ids of issues to settle as suggested")] = ()
    refuse: Annotated[Issues, Field(description="never to be raised again")] = ()
    keep: Annotated[Id | None, Field(description="the memory that stays")] = None
    releases: Releases = True


@group("GET", "/review", "read")
def review(call: Call, asked: About) -> Review:
    """Find contradictions, duplicates, and quarantined, stale and cluttering memories. Changes
    nothing."""
    return call.service.review_memories(**asked.given())


@group("POST", "/review", "write")
def review_memories(call: Call, asked: Decided) -> Review:
    """Settle issues, and return those that are left. What is quarantined is released only with a
    token of scope admin, a person's."""
    given = {**asked.given(), "releases": call.releases(asked.releases)}
    return call.service.review_memories(**given)


class Decision(Asked):
    refuse: Annotated[bool, Field(description="never to be raised again")] = False
    keep: Annotated[Id | None, Field(description="the memory that stays")] = None
    releases: Releases = True


@group("POST", "/review/{id}", "write")
def decide(call: Call, asked: Decision) -> Settled:
    """Settle one issue of an earlier review, without a new one."""
    given = {**asked.given(), "releases": call.releases(asked.releases)}
    return call.service.decide(call.id, **given)


@dataclass(frozen=True)
class Muted:
    """The names of the Kins that are not listened to."""

    kins: Sequence[str]


@group("GET", "/muted", "read")
def muted(call: Call) -> Muted:
    """Return the Kins whose shared memories are not shown."""
    return Muted(call.service.muted())


@group("PUT", "/muted/{id}", "admin")
def mute(call: Call) -> Muted:
    """Hide everything that this Kin shares."""
    call.service.mute(call.id)
    return Muted(call.service.muted())


@group("DELETE", "/muted/{id}", "admin")
def unmute(call: Call) -> Muted:
    """Show what this Kin shares again."""
    call.service.unmute(call.id)
    return Muted(call.service.muted())
