"""What HTTP says when it does not do what was asked: a status, and one object in the body, with the
codes that the tools and the command line use."""

from collections.abc import Mapping

from starlette.responses import JSONResponse

from kinmem.conversation.sanitize import inert
from kinmem.errors import (
    ConfigError,
    EntityNotFound,
    InvalidInput,
    KinmemError,
    LaterChange,
    MemoryNotFound,
    ModelError,
    Overloaded,
    StoreError,
    TooLarge,
    TooManyShared,
    VersionConflict,
)
from kinmem.http.tokens import Bearer

# The first class that fits counts.
STATUSES: Mapping[type[KinmemError], int] = {
    TooLarge: 413,
    InvalidInput: 422,
    MemoryNotFound: 404,
    EntityNotFound: 404,
    VersionConflict: 409,
    LaterChange: 409,
    TooManyShared: 429,
    Overloaded: 503,
    ModelError: 502,
    ConfigError: 503,
}
# Seconds after which another try is worth it, if nobody knows better.
SOON = 1


def refusal(
    status: int,
    code: str,
    message: str,
    *,
    retry: bool = False,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return the answer to a request that is refused."""
    error = {"code": code, "message": inert(message), "retry": retry}
    return JSONResponse({"error": error}, status, headers)


def refusal_of(error: KinmemError) -> JSONResponse:
    """Return the answer to a request that has failed with this error."""
    seconds = getattr(error, "seconds", SOON if error.retry else None)
    headers = None if seconds is None else {"Retry-After": str(seconds)}
    return refusal(_status(error), error.code, str(error), retry=error.retry, headers=headers)


def told_of(error: KinmemError) -> dict[str, object]:
    """Return the error as a line of a stream tells it."""
    return {"code": error.code, "message": inert(str(error)), "retry": error.retry}


def forbidden(bearer: Bearer, scope: str) -> JSONResponse:
    """Return the answer to a token that may not do what is asked."""
    told = (
        f"this takes a token of scope {scope}, this one has {bearer.scope}; a person can run"
        f" kinmem token add {bearer.kin} --scope {scope}"
    )
    challenge = {"WWW-Authenticate": 'Bearer realm="kinmem", error="insufficient_scope"'}
    return refusal(403, "forbidden", told, headers=challenge)


def _status(error: KinmemError) -> int:
    if isinstance(error, StoreError):
        return 503 if error.retry else 500
    return next((code for kind, code in STATUSES.items() if isinstance(error, kind)), 500)
