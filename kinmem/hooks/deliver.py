"""From a hook to the memory: by the server that has it open, else by opening it here.

Which memory that is, is found out without kinmem.settings: they take longer to load than all else
that a hook with a server does. tests/hooks/test_place.py holds both to one answer.

To a server a hook is a request, and its answer: what was heard is told to the memory there.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Unpack

from kinmem.errors import KinmemError
from kinmem.hooks.events import Compacted, Ended, Heard, Hook, Opened, Said, untold
from kinmem.hooks.local_socket import ask_local

if TYPE_CHECKING:
    from kinmem.turns import Circumstances, Happening, Observed

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
        tell: bool = True,
        again: bool = False,
        **known: Unpack["Circumstances"],
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


SERVER_SECONDS = 1.0
"""Of the hook's two: what the server is too busy for can still be kept here."""
RETRY_SECONDS = 1.0
"""Between two attempts, of which each waits five seconds for the file by itself."""


class Place(NamedTuple):
    """The folder of all memories, and whose memory in it."""

    home: str
    kin: str


def place_of(flags: Mapping[str, str], environment: Mapping[str, str]) -> Place:
    """From flags, else the environment, else config.toml, else the defaults.

    Raises OSError or ValueError if config.toml cannot be read.
    """
    home = flags.get("KINMEM_HOME") or environment.get("KINMEM_HOME") or "~/.kinmem"
    home = os.path.abspath(os.path.expanduser(home))  # noqa: PTH100, PTH111  (strings stay strings)
    kin = flags.get("KINMEM_KIN") or environment.get("KINMEM_KIN") or _configured(home)
    return Place(home, kin or "default")


def _configured(home: str) -> str | None:
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:  # noqa: PTH118, PTH123
            content = file.read()
    except FileNotFoundError:
        return None
    if b"KINMEM_KIN" not in content:
        return None
    from tomllib import loads  # late: 10 ms

    kin = loads(content.decode("utf-8")).get("KINMEM_KIN")
    return kin if isinstance(kin, str) else None


def deliver(
    hook: Hook,
    flags: Mapping[str, str],
    tell: Callable[[str], None],
    asking: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Pass on what was heard and tell what the memory has to say. A server is asked `asking`.

    Somebody must learn from it afterwards, and answer the next hook sooner: the server, and without
    one a process of its own. At the end of a session in any case, as its server may be told to stop
    at the same moment.
    """
    place = place_of(flags, os.environ)
    if any(isinstance(one, Ended) for one in hook.heard):
        tell("")
        _start_worker(place, stays=False)
        return
    if not _asked(hook, place, tell, asking):
        _open(hook, place, tell)
        _start_worker(place, stays=True)


def deliver_late(hook: Hook, flags: Mapping[str, str], patience: float) -> None:
    """The same when no client waits any more: try for so many seconds to get it stored.

    Nothing is told, or the session would count as told what it never saw; it may be stored already.
    """
    kept = [one for one in untold(hook.heard) if not isinstance(one, Opened)]
    heard = tuple(one._replace(again=True) if isinstance(one, Said) else one for one in kept)
    hook = hook._replace(heard=heard)
    latest = time.monotonic() + patience
    while True:
        try:
            deliver(hook, flags, lambda notes: None)
            return
        except KinmemError as error:
            if not error.retry or time.monotonic() > latest:
                raise
        time.sleep(RETRY_SECONDS)


def _start_worker(place: Place, *, stays: bool) -> None:
    """subprocess takes 10 ms to load, which most calls can do without."""
    from kinmem.hooks.worker import start_worker

    start_worker(place, stays=stays)


def _asked(
    hook: Hook,
    place: Place,
    tell: Callable[[str], None],
    asking: Callable[[], AbstractContextManager[None]],
) -> bool:
    """Whether a server has taken it. One that could not is no reason to lose it: here it may fit,
    and if not, what is wrong is told better."""
    with asking():
        answer = ask_local(place.home, place.kin, request_of(hook), SERVER_SECONDS)
    if answer is None or "error" in answer:
        return False
    tell(str(answer.get("notes") or ""))
    return True


def _open(hook: Hook, place: Place, tell: Callable[[str], None]) -> None:
    """Without a server: words find what fits, as no model is loaded for one prompt."""
    import logging

    from kinmem.settings import load
    from kinmem.wiring import open_conversation

    logging.getLogger().addHandler(logging.NullHandler())
    settings = load({"KINMEM_HOME": place.home, "KINMEM_KIN": place.kin})
    with open_conversation(settings) as conversation:
        tell(attend(conversation, hook))
