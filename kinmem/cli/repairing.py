"""`kinmem doctor --repair`, and `--dry-run` of it and of an upgrade."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import typer
from rich.text import Text

from kinmem.backup.repair import Repair, plan, repair
from kinmem.cli.backup_commands import STILL_THERE
from kinmem.cli.command_context import CommandContext
from kinmem.cli.terminal import Refused, one_line, say
from kinmem.hooks.socket_server import without_workers
from kinmem.wiring.open_home import open_backups

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
