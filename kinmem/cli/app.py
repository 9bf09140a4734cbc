"""The command line as a whole: its groups of commands, the options before a command, and the
commands that run the server or connect clients to it: serve, web, demo, install, hook."""

import difflib
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer
from rich.console import RenderableType
from rich.text import Text

from kinmem.cli import (
    admin_commands,
    backup_commands,
    memory_commands,
    recall_commands,
    transfer_commands,
)
from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext, Home, Json, Kin, command
from kinmem.cli.serve import serve as run
from kinmem.cli.serve import serve_page
from kinmem.cli.tables import versions
from kinmem.cli.terminal import json_text
from kinmem.errors import InvalidInput
from kinmem.hooks.hook import main
from kinmem.http.open_page import is_waiting, leave_link, open_at, running
from kinmem.http.tokens import Bearer, Tokens, is_loopback, tokens_of
from kinmem.settings.loading import DEFAULT_HOME

if TYPE_CHECKING:
    from kinmem.cli.install import FileChange

serving = typer.Typer()
SERVE_PANEL = "Serve"
INSTALL_PANEL = "Set up"
# What a preview shows for a token that is not made yet.
UNMADE = "TOKEN"


@command(serving, rich_help_panel=SERVE_PANEL)
def serve(
    context: CommandContext,
    transport: take.Transport = None,
    host: take.Host = None,
    port: take.Port = None,
    workers: take.Workers = None,
    insecure_local: take.InsecureLocal = False,
) -> None:
    """Serve MCP, over stdio by default."""
    start_server(context, transport, host, port, workers, insecure_local=insecure_local)


@command(serving, rich_help_panel=SERVE_PANEL)
def web(
    context: CommandContext, port: take.PagePort = None, no_browser: take.NoBrowser = False
) -> None:
    """See the memory in a browser, and put it right. Ctrl-C ends it."""
    settings = context.settings(KINMEM_HOST="127.0.0.1", KINMEM_PORT=port or 0)

    def opened(address: str, told: str = "kinmem's page") -> threading.Thread:
        key = leave_link(settings.home, Bearer(settings.general.kin, "admin"))
        link = f"{address}/login?key={key}"
        context.tell({"link": link}, Text(f"{told}, once, within two minutes:\n{link}"))
        sys.stdout.flush()
        opening = threading.Thread(
            target=open_at, args=[link, lambda: not is_waiting(settings.home, key)], daemon=True
        )
        if not (no_browser or context.json):
            opening.start()
        return opening

    address = running(settings.home) if port is None else None
    if address is None:
        serve_page(settings, opened)
    opening = opened(address, f"The page of this memory is open already at {address}; again")
    if opening.ident:
        opening.join()


@command(serving, rich_help_panel=SERVE_PANEL)
def demo(context: CommandContext, keep: take.Keep = False) -> None:
    """Watch two assistants remember, share, correct and forget, through the real server."""
    from kinmem.cli.demo import play  # late: loads mcp, 0.5 s

    if context.json:
        raise InvalidInput("the demo is told for people to read; leave out --json")
    play(keep=keep)


def start_server(
    context: CommandContext,
    transport: str | None = None,
    host: str | None = None,
    port: int | None = None,
    workers: int | None = None,
    *,
    insecure_local: bool = False,
) -> None:
    """Serve until a signal or the client ends it."""
    flags = {"KINMEM_TRANSPORT": transport, "KINMEM_HOST": host, "KINMEM_PORT": port}
    flags["KINMEM_WORKERS"] = workers
    run(context.settings(**flags, KINMEM_INSECURE_LOCAL=insecure_local or None))


@command(serving, rich_help_panel=INSTALL_PANEL)
def install(
    context: CommandContext,
    client: take.Client,
    write: take.Write = False,
    remove: take.Remove = False,
    project: take.Project = None,
    http: take.ServerAddress = None,
) -> None:
    """Show how a client's configuration would change to use kinmem, or with --remove to stop using
    it. --write makes the change."""
    from kinmem.cli import install as installer  # late: 30 ms that only this command needs
    from kinmem.cli.install.clients import started_by

    folder = Path(project).absolute() if project else None
    home, settings = Path.home(), context.settings()
    tokens, kin = tokens_of(settings), settings.general.kin
    if http is not None:
        _check_address(http, project)
    used = installer.tokens_in(client, home, folder)
    if remove:
        changes = installer.plan_removal(client, home, folder)
    else:
        memory = settings.home if settings.home != Path(DEFAULT_HOME).expanduser() else None
        command = started_by()
        changes = installer.plan(client, home, folder, command, kin, memory, http, UNMADE)
        if http:  # once it is clear that the client can have it
            own = _token(tokens, used, kin, client, write=write)
            changes = installer.plan(client, home, folder, command, kin, memory, http, own)
    if write:
        installer.write(changes)
        if remove:
            _revoke(tokens, used, client)
    advice = installer.ADVICE[client]
    context.tell(
        _rows(changes, written=write), *_shown(changes, client, advice, write=write, remove=remove)
    )


@command(serving, rich_help_panel=INSTALL_PANEL)
def hook(context: CommandContext, client: take.HookClient = None) -> None:
    """Answer a client's hook: one JSON object on stdin, one on stdout."""
    place = [("--kin", context.kin), ("--home", context.home)]
    main([*filter(None, [client]), *(word for pair in place if pair[1] for word in pair if word)])


def _check_address(url: str, project: str | None) -> None:
    parts = urlsplit(url)
    if parts.scheme != "http" or not is_loopback(parts.hostname or ""):
        raise InvalidInput(
            f"--http is for a server of this machine, such as http://127.0.0.1:8765/mcp, not {url};"
            " for another one make a token there, and see docs/clients.md"
        )
    if project is not None:
        raise InvalidInput("a project's files may be shared, and a token may not; no --project")


def _token(tokens: Tokens, used: set[str], kin: str, client: str, *, write: bool) -> str:
    """Return the client's token, or make one; if nothing is written, what stands for it."""
    for token in used:
        known = tokens.verify(token)
        if known is not None and known.kin == kin and known.scope == "write":
            return token
    return tokens.add(kin, note=client) if write else UNMADE


def _revoke(tokens: Tokens, used: set[str], client: str) -> None:
    """Revoke those that were made for this client; others in its files may be used elsewhere."""
    made = {token.id for token in tokens.tokens() if token.note == client}
    for token in used:
        if tokens.verify(token) is not None and token.split("_")[1] in made:
            tokens.revoke(token.split("_")[1])


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
    copies = ", ".join(str(one.copy) for one in changes if one.copy is not None)
    told = f"Done; as it was before: {copies}." if copies else "Done."
    return [*shown, Text(f"{told} {advice}", style="bold")]


def _colour(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")


HELP = """Lasting memory for AI agents: an MCP server, and the same verbs for people.

Without a command it serves MCP over stdio, as clients start it; on a terminal it shows this help.
"""

app = typer.Typer(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
for part in (
    memory_commands.app,
    recall_commands.app,
    serving,
    admin_commands.app,
    transfer_commands.app,
):
    app.registered_commands += part.registered_commands
app.add_typer(admin_commands.kins, name="kin", rich_help_panel=admin_commands.PANEL)
app.add_typer(backup_commands.backups, name="backup", rich_help_panel=backup_commands.PANEL)
app.add_typer(admin_commands.tokens, name="token", rich_help_panel=admin_commands.PANEL)
app.add_typer(admin_commands.stores, name="store", rich_help_panel=admin_commands.PANEL)
app.add_typer(admin_commands.keys, name="key", rich_help_panel=admin_commands.PANEL)


@app.callback(invoke_without_command=True)
def before(
    ctx: typer.Context,
    kin: Kin = None,
    home: Home = None,
    as_json: Json = False,
    version: take.Version = False,
) -> None:
    ctx.obj = CommandContext(kin, home, as_json)
    if version:
        found = versions()
        line = ", ".join(f"{name} {version}" for name, version in found.items())
        typer.echo(json_text(found) if as_json else line)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty():
            typer.echo(ctx.get_help())
        else:
            start_server(ctx.obj)
