"""Delivers a hook to the memory: to the server that has it open, or else by opening it here.

Which memory that is, is determined without kinmem.settings, which takes longer to load than
everything else a hook with a server needs. tests/hooks/test_place.py holds both to the same answer.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import IO, NamedTuple

from kinmem.errors import KinmemError
from kinmem.hooks.events import Ended, Hook, Opened, Said, untold
from kinmem.hooks.local_socket import (
    ask_local,
    attend,
    lock_ending,
    lock_socket,
    request_of,
)

# The working directory of the processes: `python -m` would import modules from the current folder.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120


def start_worker(home: str, kin: str, *, stays: bool) -> None:
    """Start a process that learns from what was heard, and with `stays` answers the next hooks.

    None is started while another one does the same, or is about to: this process takes the lock
    for it and passes it on.
    """
    words, settings = ["sleep", "--due", "--quiet"], {"KINMEM_HOME": home, "KINMEM_KIN": kin}
    try:
        lock = lock_socket(home, kin) if stays else lock_ending(home, kin)
    except (OSError, ImportError):  # no sockets or locks here: it only learns
        _start(words, settings, None)
        return
    if lock is not None:
        try:
            _start([*words, *["--linger"] * stays], settings, lock)
        finally:
            os.close(lock)


def start_late(words: Sequence[str], heard: bytes) -> None:
    """Run the same hook again in another process, with all the time it needs."""
    import tempfile  # late: takes 5 ms, which other hooks do not need

    with tempfile.TemporaryFile() as file:
        file.write(heard)
        file.seek(0)
        _start(["hook", *words, "--late"], {}, file)


def _start(
    words: Sequence[str], settings: Mapping[str, str], stdin: IO[bytes] | int | None
) -> None:
    import subprocess  # late: takes 10 ms, and most hooks start nothing

    subprocess.Popen(
        [sys.executable, "-m", "kinmem", *words],
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, **settings},
        start_new_session=True,
    )


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
        start_worker(place.home, place.kin, stays=False)
        return
    if not _ask_server(hook, place, tell, asking):
        _open(hook, place, tell)
        start_worker(place.home, place.kin, stays=True)


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
    # Late: loading settings and store takes ten times as long as asking a server.
    import logging

    from kinmem.settings import load
    from kinmem.wiring.open_home import open_conversation

    logging.getLogger().addHandler(logging.NullHandler())
    settings = load({"KINMEM_HOME": place.home, "KINMEM_KIN": place.kin})
    with open_conversation(settings) as conversation:
        tell(attend(conversation, hook))
