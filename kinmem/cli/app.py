"""The command line as a whole: its groups, and what stands before a command."""

import sys
from typing import Annotated

import typer

from kinmem.cli import asking, changing, doctor, serving, setup
from kinmem.cli.here import Here, Home, Json, Kin

HELP = """Lasting memory for AI agents: an MCP server, and the same verbs for people.

Without a command it serves MCP over stdio, as clients start it; on a terminal it shows this help.
"""

app = typer.Typer(
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
for part in (asking, changing, serving, setup, doctor):
    app.registered_commands += part.app.registered_commands
app.add_typer(setup.kins, name="kin", rich_help_panel=setup.PANEL)
app.add_typer(setup.tokens, name="token", rich_help_panel=setup.PANEL)


def _version(wanted: bool) -> None:
    if wanted:
        from kinmem.cli.engine import versions

        told = ", ".join(f"{name} {version}" for name, version in versions().items())
        typer.echo(told)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def before(
    ctx: typer.Context,
    kin: Kin = None,
    home: Home = None,
    as_json: Json = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the versions of kinmem and its engine.",
            callback=_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    ctx.obj = Here(kin, home, as_json)
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty():
            typer.echo(ctx.get_help())
        else:
            serving.start(ctx.obj)
