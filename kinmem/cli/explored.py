"""What is known about somebody or something, as people read it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from kinmem.cli.pages import short_id
from kinmem.cli.terminal import columns, one_line, safe
from kinmem.models import LIVE

if TYPE_CHECKING:
    from kinmem.knowledge import Card, Relation, Way
    from kinmem.service import Service

QUIET = "dim"
MOST_SHOWN = 5
"""Memories that call it by one alias."""


def entity_card(card: "Card", way: "Way | None", memory: "Service") -> Iterator[RenderableType]:
    """Its names, relations, neighbours and latest memories, and the way to another."""
    yield Text(safe(card.name), style="bold").append(f"  {card.type}", style=QUIET)
    if card.is_past:
        yield Text("Nothing told here holds now: no memory in use is about it.", style="yellow")
    for alias in card.aliases:
        where = ", ".join(short_id(id) for id in card.called.get(alias, ())[:MOST_SHOWN])
        yield Text(f"also called {safe(alias)}, merged into this name: {where}", style=QUIET)
    if card.also:
        yield Text(f"others of that name: {safe(', '.join(card.also))}", style=QUIET)
    yield Text(_known(card, memory), style=QUIET)
    if card.relations:
        yield from columns(
            ("relation", "to", "strength", ""), [_row(one) for one in card.relations]
        )
    if card.neighbours:
        yield from columns(
            ("neighbour", "relation", "to", "strength", ""),
            [(one.of, *_row(one)) for one in card.neighbours],
        )
    if way is not None:
        yield Text(_told(way))
    for one in card.latest:
        mark = "" if one.state in LIVE else f"({one.state}) "
        yield Text(f"{short_id(one.id)}  {mark}{one_line(one.content)}")


def _row(one: "Relation") -> tuple[str, str, str, str]:
    ended = f"until {one.ended.date()}" if one.ended else ""
    return one.relation.replace("_", " "), one.to, f"{one.strength:.2f}", ended


def _known(card: "Card", memory: "Service") -> str:
    count = f"{card.memories} {'memory' if card.memories == 1 else 'memories'}"
    if card.first is None or card.last is None:
        return count
    zone = memory.settings.general.zone
    first, last = card.first.astimezone(zone).date(), card.last.astimezone(zone).date()
    days = f"of {first}" if first == last else f"of {first} to {last}"
    return f"{count} {days}" + (f", salience {card.salience:.2f}" if card.salience else "")


def _told(way: "Way") -> str:
    if not way.steps:
        return safe(f"No way of five relations is known from {way.source} to {way.target}.")
    steps = (f" -{one.relation.replace('_', ' ')}-> {one.to}" for one in way.steps)
    return safe(way.source + "".join(steps))
