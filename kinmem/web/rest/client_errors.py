"""The errors of a server as those of a local memory, so that who calls need not tell them apart."""

from collections.abc import Mapping
from typing import Any, NoReturn

import httpx

from kinmem.errors import (
    ConfigError,
    EntityNotFound,
    InvalidInput,
    KinmemError,
    LaterChange,
    MemoryNotFound,
    ModelError,
    Overloaded,
    StillWorking,
    StoreError,
    TooLarge,
    Unreadable,
    VersionConflict,
)
from kinmem.web.rest.shapes import read

KINDS: dict[str, type[KinmemError]] = {
    "invalid": InvalidInput,
    "too_large": TooLarge,
    "unreadable": Unreadable,
    "not_found": MemoryNotFound,
    "conflict": VersionConflict,
    "overloaded": Overloaded,
    "deadline": StillWorking,
    "model": ModelError,
    "config": ConfigError,
}


class Unreachable(KinmemError):
    """The server cannot be reached, or what answers is no kinmem. Whether a write was done is open:
    repeat it with the same idempotency_key."""

    code = "unreachable"
    retry = True


def understood(kind: Any, value: Any) -> Any:
    """Return what an answer says. Raises Unreachable for one of another shape."""
    try:
        return read(kind, value)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreachable(f"the answer is not that of this kinmem: {error!r}") from error


def raise_for(response: httpx.Response, name: str) -> NoReturn:
    """Raise what the method of that name would have raised locally."""
    try:
        told = response.json()["error"]
        code, message, retry = str(told["code"]), str(told["message"]), bool(told["retry"])
    except (ValueError, KeyError, TypeError):
        raise Unreachable(f"{response.url.host} answers {response.status_code}") from None
    raise_told({"code": code, "message": message, "retry": retry}, name)


def raise_told(told: Mapping[str, Any], name: str) -> NoReturn:
    """Raise the error that an answer describes."""
    code, message, retry = told["code"], told["message"], told["retry"]
    kind = StoreError if code.startswith("storage_") else KINDS.get(code, KinmemError)
    if name == "explore" and kind is MemoryNotFound:
        kind = EntityNotFound
    if name == "undo" and kind is VersionConflict:
        kind = LaterChange
    error = kind.__new__(kind, message)  # the message is there already; __init__ would write it
    error.args = (message,)
    error.code, error.retry = code, retry
    raise error
