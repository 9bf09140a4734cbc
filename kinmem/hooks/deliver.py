"""Delivers a hook to the memory: to the server that has it open, or else by opening it here.

Which memory that is, is determined without kinmem.settings, which takes longer to load than
everything else a hook with a server needs. tests/hooks/test_place.py holds both to the same answer.

A server receives the hook as a request and answers with the memory's notes.
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


# Half of the hook's two seconds, so that what a busy server cannot take is still stored here.
SERVER_SECONDS = 1.0
# Seconds between two attempts, each of which waits five seconds for the file by itself.
RETRY_SECONDS = 1.0


class Place(NamedTuple):
    """The folder of all memories, and the Kin."""

    home: str
    kin: str


def place_of(flags: Mapping[str, str], environment: Mapping[str, str]) -> Place:
    """Return the place given by flags, else the environment, else config.toml, else the defaults.

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
    from tomllib import loads  # late: takes 10 ms

    kin = loads(content.decode("utf-8")).get("KINMEM_KIN")
    return kin if isinstance(kin, str) else None


def deliver(
    hook: Hook,
    flags: Mapping[str, str],
    tell: Callable[[str], None],
    asking: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Pass on what was heard, and call `tell` with the notes. A server is asked inside `asking`.

    Something has to learn from it afterwards, and answer the next hook faster: the server, or
    without one a worker process. At the end of a session a worker is always started, since the
    server may be told to stop at the same moment.
    """
    place = place_of(flags, os.environ)
    if any(isinstance(event, Ended) for event in hook.heard):
        tell("")
        _start_worker(place, stays=False)
        return
    if not _ask_server(hook, place, tell, asking):
        _open(hook, place, tell)
        _start_worker(place, stays=True)


def deliver_late(hook: Hook, flags: Mapping[str, str], patience: float) -> None:
    """Deliver a hook for which no client waits any more, retrying for `patience` seconds.

    No notes are requested, or the session would count as having seen them. The message may be
    stored already.
    """
    kept = [event for event in untold(hook.heard) if not isinstance(event, Opened)]
    heard = tuple(
        event._replace(again=True) if isinstance(event, Said) else event for event in kept
    )
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
    """Start a worker.

    Imported late, since subprocess takes 10 ms that most hooks can do without.
    """
    from kinmem.hooks.worker import start_worker

    start_worker(place, stays=stays)


def _ask_server(
    hook: Hook,
    place: Place,
    tell: Callable[[str], None],
    asking: Callable[[], AbstractContextManager[None]],
) -> bool:
    """Return whether a server has taken the hook.

    If it failed, the hook is delivered here: it may work, and if not, the error is clearer.
    """
    with asking():
        answer = ask_local(place.home, place.kin, request_of(hook), SERVER_SECONDS)
    if answer is None or "error" in answer:
        return False
    tell(str(answer.get("notes") or ""))
    return True


def _open(hook: Hook, place: Place, tell: Callable[[str], None]) -> None:
    """Deliver without a server.

    Notes are found by words, since no model is loaded for one prompt.
    """
    import logging

    from kinmem.settings import load
    from kinmem.wiring import open_conversation

    logging.getLogger().addHandler(logging.NullHandler())
    settings = load({"KINMEM_HOME": place.home, "KINMEM_KIN": place.kin})
    with open_conversation(settings) as conversation:
        tell(attend(conversation, hook))
