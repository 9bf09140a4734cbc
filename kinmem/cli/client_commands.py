"""serve, demo, install, hook: running the server, and connecting clients to it."""

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext
from kinmem.cli.commands import command
from kinmem.errors import InvalidInput
from kinmem.hooks.hook import main
from kinmem.mcp.serving import serve as run
from kinmem.settings.loading import DEFAULT_HOME

if TYPE_CHECKING:
    from kinmem.install import FileChange

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
    from kinmem import install as installer  # late: 30 ms that only this command needs
    from kinmem.install.clients import started_by

    folder = Path(project).absolute() if project else None
    home = Path.home()
    if remove:
        changes = installer.plan_removal(client, home, folder)
    else:
        settings = context.settings()
        memory = settings.home if settings.home != Path(DEFAULT_HOME).expanduser() else None
        changes = installer.plan(client, home, folder, started_by(), settings.general.kin, memory)
    if write:
        installer.write(changes)
    advice = installer.ADVICE[client]
    context.tell(
        _rows(changes, written=write), *_shown(changes, client, advice, write=write, remove=remove)
    )


@command(app, rich_help_panel=INSTALL_PANEL)
def hook(context: CommandContext, client: take.HookClient = None) -> None:
    """Answer a client's hook: one JSON object on stdin, one on stdout."""
    place = [("--kin", context.kin), ("--home", context.home)]
    main([*filter(None, [client]), *(word for pair in place if pair[1] for word in pair if word)])


def _rows(changes: list["FileChange"], *, written: bool) -> list[dict[str, Any]]:
    return [
        {"file": str(one.path), "before": one.before, "after": one.after, "written": written}
        for one in changes
    ]


def _shown(
    changes: list["FileChange"], client: str, advice: str, *, write: bool, remove: bool
) -> list[RenderableType]:
    if not changes:
        return [Text(f"Nothing to change: {client} is as it should be.")]
    shown: list[RenderableType] = []
    for one in changes:
        lines = difflib.unified_diff(
            (one.before or "").splitlines(),
            (one.after or "").splitlines(),
            fromfile=str(one.path) if one.before is not None else "(no such file)",
            tofile=str(one.path) if one.after is not None else "(deleted)",
            lineterm="",
        )
        shown += [Text(line, style=_colour(line)) for line in lines]
    if not write:
        wanted = "--remove --write takes kinmem out" if remove else "--write does it"
        return [*shown, Text(f"Nothing was changed yet: {wanted}.", style="bold")]
    if remove:
        return [*shown, Text("Done; nothing of kinmem is left there.", style="bold")]
    told = "Done; the files as they were lie beside them (.before-kinmem)."
    return [*shown, Text(f"{told} {advice}", style="bold")]


def _colour(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
