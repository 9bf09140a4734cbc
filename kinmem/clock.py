"""The current time, and times as programs write them: ISO 8601, durations, ages.

Everything that reads the time takes a Clock, so that tests can move it.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

Clock = Callable[[], datetime]

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)

MINUTE, HOUR, DAY = 60, 3_600, 86_400  # seconds
WEEK, MONTH, YEAR = 7 * DAY, 30 * DAY, 365 * DAY
LONGEST = 100 * YEAR

MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)
DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)

SHORT_DURATION = re.compile(r"(\d{1,9}) ?(mo|[mhdwy])", re.ASCII | re.IGNORECASE)
SHORT_UNITS = {"m": MINUTE, "h": HOUR, "d": DAY, "w": WEEK, "mo": MONTH, "y": YEAR}
AGES = (("y", YEAR), ("mo", MONTH), ("d", DAY), ("h", HOUR), ("m", MINUTE))
ISO_DURATION = re.compile(
    r"P(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,9})W)?(?:(\d{1,9})D)?"
    r"(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?",
    re.ASCII | re.IGNORECASE,
)
ISO_UNITS = (YEAR, MONTH, WEEK, DAY, HOUR, MINUTE, 1)


def utc_now() -> datetime:
    """Return the current time as an aware datetime in UTC."""
    return datetime.now(UTC)


def moment(when: datetime, zone: tzinfo) -> str:
    """Format a time as ISO 8601 to the second with the zone's offset, the form given to
    programs."""
    return when.astimezone(zone).isoformat(timespec="seconds")


def parse_time(text: str, zone: tzinfo, *, end: bool = False) -> datetime:
    """An ISO 8601 date or time as an aware datetime in `zone`, its own if it gives no other.

    A bare year, month or date means its first moment, or with `end` the first moment after it.
    Raises ValueError for anything else, and for years outside 1 to 9998.
    """
    try:
        moment = _time(text.strip().upper(), zone, end)
        moment.astimezone(UTC)  # raises beyond the calendar: near year 1, east of Greenwich
    except (ValueError, OverflowError):
        raise ValueError(f"{text[:40]!r} is not a date or time") from None
    return moment


def _time(text: str, zone: tzinfo, end: bool) -> datetime:
    bare = DATE.fullmatch(text)
    if not (bare or MOMENT.fullmatch(text)) or text.startswith("9999"):  # has no year after it
        raise ValueError
    if bare:
        day = _first_day(*(int(part or 0) for part in bare.groups()), end=end)
        return datetime.combine(day, time(), zone)
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)


def _first_day(year: int, month: int, day: int, *, end: bool) -> date:
    """Of a year, a month of it or a day; with `end` of what follows."""
    first = date(year, month or 1, day or 1)
    if not end:
        return first
    if day:
        return first + timedelta(days=1)
    return date(year + month // 12, month % 12 + 1, 1) if month else date(year + 1, 1, 1)


def parse_duration(text: str) -> timedelta:
    """How long '90m', '12h', '30d', '2w', '6mo', '1y' or ISO 8601 'P30D', 'PT12H' is.

    A month has 30 days, a year 365. Raises ValueError for anything else, zero, and over 100 years.
    """
    if short := SHORT_DURATION.fullmatch(text.strip()):
        seconds = int(short[1]) * SHORT_UNITS[short[2].lower()]
    elif iso := ISO_DURATION.fullmatch(text.strip()):
        counts = (int(count or 0) for count in iso.groups())
        seconds = sum(count * unit for count, unit in zip(counts, ISO_UNITS, strict=True))
    else:
        raise ValueError(f"{text[:40]!r} is not a duration; write it like 30d, 12h, 6mo or P30D")
    if not 0 < seconds <= LONGEST:
        raise ValueError(f"{text[:40]!r} is out of range; a duration is over 0 and up to 100 years")
    return timedelta(seconds=seconds)


def parse_expiry(text: str, now: datetime, zone: tzinfo) -> datetime:
    """A duration from `now`, or a time; a bare date, month or year lasts until it is over.

    Raises ValueError if it is neither, or not in the future.
    """
    if SHORT_DURATION.fullmatch(text.strip()) or ISO_DURATION.fullmatch(text.strip()):
        try:
            return (now + parse_duration(text)).astimezone(zone)
        except OverflowError:
            raise ValueError(f"{text[:40]!r} from now is beyond the calendar") from None
    expiry = parse_time(text, zone, end=True)
    if expiry <= now:
        raise ValueError(f"{text[:40]!r} is over already; give a time to come, or 30d")
    return expiry


def age_in_words(then: datetime, now: datetime) -> str:
    """'just now', '5m ago', '3h ago', '12d ago', '4mo ago', '2y ago'; rounded down."""
    seconds = int(now.timestamp() - then.timestamp())
    for name, unit in AGES:
        if seconds >= unit:
            return f"{seconds // unit}{name} ago"
    return "just now"


def spoken_date(moment: datetime) -> str:
    """'8 May 2023': the form in which dates are indexed as text, whatever the locale."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


# As the history stores a time.
STORED_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def in_minutes(value: Any, zone: tzinfo) -> Any:
    """Return a stored time as people read it, in their zone; any other value as it is."""
    if not isinstance(value, str) or not STORED_TIME.fullmatch(value):
        return value
    return f"{datetime.fromisoformat(value).astimezone(zone):%Y-%m-%d %H:%M}"
