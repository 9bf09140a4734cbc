"""`kinmem hook [CLIENT]`: stores what a client's hook reports, and answers with notes that fit.

It reads one JSON object from stdin, writes one to stdout, and always exits with 0: a memory must
never stand in the way of the conversation. Errors are one line on stderr. Every prompt waits for
this, so it imports the standard library and its own few modules, and more only if no server is
there to answer.

Which memory it is delivered to is determined without kinmem.settings, which takes longer to load
than everything else a hook with a server needs. tests/hooks/test_place.py holds both to the same
answer.
"""

import _thread
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, NamedTuple

from kinmem.errors import InvalidInput, KinmemError
from kinmem.hooks.dialects import heard, reply
from kinmem.hooks.events import Ended, Hook, Opened, Said, untold
from kinmem.hooks.local_socket import ask_local, attend, request_of, start_late, start_worker

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


COMPLAINT_CHARACTERS = 300
LOOK_SECONDS = 0.25
# Processor seconds during a look. Less means that the process waits for a file or a disk, unless it
# waits for the processor.
WORKED_SECONDS = 0.01


class StandardStreams:
    """Writes a single answer to stdout; everything else that is printed goes to stderr."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._unanswered = _thread.allocate_lock()  # free until an answer is put
        self._asks = False
        self._heard: bytes | None = None
        try:
            self._out = os.dup(1)
            os.dup2(2, 1)
        except OSError:  # started without a stdout or a stderr
            self._out = os.open(os.devnull, os.O_WRONLY)

    def hear(self, limit: int) -> bytes:
        """Return all of stdin.

        Raises ValueError if there are more than `limit` bytes, after reading all of them so that
        the client does not get stuck writing.
        """
        given = sys.stdin.buffer.read(limit + 1)
        if len(given) <= limit:
            self._heard = given
            return given
        while sys.stdin.buffer.read(1024 * 1024):
            pass
        raise ValueError(f"the input is longer than {limit} bytes")

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Mark the time in which a server is asked, which has its own limit and does not count as a
        standstill."""
        self._asks = True
        try:
            yield
        finally:
            self._asks = False

    def put(self, answer: dict[str, Any]) -> None:
        """Write the answer. Only the first call writes anything."""
        if not self._unanswered.acquire(blocking=False):
            return
        left = json.dumps(answer).encode("ascii") + b"\n"
        with suppress(OSError):  # the client has hung up
            while left:
                left = left[os.write(self._out, left) :]
        with suppress(OSError):
            os.close(self._out)

    def complain(self, what: str) -> None:
        """Write one line to stderr."""
        line = " ".join(what.split())[:COMPLAINT_CHARACTERS]
        with suppress(OSError):
            os.write(2, f"kinmem hook: {line}\n".encode("utf-8", "backslashreplace"))

    def watch(self, seconds: float, most: float) -> None:
        """End the process after `seconds`, or as soon as it waits after that, and after `most` in
        any case: a busy machine is not a locked file. If there was no answer by then, hand over."""
        # Not the threading module, which takes 3 ms to load.
        _thread.start_new_thread(self._end_after, (seconds, most))

    def hand_over(self) -> None:
        """Let another process do what this one could not, and answer {}."""
        if self._heard is not None:
            with suppress(OSError):  # another process cannot be started
                start_late(self._words, self._heard)
        self.put({})

    def _has_worked(self) -> bool:
        """Watch for a moment whether the process computes or asks, or would compute if it, or
        whoever holds the file it waits for, got a processor."""
        before = time.process_time()
        time.sleep(LOOK_SECONDS)
        worked = time.process_time() - before > WORKED_SECONDS
        waits = self._asks or self._heard is not None and _is_crowded()
        return worked or waits or _is_runnable()

    def _end_after(self, seconds: float, most: float) -> None:
        began = time.monotonic()
        time.sleep(seconds - LOOK_SECONDS)
        while self._has_worked() and time.monotonic() - began < most:
            pass
        try:
            if not self._unanswered.locked():
                took = time.monotonic() - began
                self.complain(f"took longer than {took:.0f} s; goes on without the client")
                self.hand_over()
        finally:
            os._exit(0)


def _is_crowded() -> bool:
    """Return whether the main thread has waited for a processor longer than it had one, if Linux
    says so. A server that is just starting then holds its locks for long as well."""
    try:
        with open("/proc/self/schedstat", "rb") as file:  # noqa: PTH123
            had, waited, _ = map(int, file.read().split())
    except (OSError, ValueError):
        return False
    return waited > had


def _is_runnable() -> bool:
    """Return whether the main thread waits for nothing but a processor, if Linux says so."""
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False


USAGE = "usage: kinmem hook [claude|codex|gemini|cursor|vscode] [--kin NAME] [--home FOLDER] <JSON"
# Bytes of input that are read. Of each message both ends are kept, 8 MiB.
MOST_BYTES = 128 * 1024 * 1024
# Seconds after which the client is answered and another process finishes the work. If this process
# is still computing because the machine is busy, MOST_SECONDS is the limit.
DEADLINE_SECONDS = 2.0
MOST_SECONDS = 25.0
FLAGS = {"--kin": "KINMEM_KIN", "--home": "KINMEM_HOME"}
# Marks the other process, for whose answer nobody waits.
LATE = "--late"
# Seconds for which that process retries while the memory is locked or the disk is full.
LATE_SECONDS = 300.0


def main(words: Sequence[str]) -> int:
    """Answer one hook. `words` are the arguments after `kinmem hook`. Always returns 0."""
    streams = StandardStreams(words)
    try:
        if sys.stdin is None or sys.stdin.isatty() or "--help" in words:
            streams.complain(USAGE)
        else:
            if LATE not in words:
                streams.watch(DEADLINE_SECONDS, MOST_SECONDS)
            _attend(streams, words)
    except BaseException as error:
        streams.complain(_sentence(error))
        if getattr(error, "retry", False) and LATE not in words:
            streams.hand_over()
    streams.put({})  # does nothing if an answer was put already
    return 0


def _attend(streams: StandardStreams, words: Sequence[str]) -> None:
    hint, flags = _understood(words)
    sent = streams.hear(MOST_BYTES).decode("utf-8-sig", "replace")
    try:
        given = json.loads(sent)
    except (ValueError, RecursionError):
        raise InvalidInput("stdin holds no JSON object; a client sends one to its hook") from None
    hook = heard(given, hint)
    if not hook.heard:
        streams.put(reply(hook, ""))
        return
    if LATE in words:
        deliver_late(hook, flags, LATE_SECONDS)
    else:
        deliver(hook, flags, lambda notes: streams.put(reply(hook, notes)), streams.asking)


def _sentence(error: BaseException) -> str:
    """Describe an error: kinmem's own messages say what to do, others need their type."""
    ours = type(error).__module__ == "kinmem.errors"
    return str(error) if ours else f"{type(error).__name__}: {error}"


def _understood(words: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """Return the client that is named, and the settings. Unknown words are ignored."""
    hint, flags, rest = None, {}, list(words)
    while rest:
        word = rest.pop(0)
        if word in FLAGS and rest:
            flags[FLAGS[word]] = rest.pop(0)
        elif not word.startswith("-"):
            hint = word.partition("-")[0]  # claude-code, gemini-cli
    return hint, flags
