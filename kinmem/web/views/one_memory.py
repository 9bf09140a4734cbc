"""One memory: what it says, where it comes from, what happened to it, what will become of it; and
the form that adds one."""

import difflib
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Any, Literal, NamedTuple

from kinmem.clock import in_minutes
from kinmem.errors import InvalidInput, MemoryNotFound
from kinmem.learn.drafting import READS_AS_QUESTION
from kinmem.models import LIVE, TURN, Event, Memory, Stored
from kinmem.models.turns import Message
from kinmem.service.memories import likeness
from kinmem.text import cut
from kinmem.upkeep.ageing import Vitals, vitals_of
from kinmem.upkeep.lifecycle import Forecast, foreseen, was_told
from kinmem.web.drawings import HEIGHT, WIDTH, Line, line
from kinmem.web.view import Answer, Asked, Done, Notice, Shown, View
from kinmem.web.views.history_pages import place_of
from kinmem.web.views.memory_list import changer, choices, edit, save, typed

PATH = "/memory/{id}"
SIMILAR = 4
MOST_EVENTS = 100
# Points of the curve from one change to the next.
POINTS = 60
# Characters of a document that are shown; the rest is in its chunks.
LONGEST_SHOWN = 100_000
ACTIONS = ("pin", "unpin", "share", "unshare", "archive", "restore", "forget")


class Step(NamedTuple):
    """One line of the history."""

    seq: int
    write: int
    at: datetime
    kin: str
    action: str
    reason: str | None
    changed: Sequence["Changed"]


@dataclass(frozen=True, slots=True)
class Curve:
    """How a memory fades from today on."""

    drawn: Line
    days: int
    marks: Sequence[float]
    """Where on the x axis something changes."""
    limits: Sequence[float]
    """Where on the y axis it becomes stale, and is archived."""


def show(asked: Asked) -> Answer:
    id = asked.path["id"]
    if id.startswith(TURN):
        return _turn(asked, id)
    service = asked.service
    memory = service.store.get(id)  # viewing does not count as use
    asked.begin(memory.title or memory.content)
    is_own = memory.kin == service.kin
    vitals, future = _life(asked, id)
    text = service.text(id)
    return Shown(
        "memory.html",
        {
            "memory": memory,
            "text": text[:LONGEST_SHOWN],
            "is_cut": len(text) > LONGEST_SHOWN,
            "summary": service.store.summaries.of([id]).get(id),
            "is_own": is_own,
            "is_live": memory.state in LIVE,
            "vitals": vitals,
            "curve": _curve(asked, future),
            "forecast": future,
            "on": lambda day: asked.now + timedelta(days=day),
            "newer": service.newer(id).get(id),
            "links": service.links(id).get(id, []),
            "replaced": _replaced(asked, memory),
            "similar": service.similar(id, SIMILAR) if memory.state in LIVE else [],
            "likeness": likeness,
            "told_in": _told_in(asked, memory),
            "history": _history(asked, id),
            "path": f"/memory/{id}",
        },
    )


def _turn(asked: Asked, id: str) -> Answer:
    """Show a message of a conversation, and what was learned from its turn."""
    message = asked.service.store.transcript.messages([id]).get(id)
    if message is None:
        raise MemoryNotFound(id)
    became = asked.service.became(message.session).get(message.turn, ())
    around = place_of(asked, message)
    return Shown("message.html", {"message": message, "became": became, "around": around})


def _life(asked: Asked, id: str) -> tuple[Vitals | None, Forecast | None]:
    """Return how an own memory is and what becomes of it; None of others, and of one that is no
    longer alive."""
    store, settings = asked.service.store, asked.service.settings.life
    for memory in store.life.living([id]):
        told = was_told(store, memory)
        future = foreseen(memory, settings, asked.now, told=told, points=POINTS)
        return vitals_of(store, memory, settings, asked.now), future
    return None, None


def _curve(asked: Asked, future: Forecast | None) -> Curve | None:
    if future is None or len(future.left) < 2:
        return None
    days = future.left[-1][0]
    pairs = [(float(day), left) for day, left in future.left]
    life = asked.service.settings.life
    return Curve(
        line(pairs, 1.0),
        days,
        [WIDTH * turn.day / days for turn in future.turns if turn.day <= days],
        [HEIGHT * (1 - limit) for limit in (life.stale_below, life.archive_below) if limit],
    )


def _replaced(asked: Asked, memory: Memory) -> Mapping[str, Sequence[Memory]]:
    """Return what has replaced it, what it has replaced, and what it was made from."""
    store = asked.service.store
    ids = {
        "by": [memory.superseded_by] if memory.superseded_by else [],
        "from": store.past.superseded_by([memory.id]),
        "parents": store.parents(memory.id),
    }
    known = store.memories({id for some in ids.values() for id in some})
    return {how: [known[id] for id in some if id in known] for how, some in ids.items()}


def _told_in(asked: Asked, memory: Memory) -> list[Message]:
    """Return the messages it was learned from, in order."""
    if memory.session is None or not memory.turns or memory.kin != asked.service.kin:
        return []
    turns = frozenset(memory.turns)
    return [one for one in asked.service.turns(memory.session) if one.turn in turns]


def _history(asked: Asked, id: str) -> list[Step]:
    zone = asked.service.settings.general.zone
    return [
        Step(
            event.seq,
            event.write,
            event.at,
            event.kin,
            event.action,
            event.reason,
            list(changes(event, zone)),
        )
        for event in asked.service.history(id, MOST_EVENTS)
    ]


def erase(asked: Asked) -> Answer:
    """Remove it for good, if that was typed."""
    id = asked.path["id"]
    typed = (asked.given("typed") or "").casefold()
    if typed != asked.language.text("erase.word").casefold():
        return Done(f"/memory/{id}", Notice("erase.mistyped", is_problem=True))
    reach = asked.service.forget(id, erase=True).backups
    unreached = len(reach.unreached)
    told = Notice("did.erased_but", unreached) if unreached else Notice("did.erased")
    return Done("/memories", told)


def confirm(asked: Asked) -> Answer:
    """Vouch for what another Kin shares."""
    id = asked.path["id"]
    asked.service.confirm(id)
    return Done(f"/memory/{id}", Notice("did.confirmed"))


NEW = "/memories/new"
GIVEN = ("content", "subject", "tags", "scope", "place")
EVERYWHERE = "*"
"""In the form, where an empty place leaves it to the text; no project is called that."""
# Characters of a memory that a notice quotes.
QUOTED = 160


def new(asked: Asked) -> Answer:
    """Show the form that adds a memory."""
    if not asked.may("write"):
        return Shown("problem.html", {"problem": "problem.scope", "told": "write"}, 403)
    return _new_form(asked, {})


def add(asked: Asked) -> Answer:
    """Store what a person typed, as `kinmem memorize` does, and say what became of it. What cannot
    be stored is shown again, with the reason."""
    values = {name: typed(asked, name) for name in GIVEN}
    tags = tuple(filter(None, map(str.strip, values["tags"].split(","))))
    place = {"": None, EVERYWHERE: ""}.get(values["place"], values["place"])
    try:
        stored = asked.service.memorize(
            values["content"],
            idempotency_key=asked.given("key"),  # of the form: a second click stores nothing
            subject=values["subject"] or None,
            scope=values["scope"] or "private",
            tags=tags,
            place=place,
        )
    except InvalidInput as error:
        return _new_form(asked, values, asked.language.error(error), 400)
    if stored.id is None:
        return _new_form(asked, values, stored.reason, 400)
    return Done(f"/memory/{stored.id}", _became(asked, stored, stored.id))


def _new_form(
    asked: Asked, values: Mapping[str, str], problem: str | None = None, status: int = 200
) -> Shown:
    return Shown(
        "new.html",
        {
            "values": {**dict.fromkeys(GIVEN, ""), **values},
            "problem": problem,
            "choices": choices(asked),
            "everywhere": EVERYWHERE,
            "key": secrets.token_urlsafe(16),
            "path": NEW,
        },
        status,
    )


def _became(asked: Asked, stored: Stored, id: str) -> Notice:
    """Return what became of it, with the texts of the memories that it replaces or contradicts."""
    known = asked.service.store.memories([id, *stored.supersedes, *stored.conflicts])
    others = [known[one] for one in (*stored.supersedes, *stored.conflicts) if one in known]
    texts = [("added.known", _quoted(one)) for one in others]
    if stored.status == "duplicate_of":
        texts.append(("added.known", _quoted(known[id])))
    elif stored.conflicts or stored.status == "merged_into":
        texts.insert(0, ("added.now", _quoted(known[id])))
    # What was stored is undone by its write; for a duplicate there was none.
    write = None if stored.status == "duplicate_of" else asked.service.history(id, 1)[0].write
    return Notice(
        _told_as(stored),
        undo=() if write is None else (write,),
        texts=tuple(texts),
        leads_to=("memory.decide", "/review")
        if stored.status in ("conflict", "quarantined")
        else None,
    )


def _told_as(stored: Stored) -> str:
    if stored.status == "superseded" and not stored.supersedes:
        return "added.past"
    if stored.status == "created" and stored.reason == READS_AS_QUESTION:
        return "added.question"
    return f"added.{stored.status}"


def _quoted(memory: Memory) -> str:
    return cut(" ".join((memory.title or memory.content).split()), QUOTED)


VIEW = View(
    "memory",
    PATH,
    show,
    pages={f"{PATH}/edit": edit, NEW: new},
    actions={
        f"{PATH}/edit": save,
        NEW: add,
        **{f"/change/{name}": changer(name) for name in ACTIONS},
    },
    owner={f"{PATH}/erase": erase, f"{PATH}/confirm": confirm},
    is_listed=False,
)


# Fields that only follow from other changes, and kinmem's own notes.
UNTOLD = frozenset(
    {
        *("metadata", "ingest_metadata"),
        *("content_hash", "content_updated_at", "evidence", "language", "refusals"),
        *("deleted_at", "linked_at", "scored_at", "state_at", "tagged_at"),
    }
)
TEXTS = frozenset({"content", "source_context"})
WORD = re.compile(r"\s+|\w+|[^\w\s]")
# Words of both texts beyond which they are shown one below the other: comparing takes long.
MOST_WORDS = 1500
LONGEST = 2000


class Piece(NamedTuple):
    """A stretch of a text that was kept, added or removed."""

    how: Literal["kept", "added", "removed"]
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """One field that was changed."""

    field: str
    before: str | None
    after: str | None
    pieces: tuple[Piece, ...] = ()
    """Of a text."""


def changes(event: Event, zone: tzinfo) -> Iterator[Changed]:
    """Yield what the line has changed, fields that only follow from others left out."""
    for name, old in event.before.items():
        if name in UNTOLD:
            continue
        new = event.after.get(name)
        pieces = tuple(compared(str(old or ""), str(new or ""))) if name in TEXTS else ()
        before, after = told(in_minutes(old, zone)), told(in_minutes(new, zone))
        yield Changed(name, before, after, pieces)


def compared(before: str, after: str) -> Iterator[Piece]:
    """Yield the pieces of both texts, in order."""
    before, after = before[:LONGEST], after[:LONGEST]
    old, new = WORD.findall(before), WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        yield from (Piece("removed", before), Piece("added", after))
        return
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, at, until, new_at, new_until in matcher.get_opcodes():
        removed, added = "".join(old[at:until]), "".join(new[new_at:new_until])
        if tag == "equal":
            yield Piece("kept", removed)
            continue
        if removed:
            yield Piece("removed", removed)
        if added:
            yield Piece("added", added)


def told(value: Any) -> str | None:
    """Return a stored value as text; None if there is none."""
    if value is None or value in ((), [], ""):
        return None
    if isinstance(value, list | tuple):
        return ", ".join(str(one["id"]) if isinstance(one, dict) else str(one) for one in value)
    if isinstance(value, bool | float):
        return f"{value:g}"
    if isinstance(value, datetime):
        return value.isoformat(timespec="minutes")
    return str(value)
