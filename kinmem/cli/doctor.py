"""doctor: is everything in order, and what helps if not."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from kinmem.cli import options as take
from kinmem.cli.here import Here, command

if TYPE_CHECKING:
    from rich.table import Table

    from kinmem.cli.checks import Check

app = typer.Typer()
STYLES = {"ok": "green", "warning": "yellow", "error": "red"}
WARNED = 4


@command(app, rich_help_panel="Look after")
def doctor(here: Here, strict: take.Strict = False, online: take.Online = False) -> None:
    """Check everything kinmem stands on; each line says what helps."""
    found = list(examined(here, online=online))
    statuses = {check.status for check in found}
    told = {"ok": statuses == {"ok"}, "checks": [asdict(check) for check in found]}
    here.tell(told, table_of(found))
    if "error" in statuses:
        raise typer.Exit(1)
    if strict and "warning" in statuses:
        raise typer.Exit(WARNED)


def examined(here: Here, *, online: bool) -> "Iterator[Check]":
    """All checks in order: what the later ones stand on comes first."""
    from kinmem.cli import checks, selftest, store_checks
    from kinmem.errors import ConfigError

    yield from _guarded(checks.python)
    yield from _guarded(checks.clock)
    try:
        settings = here.settings()
    except ConfigError as error:
        yield checks.Check("settings", "error", str(error), "correct it; kinmem config shows all")
        return
    yield from _guarded(lambda: checks.settings_read(settings))
    yield from _guarded(lambda: checks.place(settings.home))
    yield from _guarded(lambda: checks.access(settings))
    yield from _guarded(checks.model_files)
    yield from _guarded(lambda: checks.models(settings, online=online))
    yield from _guarded(lambda: store_checks.memory(settings))
    yield from _guarded(selftest.self_test)


def _guarded(check: "Callable[[], Iterator[Check]]") -> "Iterator[Check]":
    """A check that breaks is a finding too."""
    from kinmem.cli.checks import Check

    try:
        yield from check()
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        yield Check(getattr(check, "__name__", "check"), "error", told, "report it with this line")


def table_of(found: "list[Check]") -> "Table":
    """One line per check, its remedy below it."""
    from rich.table import Table
    from rich.text import Text

    from kinmem.cli.terminal import one_line

    table = Table.grid(padding=(0, 2))
    for check in found:
        status = Text(check.status, style=STYLES[check.status])
        table.add_row(status, Text(check.name), Text(one_line(check.told)))
        if check.remedy:
            table.add_row("", "", Text(f"-> {one_line(check.remedy)}", style="bold"))
    return table
