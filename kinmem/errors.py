"""Everything kinmem raises on purpose.

KinmemError                 code        what the caller should do
├── InvalidInput            invalid     correct the argument the message names
│   ├── TooLarge            too_large   shorten it, or split it
│   └── Unreadable          unreadable  do to the file what the message says
├── MemoryNotFound          not_found   ask list_memories or recall for ids
│   └── TurnNotFound        not_found   ask recall for ids of what was said
├── EntityNotFound          not_found   ask for another name, or recall
├── VersionConflict         conflict    read it again, then decide
├── LaterChange             conflict    undo what came later first, or all of it together
├── StoreError              storage_*   see the message; `retry` says whether waiting helps
│   ├── Unreached           storage_busy  repeat it: nothing of it was done
│   └── InDoubt             storage_busy  repeat it under its idempotency key: it may have been done
├── Overloaded              overloaded  repeat it after the time that the message names
│   └── StillWorking        deadline    repeat it under its key after the time that is named
├── TooManyShared           overloaded  repeat it after the time that the message names
├── ModelError              model       nothing: kinmem goes on without the model
│   └── Unusable            model       the same; asking again will hardly help
└── ConfigError             config      correct the setting the message names

Each message says what happened, why, and what to do next; `code` is stable, `retry` says whether
the same call may succeed later.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

StoreCode = Literal[
    "storage_busy",
    "storage_full",
    "storage_newer",
    "storage_foreign",
    "storage_damaged",
    "storage_mended",
    "storage_lost",
    "storage_replaced",
    "storage_read_only",
    "storage_unsupported",
    "storage_failed",
]


class KinmemError(Exception):
    """Something kinmem refuses or cannot do. The message is written for the caller."""

    code: str = "error"
    case: str = ""
    """Which of several things it is that an error of this kind can mean."""
    retry: bool = False
    details: Mapping[str, str | int] = {}
    """What the message names, for who says it in another language."""


class InvalidInput(KinmemError):
    """An argument that cannot be what the caller meant."""

    code = "invalid"

    def __init__(self, message: str, case: str = "", **details: str | int) -> None:
        """`case` says what is wrong, for the page, which tells it in its own words with these
        details; empty if nobody can bring it about there."""
        super().__init__(message)
        self.case = case
        self.details = details


class KeySpent(InvalidInput):
    """What was stored under this idempotency key has been erased."""

    def __init__(self) -> None:
        super().__init__(
            "what was stored under this idempotency key has been erased, and nothing is stored"
            " under it again; if this is something else, give it a key of its own"
        )


class TooLarge(InvalidInput):
    """A text over its size limit. Nothing was stored."""

    code = "too_large"

    def __init__(self, what: str, size: int, limit: int) -> None:
        super().__init__(f"{what} has {size:,} bytes, the limit is {limit:,}; shorten or split it")
        self.details = {"what": what, "size": size, "limit": limit}


class Unreadable(InvalidInput):
    """A document that holds no readable text. Nothing was stored."""

    code = "unreadable"

    def __init__(self, what: str, why: str, case: str = "") -> None:
        super().__init__(f"{what} cannot be read: {why}", case, file=what)


ID_CHARACTERS = 36
"""Of a UUID, as every memory has one."""


class MemoryNotFound(KinmemError):
    """No memory with this id that the caller may see or change.

    The error is the same for another Kin's private memory, for a shared memory whose author is
    somebody else, and for an id that never existed, so it does not reveal which memories exist.
    """

    code = "not_found"

    def __init__(self, id: str) -> None:
        if id.startswith("turn:"):
            super().__init__(
                f"{id!r} is something said in a conversation, not a memory: it cannot be changed."
                " memorize what is right instead; erasing the memory that was learned from it"
                " erases it as well, and so does kinmem forget --about NAME"
            )
            return
        size = "" if len(id) >= ID_CHARACTERS else f" (a whole id has {ID_CHARACTERS} characters)"
        super().__init__(
            f"no memory of yours has the id {id!r}{size}; recall and list_memories show the ids,"
            " and only its author may change a shared memory"
        )


class TurnNotFound(MemoryNotFound):
    """Nothing that was said has this id, as far as the caller may know."""

    def __init__(self, id: str) -> None:
        KinmemError.__init__(
            self,
            f"nothing that was said here has the id {id!r}: it was forgotten, is another"
            " Kin's, or never was; recall shows such ids, and kinmem sessions the conversations",
        )


class EntityNotFound(KinmemError):
    """Nothing the caller may see is about an entity of this name."""

    code = "not_found"

    def __init__(self, name: str, like: Sequence[str] = ()) -> None:
        names = " or ".join(map(repr, like))
        meant = f"did you mean {names}? If not," if like else "try another spelling, or"
        super().__init__(f"nothing is known by the name {name!r}; {meant} recall it by a question")
        self.details = {"name": name}


class VersionConflict(KinmemError):
    """Somebody changed the memory since the caller read it."""

    code = "conflict"

    def __init__(self, id: str, expected: int, found: int) -> None:
        super().__init__(
            f"memory {id} was changed meanwhile: it is at version {found}, not {expected};"
            f" read it again, then repeat with if_version={found}"
        )
        self.details = {"expected": expected, "found": found}


class LaterChange(KinmemError):
    """The write to be undone was changed by later writes, which undoing it would lose."""

    code = "conflict"

    def __init__(self, what: str, later: Sequence[str]) -> None:
        listed = ", ".join(later[:5]) + (f" and {len(later) - 5} more" if len(later) > 5 else "")
        super().__init__(
            f"{what} cannot be undone alone, later writes build on it: {listed}; undo those first,"
            " or repeat with cascade to undo them as well"
        )
        self.details = {"count": len(later), "later": ", ".join(later[:5])}


class StoreError(KinmemError):
    """The database operation failed. Everything acknowledged earlier is still stored."""

    def __init__(self, message: str, code: StoreCode = "storage_failed") -> None:
        super().__init__(message)
        self.code = code
        self.retry = code in ("storage_busy", "storage_full", "storage_mended")
        self.leaves_open = code in ("storage_failed", "storage_replaced")
        """Whether what was to be written may be there: its last sync failed, its file vanished, or
        the connection was lost too late."""


class Unreached(StoreError):
    """The database server cannot be reached, or the connection to it was lost before anything was
    committed."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "storage_busy")


class InDoubt(StoreError):
    """The connection to the database server was lost while it committed, and nothing tells whether
    it has."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where}: the connection was lost at the last moment, so this may or may not have been"
            " done; look whether it was, or repeat it under its idempotency key, which does it"
            " once",
            "storage_busy",
        )
        self.leaves_open = True


class Overloaded(KinmemError):
    """Too many calls wait already. Nothing was done."""

    code = "overloaded"
    retry = True

    def __init__(self, waiting: int, seconds: int) -> None:
        super().__init__(
            f"{waiting:,} calls are waiting, and nothing was done; repeat this one in"
            f" {seconds} seconds"
        )
        self.seconds = seconds
        self.details = {"waiting": waiting, "seconds": seconds}


class StillWorking(Overloaded):
    """A call takes longer than a client should wait. It goes on, and what it does is done once."""

    code = "deadline"

    def __init__(self, after: float, seconds: int) -> None:
        KinmemError.__init__(
            self,
            f"not done after {after:.3g} seconds, and it goes on; repeat it in {seconds} seconds,"
            " or if it stores something, only under its idempotency key, so that it is done once",
        )
        self.seconds = seconds
        self.details = {"seconds": seconds}


class TooManyShared(KinmemError):
    """A Kin has shared too much within a minute. Nothing was done."""

    code = "overloaded"
    retry = True

    def __init__(self, most: int, seconds: int) -> None:
        super().__init__(
            f"a Kin may share {most} memories a minute, and nothing was done; share this in"
            f" {seconds} seconds, or keep it private"
        )
        self.seconds = seconds
        self.details = {"most": most, "seconds": seconds}


class ModelError(KinmemError):
    """A model gave no usable answer within its deadline."""

    code = "model"
    retry = True


class Unusable(ModelError):
    """The model can be reached, but its answer to this text, or its refusal to answer, is no
    use."""

    retry = False


class ConfigError(KinmemError):
    """A setting, or something in the environment, that keeps kinmem from starting."""

    code = "config"
