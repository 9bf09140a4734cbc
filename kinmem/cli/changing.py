"""memorize, update, forget, restore: what changes a memory."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    place: take.Place = None,
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
        place=place,
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
    priority: take.Priority = None,
    archived: take.Archived = None,
    place: take.Place = None,
    link: take.Link = None,
    unlink: take.Unlink = None,
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
        priority=priority,
        archived=archived,
        place=place,
    )
    changes |= _cleared(clear or [])
    _change(here, memory_id, _changing(changes, link or (), unlink or (), if_version))


@command(app, rich_help_panel=PANEL)
def forget(
    here: Here,
    memory_id: take.ForgottenId = None,
    about: take.About = None,
    erase: take.Erase = False,
    yes: take.Yes = False,
    dry_run: take.DryRunAbout = False,
) -> None:
    """Take a memory out of use: it can be restored for a while. Or erase all about somebody."""
    from kinmem.cli.pages import full_id

    if (memory_id is None) == (about is None):
        raise typer.BadParameter("name one memory, or what to forget with --about")
    if about is not None:
        from kinmem.cli.about import forget_about

        forget_about(here, about, yes=yes, dry_run=dry_run)
        return
    if dry_run:
        raise typer.BadParameter("--dry-run goes with --about")
    with here.memory() as memory:
        id = full_id(memory, memory_id or "")
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


def _changing(
    changes: dict[str, Any], link: Sequence[str], unlink: Sequence[str], if_version: int | None
) -> "Callable[[Service, str], Memory]":
    def change(memory: "Service", id: str) -> "Memory":
        links = list(_links(memory, link, unlink))
        also = {"links": links} if links else {}
        return memory.update_memory(id, if_version=if_version, **changes, **also)

    return change


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


def _links(
    memory: "Service", added: Iterable[str], taken: Iterable[str]
) -> Iterator[dict[str, str | None]]:
    """What --link and --unlink name; ids may be the ends that lists show."""
    from kinmem.cli.pages import full_id

    for one in added:
        typed, _, relation = one.partition(":")
        yield {"id": full_id(memory, typed), "relation": relation.strip() or "related_to"}
    for typed in taken:
        yield {"id": full_id(memory, typed), "relation": None}


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
