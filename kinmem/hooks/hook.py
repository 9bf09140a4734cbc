"""`kinmem hook [CLIENT]`: stores what a client's hook reports, and answers with notes that fit.

It reads one JSON object from stdin, writes one to stdout, and always exits with 0: a memory must
never stand in the way of the conversation. Errors are one line on stderr. Every prompt waits for
this, so it imports the standard library and its own few modules, and more only if no server is
there to answer.
"""

import json
import sys
from collections.abc import Sequence

from kinmem.errors import InvalidInput
from kinmem.hooks.deliver import deliver, deliver_late
from kinmem.hooks.dialects import heard, reply
from kinmem.hooks.standard_streams import StandardStreams

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
