"""The declaration of an endpoint, from which it is both served and described; and
fields that several requests have."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field

from kinmem import models
from kinmem.http.connection_limits import BODY_BYTES
from kinmem.http.tokens import Bearer, Scope
from kinmem.models import Category, State, Tier
from kinmem.validation import MOST_LISTED

if TYPE_CHECKING:
    from kinmem.service import Service


Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
PREFIX = "/api/v1"
# Methods whose request is in the address, and has no body.
BODILESS = ("GET", "DELETE")


class NotAllowed(Exception):
    """Raised by an endpoint if what is asked for takes another scope than the endpoint itself."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope


class NotYet(Exception):
    """Raised by an endpoint that waits: it is to be asked again, and needs no thread meanwhile."""


class Asked(BaseModel):
    """What a caller asks for: the query of GET and DELETE, the JSON body of everything else."""

    model_config = ConfigDict(extra="forbid")

    @property
    def digest(self) -> bytes:
        """The same for the same request."""
        return blake2b(self.model_dump_json(exclude_unset=True).encode()).digest()

    def given(self) -> dict[str, Any]:
        """Return what the caller has named, and nothing else."""
        return {name: getattr(self, name) for name in self.model_fields_set}


@dataclass(frozen=True)
class Call:
    """One request while it is being answered on a worker thread."""

    service: "Service"
    bearer: Bearer
    id: str = ""
    """What stands for {id} in the path."""
    if_version: int | None = None
    """The version that the caller has read (If-Match)."""
    key: str | None = None
    """Tells a request that is repeated from another one (Idempotency-Key)."""
    client: str | None = None
    waited: float = 0.0
    """Seconds since the request came."""
    looks: int = 0
    """How often it was asked before; see NotYet."""

    def trusts(self, trusted: bool) -> bool:
        """Return `trusted`, which only a person may set: it takes a token of scope admin."""
        if trusted and not self.bearer.may("admin"):
            raise NotAllowed("admin")
        return trusted

    def releases(self, releases: bool) -> bool:
        """Return whether what is held back may be released, which only a person does."""
        return releases and self.bearer.may("admin")


@dataclass(frozen=True)
class Endpoint:
    """One thing that can be asked for."""

    method: Method
    path: str
    """Below /api/v1; {id} stands for one part."""
    scope: Scope
    group: str
    do: Callable[..., Any]
    """Takes the call and, if it asks for anything, an Asked; returns a record."""
    status: int = 200
    is_guarded: bool = False
    """Whether it honours If-Match."""
    takes_key: bool = False
    """Whether it honours Idempotency-Key."""
    is_harmless: bool = False
    """Whether its texts are made harmless already, with delimiters that must stay."""
    body_bytes: int = BODY_BYTES

    @property
    def name(self) -> str:
        return self.do.__name__

    @property
    def summary(self) -> str:
        return " ".join((self.do.__doc__ or "").split())

    @property
    def asked(self) -> type[Asked] | None:
        """The model of the request; None if there is nothing to say."""
        asked = get_type_hints(self.do).get("asked")
        return asked if isinstance(asked, type) else None

    @property
    def answer(self) -> Any:
        """The record that is answered."""
        return get_type_hints(self.do)["return"]

    @property
    def has_body(self) -> bool:
        return self.asked is not None and self.method not in BODILESS


class Group:
    """Endpoints that belong together, in the order in which they are declared."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._endpoints: list[Endpoint] = []

    def __iter__(self) -> Iterator[Endpoint]:
        return iter(self._endpoints)

    def __call__(
        self, method: Method, path: str, scope: Scope, **details: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare the function below to answer the method and path."""

        def declare(do: Callable[..., Any]) -> Callable[..., Any]:
            self._endpoints.append(Endpoint(method, path, scope, self.name, do, **details))
            return do

        return declare


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
    scope: models.Scope = LEFT_OUT
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
    scope: Annotated[models.Scope, Field(description="shared: all Kins read it")] = LEFT_OUT
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
