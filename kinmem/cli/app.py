"""The command line as a whole: its groups of commands, and the options before a command."""

import sys

import typer

from kinmem.cli import (
    admin_commands,
    backup_commands,
    client_commands,
    document_commands,
    memory_commands,
    recall_commands,
    transfer_commands,
)
from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext
from kinmem.cli.terminal import json_text

HELP = """Lasting memory for AI agents: an MCP server, and the same verbs for people.

Without a command it serves MCP over stdio, as clients start it; on a terminal it shows this help.
"""

app = typer.Typer(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
for part in (
    memory_commands,
    document_commands,
    recall_commands,
    client_commands,
    admin_commands,
    transfer_commands,
):
    app.registered_commands += part.app.registered_commands
app.add_typer(admin_commands.kins, name="kin", rich_help_panel=admin_commands.PANEL)
app.add_typer(backup_commands.backups, name="backup", rich_help_panel=backup_commands.PANEL)
app.add_typer(admin_commands.tokens, name="token", rich_help_panel=admin_commands.PANEL)
app.add_typer(admin_commands.stores, name="store", rich_help_panel=admin_commands.PANEL)
app.add_typer(admin_commands.keys, name="key", rich_help_panel=admin_commands.PANEL)


@app.callback(invoke_without_command=True)
def before(
    ctx: typer.Context,
    kin: take.Kin = None,
    home: take.Home = None,
    as_json: take.Json = False,
    version: take.Version = False,
) -> None:
    ctx.obj = CommandContext(kin, home, as_json)
    if version:
        # Late: loads the store and every kind of model, 0.5 s.
        from kinmem.cli.installation_checks import versions

        found = versions()
        line = ", ".join(f"{name} {version}" for name, version in found.items())
        typer.echo(json_text(found) if as_json else line)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty():
            typer.echo(ctx.get_help())
        else:
            client_commands.start(ctx.obj)
