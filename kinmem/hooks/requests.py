"""Hooks as requests: what a hook asks of the memory, here or at a server's socket, and the answer.

A server receives the hook as a request and answers with the memory's notes.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from kinmem.errors import KinmemError
from kinmem.hooks.events import Compacted, Ended, Heard, Hook, Opened, Said

if TYPE_CHECKING:  # for annotations alone, and importing dataclasses costs every hook 5 ms
    from kinmem.models.turns import Circumstances, Happening, Observed

# Version of the requests. A server that was started before an update may use another.
PROTOCOL = 2
KINDS: Mapping[str, type[Heard]] = {
    kind.__name__: kind for kind in (Said, Opened, Compacted, Ended)
}


class Listener(Protocol):
    """The part of Service that hooks need."""

    def observe(
        self,
        event: "Happening",
        session: str,
        turn: str | None,
        text: str,
        *,
        tell: bool = True,
        again: bool = False,
        **known: Unpack["Circumstances"],
    ) -> "Observed":
        """Store one message; for a prompt also return notes."""
        ...

    def opening(self, session: str, *, place: str | None = None) -> str:
        """Return what a session is shown at its start."""
        ...

    def compacted(self, session: str) -> None:
        """Note that the session has lost what it was shown."""
        ...


def attend(service: Listener, hook: Hook) -> str:
    """Pass what the hook reports to the memory, in order, and return its notes.

    Raises KinmemError.
    """
    notes = [_attend(service, heard, hook) for heard in hook.heard]
    return "\n".join(filter(None, notes))


def _attend(service: Listener, heard: Heard, hook: Hook) -> str:
    match heard:
        case Said():
            seen = service.observe(
                heard.event,
                heard.session,
                heard.turn,
                heard.text,
                tool=heard.tool,
                part=heard.part,
                client=hook.client,
                place=hook.place,
                tell=heard.tell,
                again=heard.again,
            )
            return seen.notes
        case Opened():
            return service.opening(heard.session, place=hook.place)
        case Compacted():
            service.compacted(heard.session)
    return ""


def request_of(hook: Hook) -> dict[str, Any]:
    """Return the hook as a request to a server; see answered."""
    heard = [[type(event).__name__, event._asdict()] for event in hook.heard]
    return {"protocol": PROTOCOL, "client": hook.client, "place": hook.place, "heard": heard}


def answered(service: Listener, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request at the server's socket: {"notes": text} or {"error": sentence}.

    Raises ValueError for a request of another release; its sender then opens the memory itself.
    """
    if request.get("protocol") != PROTOCOL:
        raise ValueError("another protocol")
    heard = tuple(KINDS[kind](**fields) for kind, fields in request["heard"])
    hook = Hook("", request["client"], "", request["place"], heard)
    try:
        return {"notes": attend(service, hook)}
    except KinmemError as error:
        return {"error": str(error)}
