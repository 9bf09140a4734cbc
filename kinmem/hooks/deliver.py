"""From a hook to the memory: by the server that has it open, else by opening it here."""

import os
import time
from collections.abc import Callable, Mapping

from kinmem.errors import KinmemError
from kinmem.hooks.attend import attend, request_of
from kinmem.hooks.heard import Ended, Hook, Opened, Said, untold
from kinmem.hooks.local import ask_local
from kinmem.hooks.place import Place, place_of

SERVER_SECONDS = 1.0
"""Of the hook's two: what the server is too busy for can still be kept here."""
RETRY_SECONDS = 1.0
"""Between two attempts, of which each waits five seconds for the file by itself."""


def deliver(hook: Hook, flags: Mapping[str, str], tell: Callable[[str], None]) -> None:
    """Pass on what was heard and tell what the memory has to say.

    Somebody must learn from it afterwards, and answer the next hook sooner: the server, and without
    one a process of its own. At the end of a session in any case, as its server may be told to stop
    at the same moment.
    """
    place = place_of(flags, os.environ)
    if any(isinstance(one, Ended) for one in hook.heard):
        tell("")
        _start_worker(place, stays=False)
        return
    if not _asked(hook, place, tell):
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
    from kinmem.hooks.detached import start_worker

    start_worker(place, stays=stays)


def _asked(hook: Hook, place: Place, tell: Callable[[str], None]) -> bool:
    """Whether a server has taken it. One that could not is no reason to lose it: here it may fit,
    and if not, what is wrong is told better."""
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
