"""serve, demo, install, hook: running the server, and connecting clients to it."""

import typer

from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext
from kinmem.cli.commands import command
from kinmem.errors import InvalidInput
from kinmem.hooks.hook import main
from kinmem.mcp.serving import serve as run

app = typer.Typer()
SERVE_PANEL = "Serve"
INSTALL_PANEL = "Set up"


@command(app, rich_help_panel=SERVE_PANEL)
def serve(
    context: CommandContext,
    transport: take.Transport = None,
    host: take.Host = None,
    port: take.Port = None,
) -> None:
    """Serve MCP, over stdio by default."""
    start(context, transport, host, port)


@command(app, rich_help_panel=SERVE_PANEL)
def demo(context: CommandContext, keep: take.Keep = False) -> None:
    """Watch two assistants remember, share, correct and forget, through the real server."""
    from kinmem.cli.demo import play  # late: loads mcp, 0.5 s

    if context.json:
        raise InvalidInput("the demo is told for people to read; leave out --json")
    play(keep=keep)


def start(
    context: CommandContext,
    transport: str | None = None,
    host: str | None = None,
    port: int | None = None,
) -> None:
    """Serve until a signal or the client ends it."""
    run(context.settings(KINMEM_TRANSPORT=transport, KINMEM_HOST=host, KINMEM_PORT=port))


@command(app, rich_help_panel=INSTALL_PANEL)
def install(
    context: CommandContext,
    client: take.Client,
    write: take.Write = False,
    remove: take.Remove = False,
    project: take.Project = None,
) -> None:
    """Show how a client's configuration would change to use kinmem, or with --remove to stop using
    it. --write makes the change."""
    from kinmem.cli.client_changes import change  # late: 30 ms that only this command needs

    change(context, client, write=write, remove=remove, project=project)


@command(app, rich_help_panel=INSTALL_PANEL)
def hook(context: CommandContext, client: take.HookClient = None) -> None:
    """Answer a client's hook: one JSON object on stdin, one on stdout."""
    place = [("--kin", context.kin), ("--home", context.home)]
    main([*filter(None, [client]), *(word for pair in place if pair[1] for word in pair if word)])
