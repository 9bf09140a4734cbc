"""recall, list, show, review, stats: what the memory holds. None of them changes a memory."""

from typing import Annotated, Literal

import typer

from kinmem.cli import options as take
from kinmem.cli.here import Here, command
from kinmem.cli.terminal import show

app = typer.Typer()
PANEL = "Ask"


@command(app, rich_help_panel=PANEL)
def recall(
    here: Here,
    question: Annotated[
        list[str], typer.Argument(metavar="QUESTION", help="In your own words.", show_default=False)
    ],
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="1-100", help="At most so many.")
    ] = None,
    category: take.Category = None,
    subject: take.Subject = None,
    scope: take.Scope = None,
    tag: take.Tags = None,
    since: take.Since = None,
    until: take.Until = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="Answer from what was true then.")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="PROFILE",
            help="Ranking: relevance, recent, important, historical, comprehensive, balanced, kinbot, kore.",
        ),
    ] = None,
    include_archived: Annotated[
        bool, typer.Option("--include-archived", help="Archived memories too.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show why each was found.")] = False,
) -> None:
    """What is remembered about a question, best first."""
    from kinmem.cli.cards import answer_cards

    with here.memory() as memory:
        answer = memory.recall(
            " ".join(question),
            limit=limit,
            category=category,
            subject=subject,
            scope=scope,
            tags=tag or (),
            since=since,
            until=until,
            as_of=as_of,
            mode=mode,
            include_archived=include_archived,
        )
        if here.json:
            from kinmem.wire import Recalled, as_json

            here.tell(as_json(Recalled.of(answer, memory, explain)))
        else:
            show(*answer_cards(answer, memory, explain=explain))


@command(app, "list", rich_help_panel=PANEL)
def list_(
    here: Here,
    category: take.Category = None,
    subject: take.Subject = None,
    scope: take.Scope = None,
    tag: take.Tags = None,
    state: Annotated[
        str | None,
        typer.Option(
            "--state",
            metavar="NAME",
            help="active, stale, archived, deleted (forgotten), superseded; else what is alive.",
        ),
    ] = None,
    since: take.Since = None,
    until: take.Until = None,
    sort: Annotated[
        Literal["newest", "oldest", "importance", "used"],
        typer.Option("--sort", help="What comes first."),
    ] = "newest",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="1-200", help="So many a page.")
    ] = 50,
    cursor: Annotated[
        str | None,
        typer.Option("--cursor", help="Go on where the last page ended.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every page.")] = False,
) -> None:
    """What is stored, page by page."""
    from kinmem.cli.cards import listing
    from kinmem.models import Page

    with here.memory() as memory:
        found, more = [], True
        while more:
            page = memory.list_memories(
                subject=subject,
                category=category,
                scope=scope,
                tags=tag or (),
                state=state,
                since=since,
                until=until,
                sort=sort,
                limit=200 if everything else limit,
                cursor=cursor,
            )
            found += page.memories
            cursor = page.next_cursor
            more = everything and cursor is not None
        if here.json:
            from kinmem.wire import Listed, as_json

            here.tell(as_json(Listed.of(Page(found, cursor), memory)))
        else:
            show(*listing(found, cursor, memory))


@command(app, rich_help_panel=PANEL)
def show(here: Here, memory_id: take.Id) -> None:
    """Everything about one memory: where it comes from and what happened to it."""
    from kinmem.cli.card import everything, whole_card
    from kinmem.cli.ids import full_id

    with here.memory() as memory:
        id = full_id(memory, memory_id)
        one, events = memory.get(id), memory.history(id)
        if here.json:
            here.tell(everything(one, events, memory))
        else:
            show(*whole_card(one, events, memory))


@command(app, rich_help_panel=PANEL)
def review(here: Here, subject: take.Subject = None, scope: take.Scope = None) -> None:
    """Find duplicates, contradictions and what is out of date. Changes nothing."""
    from kinmem.cli.cards import issues
    from kinmem.cli.progress import bar

    with here.memory() as memory:
        with bar() as progress:
            found = memory.review_memories(subject=subject, scope=scope, progress=progress)
        if here.json:
            from kinmem.wire import Reviewed, as_json

            here.tell(as_json(Reviewed.of(found)))
        else:
            show(*issues(found, memory))


@command(app, rich_help_panel=PANEL)
def stats(here: Here) -> None:
    """How much is remembered, and whether all of it can be found by meaning."""
    from kinmem.cli.numbers import numbers, stats_tables

    with here.memory() as memory:
        found = memory.stats()
        here.tell(numbers(found), *stats_tables(found))
