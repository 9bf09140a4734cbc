"""sessions, turns, context, sleep, runs: conversations, and what was learned from them."""

import os

import typer

from kinmem.cli import options as take
from kinmem.cli.command_context import CommandContext
from kinmem.cli.commands import command
from kinmem.cli.tables import (
    message_rows,
    message_table,
    run_row,
    run_table,
    session_rows,
    session_table,
    step_table,
)
from kinmem.cli.terminal import progress_bar
from kinmem.hooks.local_socket import ENDING, inherited_lock
from kinmem.hooks.socket_server import StayingWorker

app = typer.Typer()
PANEL = "Conversations"
# Seconds in which a worker that ends learns what has come since.
SETTLE_SECONDS = 60.0


@command(app, rich_help_panel=PANEL)
def sessions(context: CommandContext, limit: take.SessionLimit = 20) -> None:
    """List the observed conversations, the latest first."""
    with context.memory(resident=False) as memory:
        rows = session_rows(memory.sessions(limit), memory.settings.general.zone)
    context.tell(rows, session_table(rows))


@command(app, rich_help_panel=PANEL)
def turns(
    context: CommandContext,
    session: take.Session = None,
    parked: take.Parked = False,
    retry: take.Retry = False,
) -> None:
    """Show what was said in a session; or what could not be learned from, to try it again."""
    with context.memory(resident=False) as memory:
        if retry:
            found = memory.retry()
            context.tell({"retried": found}, f"{found} messages will be tried again.")
            return
        if session is None and not parked:
            latest = memory.sessions(1)
            session = latest[0].name if latest else None
        said = memory.parked() if parked else memory.turns(session) if session else []
        rows = message_rows(said, memory.settings.general.zone)
    context.tell(rows, message_table(rows) if rows else _nothing(session, parked=parked))


@command(app, rich_help_panel=PANEL)
def context(context: CommandContext, session: take.Session = None) -> None:
    """Show a conversation as a model can be given it: summaries of old turns, then the latest
    turns."""
    with context.memory(resident=False) as memory:
        text = memory.context(session)
    if context.json:
        context.tell({"context": text})
    elif text:
        typer.echo(text)
    else:
        context.tell(None, _nothing(session))


@command(app, rich_help_panel=PANEL)
def sleep(
    context: CommandContext,
    steps: take.Steps = None,
    dry_run: take.DryRun = False,
    compress: take.Compress = False,
    due: take.Due = False,
    quiet: take.Quiet = False,
    linger: take.Linger = False,
) -> None:
    """Do now what the server does in the background: learn, tag, link, merge, tidy up."""
    settings = context.settings()
    lingers = linger and settings.general.locking != "lockfile"
    stays = StayingWorker(settings.home, settings.general.kin) if lingers else None
    if stays is not None and due and not stays.is_first:
        return
    ending = inherited_lock(settings.home, settings.general.kin, ENDING)
    with context.memory(may_be_new=True) as memory:
        if stays is not None:
            stays.answer(memory)
        if due:
            run = memory.sleep_if_due()
        else:
            with progress_bar() as progress:
                run = memory.sleep(
                    steps or (), dry_run=dry_run, compress=compress or None, progress=progress
                )
        if run is not None and not quiet:
            context.tell(run_row(run, memory.settings.general.zone), *step_table(run))
        if stays is not None:
            stays.wait(memory.settings.inject.linger_minutes)
            if not stays.is_sent_away:
                stays.close()
        elif ending is not None:
            os.close(ending)
        if stays is not None or ending is not None:
            memory.settle(SETTLE_SECONDS)  # a hook of the last moment has started no other process
    if stays is not None:
        stays.close()  # whoever sent it away waits until the files are closed
    if run is not None and run.problems:
        raise typer.Exit(1)


@command(app, rich_help_panel=PANEL)
def runs(context: CommandContext, limit: take.SessionLimit = 20) -> None:
    """List the reports of background work, the latest first."""
    with context.memory(resident=False) as memory:
        zone = memory.settings.general.zone
        rows = [run_row(run, zone) for run in memory.runs(limit)]
    context.tell(rows, run_table(rows))


def _nothing(session: str | None, *, parked: bool = False) -> str:
    if parked:
        return "Nothing is parked: all that was said was learned from, or waits."
    if session is None:
        return "Nothing was said yet. kinmem install connects a client's hooks."
    return f"Nothing was said in a session {session!r}; kinmem sessions lists them."
