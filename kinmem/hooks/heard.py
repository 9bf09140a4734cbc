"""What a client's hook can tell: the events of a conversation, whichever client they come from.

Named tuples instead of dataclasses here and beside: those would load inspect, 5 ms of every prompt.
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, TypeAlias

Reply: TypeAlias = dict[str, Any]
"""One JSON object, as the client wants it; empty: nothing to say."""


class Said(NamedTuple):
    """Something was said in a session; the fields are those of Service.observe."""

    event: Literal["prompt", "answer", "tool", "summary"]
    session: str
    turn: str | None
    """The client's id of the turn; None: it gives none."""
    text: str
    part: str = ""
    tool: str | None = None
    tell: bool = True
    """Whether the client passes on to its model what the memory says to a prompt."""
    again: bool = False
    """Whether a prompt without an id is told once more, behind its answer."""


class Opened(NamedTuple):
    """A session has begun, or goes on with an emptied context."""

    session: str


class Compacted(NamedTuple):
    """The client shortens its context: what the session was told of the memory is gone."""

    session: str


class Ended(NamedTuple):
    """A session is over, and with it perhaps the server that would have learned from it."""

    session: str


Heard: TypeAlias = Said | Opened | Compacted | Ended


def untold(heard: Iterable[Heard]) -> list[Heard]:
    """The same, from a client that passes nothing on to its model."""
    return [one._replace(tell=False) if isinstance(one, Said) else one for one in heard]


class Hook(NamedTuple):
    """One call of a hook, understood."""

    dialect: str
    """File of this folder that knows the client."""
    client: str
    """The client's name, as it is stored beside what was said."""
    event: str
    """The client's own name for it."""
    place: str | None
    """Folder in which the session works."""
    heard: tuple[Heard, ...]


IGNORED = Hook("", "", "", None, ())
