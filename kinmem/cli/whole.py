"""One memory with everything that is known about it."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kinmem.cli.cards import QUIET, age
from kinmem.cli.maps import connected
from kinmem.cli.pages import short_id
from kinmem.cli.terminal import one_line, safe

if TYPE_CHECKING:
    from kinmem.models import Event, Memory
    from kinmem.service import Service
    from kinmem.upkeep.vitals import Vitals

GROUPS = {
    "what": "id category subject source_context tags language title description",
    "whose": "kin scope",
    "worth": "importance confidence pinned set_priority",
    "source": "speaker channel trust client session turn_id model place source source_ref",
    "life": "state state_at occurred_at valid_from valid_to expires_at superseded_by",
    "use": "recalled_count recalled_at",
    "times": "created_at content_updated_at scored_at deleted_at",
    "change": "version generation",
}
LONGEST = 60
SHOWN_HELD = 10
# What follows from other changes.
UNTOLD = frozenset({"content_hash", "content_updated_at", "evidence", "language"})


def everything(one: "Memory", events: "Sequence[Event]", memory: "Service") -> dict[str, Any]:
    """The memory and its history for programs; what is not known is left out."""

    def plain(value: Any) -> Any:
        if isinstance(value, datetime):
            return value.astimezone(memory.settings.general.zone).isoformat(timespec="seconds")
        return list(value) if isinstance(value, tuple) else value

    def known(values: Any) -> dict[str, Any]:
        return {camel(name): plain(value) for name, value in values if value not in (None, (), {})}

    history = [
        {
            **known([("at", event.at), ("kin", event.kin), ("action", event.action)]),
            **known([("reason", event.reason)]),
            "before": {camel(name): plain(value) for name, value in event.before.items()},
            "after": {camel(name): plain(value) for name, value in event.after.items()},
        }
        for event in events
    ]
    told = {**known((f.name, getattr(one, f.name)) for f in fields(one)), "history": history}
    from kinmem.wire import as_json, linked

    if summary := memory.store.summaries.of([one.id]).get(one.id):
        told["summary"] = summary
    if newer := memory.newer(one.id).get(one.id):
        told["newer"] = newer
    if held := [part._asdict() for part in held_parts(one, memory)]:
        told["held"] = held
    if links := linked(one, memory):
        told["links"] = [as_json(link) for link in links]
    found = memory.vitals(one.id)
    if found is None:
        return told
    changes = [known(change._asdict().items()) for change in found.tier_changes]
    told |= {"retention": round(found.retention, 4), "priority": round(found.priority, 4)}
    return {**told, "curve": found.curve, "tierChanges": changes}


def whole_card(
    one: "Memory", events: "Sequence[Event]", memory: "Service"
) -> Iterator[RenderableType]:
    """The memory and its history for people."""
    yield Text(safe(one.content), style="bold")
    if summary := memory.store.summaries.of([one.id]).get(one.id):
        yield Text(f"in short: {one_line(summary)}")
    if newer := memory.newer(one.id).get(one.id):
        yield Text(f"may be out of date, newer: {newer}", style="yellow")
    yield from _held(one, memory)
    grid = Table.grid(padding=(0, 2))
    for group, names in GROUPS.items():
        known = [(name, getattr(one, name)) for name in names.split()]
        shown = [(name, value) for name, value in known if value not in (None, (), False)]
        for place, (name, value) in enumerate(shown):
            head = Text("" if place else group, style=QUIET)
            grid.add_row(head, Text(name.replace("_", " ")), Text(_told(value, memory)))
    _stand(grid, memory.vitals(one.id), memory)
    yield grid
    yield from connected(one, memory)
    yield Text("history", style=QUIET)
    for event in events:
        yield Text(
            f"  {_told(event.at, memory)}  {event.action} by {event.kin}{changes_told(event)}"
        )


class HeldPart(NamedTuple):
    """A chunk of a document that is not recalled."""

    chunk: int
    place: str
    why: str
    text: str


def held_parts(one: "Memory", memory: "Service") -> list[HeldPart]:
    if not one.holds_back:
        return []
    return [
        HeldPart(number, str(place), place.held, one_line(text))
        for number, (place, text) in enumerate(memory.store.documents.parts(one.id, most=-1), 1)
        if place.held
    ]


def _held(one: "Memory", memory: "Service") -> Iterator[RenderableType]:
    """What of it is not recalled, and how it would be."""
    held = held_parts(one, memory)
    if not held:
        return
    yield Text(f"held back, never recalled ({len(held)} chunks):", style="yellow")
    for part in held[:SHOWN_HELD]:
        where = f"chunk {part.chunk} {one_line(part.place)}".rstrip()
        yield Text(f"  {where}, {part.why}: {_short(part.text)}", style="yellow")
    if len(held) > SHOWN_HELD:
        yield Text(f"  and {len(held) - SHOWN_HELD:,} more", style="yellow")
    yield Text("kinmem review names the issue; --apply ISSUE --keep ID releases them.", style=QUIET)


def _stand(grid: Table, found: "Vitals | None", memory: "Service") -> None:
    """What is left of it, and where it is kept."""
    if found is None:
        return
    reason = f" ({found.reason})" if found.reason else ""
    rows = {
        "retention": f"{found.retention:.0%} by the curve {found.curve}",
        "tier": f"{found.tier}{reason}",
        "priority": f"{found.priority:.2f}",
        "links": str(found.links),
    }
    for place, (name, told) in enumerate(rows.items()):
        grid.add_row(Text("" if place else "standing", style=QUIET), Text(name), Text(told))
    for change in found.tier_changes:
        told = f"{change.before} -> {change.after} ({change.reason}), {_told(change.at, memory)}"
        grid.add_row("", Text("moved"), Text(told))


def camel(name: str) -> str:
    """The wire's spelling of a field."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def changes_told(event: "Event") -> str:
    changes = [
        f"{name.replace('_', ' ')} {_short(old)} -> {_short(event.after.get(name))}"
        for name, old in event.before.items()
        if name not in UNTOLD
    ]
    return ": " + "; ".join(changes) if changes else ""


def _short(value: Any) -> str:
    if isinstance(value, list):  # of links
        value = ", ".join(_linked(one) for one in value) or None
    text = "none" if value is None else one_line(str(value))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _linked(one: dict[str, Any]) -> str:
    relation = (one["relation"] or "apart from").replace("_", " ")
    return f"{relation} {short_id(one['id'])}"


def _told(value: Any, memory: "Service") -> str:
    if isinstance(value, datetime):
        local = value.astimezone(memory.settings.general.zone)
        return f"{local:%Y-%m-%d %H:%M} ({age(value, memory)})"
    if isinstance(value, tuple):
        return one_line(", ".join(map(str, value)))
    return f"{value:g}" if isinstance(value, float) else one_line(str(value))
