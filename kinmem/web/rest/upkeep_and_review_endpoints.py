"""Upkeep: the work that is otherwise done in the background, its reports, and the condition. And
review: what may need a decision, the decisions, and whom not to listen to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from kinmem.http.lanes import PATIENCE, UnderWay
from kinmem.http.tokens import Scope as TokenScope
from kinmem.models import Progress, Review, Scope
from kinmem.models import Settled as SettledIssue
from kinmem.models.turns import Run
from kinmem.service import Service, Stats
from kinmem.upkeep.steps import StepName
from kinmem.web import VERSION
from kinmem.web.rest.declaration import (
    LEFT_OUT,
    Asked,
    Call,
    Group,
    Id,
    NodeCount,
    NotYet,
    Releases,
)

upkeep = Group("Upkeep")
reviews = Group("Review")
under_way = UnderWay()


@dataclass(frozen=True)
class Slept:
    """What was done. Without a run it goes on in the background: the same request again waits for
    its end."""

    run: Run | None = None


class Sleeping(Asked):
    steps: Annotated[tuple[StepName, ...], Field(description="all if none is named")] = ()
    dry_run: bool = False
    compress: Annotated[bool | None, Field(description="merge without a model")] = None


@upkeep("POST", "/sleep", "admin")
def sleep(call: Call, asked: Sleeping) -> Slept:
    """Do the upkeep now: learn, expire, tag, link, merge, let fade, tidy up. Ask again for the
    result of what takes longer."""
    given = asked.given()
    work = partial(_sleep, call.service, given)
    return Slept(under_way.result(call.service, ("sleep", *sorted(given.items())), Run, work))


def _sleep(service: Service, given: Mapping[str, Any], progress: Progress) -> Run:
    return service.sleep(progress=progress, **given)


@dataclass(frozen=True)
class Runs:
    runs: Sequence[Run]


class Reported(Asked):
    limit: NodeCount = 20


@upkeep("GET", "/runs", "read")
def runs(call: Call, asked: Reported) -> Runs:
    """Return the reports of background work, the latest first."""
    return Runs(call.service.runs(**asked.given()))


@dataclass(frozen=True)
class Worked:
    """How many were made. Without a count it goes on in the background: the same request again
    waits for its end."""

    count: int | None = None


class Named(Asked):
    ids: Annotated[tuple[Id, ...], Field(max_length=200)] = ()


@upkeep("POST", "/summarize", "admin")
def summarize(call: Call, asked: Named) -> Worked:
    """Make new summaries of these memories, or of all that lack one."""
    work = partial(call.service.summarize, asked.ids)
    return Worked(under_way.result(call.service, ("summarize", asked.ids), int, work))


@upkeep("POST", "/reembed", "admin")
def reembed(call: Call) -> Worked:
    """Make the missing vectors of the configured embedder."""
    return Worked(under_way.result(call.service, "reembed", int, call.service.reembed))


class Patience(Asked):
    timeout: Annotated[float, Field(ge=0, le=PATIENCE, description="seconds")] = PATIENCE


@dataclass(frozen=True)
class Settled:
    is_settled: bool


@upkeep("POST", "/settle", "write")
def settle(call: Call, asked: Patience) -> Settled:
    """Wait until the background work is done; false if it is not after the timeout."""
    if call.looks == 0:
        call.service.settle(0)  # announces that somebody waits, and is never true at once
    outcome = call.service.components.background.outcome
    if outcome is None and call.waited < asked.timeout:
        raise NotYet
    return Settled(bool(outcome))


@upkeep("GET", "/stats", "read")
def stats(call: Call) -> Stats:
    """Return counts of memories and messages, the state of vectors, and the latest reports."""
    return call.service.stats()


@dataclass(frozen=True)
class Growth:
    """How many memories were stored, by day."""

    days: Mapping[str, int]


@upkeep("GET", "/growth", "read")
def growth(call: Call) -> Growth:
    """Return how many visible memories were stored on each day."""
    return Growth(call.service.growth())


@dataclass(frozen=True)
class Health:
    """Whose memory the token opens, and its condition."""

    status: Literal["ok", "damaged"]
    """damaged: something was found damaged and left out; `kinmem doctor` says what."""
    version: str
    kin: str
    scope: TokenScope


@upkeep("GET", "/health", "read")
def health(call: Call) -> Health:
    """Return whether the memory can be read, and what the token may do."""
    condition: Literal["ok", "damaged"] = "damaged" if call.service.store.damage else "ok"
    return Health(condition, VERSION, call.service.kin, call.bearer.scope)


Issues = Annotated[tuple[Id, ...], Field(max_length=200)]


class About(Asked):
    subject: str = LEFT_OUT
    scope: Scope = LEFT_OUT


class Decided(About):
    apply: Annotated[Issues, Field(description="ids of issues to settle as suggested")] = ()
    refuse: Annotated[Issues, Field(description="never to be raised again")] = ()
    keep: Annotated[Id | None, Field(description="the memory that stays")] = None
    releases: Releases = True


@reviews("GET", "/review", "read")
def review(call: Call, asked: About) -> Review:
    """Find contradictions, duplicates, and quarantined, stale and cluttering memories. Changes
    nothing."""
    return call.service.review_memories(**asked.given())


@reviews("POST", "/review", "write")
def review_memories(call: Call, asked: Decided) -> Review:
    """Settle issues, and return those that are left. What is quarantined is released only with a
    token of scope admin, a person's."""
    given = {**asked.given(), "releases": call.releases(asked.releases)}
    return call.service.review_memories(**given)


class Decision(Asked):
    refuse: Annotated[bool, Field(description="never to be raised again")] = False
    keep: Annotated[Id | None, Field(description="the memory that stays")] = None
    releases: Releases = True


@reviews("POST", "/review/{id}", "write")
def decide(call: Call, asked: Decision) -> SettledIssue:
    """Settle one issue of an earlier review, without a new one."""
    given = {**asked.given(), "releases": call.releases(asked.releases)}
    return call.service.decide(call.id, **given)


@dataclass(frozen=True)
class Muted:
    """The names of the Kins that are not listened to."""

    kins: Sequence[str]


@reviews("GET", "/muted", "read")
def muted(call: Call) -> Muted:
    """Return the Kins whose shared memories are not shown."""
    return Muted(call.service.muted())


@reviews("PUT", "/muted/{id}", "admin")
def mute(call: Call) -> Muted:
    """Hide everything that this Kin shares."""
    call.service.mute(call.id)
    return Muted(call.service.muted())


@reviews("DELETE", "/muted/{id}", "admin")
def unmute(call: Call) -> Muted:
    """Show what this Kin shares again."""
    call.service.unmute(call.id)
    return Muted(call.service.muted())
