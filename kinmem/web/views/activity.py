"""What has been done to the memory, write by write, and what undoing it would change."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from kinmem.errors import LaterChange
from kinmem.models import Event, Memory
from kinmem.web.view import Answer, Asked, Done, Notice, Shown, View, meant, number_in

PATH, UNDO = "/activity", "/activity/undo"
WRITES = 50
# Memories that an entry shows; more of them are counted.
MOST_SHOWN = 4
MOST_PREVIEWED = 100
# Fields that are worth a word; others follow from these.
TOLD = ("content", "category", "subject", "scope", "importance", "manual_tags", "pinned", "place")


@dataclass(frozen=True, slots=True)
class Entry:
    """Writes that were made together, and are undone together."""

    what: str
    """As Service.undo takes it: the number of the write, or the name of the batch."""
    at: datetime
    actions: Mapping[str, int]
    reason: str | None
    memories: Sequence[Memory]
    many: int
    """How many memories it changed, erased ones included."""
    fields: Sequence[str]
    is_undone: bool


def show(asked: Asked) -> Answer:
    before = number_in(asked.given("before"))
    lines = asked.service.history(None, WRITES, before=before)
    last = min((line.write for line in lines), default=0)
    more = last > 1 and bool(asked.service.history(None, 1, before=last))
    return Shown(
        "activity.html",
        {
            "entries": _entries(asked, lines),
            "older": last if more else None,
            "is_first": before is None,
        },
    )


def _entries(asked: Asked, lines: Sequence[Event]) -> list[Entry]:
    known = asked.service.store.memories({line.memory_id for line in lines})
    undone = {(line.memory_id, write) for line in lines for write in line.reverts}
    return [
        _entry(name, list(group), known, undone)
        for name, group in groupby(lines, key=lambda line: line.batch or str(line.write))
    ]


def _entry(
    name: str,
    lines: Sequence[Event],
    known: Mapping[str, Memory],
    undone: set[tuple[str, int]],
) -> Entry:
    ids = list(dict.fromkeys(line.memory_id for line in lines))
    changed = {field for line in lines for field in line.after if line.before}
    return Entry(
        what=name,
        at=lines[0].at,
        actions=Counter(line.action for line in lines),
        reason=next((line.reason for line in lines if line.reason), None),
        memories=[known[id] for id in ids if id in known][:MOST_SHOWN],
        many=len(ids),
        fields=[field for field in TOLD if field in changed],
        is_undone=all((line.memory_id, line.write) in undone for line in lines),
    )


def preview(asked: Asked) -> Answer:
    """Show what undoing would change."""
    given, cascade = asked.given("what") or "", bool(asked.given("cascade"))
    try:
        undone = asked.service.undo(
            meant(given), cascade=cascade, dry_run=True, releases=asked.may("admin")
        )
    except LaterChange as error:
        return Shown(
            "undo.html", {"undone": None, "what": given, "told": asked.language.error(error)}
        )
    known = asked.service.store.memories(list(undone.became)[:MOST_PREVIEWED])
    return Shown(
        "undo.html",
        {
            "undone": undone,
            "what": given,
            "cascade": cascade,
            "changes": [
                (memory, undone.became[id], undone.texts.get(id, memory.content))
                for id, memory in known.items()
            ],
        },
    )


def undo(asked: Asked) -> Answer:
    given, cascade = asked.given("what") or "", bool(asked.given("cascade"))
    undone = asked.service.undo(meant(given), cascade=cascade, releases=asked.may("admin"))
    return Done(PATH, Notice("did.undone", undo=(undone.batch,) if undone.batch else ()))


VIEW = View("activity", PATH, show, pages={UNDO: preview}, actions={UNDO: undo}, group="manage")
