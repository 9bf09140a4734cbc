"""From a hook to the memory: by the server that has it open, else by opening it here."""

import os
from collections.abc import Callable, Mapping

from kinmem.errors import KinmemError
from kinmem.hooks.attend import attend, request_of
from kinmem.hooks.heard import Ended, Hook
from kinmem.hooks.local import ask_local
from kinmem.hooks.place import Place, place_of

SERVER_SECONDS = 1.0
"""Of the hook's two: what the server is too busy for can still be kept here."""


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


def _start_worker(place: Place, *, stays: bool) -> None:
    """subprocess takes 10 ms to load, which most calls can do without."""
    from kinmem.hooks.detached import start_worker

    start_worker(place, stays=stays)


def _asked(hook: Hook, place: Place, tell: Callable[[str], None]) -> bool:
    """Whether a server has taken it."""
    answer = ask_local(place.home, place.kin, request_of(hook), SERVER_SECONDS)
    if answer is None:
        return False
    if error := answer.get("error"):
        raise KinmemError(error)
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
