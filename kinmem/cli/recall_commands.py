"""recall, list, show, explore, timeline, review, stats; sessions, turns, context, sleep, runs:
reading the memory, its conversations, and what was learned from them."""

import os
from typing import Unpack

import typer

from kinmem.cli import options as take
from kinmem.cli.cards import answer_cards, entity_card, issues, listing, memory_card, moments
from kinmem.cli.command_context import CommandContext, command, full_id, whole_page
from kinmem.cli.details import whole_card, whole_row
from kinmem.cli.tables import (
    message_rows,
    message_table,
    run_row,
    run_table,
    session_rows,
    session_table,
    stats_row,
    stats_table,
    step_table,
)
from kinmem.cli.terminal import progress_bar, say
from kinmem.hooks.local_socket import ENDING, inherited_lock
from kinmem.hooks.socket_server import StayingWorker
from kinmem.models import CONVERSATION
from kinmem.models.places import at_hand
from kinmem.text import many

app = typer.Typer()
PANEL = "Ask"


@command(app, rich_help_panel=PANEL)
def recall(
    context: CommandContext,
    question: take.Question,
    limit: take.Limit = None,
    as_of: take.AsOf = None,
    mode: take.Mode = None,
    include_archived: take.IncludeArchived = False,
    explain: take.Explain = False,
    **where: Unpack[take.Where],
) -> None:
    """Recall what is remembered about a question, best first."""
    with context.memory() as memory:
        memory.here = at_hand()  # prefers memories of the project in the current folder
        answer = memory.recall(
            " ".join(question),
            limit=limit,
            as_of=as_of,
            mode=mode,
            include_archived=include_archived,
            **where,
        )
        if context.json:
            from kinmem.mcp.tool_answers import Recalled, as_json  # late: 50 ms

            context.tell(as_json(Recalled.of(answer, memory, explain)))
        else:
            say(*answer_cards(answer, memory, explain=explain))


@command(app, "list", rich_help_panel=PANEL)
def list_(
    context: CommandContext,
    state: take.State = None,
    sort: take.Sort = "newest",
    limit: take.PageLimit = 50,
    cursor: take.Cursor = None,
    every: take.All = False,
    **where: Unpack[take.Where],
) -> None:
    """List what is stored, page by page."""
    with context.memory(resident=False) as memory:
        page = whole_page(
            memory, every=every, state=state, sort=sort, limit=limit, cursor=cursor, **where
        )
        if context.json:
            from kinmem.mcp.tool_answers import Listed, as_json  # late: 50 ms

            context.tell(as_json(Listed.of(page, memory)))
        else:
            say(*listing(page, memory))


@command(app, rich_help_panel=PANEL)
def show(context: CommandContext, memory_id: take.Id) -> None:
    """Show everything about one memory: where it comes from and what happened to it."""
    with context.memory(resident=False) as memory:
        id = full_id(memory, memory_id)
        one = memory.get(id)
        if one.source == CONVERSATION:
            from kinmem.mcp.tool_answers import Memory, as_json  # late: 50 ms

            context.tell(as_json(Memory.brief(one, memory)), memory_card(one, memory))
            return
        events = memory.history(id)
        if context.json:
            context.tell(whole_row(one, events, memory))
        else:
            say(*whole_card(one, events, memory))


@command(app, rich_help_panel=PANEL)
def explore(
    context: CommandContext, name: take.Known, depth: take.Depth = 1, to: take.To = None
) -> None:
    """Show what is known about a person or thing: relations, other names, latest memories."""
    with context.memory(resident=False) as memory:
        card, way = memory.explore(" ".join(name), depth=depth, to=to)
        if context.json:
            from kinmem.mcp.knowledge_answers import Explored  # late: 50 ms
            from kinmem.mcp.tool_answers import as_json  # late: 50 ms

            context.tell(as_json(Explored.of(card, way, memory)))
        else:
            say(*entity_card(card, way, memory))


@command(app, rich_help_panel=PANEL)
def timeline(
    context: CommandContext,
    subject: take.Subject = None,
    day: take.Day = None,
    limit: take.PageLimit = 50,
    cursor: take.Cursor = None,
) -> None:
    """Show what happened, in order: to a subject, on a day, or both. What no longer holds is
    marked."""
    with context.memory(resident=False) as memory:
        page = memory.timeline(subject, day, limit=limit, cursor=cursor)
        if context.json:
            from kinmem.mcp.knowledge_answers import Timeline  # late: 50 ms
            from kinmem.mcp.tool_answers import as_json  # late: 50 ms

            context.tell(as_json(Timeline.of(page, memory)))
        else:
            say(*moments(page, memory))


@command(app, rich_help_panel=PANEL)
def review(
    context: CommandContext,
    subject: take.Subject = None,
    scope: take.Scope = None,
    apply: take.Apply = None,
    refuse: take.Refuse = None,
    keep: take.KeepMemory = None,
) -> None:
    """Find contradictions, duplicates and outdated memories. Changes only what --apply or --refuse
    names."""
    with context.changing() if apply or refuse else context.memory() as memory:
        with progress_bar() as progress:
            found = memory.review_memories(
                subject=subject,
                scope=scope,
                apply=apply or (),
                refuse=refuse or (),
                keep=full_id(memory, keep) if keep else None,
                progress=progress,
            )
        if context.json:
            from kinmem.mcp.tool_answers import Reviewed, as_json  # late: 50 ms

            context.tell(as_json(Reviewed.of(found, memory)))
        else:
            say(*issues(found, memory))
    if found.degraded:  # only what rules find was shown
        raise typer.Exit(1)


@command(app, rich_help_panel=PANEL)
def stats(context: CommandContext) -> None:
    """Show how much is remembered, and whether all of it can be found by meaning."""
    with context.memory(resident=False) as memory:
        found = memory.stats()
    context.tell(stats_row(found), stats_table(found))


CONVERSATIONS = "Conversations"
# Seconds in which a worker that ends learns what has come since.
SETTLE_SECONDS = 60.0


@command(app, rich_help_panel=CONVERSATIONS)
def sessions(context: CommandContext, limit: take.SessionLimit = 20) -> None:
    """List the observed conversations, the latest first."""
    with context.memory(resident=False) as memory:
        rows = session_rows(memory.sessions(limit), memory.settings.general.zone)
    context.tell(rows, session_table(rows))


@command(app, rich_help_panel=CONVERSATIONS)
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
            told = f"{many(found, 'message', 'messages')} will be tried again."
            context.tell({"retried": found}, told)
            return
        if session is None and not parked:
            latest = memory.sessions(1)
            session = latest[0].name if latest else None
        said = memory.parked() if parked else memory.turns(session) if session else []
        rows = message_rows(said, memory.settings.general.zone)
    context.tell(rows, message_table(rows) if rows else _nothing(session, parked=parked))


@command(app, rich_help_panel=CONVERSATIONS)
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


@command(app, rich_help_panel=CONVERSATIONS)
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
    with context.memory(may_be_new=True, is_brief=False) as memory:
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


@command(app, rich_help_panel=CONVERSATIONS)
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
