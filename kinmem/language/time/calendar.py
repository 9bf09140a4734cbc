"""What the words for a time mean on a calendar: each meaning gives a stretch of wall-clock time.

Weeks start on Monday; seasons are the northern ones, whole months, winter from December.
A time without a year or week of its own is the most recent one that has begun, or, where a text
looks ahead, the first to come.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from kinmem.language.lexicon import lexicon
from kinmem.text import late

Stretch = tuple[datetime, datetime]  # half-open, without a zone
DAY, WEEK, MONTH, YEAR = 0, 1, 2, 3
WINTER = 0
SATURDAY = 5
# From hour to hour, counted from the day's midnight; generous, since nobody agrees on them.
PARTS_OF_DAY = ((4, 12), (12, 18), (17, 24), (18, 30))
NIGHT = 3


@dataclass(frozen=True)
class Slots:
    """What a phrase said; a number that it did not say is None.

    Months count from 1; weekdays, seasons and parts of the day from 0: Monday, winter, morning.
    """

    n: int = 1
    unit: int = DAY
    year: int | None = None
    month: int = 0
    day: int = 0
    weekday: int = 0
    season: int = WINTER
    part: int | None = None


def _days(first: date, after: date) -> Stretch:
    return datetime.combine(first, time()), datetime.combine(after, time())


def day_of(day: date, part: int | None = None) -> Stretch:
    """The whole day, or the part of it, which may reach into the next morning."""
    if part is None:
        return _days(day, day + timedelta(days=1))
    midnight = datetime.combine(day, time())
    begin, end = PARTS_OF_DAY[part]
    return midnight + timedelta(hours=begin), midnight + timedelta(hours=end)


def _first_of_month(day: date, months: int = 0) -> date:
    """The first day of the month so many months on from the day's."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, 1)


def same_day(day: date, months: int) -> date:
    """The day so many months on, or the last of its month if that is shorter."""
    first = _first_of_month(day, months)
    last = _first_of_month(first, 1) - timedelta(days=1)
    return first + timedelta(days=min(day.day, last.day) - 1)


def _unit(unit: int, back: int, today: date) -> Stretch:
    """The whole day, week, month or year so many of them ago."""
    if unit == DAY:
        return day_of(today - timedelta(days=back))
    if unit == WEEK:
        monday = today - timedelta(days=today.weekday(), weeks=back)
        return _days(monday, monday + timedelta(weeks=1))
    if unit == MONTH:
        return _days(_first_of_month(today, -back), _first_of_month(today, 1 - back))
    return year_of(today.year - back)


def year_of(year: int) -> Stretch:
    return _days(date(year, 1, 1), date(year + 1, 1, 1))


def _rolling(slots: Slots, today: date) -> Stretch:
    """From the same day so many units ago up to and with today."""
    if slots.unit in (DAY, WEEK):
        first = today - timedelta(days=slots.n * (7 if slots.unit == WEEK else 1))
    else:
        first = same_day(today, -slots.n * (12 if slots.unit == YEAR else 1))
    return _days(first, today + timedelta(days=1))


def _weekend(today: date, back: int = 0) -> Stretch:
    """Saturday and Sunday of the calendar week so many weeks ago."""
    saturday = today - timedelta(days=today.weekday() - SATURDAY, weeks=back)
    return _days(saturday, saturday + timedelta(days=2))


def _weekday_back(slots: Slots, today: date) -> Stretch:
    """The most recent one before today, or where a number is said, as many weeks before."""
    back = (today.weekday() - slots.weekday - 1) % 7 + 1
    return day_of(today - timedelta(days=back, weeks=slots.n - 1), slots.part)


def month_of(year: int, month: int) -> Stretch:
    first = date(year, month, 1)
    return _days(first, _first_of_month(first, 1))


def _date(slots: Slots, today: date) -> Stretch:
    """Without a year the most recent such day; 29 February may be eight years back.

    Raises ValueError for a day that no calendar has.
    """
    if slots.year is not None:
        return day_of(date(slots.year, slots.month, slots.day), slots.part)
    for year in range(today.year, today.year - 9, -1):
        if (slots.month, slots.day) == (2, 29) and not _is_leap(year):
            continue
        if (day := date(year, slots.month, slots.day)) <= today:
            return day_of(day, slots.part)
    raise ValueError("no such day")


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _season(season: int, year: int) -> Stretch:
    """Winter begins in the December of its year."""
    first = date(year, 12 if season == WINTER else season * 3, 1)
    return _days(first, _first_of_month(first, 3))


def _season_and_year(slots: Slots, today: date) -> Stretch:
    """Raises ValueError for a winter, since it could be either of two."""
    if slots.season == WINTER or slots.year is None:
        raise ValueError("a year has two winters")
    return _season(slots.season, slots.year)


def _latest(stretches: list[Stretch], limit: date, edge: int) -> Stretch:
    """The last of the stretches whose beginning (edge 0) or end (edge 1) is not after the limit."""
    midnight = datetime.combine(limit, time())
    return max(stretch for stretch in stretches if stretch[edge] <= midnight)


def _seasons(slots: Slots, today: date) -> list[Stretch]:
    return [_season(slots.season, today.year - back) for back in range(3)]


def _months(slots: Slots, today: date) -> list[Stretch]:
    return [month_of(today.year - back, slots.month) for back in range(2)]


MEANINGS: dict[str, Callable[[Slots, date], Stretch]] = {
    "today": lambda slots, today: day_of(today),
    "yesterday": lambda slots, today: day_of(today - timedelta(days=1), slots.part),
    "day before yesterday": lambda slots, today: day_of(today - timedelta(days=2), slots.part),
    "last night": lambda slots, today: day_of(today - timedelta(days=1), NIGHT),
    "part of today": lambda slots, today: day_of(today, slots.part),
    "this unit": lambda slots, today: _unit(slots.unit, 0, today),
    "last unit": lambda slots, today: _unit(slots.unit, 1, today),
    "rolling": _rolling,
    "ago": lambda slots, today: _unit(slots.unit, slots.n, today),
    "this weekend": lambda slots, today: _weekend(today),
    "last weekend": lambda slots, today: _weekend(today, 1),
    "weekend": lambda slots, today: _weekend(today, 0 if today.weekday() >= SATURDAY else 1),
    "last weekday": _weekday_back,
    "weekday": _weekday_back,
    "last month name": lambda slots, today: _latest(_months(slots, today), today, edge=1),
    "month": lambda slots, today: _latest(_months(slots, today), today, edge=0),
    "this month name": lambda slots, today: _latest(_months(slots, today), today, edge=0),
    "month and year": lambda slots, today: month_of(slots.year or today.year, slots.month),
    "date": _date,
    "feast": _date,
    "year": lambda slots, today: year_of(slots.year or today.year),
    "last season": lambda slots, today: _latest(_seasons(slots, today), today, edge=1),
    "season": lambda slots, today: _latest(_seasons(slots, today), today, edge=0),
    "this season": lambda slots, today: _latest(_seasons(slots, today), today, edge=0),
    "season and year": _season_and_year,
}
# The most recent one is meant, counted from the later time if two are joined.
FLOATING = {"month", "weekday", "season", "date", "feast"}
_TABLES = lexicon("zh")["time"]
CHINESE_DAYS: Mapping[str, int] = _TABLES["days"]
"""How many days from today; the same of years, and of steps from this week or month."""
FEASTS: Mapping[str, str] = _TABLES["feasts"]
YEARS: Mapping[str, int] = _TABLES["years"]
STEPS: Mapping[str, int] = _TABLES["steps"]
UNITS: Mapping[str, int] = _TABLES["units"]
FIGURES = "一二三四五六七八九"
WEEKDAYS = {**{figure: day for day, figure in enumerate("一二三四五六")}, "日": 6, "天": 6}
BEGINS = "(?!(?<=[以然之目此最今])[前后]|(?<=过)去|(?<=如)今)"
"""No space tells where a word begins: 以前 and 天天 are no 前天, 目前 and 年薪 no 前年."""
DAY_ENDS = "(?!(?<=[前后]天)(?:天(?!气)|[黑亮晴空气]))"
YEAR_ENDS = "(?![轻龄]|(?<=[前后]年)[薪纪级])"
COUNT = rf"(?:[{FIGURES}]?十[{FIGURES}]?|[两{FIGURES}])"
"""Three or four (三四) is neither."""
OF_YEAR = rf"{BEGINS}(?:{'|'.join(YEARS)})"
BEGINS_BARE = r"(?<![^，。！？；：,.!?;:\s我你他她们在于])"
BARE_ENDS = "(?:早上|上午|中午|下午|傍晚|晚上)?(?=[我你他她要将得去有，,])"
"""So a weekday is said that no week is said of; 周三例会 is one of every week."""
TIME = late(
    rf"{BEGINS}(?P<day>{'|'.join(CHINESE_DAYS)}){DAY_ENDS}"
    rf"|(?<![\d.第几数两十百千{FIGURES}])(?P<n>\d{{1,3}}|{COUNT})"
    r"个?(?P<unit>天|周|星期|礼拜|年|(?<=个)月)(?:以|之)?(?P<way>[前后])"
    r"|(?P<step>(?<![晚早马网线路以加])上上?|(?<![一楼底以])下下?|(?<![日版一这那])本|这)个?"
    r"(?:(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
    r"|(?P<period>周|星期|礼拜|月(?![亮光球饼])))"
    rf"|(?<![\d.])(?P<of>(?:19|20)\d\d年|{OF_YEAR})?"
    r"(?P<month>(?<![\d.])\d{1,2})月(?:(?P<date>\d{1,2})[日号])?"
    rf"|(?P<feast_of>(?<![\d.])(?:19|20)\d\d年|{OF_YEAR})的?(?P<feast>{'|'.join(FEASTS)})"
    rf"|(?P<year>{OF_YEAR}){YEAR_ENDS}"
    rf"|{BEGINS_BARE}(?:周|星期|礼拜)(?P<bare>[一二三四五六日天]){BARE_ENDS}"
)
QUOTED = late(r"《[^》]*》|「[^」]*」|“[^”]*”")
EDGE_BEFORE = ("从", "自", "到", "至", "自从")
EDGE_BEHIND = late("起|开始|为止|以来|[之以][前后]")
EDGE_OF_DATE = late("[前后](?![往来])")
"""Alone it is that behind a month or its day: 3月前 is before March, 昨天前台 is at the desk."""
DONE = late("[了过完]|到了")
NOT_SO = late("[不没别]")
SENTENCE_END = late(r"[。！？；.!?;\n]")
TO_COME = late("(?<![重需主只不])要(?![求是素])|将|打算|准备|得去")


class Time(NamedTuple):
    """A time that a text names."""

    start: int
    end: int
    stretch: Stretch
    is_relative: bool
    """It is counted from the day on which it is said."""
    is_edge: bool
    """Something is so since then, or until then."""
    is_doubtful: bool
    """It may be every week: a weekday to come, of no week that is said."""


def times(text: str, today: date) -> Iterator[Time]:
    """The times of a text, in order; what stands in quotation marks or titles names none."""
    plain = QUOTED.sub(lambda match: " " * len(match[0]), text)
    for match in TIME.finditer(plain):
        try:
            stretch = _stretch(match, today)
        except (ValueError, OverflowError):  # 31 June, or beyond the calendar
            continue
        is_relative = not (match["month"] or match["feast"]) or match["feast_of"] in YEARS
        is_doubtful = match["bare"] is not None and stretch[0].date() > today
        yield Time(*match.span(), stretch, is_relative, _is_edge(plain, match), is_doubtful)


def happened(text: str, today: date) -> date | None:
    """The day on which it happened, where a text names that day and no other time."""
    found = list(times(text, today))
    if len(found) != 1 or found[0].is_edge or not (found[0].is_relative or DONE.search(text)):
        return None
    start, end = found[0].stretch
    last = today if DONE.search(text) else today - timedelta(days=1)
    is_day = end - start <= timedelta(days=1) and start.date() <= last
    return start.date() if is_day else None


def _is_edge(plain: str, match: re.Match[str]) -> bool:
    behind = EDGE_BEHIND.match(plain, match.end())
    if match["month"]:
        behind = behind or EDGE_OF_DATE.match(plain, match.end())
    return behind is not None or plain.endswith(EDGE_BEFORE, 0, match.start())


def _stretch(match: re.Match[str], today: date) -> Stretch:
    if match["day"]:
        return day_of(today + timedelta(days=CHINESE_DAYS[match["day"]]))
    if match["year"]:
        return year_of(today.year + YEARS[match["year"]])
    if match["month"]:
        return _chinese_date(match, today)
    if match["feast"]:
        of = match["feast_of"]
        year = today.year + YEARS[of] if of in YEARS else int(of[:4])
        return day_of(date(year, *map(int, FEASTS[match["feast"]].split("-"))))
    if match["bare"]:
        return _bare_weekday(match, today)
    if match["n"]:
        count = _number(match["n"]) * (1 if match["way"] == "后" else -1)
        return units_on(UNITS[match["unit"]], count, today)
    step = STEPS[match["step"]]
    if match["weekday"]:
        monday = today - timedelta(days=today.weekday())
        return day_of(monday + timedelta(weeks=step, days=WEEKDAYS[match["weekday"]]))
    return units_on(UNITS[match["period"]], step, today)


def _bare_weekday(match: re.Match[str], today: date) -> Stretch:
    """The next one, or the last one where something is done. Raises ValueError where neither is
    said: it may be every week."""
    slots = Slots(weekday=WEEKDAYS[match["bare"]])
    ends = SENTENCE_END.search(match.string, match.end())
    rest = match.end(), ends.start() if ends else len(match.string)
    if NOT_SO.search(match.string, *rest):  # no longer on Saturdays
        raise ValueError("every week")
    if TO_COME.search(match.string, *rest):
        return _weekday_back(slots, today + timedelta(days=8))
    if DONE.search(match.string, *rest):
        return _weekday_back(slots, today)
    raise ValueError("every week")


def _chinese_date(match: re.Match[str], today: date) -> Stretch:
    """Without a year it is the latest one that has begun."""
    of, month = match["of"], int(match["month"])
    day = int(match["date"] or 1)
    if of:
        year = today.year + YEARS[of] if of in YEARS else int(of[:4])
    else:
        year = today.year - (date(today.year, month, min(day, 28)) > today)
    return day_of(date(year, month, day)) if match["date"] else month_of(year, month)


def units_on(unit: int, count: int, today: date) -> Stretch:
    """The whole day, week, month or year so many of them on."""
    return MEANINGS["ago"](Slots(n=-count, unit=unit), today)


def _number(text: str) -> int:
    """The number up to 99, in figures or in words: 3, 三, 十二, 二十."""
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.replace("两", "二").rpartition("十")
    return (FIGURES.find(tens) + 1 or 1) * 10 * bool(ten) + FIGURES.find(ones or " ") + 1


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


def _weekend_in(weeks: int, today: date) -> Stretch:
    return MEANINGS["this weekend"](Slots(), today + timedelta(weeks=weeks))


def _coming(stretches: Iterable[Stretch], today: date) -> Stretch:
    """The first that begins after today."""
    return min(stretch for stretch in stretches if stretch[0].date() > today)


def _seasons_around(slots: Slots, today: date) -> list[Stretch]:
    """Of this year and the two beside it. A winter has its December's year."""
    start = 12 if slots.season == WINTER else slots.season * 3
    firsts = [month_of(today.year + year, start)[0] for year in (-1, 0, 1)]
    return [(first, units_on(MONTH, 2, first.date())[1]) for first in firsts]


def _this_season(slots: Slots, today: date) -> Stretch:
    """The one that runs, else this year's."""
    before, own, _ = _seasons_around(slots, today)
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


OF_THE_PAST: dict[str, Callable[[Slots, date], Stretch]] = {
    "this weekday": MEANINGS["weekday"],
    "day of month": lambda slots, today: _day_of_month(today, slots, back=True),
}
# Next Friday is next week's in English; elsewhere, as "the coming", the first to come.
COMING: dict[str, Callable[[Slots, date], Stretch]] = {
    "tomorrow": lambda slots, today: day_of(today + timedelta(days=1), slots.part),
    "overmorrow": lambda slots, today: day_of(today + timedelta(days=2)),
    "next unit": lambda slots, today: units_on(slots.unit, 1, today),
    "weekdays ago": _weekday_back,
    "weekday before last": lambda slots, today: _weekday_back(replace(slots, n=2), today),
    "weeks after weekday": lambda slots, today: _coming_weekday(
        slots, today + timedelta(weeks=slots.n)
    ),
    "ago to the day": lambda slots, today: _exactly(replace(slots, n=-slots.n), today),
    "unit before last": lambda slots, today: units_on(slots.unit, -2, today),
    "unit after next": lambda slots, today: units_on(slots.unit, 2, today),
    "next weekend": lambda slots, today: _weekend_in(1, today),
    "coming weekend": lambda slots, today: _weekend_in(0, today),
    "weekend before last": lambda slots, today: _weekend_in(-2, today),
    "weekends ago": lambda slots, today: _weekend_in(-slots.n, today),
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
    "next season": lambda slots, today: _coming(_seasons_around(slots, today), today),
    "this season": _this_season,
    "next month name": lambda slots, today: _coming(
        (month_of(today.year + year, slots.month) for year in (0, 1)), today
    ),
    "day of month": lambda slots, today: _day_of_month(today, slots, back=False),
    "end of next unit": lambda slots, today: _last_day(units_on(slots.unit, 1, today)),
    "end of this unit": lambda slots, today: _last_day(units_on(slots.unit, 0, today)),
}
