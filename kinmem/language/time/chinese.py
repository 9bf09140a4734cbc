"""How Chinese speaks of time. It has no spaces and no tenses, so that phrases.py cannot read it."""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import NamedTuple

from kinmem.language.lexicon import lexicon
from kinmem.language.time.calendar import (
    MEANINGS,
    Slots,
    Stretch,
    day_of,
    month_of,
    year_of,
)
from kinmem.text import late

_TABLES = lexicon("zh")["time"]
DAYS: Mapping[str, int] = _TABLES["days"]
"""How many days from today; the same of years, and of steps from this week or month."""
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
TIME = late(
    rf"{BEGINS}(?P<day>{'|'.join(DAYS)}){DAY_ENDS}"
    rf"|(?<![\d.第几数两十百千{FIGURES}])(?P<n>\d{{1,3}}|{COUNT})"
    r"个?(?P<unit>天|周|星期|礼拜|年|(?<=个)月)(?:以|之)?(?P<way>[前后])"
    r"|(?P<step>(?<![晚早马网线路以加])上上?|(?<![一楼底以])下下?|(?<![日版一这那])本|这)个?"
    r"(?:(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
    r"|(?P<period>周|星期|礼拜|月(?![亮光球饼])))"
    rf"|(?<![\d.])(?P<of>(?:19|20)\d\d年|{OF_YEAR})?"
    r"(?P<month>(?<![\d.])\d{1,2})月(?:(?P<date>\d{1,2})[日号])?"
    rf"|(?P<year>{OF_YEAR}){YEAR_ENDS}"
)
QUOTED = late(r"《[^》]*》|「[^」]*」|“[^”]*”")
EDGE_BEFORE = ("从", "自", "到", "至", "自从")
EDGE_BEHIND = late("起|开始|为止|以来|[之以][前后]")
EDGE_OF_DATE = late("[前后](?![往来])")
"""Alone it is that behind a month or its day: 3月前 is before March, 昨天前台 is at the desk."""
DONE = late("[了过完]|到了")


class Time(NamedTuple):
    """A time that a text names."""

    start: int
    end: int
    stretch: Stretch
    is_relative: bool
    """It is counted from the day on which it is said."""
    is_edge: bool
    """Something is so since then, or until then."""


def times(text: str, today: date) -> Iterator[Time]:
    """The times of a text, in order; what stands in quotation marks or titles names none."""
    plain = QUOTED.sub(lambda match: " " * len(match[0]), text)
    for match in TIME.finditer(plain):
        try:
            stretch = _stretch(match, today)
        except (ValueError, OverflowError):  # 31 June, or beyond the calendar
            continue
        yield Time(*match.span(), stretch, match["month"] is None, _is_edge(plain, match))


def happened(text: str, today: date) -> date | None:
    """The earlier day on which it happened, where a text names that day and no other time."""
    found = list(times(text, today))
    if len(found) != 1 or found[0].is_edge or not (found[0].is_relative or DONE.search(text)):
        return None
    start, end = found[0].stretch
    is_day = end - start <= timedelta(days=1) and start.date() < today
    return start.date() if is_day else None


def _is_edge(plain: str, match: re.Match[str]) -> bool:
    behind = EDGE_BEHIND.match(plain, match.end())
    if match["month"]:
        behind = behind or EDGE_OF_DATE.match(plain, match.end())
    return behind is not None or plain.endswith(EDGE_BEFORE, 0, match.start())


def _stretch(match: re.Match[str], today: date) -> Stretch:
    if match["day"]:
        return day_of(today + timedelta(days=DAYS[match["day"]]))
    if match["year"]:
        return year_of(today.year + YEARS[match["year"]])
    if match["month"]:
        return _date(match, today)
    if match["n"]:
        count = _number(match["n"]) * (1 if match["way"] == "后" else -1)
        return _units_on(UNITS[match["unit"]], count, today)
    step = STEPS[match["step"]]
    if match["weekday"]:
        monday = today - timedelta(days=today.weekday())
        return day_of(monday + timedelta(weeks=step, days=WEEKDAYS[match["weekday"]]))
    return _units_on(UNITS[match["period"]], step, today)


def _date(match: re.Match[str], today: date) -> Stretch:
    """Without a year it is the latest one that has begun."""
    of, month = match["of"], int(match["month"])
    day = int(match["date"] or 1)
    if of:
        year = today.year + YEARS[of] if of in YEARS else int(of[:4])
    else:
        year = today.year - (date(today.year, month, min(day, 28)) > today)
    return day_of(date(year, month, day)) if match["date"] else month_of(year, month)


def _units_on(unit: int, count: int, today: date) -> Stretch:
    """The whole day, week, month or year so many of them on."""
    return MEANINGS["ago"](Slots(n=-count, unit=unit), today)


def _number(text: str) -> int:
    """The number up to 99, in figures or in words: 3, 三, 十二, 二十."""
    if text.isdigit():
        return int(text)
    tens, ten, ones = text.replace("两", "二").rpartition("十")
    return (FIGURES.find(tens) + 1 or 1) * 10 * bool(ten) + FIGURES.find(ones or " ") + 1
