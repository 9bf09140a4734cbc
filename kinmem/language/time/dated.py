"""Relative times get their date beside them, so that a sentence stays true: yesterday (2023-05-07).

What `phrases` finds is used as far as it can mean only one stretch of time, and the times to
come, which questions never ask for. A date is ISO 8601; a stretch has a slash: 2023-05-01/07.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import NamedTuple

from kinmem.language.lexicon import either
from kinmem.language.time import calendar
from kinmem.language.time.calendar import (
    DAY,
    MEANINGS,
    MONTH,
    WEEK,
    WINTER,
    YEAR,
    Slots,
    Stretch,
    day_of,
    month_of,
    same_day,
    units_on,
)
from kinmem.language.time.phrases import Anchor, Language, Plain, likely_languages
from kinmem.language.time.time_names import (
    DAYS,
    STANDS_ALONE,
    Clause,
    Once,
    Tense,
    is_name,
    is_one_day,
    spoken_grammar,
)
from kinmem.text import late

CHINESE = late(r"[天日晚夜早周拜期月年]")
RELATIVE = frozenset(
    {"today", "yesterday", "day before yesterday", "last night", "part of today", "this unit"}
    | {"last unit", "ago", "this weekend", "last weekend", "last weekday", "last month name"}
    | {"last season"}
)
HINT = late(rf"(?i)\b(?:{either('time_hints')})\b")
"""In every text that names a relative time, and in some others."""


class RelativeDate(NamedTuple):
    """A relative time of a text, and when that was or will be."""

    phrase: str
    """As it was said."""
    date: str
    """ISO 8601; a stretch has a slash: 2023-05-01/07."""
    first: datetime
    """The beginning of that time, in the speaker's zone."""
    end: int
    """Where the phrase ends in the text."""


def relative_dates(text: str, said: datetime, once: Once | None = None) -> list[RelativeDate]:
    """The relative times of the text, in order, that mean one stretch of time.

    `said` is a moment in the speaker's zone. Never raises.
    """
    if CHINESE.search(text) and (times := list(calendar.times(text, said.date()))):
        return [
            _resolved(text, one.start, one.end, one.stretch, said)
            for one in times
            if one.is_relative
        ]
    if not HINT.search(text):
        return []
    plain = Plain.of(text)
    for language in likely_languages(plain):
        if found := list(_found(text, plain, language, said.date(), once)):
            return [
                _resolved(text, plain.places[start], plain.places[end - 1] + 1, stretch, said)
                for start, end, stretch in found
            ]
    return []


def _resolved(text: str, start: int, end: int, stretch: Stretch, said: datetime) -> RelativeDate:
    first = stretch[0].replace(tzinfo=said.tzinfo)
    return RelativeDate(text[start:end], _spelled(stretch), first, end)


def named_stretch(text: str, now: datetime, *, ahead: bool = False) -> Stretch | None:
    """The stretch of wall-clock time that a text names which says nothing else: yesterday, next
    week, in 3 days, vor zwei Wochen. None for any other text.

    `now` is a moment in the zone of whoever wrote it. So many weeks, months or years from now, or
    ago, are counted to the day. Of a weekday `ahead` takes the next instead of the latest one.
    """
    plain = Plain.of(text.strip())
    found = set()
    for language in likely_languages(plain):
        anchors = spoken_grammar(language).anchors(plain.text)
        if [(anchor.start, anchor.end) for anchor in anchors] == [(0, len(plain.text))]:
            with suppress(ValueError, OverflowError):  # beyond the calendar
                found.add(_alone(anchors[0], now.date(), ahead))
    return found.pop() if len(found) == 1 else None


def _alone(anchor: Anchor, today: date, ahead: bool) -> Stretch:
    """What a time means that stands by itself."""
    if anchor.meaning in AWAY:
        return _exactly(replace(anchor.slots, n=AWAY[anchor.meaning] * anchor.slots.n), today)
    if anchor.meaning == "weekday" and ahead:
        return _coming_weekday(anchor.slots, today)
    return _stretch(anchor, today, Tense(past=not ahead, future=ahead))


def _found(
    text: str, plain: Plain, language: Language, today: date, once: Once | None
) -> Iterator[tuple[int, int, Stretch]]:
    """From where to where in the plain text a time is told, and which one."""
    speech = spoken_grammar(language)
    for anchor, last, stretch, clause in times_in(text, plain, language, today):
        if speech.not_before.match(plain.text, last.end):
            continue
        if plain.text.startswith(" (", last.end) or stretch is None:
            continue
        if is_sure(anchor, clause, once):
            yield anchor.start, last.end, stretch


def times_in(
    text: str, plain: Plain, language: Language, today: date
) -> Iterator[tuple[Anchor, Anchor, Stretch | None, Clause]]:
    """Each time that is no name: where it begins, where it ends, when that is (None beyond the
    calendar), and what is said of it."""
    anchors = spoken_grammar(language).anchors(plain.text)
    for anchor, behind, beside in _joined(anchors, plain):
        if is_name(anchor, text, plain, language):
            continue
        clause = Clause.of(anchor, text, plain, language, beside)
        found: Stretch | None = None
        with suppress(ValueError, OverflowError):  # beyond the calendar
            stretch = _stretch(anchor, today, clause.tense)
            stretch = _further(behind, stretch, language) if behind else stretch
            _spelled(stretch)
            found = stretch
        yield anchor, behind or anchor, found, clause


def _joined(
    anchors: list[Anchor], plain: Plain
) -> Iterator[tuple[Anchor, Anchor | None, list[Anchor]]]:
    """Each time, how far from it the one is that is meant (tomorrow in a week), and the times
    beside it."""
    taken: Anchor | None = None
    for at, anchor in enumerate(anchors):
        if anchor is taken:
            continue
        behind = anchors[at + 1] if at + 1 < len(anchors) else None
        is_pair = (
            behind is not None
            and anchor.meaning in DAYS
            and behind.meaning in AWAY
            and plain.text[anchor.end : behind.start] == " "
        )
        taken = behind if is_pair else None
        yield anchor, taken, [*anchors[max(0, at - 1) : at], *anchors[at + 1 : at + 2]]


AWAY = {"in units": 1, "ago": -1}
COUNTED_BOTH = {8: 7, 15: 14}
"""Eight days from today are a week, where the first is counted as well: not in English."""


def _further(away: Anchor, base: Stretch, language: Language) -> Stretch:
    """The very day so many units on from a day, or before it."""
    n = away.slots.n
    if away.slots.unit == DAY:
        n = COUNTED_BOTH.get(n, n) if language.name != "en" else n
    return _exactly(replace(away.slots, n=AWAY[away.meaning] * n), base[0].date())


def is_sure(anchor: Anchor, clause: Clause, once: Once | None = None) -> bool:
    """Whether it means one stretch only."""
    if anchor.meaning == "weekday":
        return is_one_day(anchor, clause, once)
    if anchor.meaning == "in units":  # "it took me", "finished in two days": so long
        return clause.tense.future or not clause.tense.past
    if anchor.meaning == "day of month":  # not the 15th floor
        return STANDS_ALONE.match(clause.whole, anchor.end) is not None
    return anchor.meaning in RELATIVE or anchor.meaning in COMING


def _stretch(anchor: Anchor, today: date, tense: Tense) -> Stretch:
    if anchor.meaning == "weekday" and not tense.past:
        return _coming_weekday(anchor.slots, today)
    if anchor.meaning in ("this weekday", "day of month") and tense.past and not tense.future:
        return LOOKING_BACK[anchor.meaning](anchor.slots, today)
    meaning = COMING.get(anchor.meaning)
    return meaning(anchor.slots, today) if meaning else anchor.stretch(today)


def _exactly(slots: Slots, day: date) -> Stretch:
    """The very day so many units on."""
    if slots.unit in (DAY, WEEK):
        return day_of(day + timedelta(days=slots.n * (7 if slots.unit == WEEK else 1)))
    return day_of(same_day(day, slots.n * (12 if slots.unit == YEAR else 1)))


def _coming_weekday(slots: Slots, today: date) -> Stretch:
    """The first one after today."""
    return day_of(today + timedelta(days=(slots.weekday - today.weekday() - 1) % 7 + 1), slots.part)


def _weekday_of(weeks: int, slots: Slots, today: date) -> Stretch:
    """In the calendar week so many weeks on."""
    monday = today - timedelta(days=today.weekday())
    return day_of(monday + timedelta(weeks=weeks, days=slots.weekday), slots.part)


def _weekend(weeks: int, today: date) -> Stretch:
    return MEANINGS["this weekend"](Slots(), today + timedelta(weeks=weeks))


def _coming(stretches: Iterable[Stretch], today: date) -> Stretch:
    """The first that begins after today."""
    return min(stretch for stretch in stretches if stretch[0].date() > today)


def _seasons(slots: Slots, today: date) -> list[Stretch]:
    """Of this year and the two beside it. A winter has its December's year."""
    start = 12 if slots.season == WINTER else slots.season * 3
    firsts = [month_of(today.year + year, start)[0] for year in (-1, 0, 1)]
    return [(first, units_on(MONTH, 2, first.date())[1]) for first in firsts]


def _this_season(slots: Slots, today: date) -> Stretch:
    """The one that runs, else this year's."""
    before, own, _ = _seasons(slots, today)
    return before if today < before[1].date() else own


def _day_of_month(today: date, slots: Slots, *, back: bool) -> Stretch:
    """The nearest such day, today included; months that are too short are passed over."""
    for months in range(4):
        first = units_on(MONTH, -months if back else months, today)[0].date()
        try:
            day = first.replace(day=slots.day)
        except ValueError:
            continue
        if day <= today if back else day >= today:
            return day_of(day)
    raise ValueError("no such day")


def _last_day(stretch: Stretch) -> Stretch:
    return day_of(stretch[1].date() - timedelta(days=1))


LOOKING_BACK: dict[str, Callable[[Slots, date], Stretch]] = {
    "this weekday": MEANINGS["weekday"],
    "day of month": lambda slots, today: _day_of_month(today, slots, back=True),
}
# Next Friday is next week's in English; elsewhere, as "the coming", the first to come.
COMING: dict[str, Callable[[Slots, date], Stretch]] = {
    "tomorrow": lambda slots, today: day_of(today + timedelta(days=1), slots.part),
    "overmorrow": lambda slots, today: day_of(today + timedelta(days=2)),
    "next unit": lambda slots, today: units_on(slots.unit, 1, today),
    "unit before last": lambda slots, today: units_on(slots.unit, -2, today),
    "unit after next": lambda slots, today: units_on(slots.unit, 2, today),
    "next weekend": lambda slots, today: _weekend(1, today),
    "coming weekend": lambda slots, today: _weekend(0, today),
    "weekend before last": lambda slots, today: _weekend(-2, today),
    "weekends ago": lambda slots, today: _weekend(-slots.n, today),
    "fortnight ago": lambda slots, today: units_on(WEEK, -2, today),
    "in a fortnight": lambda slots, today: units_on(WEEK, 2, today),
    "half years ago": lambda slots, today: units_on(MONTH, -6, today),
    "in half a year": lambda slots, today: units_on(MONTH, 6, today),
    "year and a half ago": lambda slots, today: units_on(MONTH, -18, today),
    "in a year and a half": lambda slots, today: units_on(MONTH, 18, today),
    "in units": lambda slots, today: units_on(slots.unit, slots.n, today),
    "units from today": lambda slots, today: _exactly(slots, today),
    "units from tomorrow": lambda slots, today: _exactly(slots, today + timedelta(days=1)),
    "a week from today": lambda slots, today: day_of(today + timedelta(weeks=1)),
    "next weekday": lambda slots, today: _weekday_of(1, slots, today),
    "coming weekday": _coming_weekday,
    "this weekday": _coming_weekday,
    "weekday last week": lambda slots, today: _weekday_of(-1, slots, today),
    "weekday this week": lambda slots, today: _weekday_of(0, slots, today),
    "weekday next week": lambda slots, today: _weekday_of(1, slots, today),
    "next season": lambda slots, today: _coming(_seasons(slots, today), today),
    "this season": _this_season,
    "next month name": lambda slots, today: _coming(
        (month_of(today.year + year, slots.month) for year in (0, 1)), today
    ),
    "day of month": lambda slots, today: _day_of_month(today, slots, back=False),
    "end of next unit": lambda slots, today: _last_day(units_on(slots.unit, 1, today)),
    "end of this unit": lambda slots, today: _last_day(units_on(slots.unit, 0, today)),
}


def _spelled(stretch: Stretch) -> str:
    """2023-05-07, 2023-05-01/07, 2023-05-29/06-04, 2023-04, 2022, or 2022-06/08."""
    first = stretch[0].date()
    last = (stretch[1] - timedelta(microseconds=1)).date()
    if (stretch[1] - stretch[0]) <= timedelta(hours=24):
        return first.isoformat()
    whole_months = first.day == 1 and stretch[1].day == 1
    if whole_months and (first.month, last.month) == (1, 12):
        return f"{first.year}"
    start, end = (day.isoformat()[: 7 if whole_months else 10] for day in (first, last))
    if start == end:
        return start
    same = 8 if start[:7] == end[:7] else 5 if start[:4] == end[:4] else 0
    return f"{start}/{end[same:]}"
