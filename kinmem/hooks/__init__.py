"""`kinmem hook [CLIENT]`: what a client's hook tells goes into the memory, what fits comes back.

One JSON object on stdin, one on stdout, exit code 0 whatever happens: a memory must never stand in
the way of the conversation. What went wrong is one line on stderr. Every prompt waits for this, so
modules are imported where they are needed, and as few as possible.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinmem.hooks.standard_streams import StandardStreams

USAGE = "usage: kinmem hook [claude|codex|gemini|cursor|vscode] [--kin NAME] [--home FOLDER] <JSON"
MOST_BYTES = 128 * 1024 * 1024
"""Of input that is listened to; of what is said in it the ends are kept, 8 MiB."""
DEADLINE_SECONDS = 2.0
"""Then the client is let go, and another process finishes the work; where this one still computes,
because the machine is busy, at the latest after the next number."""
MOST_SECONDS = 25.0
FLAGS = {"--kin": "KINMEM_KIN", "--home": "KINMEM_HOME"}
LATE = "--late"
"""Nobody waits for the answer: this is the other process."""
LATE_SECONDS = 300.0
"""For which it tries to get at a memory that others keep busy, or for which the disk is full."""


def main(words: Sequence[str]) -> int:
    """Answer one hook: `words` are those after `kinmem hook`. Always 0."""
    from kinmem.hooks.standard_streams import StandardStreams

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
    streams.put({})  # unless something was
    return 0


def _attend(streams: "StandardStreams", words: Sequence[str]) -> None:
    from json import loads

    from kinmem.hooks.dialects import heard, reply

    hint, flags = _understood(words)
    hook = heard(loads(streams.hear(MOST_BYTES).decode("utf-8-sig", "replace")), hint)
    if not hook.heard:
        streams.put(reply(hook, ""))
        return
    from kinmem.hooks.deliver import deliver, deliver_late

    if LATE in words:
        deliver_late(hook, flags, LATE_SECONDS)
    else:
        deliver(hook, flags, lambda notes: streams.put(reply(hook, notes)), streams.asking)


def _sentence(error: BaseException) -> str:
    """Ours say what to do; of others the kind says most."""
    ours = type(error).__module__ == "kinmem.errors"
    return str(error) if ours else f"{type(error).__name__}: {error}"


def _understood(words: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """The client that is named, and the settings. Unknown words are let be, as everything here."""
    hint, flags, rest = None, {}, list(words)
    while rest:
        word = rest.pop(0)
        if word in FLAGS and rest:
            flags[FLAGS[word]] = rest.pop(0)
        elif not word.startswith("-"):
            hint = word.partition("-")[0]  # claude-code, gemini-cli
    return hint, flags
