"""What was said and done: the timeline, by month and day; the conversations, turn by turn; and the
activity, write by write, with what undoing one would change."""

import calendar
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from kinmem.errors import InvalidInput, LaterChange, MemoryNotFound
from kinmem.models import Asked as Query
from kinmem.models import Filters, Memory
from kinmem.models.turns import Message, Session, Snapshot
from kinmem.recall.excerpt import passage
from kinmem.store.history import Outline
from kinmem.text import cut, words
from kinmem.web.drawings import HEIGHT, WIDTH, rounded_up
from kinmem.web.render import address
from kinmem.web.view import Answer, Asked, Done, Notice, Shown, View, meant, number_in

TIMELINE = "/timeline"
PER_PAGE = 50
# Sessions that are looked through for those of one day.
SEARCHED_SESSIONS = 2000
GAP = 4.0


class Bar(NamedTuple):
    """One day of the month's chart."""

    day: date
    many: int
    x: float
    y: float
    width: float
    height: float


def show_timeline(asked: Asked) -> Answer:
    days = asked.kept("days", asked.service.days)
    day, month = _chosen(asked, days)
    held = asked.given("held") is not None
    when, cursor = f"{month:%Y-%m}" if day is None else day.isoformat(), asked.given("cursor")
    page = (
        asked.service.list_memories(as_of=when, limit=PER_PAGE, cursor=cursor)
        if held
        else asked.service.timeline(day=when, limit=PER_PAGE, cursor=cursor)
    )
    months = sorted({one.replace(day=1) for one in days})
    return Shown(
        "timeline.html",
        {
            "bars": _bars(month, days),
            "top": rounded_up(max((days.get(one, 0) for one in _days_of(month)), default=1) or 1),
            "box": (WIDTH, HEIGHT),
            "day": day,
            "month": month,
            "total": sum(days.get(one, 0) for one in _days_of(month)),
            "earlier": max((one for one in months if one < month), default=None),
            "later": min((one for one in months if one > month), default=None),
            "by_day": _by_day(asked, page.memories) if not held else {None: page.memories},
            "held": held,
            "when_told": when,
            "next_page": page.next_cursor
            and address(TIMELINE, day=when, held=held and "1", cursor=page.next_cursor),
            "sessions": _sessions(asked, day) if day else [],
            "titled": titled,
            "anything": bool(days),
        },
    )


def _chosen(asked: Asked, days: Mapping[date, int]) -> tuple[date | None, date]:
    """Return the day, if one is meant, and the first of the month."""
    given = asked.given("day")
    if given is None:
        today = asked.now.astimezone(asked.zone).date()
        latest = max((one for one in days if one <= today), default=today)
        return None, latest.replace(day=1)
    try:
        if len(given) == len("2026-05"):
            return None, date.fromisoformat(f"{given}-01")
        day = date.fromisoformat(given)
    except ValueError:
        raise InvalidInput(
            f"{given!r} is neither a day (2026-05-17) nor a month (2026-05)",
            "no_day",
            given=given[:40],
        ) from None
    return day, day.replace(day=1)


def _days_of(month: date) -> list[date]:
    return [
        month + timedelta(days=number)
        for number in range(calendar.monthrange(month.year, month.month)[1])
    ]


def _bars(month: date, days: Mapping[date, int]) -> list[Bar]:
    listed = _days_of(month)
    top = rounded_up(max(days.get(one, 0) for one in listed) or 1)
    step = WIDTH / len(listed)
    bars = []
    for number, one in enumerate(listed):
        many = days.get(one, 0)
        height = max(HEIGHT * many / top, 3.0) if many else 0.0
        bars.append(Bar(one, many, step * number + GAP / 2, HEIGHT - height, step - GAP, height))
    return bars


def _by_day(asked: Asked, memories: list[Memory]) -> Mapping[date, list[Memory]]:
    found: dict[date, list[Memory]] = {}
    for memory in memories:
        found.setdefault(memory.said_at.astimezone(asked.zone).date(), []).append(memory)
    return found


def _sessions(asked: Asked, day: date) -> list[Session]:
    """Return the conversations that went on on that day."""
    return [
        session
        for session in asked.service.sessions(SEARCHED_SESSIONS)
        if session.first_at.astimezone(asked.zone).date()
        <= day
        <= session.last_at.astimezone(asked.zone).date()
    ]


TIMELINE_VIEW = View("timeline", TIMELINE, show_timeline, is_certain=True)


CONVERSATIONS, CONVERSATION = "/conversations", "/conversations/one"
TURN = "/conversations/turn"
LISTED_SESSIONS = 200
# Characters of what was first said that make a heading.
TITLE = 100
# Messages that a search shows, and tokens of each.
FOUND, EXCERPT_TOKENS = 50, 80
TURNS_A_PAGE = 30
# Characters of a message that show before all of it is asked for.
SHORT = 700


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person said and everything until they spoke again."""

    name: str
    messages: list[Message] = field(default_factory=list)
    became: Sequence[Memory] = ()

    @property
    def waits(self) -> bool:
        return any(one.learned_at is None for one in self.messages if one.role != "system")

    @property
    def problem(self) -> str | None:
        return next((one.problem for one in self.messages if one.parked), None)


class Said(NamedTuple):
    """A message that was searched for."""

    message: Message
    excerpt: str
    session: Session | None
    """Its conversation, if it is one of those that are listed."""


def show_conversations(asked: Asked) -> Answer:
    """List the conversations, or what was said in them with the words that are looked for."""
    asked.begin()
    typed, is_long = asked.given("q"), asked.given("more") is not None
    most = SEARCHED_SESSIONS if typed or is_long else LISTED_SESSIONS
    sessions = asked.service.sessions(most)
    shown, said = sessions, list[Said]()
    if typed:
        shown = [
            one for one in sessions if typed.casefold() in f"{one.name} {one.began}".casefold()
        ]
        said = _said(asked, typed, {one.name: one for one in sessions})
    return Shown(
        "conversations.html",
        {
            "sessions": shown[:LISTED_SESSIONS] if typed else shown,
            "typed": typed,
            "said": said,
            "titled": titled,
            "has_more": not typed and not is_long and len(sessions) == LISTED_SESSIONS,
        },
    )


def titled(session: Session) -> str:
    """Return what a person knows it by: what was first said in it."""
    return _heading(session.began, session.name)


def _heading(began: str, name: str) -> str:
    return cut(" ".join(began.split()), TITLE) or name


def _said(asked: Asked, typed: str, sessions: Mapping[str, Session]) -> list[Said]:
    """Return the messages with all the words, or, if there are none, with some of them; the best
    match first."""
    transcript, sought = asked.service.store.transcript, words(typed)
    question = Query(sought, None, "", 0, FOUND, FOUND, context=0.0, all_words_first=True)
    found = transcript.search(question, Filters()).matches
    # 0: only what was said before it has the words.
    ranked = [id for id, score in found.items() if score > 0][:FOUND]
    known = transcript.messages(ranked)
    return [
        Said(
            known[id],
            passage(known[id].text, sought, EXCERPT_TOKENS) or known[id].text,
            sessions.get(known[id].session),
        )
        for id in ranked
        if id in known
    ]


def lead_to_turn(asked: Asked) -> Answer:
    """Send the browser to where a message stands in its conversation."""
    id = asked.given("id") or ""
    message = asked.service.store.transcript.messages([id]).get(id)
    if message is None:
        raise MemoryNotFound(id)
    return Done(place_of(asked, message))


def show_conversation(asked: Asked) -> Answer:
    """Show one session, the earliest turn first."""
    name = asked.given("name") or ""
    said = asked.service.turns(name) if name else []
    if not said:
        return Shown("problem.html", {"problem": "problem.404", "told": name}, 404)
    first = next((one for one in said if one.role == "user"), said[0])
    title = _heading(first.text, name)
    asked.begin(title)
    turns = _turns(said, asked.service.became(name))
    last = max(1, -(-len(turns) // TURNS_A_PAGE))
    at = min(max(1, number_in(asked.given("page")) or 1), last)
    summaries: list[Snapshot] = asked.service.store.snapshots.of(name)

    def page(to: int) -> str | None:
        return address(CONVERSATION, name=name, page=to) if 1 <= to <= last and to != at else None

    return Shown(
        "conversation.html",
        {
            "session": name,
            "title": title,
            "began_at": said[0].said_at,
            "speakers": list(dict.fromkeys(one.speaker for one in said if one.speaker)),
            "turns": turns[(at - 1) * TURNS_A_PAGE : at * TURNS_A_PAGE],
            "first": (at - 1) * TURNS_A_PAGE,
            "many": len(turns),
            "learned": len({memory.id for turn in turns for memory in turn.became}),
            "place": next((one.place for one in said if one.place), None),
            "client": next((one.client for one in said if one.client), None),
            "summaries": summaries,
            "previous": page(at - 1),
            "next": page(at + 1),
            "short": SHORT,
        },
    )


def place_of(asked: Asked, message: Message) -> str:
    """Return the address of its turn within the conversation."""
    turns = list(dict.fromkeys(one.turn for one in asked.service.turns(message.session)))
    number = turns.index(message.turn) + 1
    page = -(-number // TURNS_A_PAGE)
    return f"{address(CONVERSATION, name=message.session, page=page)}#turn-{number}"


def _turns(said: Sequence[Message], became: Mapping[str, Sequence[Memory]]) -> list[Turn]:
    turns: dict[str, Turn] = {}
    for message in said:
        turn = turns.setdefault(
            message.turn, Turn(message.turn, became=became.get(message.turn, ()))
        )
        turn.messages.append(message)
    return list(turns.values())


CONVERSATIONS_VIEW = View(
    "conversations",
    CONVERSATIONS,
    show_conversations,
    is_certain=True,
    pages={CONVERSATION: show_conversation, TURN: lead_to_turn},
)


ACTIVITY, UNDO = "/activity", "/activity/undo"
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


def show_activity(asked: Asked) -> Answer:
    before = number_in(asked.given("before"))

    def read() -> tuple[list[Entry], int | None]:
        return _page(asked, before)

    # The first page is what people come back to, and what a live page asks for again and again.
    entries, older = asked.kept("activity", read) if before is None else read()
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
    return Done(ACTIVITY, Notice("did.undone", undo=(undone.batch,) if undone.batch else ()))


ACTIVITY_VIEW = View(
    "activity",
    ACTIVITY,
    show_activity,
    is_certain=True,
    pages={UNDO: preview},
    actions={UNDO: undo},
    group="manage",
)
