"""memorize, update, forget, restore: what changes a memory."""

import sys
from typing import Annotated, Any

import typer

from kinmem.cli import options as take
from kinmem.cli.here import Here, command
from kinmem.cli.terminal import show

app = typer.Typer()
PANEL = "Remember"

CLEARABLE = ("subject", "importance", "tags", "source-context", "occurred-at", "expires")


@command(app, rich_help_panel=PANEL)
def memorize(
    here: Here,
    text: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT", help="One statement; - reads it from stdin.", show_default=False
        ),
    ],
    category: take.Category = None,
    subject: take.Subject = None,
    importance: take.Importance = None,
    scope: take.Scope = None,
    source_context: take.Context = None,
    occurred_at: take.OccurredAt = None,
    tag: take.NewTags = None,
    expires: take.Expires = None,
    speaker: Annotated[
        str | None, typer.Option("--speaker", metavar="NAME", help="Who said it.")
    ] = None,
) -> None:
    """Remember something. What is known already is not stored twice."""
    from kinmem.cli.cards import what_became
    from kinmem.cli.failure import Refused

    fields = {
        "category": category,
        "subject": subject,
        "importance": importance,
        "scope": scope,
        "source_context": source_context,
        "occurred_at": occurred_at,
        "tags": tuple(tag) if tag else None,
        "expires": expires,
        "speaker": speaker,
    }
    content = _content(text)
    with here.memory() as memory:
        stored = memory.memorize(content, **_given(fields))
        if stored.status == "refused":
            raise Refused(stored.reason or "it was not stored")
        if here.json:
            from kinmem.wire import MemorizedItem, as_json

            here.tell(as_json(MemorizedItem.of(stored)))
        else:
            show(*what_became(stored, memory))


@command(app, rich_help_panel=PANEL)
def update(
    here: Here,
    memory_id: take.Id,
    content: Annotated[
        str | None,
        typer.Option(
            "--content", metavar="TEXT", help="What it says from now on; - reads it from stdin."
        ),
    ] = None,
    category: take.Category = None,
    subject: take.Subject = None,
    importance: take.Importance = None,
    scope: take.Scope = None,
    source_context: take.Context = None,
    occurred_at: take.OccurredAt = None,
    tag: take.NewTags = None,
    expires: take.Expires = None,
    pinned: Annotated[
        bool | None, typer.Option("--pin/--unpin", help="Whether it never fades.")
    ] = None,
    archived: Annotated[
        bool | None,
        typer.Option("--archive/--unarchive", help="Whether it is kept but not recalled."),
    ] = None,
    clear: Annotated[
        list[str] | None,
        typer.Option("--clear", help="Empty this field; repeat for several."),
    ] = None,
    if_version: Annotated[
        int | None,
        typer.Option(
            "--if-version", metavar="N", help="Only if nobody changed it since version N."
        ),
    ] = None,
) -> None:
    """Change a memory of this Kin."""
    fields = {
        "content": None if content is None else _content([content]),
        "category": category,
        "subject": subject,
        "importance": importance,
        "scope": scope,
        "source_context": source_context,
        "occurred_at": occurred_at,
        "tags": tuple(tag) if tag else None,
        "expires": expires,
        "pinned": pinned,
        "archived": archived,
    }
    changes = _given(fields) | _cleared(clear or [])
    _change(
        here,
        memory_id,
        lambda memory, id: memory.update_memory(id, if_version=if_version, **changes),
    )


@command(app, rich_help_panel=PANEL)
def forget(
    here: Here,
    memory_id: take.Id,
    erase: Annotated[
        bool, typer.Option("--erase", help="For good: it cannot be restored.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before erasing.")] = False,
) -> None:
    """Take a memory out of use. It can be restored for a while."""
    from kinmem.cli.cards import forgotten
    from kinmem.cli.ids import full_id
    from kinmem.cli.terminal import one_line

    with here.memory() as memory:
        id = full_id(memory, memory_id)
        if erase and not yes and sys.stdin.isatty():
            content = one_line(memory.get(id).content)
            typer.confirm(f"Erase {content[:60]!r} for good?", abort=True, err=True)
        done = memory.forget(id, erase=erase)
        if here.json:
            from kinmem.wire import Forgotten, as_json

            here.tell(as_json(Forgotten.of(done, memory.settings.general.zone)))
        else:
            show(*forgotten(done, memory))


@command(app, rich_help_panel=PANEL)
def restore(here: Here, memory_id: take.Id) -> None:
    """Bring back a memory that was forgotten or archived."""
    _change(here, memory_id, lambda memory, id: memory.restore(id))


def _change(here: Here, typed: str, change: Any) -> None:
    from kinmem.cli.cards import memory_card
    from kinmem.cli.ids import full_id

    with here.memory() as memory:
        changed = change(memory, full_id(memory, typed))
        if here.json:
            from kinmem.wire import Memory, as_json

            here.tell(as_json(Memory.whole(changed, memory)))
        else:
            show(memory_card(changed, memory))


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _cleared(names: list[str]) -> dict[str, None]:
    for name in names:
        if name not in CLEARABLE:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(CLEARABLE)}", param_hint="--clear")
    return {name.replace("-", "_"): None for name in names}


def _content(words: list[str]) -> str:
    return sys.stdin.read() if words == ["-"] else " ".join(words)
