"""How far long work is: a bar on a terminal, a line now and then elsewhere. Always on stderr."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from kinmem.cli.terminal import console

LINE_SECONDS = 5.0


@contextmanager
def bar() -> Iterator[Callable[[int, int, str], None]]:
    """What Service methods take as `progress`: a function of done, total, and what is done."""
    out = console(err=True)
    if not out.is_terminal:
        yield _lines()
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

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


def _lines() -> Callable[[int, int, str], None]:
    told = time.monotonic()

    def report(done: int, total: int, what: str) -> None:
        nonlocal told
        if time.monotonic() - told >= LINE_SECONDS:
            told = time.monotonic()
            typer.echo(f"{what}: {done} of {total}", err=True)

    return report
