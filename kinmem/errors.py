"""Everything kinmem raises on purpose.

KinmemError                 code        what the caller should do
├── InvalidInput            invalid     correct the argument the message names
│   └── TooLarge            too_large   shorten it, or split it
├── MemoryNotFound          not_found   ask list_memories or recall for ids
├── VersionConflict         conflict    read it again, then decide
├── StoreError              storage_*   see the message; `retry` says whether waiting helps
├── ModelError              model       nothing: kinmem goes on without the model
│   └── Unusable            model       the same; asking again will hardly help
└── ConfigError             config      correct the setting the message names

Each message says what happened, why, and what to do next; `code` is stable, `retry` says whether
the same call may succeed later.
"""

from typing import Literal

StoreCode = Literal[
    "storage_busy",
    "storage_full",
    "storage_newer",
    "storage_foreign",
    "storage_damaged",
    "storage_read_only",
    "storage_unsupported",
    "storage_failed",
]


class KinmemError(Exception):
    """Something kinmem refuses or cannot do, told for whoever called."""

    code: str = "error"
    retry: bool = False


class InvalidInput(KinmemError):
    """An argument that cannot be what was meant."""

    code = "invalid"


class TooLarge(InvalidInput):
    """A text over its limit; nothing of it was stored."""

    code = "too_large"

    def __init__(self, what: str, size: int, limit: int) -> None:
        super().__init__(f"{what} has {size:,} bytes, the limit is {limit:,}; shorten or split it")


class MemoryNotFound(KinmemError):
    """No such memory, as far as this caller may know.

    Another Kin's private memory, somebody else's shared one that is to be changed, and an id that
    never existed give the same answer: existence is not betrayed.
    """

    code = "not_found"

    def __init__(self, id: str) -> None:
        super().__init__(
            f"no memory of yours has the id {id!r}; recall and list_memories show the ids,"
            " and only its author may change a shared memory"
        )


class VersionConflict(KinmemError):
    """Somebody changed the memory since the caller read it."""

    code = "conflict"

    def __init__(self, id: str, expected: int, found: int) -> None:
        super().__init__(
            f"memory {id} was changed meanwhile: it is at version {found}, not {expected};"
            f" read it again, then repeat with if_version={found}"
        )


class StoreError(KinmemError):
    """The database could not do it; whatever was answered before is still stored."""

    def __init__(self, message: str, code: StoreCode = "storage_failed") -> None:
        super().__init__(message)
        self.code = code
        self.retry = code in ("storage_busy", "storage_full")


class ModelError(KinmemError):
    """A model gave no usable answer within its deadline."""

    code = "model"
    retry = True


class Unusable(ModelError):
    """The model is there; but what it says to this text, or that it is refused, is of no use."""

    retry = False


class ConfigError(KinmemError):
    """A setting, or the environment, that kinmem cannot start with."""

    code = "config"
