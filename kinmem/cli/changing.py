"""memorize, update, forget, restore: what changes a memory."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from kinmem.cli import options as take
from kinmem.cli.here import Here, command
from kinmem.cli.terminal import one_line, say

if TYPE_CHECKING:
    from kinmem.models import Memory
    from kinmem.service import Service

app = typer.Typer()
PANEL = "Remember"


@command(app, rich_help_panel=PANEL)
def memorize(
    here: Here,
    text: take.Text,
    category: take.Category = None,
    subject: take.Subject = None,
    importance: take.Importance = None,
    scope: take.Scope = None,
    source_context: take.SourceContext = None,
    occurred_at: take.OccurredAt = None,
    tag: take.NewTags = None,
    expires: take.Expires = None,
    speaker: take.Speaker = None,
) -> None:
    """Remember something. What is known already is not stored twice."""
    from kinmem.cli.failure import Refused

    details = _given(
        category=category,
        subject=subject,
        importance=importance,
        scope=scope,
        source_context=source_context,
        occurred_at=occurred_at,
        tags=tuple(tag) if tag else None,
        expires=expires,
        speaker=speaker,
    )
    content = _typed(text)
    with here.memory() as memory:
        stored = memory.memorize(content, **details)
        if stored.status == "refused":
            raise Refused(stored.reason or "it was not stored")
        if here.json:
            from kinmem.wire import MemorizedItem, as_json

            here.tell(as_json(MemorizedItem.of(stored)))
        else:
            from kinmem.cli.cards import what_became

            say(*what_became(stored, memory))


@command(app, rich_help_panel=PANEL)
def update(
    here: Here,
    memory_id: take.Id,
    content: take.Content = None,
    category: take.Category = None,
    subject: take.Subject = None,
    importance: take.Importance = None,
    scope: take.Scope = None,
    source_context: take.SourceContext = None,
    occurred_at: take.OccurredAt = None,
    tag: take.NewTags = None,
    expires: take.Expires = None,
    pinned: take.Pinned = None,
    archived: take.Archived = None,
    clear: take.Clear = None,
    if_version: take.IfVersion = None,
) -> None:
    """Change a memory of this Kin."""
    changes = _given(
        content=None if content is None else _typed([content]),
        category=category,
        subject=subject,
        importance=importance,
        scope=scope,
        source_context=source_context,
        occurred_at=occurred_at,
        tags=tuple(tag) if tag else None,
        expires=expires,
        pinned=pinned,
        archived=archived,
    )
    changes |= _cleared(clear or [])
    _change(here, memory_id, lambda m, id: m.update_memory(id, if_version=if_version, **changes))


@command(app, rich_help_panel=PANEL)
def forget(
    here: Here, memory_id: take.Id, erase: take.Erase = False, yes: take.Yes = False
) -> None:
    """Take a memory out of use. It can be restored for a while."""
    from kinmem.cli.pages import full_id

    with here.memory() as memory:
        id = full_id(memory, memory_id)
        if erase and not yes and sys.stdin.isatty():
            said = one_line(memory.store.get(id).content)
            typer.confirm(f'Erase "{said[:60]}" for good?', abort=True, err=True)
        done = memory.forget(id, erase=erase)
        if here.json:
            from kinmem.wire import Forgotten, as_json

            here.tell(as_json(Forgotten.of(done, memory.settings.general.zone)))
        else:
            from kinmem.cli.cards import forgotten

            say(forgotten(done, memory))


@command(app, rich_help_panel=PANEL)
def restore(here: Here, memory_id: take.Id) -> None:
    """Bring back a memory that was forgotten or archived."""
    _change(here, memory_id, lambda memory, id: memory.restore(id))


def _change(here: Here, typed: str, change: "Callable[[Service, str], Memory]") -> None:
    from kinmem.cli.pages import full_id

    with here.memory() as memory:
        changed = change(memory, full_id(memory, typed))
        if here.json:
            from kinmem.wire import Memory, as_json

            here.tell(as_json(Memory.whole(changed, memory)))
        else:
            from kinmem.cli.cards import memory_card

            say(memory_card(changed, memory))


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _cleared(names: list[str]) -> dict[str, None]:
    for name in names:
        if name not in take.CLEARABLE:
            told = f"{name!r} is none of {', '.join(take.CLEARABLE)}"
            raise typer.BadParameter(told, param_hint="--clear")
    return {name.replace("-", "_"): None for name in names}


def _typed(words: list[str]) -> str:
    return sys.stdin.read() if words == ["-"] else " ".join(words)
