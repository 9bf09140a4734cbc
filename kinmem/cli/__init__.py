"""The command line: the same verbs as the tools, for people.

Exit code   when
0           done, even if nothing was found
1           failed: storage_*, model, config, server, internal;
            review: had to do without its model;
            sleep: a step failed, or another process was running it;
            or the reader of the output closed it (kinmem list | head)
2           wrong use of the command: an unknown option, a missing argument (usage)
3           refused: invalid, too_large, unreadable, not_found, conflict, refused
4           doctor --strict: nothing is broken, but there are warnings
130         interrupted

Errors are one sentence on stderr, `code: message`; with --json {"error": {code, message, retry}}.

This module imports nothing but the standard library, because the hook and the server over stdio are
waited for and do without typer. What all commands need stands at the top of their modules; what
loads mcp, numpy or a model is imported by the command that runs, for help and completion must not
wait for it. tests/cli/test_start.py checks that.
"""

import codecs
import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

# Objects after which Python looks for garbage. While modules are loaded there is none, and looking
# for it after each 700 takes an eighth of that time.
GARBAGE = 50_000
FLAGS = {"--kin": "KINMEM_KIN", "--home": "KINMEM_HOME"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line, and return the exit code. The console script `kinmem`."""
    words = _typed() if arguments is None else list(arguments)
    if arguments is None:
        gc.set_threshold(GARBAGE)
    if os.environ.get("HOME") == "":  # Python would take it for the root folder
        del os.environ["HOME"]
    if words[:1] == ["hook"]:  # taken first, since every prompt waits for it
        from kinmem.hooks.hook import main as hook

        return hook(words[1:])
    _prepare_streams()
    code = _outcome(words)
    if arguments is None:
        _end(code)
    return code


def _outcome(words: list[str]) -> int:
    try:
        return _run(words)
    except BrokenPipeError:  # kinmem list --all | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from kinmem.cli.terminal import report

        return report(error, as_json="--json" in words)


def _end(code: int) -> NoReturn:
    """End the process at once. Everything is closed, and a model that a thread is still loading
    would abort the process if its library was torn down under it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _typed() -> list[str]:
    """Return the words of the command line, decoded as UTF-8 even in the C locale, where Python
    assumes ASCII."""
    if not _is_ascii(sys.getfilesystemencoding()):
        return sys.argv[1:]
    return [os.fsencode(word).decode("utf-8", "backslashreplace") for word in sys.argv[1:]]


def _is_ascii(encoding: str) -> bool:
    return codecs.lookup(encoding).name == "ascii"


def _prepare_streams() -> None:
    """Make output that the terminal cannot show harmless, and lose no input.

    Files and programs get UTF-8 in every locale: JSON is read as UTF-8, and Latin-1 has no 我.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    if hasattr(sys.stdin, "reconfigure") and _is_ascii(sys.stdin.encoding):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")


def _run(words: list[str]) -> int:
    flags = None if "_KINMEM_COMPLETE" in os.environ else only_serves(words)
    if flags is not None:
        from kinmem.cli.serve import serve
        from kinmem.settings import load

        serve(load(flags))
    from typer.main import get_command

    from kinmem.cli.app import app
    from kinmem.cli.terminal import UNLIMITED

    on_terminal = sys.stdout.isatty()
    app.rich_markup_mode = "rich" if on_terminal else None  # rich frames have a fixed width
    width = None if on_terminal else UNLIMITED
    code = get_command(app).main(
        words, prog_name="kinmem", standalone_mode=False, terminal_width=width
    )
    return code if isinstance(code, int) else 0


def only_serves(words: list[str]) -> dict[str, str] | None:
    """Return the settings of a command line that serves over stdio; None for any other.

    Clients wait for the first answer, and loading typer would take a tenth of that time. So
    `kinmem` and `kinmem serve`, with --kin and --home at most, are recognised without it.
    """
    if words.count("serve") > 1:
        return None
    rest, flags = [word for word in words if word != "serve"], {}
    while len(rest) > 1 and rest[0] in FLAGS and not rest[1].startswith("-"):
        flags[FLAGS[rest[0]]] = rest[1]
        rest = rest[2:]
    served = "serve" in words or not sys.stdin.isatty()
    return flags if served and not rest else None
