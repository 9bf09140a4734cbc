"""What may reach a terminal. Memories are data: no escape sequence in them acts."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console, OverflowMethod, RenderableType
    from rich.text import Text

# Controls, bidirectional overrides, zero-width and tag characters: they would move the cursor,
# turn text around or hide it. The zero-width joiner stays, emoji are made with it.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
# Of lines in a pipe or a file, which nothing wraps or cuts; a terminal says its own width.
UNLIMITED = 1_000_000
# Cells are aligned up to this width. A terminal cuts all but the last of a line there.
WIDEST = 20


def safe(text: str) -> str:
    """The text with every invisible or acting character shown as its escape, \\u001b for ESC."""
    return UNSEEN.sub(_escaped, text)


def one_line(text: str) -> str:
    """The safe text on one line."""
    return " ".join(safe(text).split())


def json_text(value: Any) -> str:
    """JSON for programs and people: letters as they are, invisible characters escaped."""
    return safe(json.dumps(value, ensure_ascii=False, indent=2))


def console(*, err: bool = False) -> "Console":
    """A console for stdout or stderr: colour only on a terminal without NO_COLOR, no markup."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() else UNLIMITED
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def say(*renderables: "RenderableType", width: int | None = None) -> None:
    """Write to stdout, on a terminal at most `width` wide; elsewhere no line is wrapped or cut, and
    each ends where its text ends."""
    from rich.console import Group

    out = console()
    with out.capture() as captured:
        for renderable in renderables:
            # A text printed by itself would forget that it must not be wrapped.
            out.print(Group(renderable), width=width if out.is_terminal else None, crop=False)
    told = captured.get()
    if not out.is_terminal:
        told = "".join(f"{line.rstrip()}\n" for line in told.splitlines())
    typer.echo(told, nl=False)


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> "Iterator[Text]":
    """One line per row. A terminal shows what fits of it, the last cell on a line of its own where
    too little would fit; elsewhere every cell is whole."""
    from rich.cells import cell_len, set_cell_size
    from rich.text import Text

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
