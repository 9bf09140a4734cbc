"""`kinmem doctor`: what it examines, in order, how that is shown, and how it repairs."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from kinmem.backup.restore import Repair, plan, repair
from kinmem.cli import installation_checks as checks
from kinmem.cli.backup_commands import STILL_THERE
from kinmem.cli.command_context import CommandContext
from kinmem.cli.installation_checks import Check
from kinmem.cli.mcp_client import self_test
from kinmem.cli.memory_checks import memory
from kinmem.cli.terminal import Refused, one_line, say
from kinmem.errors import ConfigError
from kinmem.hooks.socket_server import without_workers
from kinmem.wiring.open_home import open_backups

STYLES = {"ok": "green", "warning": "yellow", "error": "red"}


def examined(context: CommandContext, *, online: bool, deep: bool = False) -> Iterator[Check]:
    """Yield all checks in order: those that others depend on come first."""
    yield from _guarded(checks.python)
    yield from _guarded(checks.clock)
    try:
        settings = context.settings()
    except ConfigError as error:
        yield checks.Check("settings", "error", str(error), "correct it; kinmem config shows all")
        return
    yield from _guarded(lambda: checks.settings_read(settings))
    yield from _guarded(lambda: checks.place(settings.home))
    yield from _guarded(lambda: checks.locks(settings))
    yield from _guarded(lambda: checks.access(settings))
    yield from _guarded(checks.model_files)
    yield from _guarded(lambda: checks.models(settings, online=online))
    yield from _guarded(lambda: memory(settings, deep=deep))
    yield from _guarded(self_test)


def _guarded(check: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """Run a check; if the check itself fails, that is a finding too."""
    try:
        yield from check()
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        yield Check(getattr(check, "__name__", "check"), "error", told, "report it with this line")


def check_table(found: list[Check]) -> Table:
    """Return a table with one line per check, its remedy below it."""
    table = Table.grid(padding=(0, 2))
    for check in found:
        status = Text(check.status, style=STYLES[check.status])
        table.add_row(status, Text(check.name), Text(one_line(check.told)))
        if check.remedy:
            table.add_row("", "", Text(f"-> {one_line(check.remedy)}", style="bold"))
    return table


SHOWN = 20


def mend(context: CommandContext, *, dry_run: bool, yes: bool) -> None:
    """Show what a repair would do; unless it is a dry run, ask and do it. Exits with 1 if something
    is lost."""
    backups = open_backups(context.settings())
    planned = plan(backups)
    if dry_run or not planned.damage:
        context.tell(_told(planned), *_lines(planned))
        if planned.unreadable:
            raise typer.Exit(1)
        return
    if not yes:
        if not sys.stdin.isatty():
            raise Refused(
                "a repair writes files anew, and nobody is here to be asked; --dry-run shows what"
                " it would do, --yes does it"
            )
        say(*_lines(planned))
        typer.confirm("Repair it?", abort=True, err=True)
    with without_workers(backups.home):
        done = repair(backups)
    lines = [*_lines(done), Text("Repaired.", style="green")]
    if done.before is not None:
        lines.append(Text(f"What was there before: {done.before.path}"))
    lines += [Text(STILL_THERE.format(name), style="yellow") for name in done.unreached]
    context.tell({**_told(done), "repaired": True}, *lines)
    if done.unreadable or any(file.lost for file in done.files.values()):
        raise typer.Exit(1)


def _told(found: Repair) -> dict[str, Any]:
    return {
        "damage": dict(found.damage),
        "files": {name: asdict(one) for name, one in found.files.items()},
        "unreadable": dict(found.unreadable),
        "upgrades": dict(found.upgrades),
        "unreached": list(found.unreached),
        "before": None if found.before is None else str(found.before.path),
    }


def _lines(found: Repair) -> Iterator[Text]:
    for name, schema in found.upgrades.items():
        yield Text(f"{name} has schema {schema} and is upgraded when it is opened, after a backup")
    for name, wrong in found.damage.items():
        yield Text(f"{name} is damaged:", style="bold")
        yield from _some([Text(f"  {one_line(one)}", style="red") for one in wrong])
    for name, one in found.files.items():
        yield Text(f"{name} written anew: {one.before:,} memories before, {one.after:,} after")
        yield from _some([Text(f"  back: {one_line(what)}", style="green") for what in one.brought])
        yield from _some([Text(f"  lost: {one_line(what)}", style="red") for what in one.lost])
    for name, why in found.unreadable.items():
        yield Text(f"{name} cannot be repaired: {why}", style="red")
        yield Text("  kinmem backup restore brings it back as it was")
    if not (found.damage or found.unreadable):
        yield Text("Nothing is damaged.", style="green")


def _some(lines: list[Text]) -> Iterator[Text]:
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield Text(f"  and {len(lines) - SHOWN:,} more")
