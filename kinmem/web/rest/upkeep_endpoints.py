"""Upkeep: the work that is otherwise done in the background, its reports, and the condition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from kinmem.http.lanes import PATIENCE, UnderWay
from kinmem.http.tokens import Scope
from kinmem.models import Progress
from kinmem.models.turns import Run
from kinmem.service import Service, Stats
from kinmem.upkeep.steps import StepName
from kinmem.web import VERSION
from kinmem.web.rest.declaration import Asked, Call, Group, Id, NodeCount, NotYet

group = Group("Upkeep")
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


@group("POST", "/sleep", "admin")
def sleep(call: Call, asked: Sleeping) -> Slept:
    """Do the upkeep now: learn, expire, tag, link, merge, let fade, tidy up. Ask again for the
    result of what takes longer."""
    given = asked.given()
    work = partial(_sleep, call.service, given)
    return Slept(under_way.result(call.service, ("sleep", *sorted(given.items())), work))


def _sleep(service: Service, given: Mapping[str, Any], progress: Progress) -> Run:
    return service.sleep(progress=progress, **given)


@dataclass(frozen=True)
class Runs:
    runs: Sequence[Run]


class Reported(Asked):
    limit: NodeCount = 20


@group("GET", "/runs", "read")
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


@group("POST", "/summarize", "admin")
def summarize(call: Call, asked: Named) -> Worked:
    """Make new summaries of these memories, or of all that lack one."""
    work = partial(call.service.summarize, asked.ids)
    return Worked(under_way.result(call.service, ("summarize", asked.ids), work))


@group("POST", "/reembed", "admin")
def reembed(call: Call) -> Worked:
    """Make the missing vectors of the configured embedder."""
    return Worked(under_way.result(call.service, "reembed", call.service.reembed))


class Patience(Asked):
    timeout: Annotated[float, Field(ge=0, le=PATIENCE, description="seconds")] = PATIENCE


@dataclass(frozen=True)
class Settled:
    is_settled: bool


@group("POST", "/settle", "write")
def settle(call: Call, asked: Patience) -> Settled:
    """Wait until the background work is done; false if it is not after the timeout."""
    if call.looks == 0:
        call.service.settle(0)  # announces that somebody waits, and is never true at once
    outcome = call.service.components.background.outcome
    if outcome is None and call.waited < asked.timeout:
        raise NotYet
    return Settled(bool(outcome))


@group("GET", "/stats", "read")
def stats(call: Call) -> Stats:
    """Return counts of memories and messages, the state of vectors, and the latest reports."""
    return call.service.stats()


@dataclass(frozen=True)
class Growth:
    """How many memories were stored, by day."""

    days: Mapping[str, int]


@group("GET", "/growth", "read")
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
    scope: Scope


@group("GET", "/health", "read")
def health(call: Call) -> Health:
    """Return whether the memory can be read, and what the token may do."""
    condition: Literal["ok", "damaged"] = "damaged" if call.service.store.damage else "ok"
    return Health(condition, VERSION, call.service.kin, call.bearer.scope)
