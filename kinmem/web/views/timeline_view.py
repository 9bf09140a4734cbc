"""What happened by month and day, and what held at that time."""

import calendar
from collections.abc import Mapping
from datetime import date, timedelta
from typing import NamedTuple

from kinmem.errors import InvalidInput
from kinmem.models import Memory
from kinmem.models.turns import Session
from kinmem.web.drawings import HEIGHT, WIDTH, rounded_up
from kinmem.web.render import address
from kinmem.web.view import KEPT, Answer, Asked, Shown, View

PATH = "/timeline"
PER_PAGE = 50
# Sessions that are looked through for those of one day.
MOST_SESSIONS = 2000
GAP = 4.0


class Bar(NamedTuple):
    """One day of the month's chart."""

    day: date
    many: int
    x: float
    y: float
    width: float
    height: float


def show(asked: Asked) -> Answer:
    days = KEPT.of(asked.service, "days", asked.service.days)
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
            and address(PATH, day=when, held=held and "1", cursor=page.next_cursor),
            "sessions": _sessions(asked, day) if day else [],
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
        for session in asked.service.sessions(MOST_SESSIONS)
        if session.first_at.astimezone(asked.zone).date()
        <= day
        <= session.last_at.astimezone(asked.zone).date()
    ]


VIEW = View("timeline", PATH, show)
