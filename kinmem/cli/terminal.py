"""Output to the terminal: texts, tables, progress, errors. Escape sequences in memories are
disarmed."""

import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, OverflowMethod, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from kinmem.errors import KinmemError
from kinmem.text import cut

# Control characters, bidirectional overrides, zero-width and tag characters, which would move the
# cursor, reverse text or hide it. The zero-width joiner is kept, since emoji are made with it.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
# The width of lines in a pipe or a file, which are not wrapped or cut; a terminal has a width of
# its own.
UNLIMITED = 1_000_000
# Cells are aligned up to this width, at which a terminal cuts all cells of a line but the last.
WIDEST = 20
LINE_SECONDS = 5.0
REFUSED_CODES = frozenset(
    {"invalid", "too_large", "unreadable", "not_found", "conflict", "refused"}
)
# Messages that typer takes from pydantic -> the same in plain words.
PLAINLY = (
    (r"Value error, ", ""),
    (r"Input should be a valid integer.*", "it must be a whole number"),
    (r"Input should be a valid number.*", "it must be a number"),
    (r"Input should be greater than or equal to (\S+)", r"it must be at least \1"),
)
# What errors call the tools -> what people type.
COMMANDS = (
    (r"\brecall and list_memories\b", "kinmem recall and kinmem list"),
    (r"\b(list|update|review)_memor(?:y|ies)\b", r"kinmem \1"),
)
logger = logging.getLogger(__name__)


def safe(text: str) -> str:
    r"""Return the text with every invisible or control character shown as its escape: \\u001b for
    ESC."""
    return UNSEEN.sub(_escaped, text)


def one_line(text: str, most: int | None = None) -> str:
    """Return the safe text on one line, cut to so many characters."""
    line = " ".join(safe(text).split())
    return line if most is None else cut(line, most)


def json_text(value: Any) -> str:
    """Return JSON for programs and people: letters as they are, invisible characters escaped."""
    return safe(json.dumps(value, ensure_ascii=False, indent=2))


def console(*, err: bool = False) -> Console:
    """Return a console for stdout or stderr, without markup, in colour only on a terminal without
    NO_COLOR."""
    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() else UNLIMITED
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def say(*renderables: RenderableType, width: int | None = None) -> None:
    """Write to stdout.

    On a terminal lines are at most `width` wide; elsewhere they are neither wrapped nor cut, and
    have no trailing blanks.
    """
    out = console()
    with out.capture() as captured:
        for renderable in renderables:
            # In a Group, because a text printed by itself loses its no_wrap.
            out.print(Group(renderable), width=width if out.is_terminal else None, crop=False)
    output = captured.get()
    if not out.is_terminal:
        output = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
    typer.echo(output, nl=False)


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Text]:
    """Yield one line per row.

    A terminal shows what fits, with the last cell on a line of its own if too little of it would
    fit; elsewhere every cell is whole.
    """
    on_terminal = sys.stdout.isatty()
    overflow: OverflowMethod = "ellipsis" if on_terminal else "ignore"
    shown = [[one_line(cell) for cell in row] for row in (head, *rows)]
    widths = [min(max(map(cell_len, column)), WIDEST) for column in zip(*shown, strict=True)]
    left = console().width - sum(widths[:-1]) - 2 * len(widths[:-1])
    gap = "  " if left >= min(widths[-1], WIDEST) else "\n  "
    for place, (*cells, last) in enumerate(shown):
        fitted = [
            set_cell_size(cell, width if on_terminal else max(width, cell_len(cell)))
            for cell, width in zip(cells, widths, strict=False)
        ]
        style = "" if place else "dim"
        yield Text("  ".join(fitted) + gap + last, style, no_wrap=True, overflow=overflow)


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Yield the function that Service methods take as `progress`: of done, total, and what is
    done."""
    out = console(err=True)
    if not out.is_terminal:
        yield _progress_lines()
        return

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=out, transient=True) as shown:
        task = shown.add_task("", total=None)

        def report(done: int, total: int, what: str) -> None:
            shown.update(task, completed=done, total=total, description=what)

        yield report


def _progress_lines() -> Callable[[int, int, str], None]:
    printed_at = time.monotonic()

    def report(done: int, total: int, what: str) -> None:
        nonlocal printed_at
        if time.monotonic() - printed_at >= LINE_SECONDS:
            printed_at = time.monotonic()
            typer.echo(f"{what}: {done} of {total}", err=True)

    return report


class Refused(KinmemError):
    """Something that could be done but should not be."""

    code = "refused"


def report(error: Exception, *, as_json: bool) -> int:
    """Print an error to stderr, and return its exit code."""
    code, message, retry = _described(error)
    if as_json:
        details = {"error": {"code": code, "message": message, "retry": retry}}
        typer.echo(json_text(details), err=True)
    else:
        typer.echo(f"{code}: {safe(message)}", err=True)
    if code == "internal" and os.environ.get("KINMEM_LOG_LEVEL") == "DEBUG":
        logger.error("where it happened", exc_info=error)
    return exit_code(code)


def exit_code(code: str) -> int:
    """Return the exit code for an error's code; see the table in kinmem.cli."""
    if code == "usage":
        return 2
    return 3 if code in REFUSED_CODES else 1


def _described(error: Exception) -> tuple[str, str, bool]:
    if isinstance(error, KinmemError):
        return error.code, _as_commands(str(error)), error.retry
    if isinstance(error, typer.TyperException):
        return "usage", _usage(error), False
    if isinstance(error, typer.Abort):
        return "refused", "not confirmed; nothing was changed", False
    said = f"{type(error).__name__}: {error}"
    return (
        "internal",
        f"{said}; KINMEM_LOG_LEVEL=DEBUG shows where, kinmem doctor may know why",
        False,
    )


def _as_commands(message: str) -> str:
    for tool, command in COMMANDS:
        message = re.sub(tool, command, message)
    return message


def _usage(error: typer.TyperException) -> str:
    message = " ".join(error.format_message().split()).rstrip(".")
    for said, meant in PLAINLY:
        message = re.sub(said, meant, message)
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "kinmem"
    end = "" if message.endswith("?") else ";"
    return f"{message}{end} {command} --help lists what it takes"
