"""A hook as a request to the server, and its answer: what was heard is told to the memory."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from kinmem.errors import KinmemError
from kinmem.hooks.events import Compacted, Ended, Heard, Hook, Opened, Said

if TYPE_CHECKING:
    from kinmem.turns import Happening, Observed

PROTOCOL = 2
"""Of requests; a server that was started before an update may speak another."""
KINDS: Mapping[str, type[Heard]] = {
    kind.__name__: kind for kind in (Said, Opened, Compacted, Ended)
}


class Listener(Protocol):
    """What hooks need of a Service."""

    def observe(
        self,
        event: "Happening",
        session: str,
        turn: str | None,
        text: str,
        *,
        tool: str | None = None,
        part: str = "",
        client: str | None = None,
        place: str | None = None,
        tell: bool = True,
        again: bool = False,
    ) -> "Observed":
        """Store one thing said; for a prompt also tell what is remembered."""
        ...

    def opening(self, session: str, *, place: str | None = None) -> str:
        """What a session is told at its start."""
        ...

    def compacted(self, session: str) -> None:
        """What the session was told is gone."""
        ...


def attend(service: Listener, hook: Hook) -> str:
    """Let the memory know, in order; what it has to say. Raises KinmemError."""
    told = [_attend(service, one, hook) for one in hook.heard]
    return "\n".join(filter(None, told))


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
    """The hook as a server is asked about it; see answered."""
    heard = [[type(one).__name__, one._asdict()] for one in hook.heard]
    return {"protocol": PROTOCOL, "client": hook.client, "place": hook.place, "heard": heard}


def answered(service: Listener, request: Mapping[str, Any]) -> dict[str, Any]:
    """What a server answers at its socket: {"notes": text} or {"error": sentence}.

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
