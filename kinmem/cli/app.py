"""The command line as a whole: its groups, and what may stand before a command."""

import sys

import typer

from kinmem.cli import (
    adding,
    asking,
    bench,
    changing,
    doctor,
    installing,
    serving,
    setup,
    talking,
    undoing,
)
from kinmem.cli import options as take
from kinmem.cli.here import Here
from kinmem.cli.terminal import json_text

HELP = """Lasting memory for AI agents: an MCP server, and the same verbs for people.

Without a command it serves MCP over stdio, as clients start it; on a terminal it shows this help.
"""

app = typer.Typer(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
for part in (changing, adding, undoing, asking, talking, serving, installing, setup, doctor, bench):
    app.registered_commands += part.app.registered_commands
app.add_typer(setup.kins, name="kin", rich_help_panel=setup.PANEL)
app.add_typer(setup.tokens, name="token", rich_help_panel=setup.PANEL)


@app.callback(invoke_without_command=True)
def before(
    ctx: typer.Context,
    kin: take.Kin = None,
    home: take.Home = None,
    as_json: take.Json = False,
    version: take.Version = False,
) -> None:
    ctx.obj = Here(kin, home, as_json)
    if version:
        from kinmem.cli.engine import versions

        found = versions()
        line = ", ".join(f"{name} {version}" for name, version in found.items())
        typer.echo(json_text(found) if as_json else line)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty():
            typer.echo(ctx.get_help())
        else:
            serving.start(ctx.obj)
