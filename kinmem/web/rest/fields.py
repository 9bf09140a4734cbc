"""Fields that several requests have."""

from typing import Annotated, Any, Literal

from pydantic import Field

from kinmem.models import Category, Scope, State, Tier
from kinmem.validation import MOST_LISTED
from kinmem.web.rest.declaration import Asked

# Stands for a value that the caller has not named. It reaches nothing: see Asked.given.
LEFT_OUT: Any = None

Text = Annotated[str, Field(min_length=1)]
Id = Annotated[str, Field(min_length=1, max_length=100)]
Ids = Annotated[tuple[Id, ...], Field(min_length=1, max_length=200)]
Tags = Annotated[tuple[str, ...], Field(max_length=50)]
Importance = Annotated[float, Field(ge=1, le=10, description="1 mundane to 10 critical")]
Priority = Annotated[float, Field(ge=0, le=1)]
When = Annotated[
    str, Field(description="a date (2026-05-08), a month, a year, a time, or yesterday")
]
Expires = Annotated[str, Field(description="a time to come, or 30d")]
Place = Annotated[str, Field(description="a project, by its name or path")]
Cursor = Annotated[str, Field(description="next_cursor of the page before", max_length=2000)]
Lines = Annotated[int, Field(ge=1, le=1000)]
Write = Annotated[int, Field(ge=0, le=2**63 - 1, description="the number of a write")]
Trusted = Annotated[
    bool, Field(description="a person has looked at it; takes a token of scope admin")
]
Releases = Annotated[
    bool, Field(description="false: nothing leaves quarantine, whatever the token's scope")
]
BatchName = Annotated[str | None, Field(description="a name, by which it is undone together")]
Sort = Literal["newest", "oldest", "importance", "used"]
NodeCount = Annotated[int, Field(ge=1, le=MOST_LISTED)]


class Where(Asked):
    """Which memories are meant; what is left out restricts nothing."""

    category: Category = LEFT_OUT
    subject: str = LEFT_OUT
    scope: Scope = LEFT_OUT
    tags: Annotated[Tags, Field(description="all of them")] = LEFT_OUT
    since: When = LEFT_OUT
    until: When = LEFT_OUT
    as_of: Annotated[When, Field(description="what was valid then")] = LEFT_OUT
    include_archived: bool = False
    state: Annotated[State, Field(description="left out: active and stale")] = LEFT_OUT
    tier: Annotated[Tier, Field(description="how well it is kept")] = LEFT_OUT
    speaker: Annotated[str, Field(description="who said it")] = LEFT_OUT
    place: Place = LEFT_OUT


class Details(Asked):
    """What may be said of a memory besides its content."""

    category: Annotated[Category, Field(description="left out: judged by the content")] = LEFT_OUT
    subject: str | None = None
    importance: Importance | None = None
    scope: Annotated[Scope, Field(description="shared: all Kins read it")] = LEFT_OUT
    source_context: Annotated[str | None, Field(description="where it was learned")] = None
    occurred_at: Annotated[str | None, Field(description="when it happened")] = None
    expires: Expires | None = None
    place: Place | None = None


class Made(Details):
    """The same of a memory that is made."""

    tags: Tags = ()
    speaker: Annotated[str | None, Field(description="who says so")] = None
    trusted: Trusted = False


class Paged(Asked):
    """Which page of a listing."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Cursor | None = None
