"""Writes as people and programs read them."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from kinmem.cli.cards import QUIET, age
from kinmem.cli.pages import short_id
from kinmem.cli.terminal import columns, one_line
from kinmem.cli.whole import camel, changes_told

if TYPE_CHECKING:
    from kinmem.models import Event, Memory
    from kinmem.service import Service
    from kinmem.undo import Undone

TELLING = {"gone": "into the bin", "back": "back in use", "changed": "as it was"}
SHOWN = 10
"""Memories that are told one by one; of an import of thousands, how many more there are."""


def lines(events: "Sequence[Event]", memory: "Service") -> dict[str, Any]:
    """The history of one memory, for programs."""
    return {"history": [_line(event, memory) for event in events]}


def grouped(events: "Sequence[Event]", memory: "Service", limit: int) -> dict[str, Any]:
    """What was done, write by write, for programs; `before` asks for what comes after it."""
    writes = []
    for number, of in groupby(events, key=lambda event: event.write):
        own = list(of)
        told = {
            "write": number,
            "at": _stamp(own[0].at, memory),
            "batch": own[0].batch,
            "changes": [_line(event, memory) for event in reversed(own)],
        }
        writes.append({name: value for name, value in told.items() if value is not None})
    more = {"before": writes[-1]["write"]} if len(writes) == limit else {}
    return {"writes": writes, **more}


def line_list(events: "Sequence[Event]", memory: "Service") -> Iterator[RenderableType]:
    """One line per change of a memory."""
    for event in events:
        when = f"{_stamp(event.at, memory)[:16].replace('T', ' ')} ({age(event.at, memory)})"
        why = f" ({one_line(event.reason)})" if event.reason else ""
        told = f"{event.write}  {when}  {event.action} by {event.kin}{changes_told(event)}{why}"
        yield Text(told)


def table(events: "Sequence[Event]", memory: "Service", limit: int) -> Iterator[RenderableType]:
    """One line per write."""
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
            _text(of, known),
        )
        for of in groups
    ]
    yield from columns(("write", "age", "what", "batch", "memory", "content"), rows)
    told = "kinmem undo WRITE takes one back, kinmem undo BATCH all of a batch."
    if len(groups) == limit:
        told += f" There is more: --before {groups[-1][0].write}"
    yield Text(told, style=QUIET)


def memories_then(then: "Sequence[Memory]", memory: "Service") -> dict[str, Any]:
    """The memories as they once stood, for programs."""
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


def listing_then(then: "Sequence[Memory]") -> Iterator[RenderableType]:
    """The memories as they once stood, one line each."""
    rows = [(short_id(one.id), one.scope, str(one.state), one.content) for one in then]
    yield from columns(("id", "scope", "state", "content"), rows)


def undone(done: "Undone") -> dict[str, Any]:
    """What an undo did, for programs; without `batch` it did nothing yet."""
    told = {
        "undone": list(done.writes),
        "memories": [{"id": id, "became": became} for id, became in done.became.items()],
        "erased": list(done.lost) or None,
        "batch": done.batch,
    }
    return {name: value for name, value in told.items() if value is not None}


def undone_cards(done: "Undone", memory: "Service") -> Iterator[RenderableType]:
    """What an undo did, memory by memory, and how to do it again."""
    numbers = ", ".join(map(str, done.writes))
    head = "Undone" if done.batch else "This would undo"
    yield Text(f"{head}: write {numbers}.", style="green" if done.batch else "yellow")
    known = memory.store.memories(done.became)
    for id, became in list(done.became.items())[:SHOWN]:
        yield Text(f"  {short_id(id)}  {TELLING[became]}: {one_line(known[id].content)}")
    if len(done.became) > SHOWN:
        yield Text(f"  and {len(done.became) - SHOWN:,} more")
    if done.lost:
        yield Text(f"{len(done.lost)} were erased since, and stay so.", style="yellow")
    if done.batch:
        yield Text(f"kinmem undo {done.batch} takes this back in turn.", style=QUIET)


def _line(event: "Event", memory: "Service") -> dict[str, Any]:
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


def _actions(events: "Sequence[Event]") -> str:
    """What one write did: created 3, superseded."""
    counts: dict[str, int] = {}
    for event in reversed(events):
        counts[event.action] = counts.get(event.action, 0) + 1
    return ", ".join(name if many == 1 else f"{name} {many}" for name, many in counts.items())


def _text(events: "Sequence[Event]", known: "dict[str, Memory]") -> str:
    """What the first memory of a write says now."""
    first = known.get(events[-1].memory_id)
    told = "(erased)" if first is None else one_line(first.content)
    others = len({event.memory_id for event in events}) - 1
    return f"{told} (and {others} more)" if others else told


def _stamp(moment: datetime, memory: "Service") -> str:
    return moment.astimezone(memory.settings.general.zone).isoformat(timespec="seconds")
