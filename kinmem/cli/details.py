"""All details of a memory, and what was done: show, history, undo."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kinmem.cli.cards import QUIET, age, connected
from kinmem.cli.command_context import short_id
from kinmem.cli.terminal import columns, one_line, safe
from kinmem.clock import in_minutes
from kinmem.models import Event, Memory

if TYPE_CHECKING:
    from kinmem.service import Service
    from kinmem.undo.undo import Undone
    from kinmem.upkeep.ageing import Vitals

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
# Fields that only follow from other changes, and kinmem's own notes.
UNTOLD = frozenset(
    {
        *("content_hash", "content_updated_at", "evidence", "language", "refusals"),
        *("metadata", "ingest_metadata"),
    }
)
TELLING = {
    "gone": "into the bin",
    "back": "back in use",
    "changed": "as it was",
    "asked": "unchanged, and a review asks about it again",
    "kept": "unchanged, and no review asks about it again",
}
# Memories to list one by one; after an import of thousands, the rest is only counted.
SHOWN_UNDONE = 10


def whole_row(one: Memory, events: Sequence[Event], memory: "Service") -> dict[str, Any]:
    """Return the memory and its history for programs, without unknown fields."""

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
    from kinmem.mcp.tool_answers import as_json, linked  # late: 50 ms

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


def whole_card(one: Memory, events: Sequence[Event], memory: "Service") -> Iterator[RenderableType]:
    """Yield the memory and its history for people."""
    yield Text(safe(one.content), style="bold")
    if summary := memory.store.summaries.of([one.id]).get(one.id):
        yield Text(f"in short: {one_line(summary)}")
    if newer := memory.newer(one.id).get(one.id):
        yield Text(f"may be out of date, newer: {newer}", style="yellow")
    yield from _held_cards(one, memory)
    grid = Table.grid(padding=(0, 2))
    for group, names in GROUPS.items():
        known = [(name, getattr(one, name)) for name in names.split()]
        shown = [(name, value) for name, value in known if value not in (None, (), False)]
        for place, (name, value) in enumerate(shown):
            head = Text("" if place else group, style=QUIET)
            grid.add_row(head, Text(name.replace("_", " ")), Text(_value_told(value, memory)))
    _add_standing(grid, memory.vitals(one.id), memory)
    yield grid
    yield from connected(one, memory)
    yield Text("history", style=QUIET)
    for event in events:
        yield Text(
            f"  {_value_told(event.at, memory)}  {event.action} by {event.kin}"
            f"{changes_told(event, memory)}"
        )


class HeldPart(NamedTuple):
    """A chunk of a document that is held back."""

    chunk: int
    place: str
    why: str
    text: str


def held_parts(one: Memory, memory: "Service") -> list[HeldPart]:
    if not one.holds_back:
        return []
    return [
        HeldPart(number, str(place), place.held, one_line(text))
        for number, (place, text) in enumerate(memory.store.documents.parts(one.id, most=None), 1)
        if place.held
    ]


def _held_cards(one: Memory, memory: "Service") -> Iterator[RenderableType]:
    """Yield what is held back, and how to release it."""
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


def _add_standing(grid: Table, found: "Vitals | None", memory: "Service") -> None:
    """Add retention, tier, priority and links to the table."""
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
        told = (
            f"{change.before} -> {change.after} ({change.reason}), {_value_told(change.at, memory)}"
        )
        grid.add_row("", Text("moved"), Text(told))


def camel(name: str) -> str:
    """Return a field's name as it is spelt on the wire."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def changes_told(event: Event, memory: "Service") -> str:
    zone = memory.settings.general.zone
    changes = [
        f"{name.replace('_', ' ')} {_short(in_minutes(old, zone))} ->"
        f" {_short(in_minutes(event.after.get(name), zone))}"
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


def _value_told(value: Any, memory: "Service") -> str:
    if isinstance(value, datetime):
        local = value.astimezone(memory.settings.general.zone)
        return f"{local:%Y-%m-%d %H:%M} ({age(value, memory)})"
    if isinstance(value, tuple):
        return one_line(", ".join(map(str, value)))
    return f"{value:g}" if isinstance(value, float) else one_line(str(value))


def event_rows(events: Sequence[Event], memory: "Service") -> dict[str, Any]:
    """Return the history of one memory for programs."""
    return {"history": [_event_row(event, memory) for event in events]}


def write_rows(events: Sequence[Event], memory: "Service", limit: int) -> dict[str, Any]:
    """Return what was done, write by write, for programs; `before` requests the writes that
    follow."""
    writes = []
    for number, of in groupby(events, key=lambda event: event.write):
        own = list(of)
        told = {
            "write": number,
            "at": _stamp(own[0].at, memory),
            "batch": own[0].batch,
            "changes": [_event_row(event, memory) for event in reversed(own)],
        }
        writes.append({name: value for name, value in told.items() if value is not None})
    more = {"before": writes[-1]["write"]} if len(writes) == limit else {}
    return {"writes": writes, **more}


def event_lines(events: Sequence[Event], memory: "Service") -> Iterator[RenderableType]:
    """Yield one line per change of a memory."""
    for event in events:
        when = f"{_stamp(event.at, memory)[:16].replace('T', ' ')} ({age(event.at, memory)})"
        why = f" ({one_line(event.reason)})" if event.reason else ""
        changed = changes_told(event, memory)
        told = f"{event.write}  {when}  {event.action} by {event.kin}{changed}{why}"
        yield Text(told)


def write_table(events: Sequence[Event], memory: "Service", limit: int) -> Iterator[RenderableType]:
    """Yield one line per write."""
    if not events:
        yield Text("Nothing was done yet.")
        return
    groups = [list(of) for _, of in groupby(events, key=lambda event: event.write)]
    known = memory.store.memories({event.memory_id for event in events})
    rows = [
        (
            str(of[0].write),
            age(of[0].at, memory),
            _actions(of),
            of[0].batch or "",
            short_id(of[-1].memory_id),
            _first_content(of, known),
        )
        for of in groups
    ]
    yield from columns(("write", "age", "what", "batch", "memory", "content"), rows)
    told = "kinmem undo WRITE takes one back, kinmem undo BATCH all of a batch."
    if len(groups) == limit:
        told += f" There is more: --before {groups[-1][0].write}"
    yield Text(told, style=QUIET)


def rows_then(then: Sequence[Memory], memory: "Service") -> dict[str, Any]:
    """Return the memories as they were at that time, for programs."""
    return {
        "memories": [
            {
                "id": one.id,
                "content": one.content,
                "category": one.category,
                "scope": one.scope,
                "state": str(one.state),
                "tags": list(one.manual_tags),
                "version": one.version,
                "createdAt": _stamp(one.created_at, memory),
            }
            for one in then
        ]
    }


def listing_then(then: Sequence[Memory]) -> Iterator[RenderableType]:
    """Yield the memories as they were at that time, one line each."""
    rows = [(short_id(one.id), one.scope, str(one.state), one.content) for one in then]
    yield from columns(("id", "scope", "state", "content"), rows)


def undone_row(done: "Undone") -> dict[str, Any]:
    """Return what an undo did, for programs; without `batch` nothing was done yet."""
    told = {
        "undone": list(done.writes),
        "memories": [{"id": id, "became": became} for id, became in done.became.items()],
        "erased": list(done.lost) or None,
        "batch": done.batch,
    }
    return {name: value for name, value in told.items() if value is not None}


def undone_cards(done: "Undone") -> Iterator[RenderableType]:
    """Yield what an undo did, memory by memory, and how to take that back."""
    numbers = ", ".join(map(str, done.writes))
    head = "Undone" if done.batch else "This would undo"
    yield Text(f"{head}: write {numbers}.", style="green" if done.batch else "yellow")
    for id, became in list(done.became.items())[:SHOWN_UNDONE]:
        yield Text(f"  {short_id(id)}  {TELLING[became]}: {one_line(done.texts[id])}")
    if len(done.became) > SHOWN_UNDONE:
        yield Text(f"  and {len(done.became) - SHOWN_UNDONE:,} more")
    if done.lost:
        yield Text(f"Erased since, and it stays so: {len(done.lost):,}.", style="yellow")
    if done.messages:
        rows = "messages, summaries and notes of conversations"
        yield Text(f"  {rows} that are deleted: {done.messages:,}")
    if done.batch:
        yield Text(f"kinmem undo {done.batch} takes this back in turn.", style=QUIET)


def _event_row(event: Event, memory: "Service") -> dict[str, Any]:
    told = {
        "write": event.write,
        "at": _stamp(event.at, memory),
        "kin": event.kin,
        "memoryId": event.memory_id,
        "action": event.action,
        "reason": event.reason,
        "batch": event.batch,
        "reverts": list(event.reverts) or None,
        "before": {camel(name): value for name, value in event.before.items()} or None,
        "after": {camel(name): value for name, value in event.after.items()} or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _actions(events: Sequence[Event]) -> str:
    """Return what one write did: created 3, superseded."""
    counts: dict[str, int] = {}
    for event in reversed(events):
        counts[event.action] = counts.get(event.action, 0) + 1
    return ", ".join(name if many == 1 else f"{name} {many}" for name, many in counts.items())


def _first_content(events: Sequence[Event], known: dict[str, Memory]) -> str:
    """Return what the first memory of a write said after it, if that changed the text, else what it
    says now."""
    first = known.get(events[-1].memory_id)
    said = first and events[-1].after.get("content", first.content)
    told = "(erased)" if said is None else one_line(str(said))
    others = len({event.memory_id for event in events}) - 1
    return f"{told} (and {others} more)" if others else told


def _stamp(moment: datetime, memory: "Service") -> str:
    return moment.astimezone(memory.settings.general.zone).isoformat(timespec="seconds")
