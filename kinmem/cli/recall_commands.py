"""recall, list, show, explore, timeline, review, stats: reading the memory."""

from typing import Unpack

import typer

from kinmem.cli import options as take
from kinmem.cli.cards import answer_cards, entity_card, issues, listing, memory_card, moments
from kinmem.cli.command_context import CommandContext, full_id, whole_page
from kinmem.cli.commands import command
from kinmem.cli.details import whole_card, whole_row
from kinmem.cli.tables import stats_row, stats_table
from kinmem.cli.terminal import progress_bar, say
from kinmem.models import CONVERSATION
from kinmem.models.places import at_hand

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
    with context.memory() as memory:
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

            context.tell(as_json(Reviewed.of(found)))
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
