"""One memory with everything that is known about it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kinmem.cli.cards import age
from kinmem.cli.terminal import one_line, safe

if TYPE_CHECKING:
    from kinmem.models import Event, Memory
    from kinmem.service import Service

Found = Mapping[str, Any]

GROUPS = {
    "what": (
        "id",
        "category",
        "subject",
        "source_context",
        "language",
        "title",
        "description",
        "tags",
    ),
    "whose": ("kin", "scope"),
    "worth": ("importance", "confidence", "pinned", "priority"),
    "who said it": (
        "speaker",
        "channel",
        "trust",
        "client",
        "session",
        "turn_id",
        "model",
        "source",
        "source_ref",
    ),
    "life": (
        "state",
        "tier",
        "tier_reason",
        "occurred_at",
        "valid_from",
        "valid_to",
        "expires_at",
        "superseded_by",
    ),
    "use": ("recalled_count", "recalled_at", "stability"),
    "times": ("created_at", "content_updated_at", "scored_at", "deleted_at"),
    "change": ("version", "generation"),
}


def everything(one: "Memory", events: "Sequence[Event]", memory: "Service") -> dict[str, Any]:
    """The memory and its history for programs; what is not known is left out."""
    zone = memory.settings.general.zone
    known = {camel(field.name): getattr(one, field.name) for field in fields(one)}
    told = {
        name: _plain(value, zone) for name, value in known.items() if value not in (None, (), {})
    }
    told["tags"] = list(one.tags)
    told["history"] = [
        {
            "at": _plain(event.at, zone),
            "kin": event.kin,
            "action": event.action,
            "before": {camel(name): _plain(value, zone) for name, value in event.before.items()},
            "after": {camel(name): _plain(value, zone) for name, value in event.after.items()},
            "reason": event.reason,
        }
        for event in events
    ]
    return told


def whole_card(
    one: "Memory", events: "Sequence[Event]", memory: "Service"
) -> Iterator[RenderableType]:
    """The memory and its history for people."""
    yield Text(safe(one.content), style="bold")
    grid = Table.grid(padding=(0, 2))
    for group, names in GROUPS.items():
        values = [(name, getattr(one, name)) for name in names]
        shown = [(name, value) for name, value in values if value not in (None, (), False)]
        for place, (name, value) in enumerate(shown):
            told = Text(_told(value, memory))
            grid.add_row(
                Text("" if place else group, style="dim"), Text(name.replace("_", " ")), told
            )
    yield grid
    yield Text("history", style="dim")
    for event in events:
        yield Text(f"  {_told(event.at, memory)}  {event.action} by {event.kin}  {_changes(event)}")


def camel(name: str) -> str:
    """The wire's spelling of a field."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _changes(event: "Event") -> str:
    if not event.before:
        return ""
    pairs = [(name, event.before[name], event.after.get(name)) for name in event.before]
    return "; ".join(f"{name}: {_short(old)} → {_short(new)}" for name, old, new in pairs)


def _short(value: Any) -> str:
    text = "nothing" if value is None else one_line(str(value))
    return text if len(text) <= 60 else text[:59] + "…"


def _plain(value: Any, zone: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(zone).isoformat(timespec="seconds")
    return list(value) if isinstance(value, tuple) else value


def _told(value: Any, memory: "Service") -> str:
    if isinstance(value, datetime):
        local = value.astimezone(memory.settings.general.zone)
        return f"{local:%Y-%m-%d %H:%M} ({age(value, memory)})"
    if isinstance(value, tuple):
        return one_line(", ".join(map(str, value)))
    return f"{value:g}" if isinstance(value, float) else one_line(str(value))
