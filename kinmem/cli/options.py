"""Options that several commands take, declared once."""

from typing import Annotated, Literal

import typer

Words = Annotated[list[str], typer.Argument(show_default=False)]
Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="The memory's id, or its last 8 characters as lists show them.",
        show_default=False,
    ),
]
Category = Annotated[
    str | None,
    typer.Option(
        "--category",
        "-c",
        metavar="NAME",
        help="fact, preference, decision, knowledge; also identity, relationship, event, activity, plan, context, ephemeral.",
    ),
]
Subject = Annotated[
    str | None, typer.Option("--subject", "-s", metavar="TEXT", help="Who or what it is about.")
]
Scope = Annotated[
    Literal["private", "shared"] | None,
    typer.Option("--scope", help="private: this Kin's own; shared: every Kin's."),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", "-t", metavar="TAG", help="Repeat for several; all must be there."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Not before, e.g. 2026-03-01 or 7d (ago)."),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Not after; a date means the whole day."),
]
Importance = Annotated[
    float | None, typer.Option("--importance", "-i", metavar="1-10", help="1 mundane, 10 critical.")
]
Context = Annotated[
    str | None,
    typer.Option(
        "--source-context", metavar="TEXT", help="Where it was learned, in a sentence or two."
    ),
]
OccurredAt = Annotated[
    str | None, typer.Option("--occurred-at", metavar="TIME", help="When it happened or was said.")
]
Expires = Annotated[
    str | None,
    typer.Option(
        "--expires", metavar="TIME", help="When it ends: a time, or from now on 30d, 12h."
    ),
]
NewTags = Annotated[
    list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="Repeat for several.")
]
