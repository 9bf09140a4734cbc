"""What has been done to the memory, write by write, and what undoing it would change."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from kinmem.errors import LaterChange
from kinmem.models import Memory
from kinmem.store.history import Outline
from kinmem.web.view import KEPT, Answer, Asked, Done, Notice, Shown, View, meant, number_in

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

    def read() -> tuple[list[Entry], int | None]:
        return _page(asked, before)

    # The first page is what people come back to, and what a live page asks for again and again.
    entries, older = KEPT.of(asked.service, "activity", read) if before is None else read()
    return Shown("activity.html", {"entries": entries, "older": older, "is_first": before is None})


def _page(asked: Asked, before: int | None) -> tuple[list[Entry], int | None]:
    """Return the entries of a page, and the write before which the next one begins."""
    found = asked.service.store.past.outlines(WRITES + 1, before=before)
    writes = found[:WRITES]
    return _entries(asked, writes), writes[-1].write if len(found) > WRITES else None


def _entries(asked: Asked, writes: Sequence[Outline]) -> list[Entry]:
    undone = Counter(write for _, write in {pair for one in writes for pair in one.reverts})
    readable = [one for one in writes if one.lines]
    grouped = [
        (name, list(group))
        for name, group in groupby(readable, key=lambda one: one.lines[0].batch or str(one.write))
    ]
    shown = {id for _, group in grouped for id in _first_memories(group)}
    known = asked.service.store.memories(shown)
    return [_entry(name, group, known, undone) for name, group in grouped]


def _first_memories(writes: Sequence[Outline]) -> list[str]:
    lines = (line.memory_id for one in writes for line in one.lines)
    return list(dict.fromkeys(lines))[: 4 * MOST_SHOWN]  # some may be gone


def _entry(
    name: str,
    writes: Sequence[Outline],
    known: Mapping[str, Memory],
    undone: Mapping[int, int],
) -> Entry:
    lines = [line for one in writes for line in one.lines]
    changed = {field for line in lines for field in line.after if line.before}
    return Entry(
        what=name,
        at=lines[0].at,
        actions=sum((Counter(one.actions) for one in writes), Counter()),
        reason=next((line.reason for line in lines if line.reason), None),
        memories=[known[id] for id in _first_memories(writes) if id in known][:MOST_SHOWN],
        many=_many(writes),
        fields=[field for field in TOLD if field in changed],
        is_undone=all(undone.get(one.write, 0) >= one.many for one in writes),
    )


def _many(writes: Sequence[Outline]) -> int:
    """Return how many memories were changed; each counts once, as far as all lines were read."""
    whole = [one for one in writes if len(one.lines) == sum(one.actions.values())]
    distinct = {line.memory_id for one in whole for line in one.lines}
    return len(distinct) + sum(one.many for one in writes if one not in whole)


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
