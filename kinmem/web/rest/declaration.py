"""The declaration of an endpoint, from which it is both served and described."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict

from kinmem.http.connection_limits import BODY_BYTES
from kinmem.http.tokens import Bearer, Scope

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
