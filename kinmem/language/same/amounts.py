"""Numbers, times, dates and units in one spelling each, so that equal ones are equal strings; and
when two numbers are one: 45 minutes, 0.75 hours."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from kinmem.language.lexicon import lexicon, table
from kinmem.text import late

COUNTING = table("amounts", "counting")
"""Number words, but those that are oftener another language's: once, due, sei, elf, un, eins."""

UNITS = table("amounts", "units")
"""Read as units only right behind a number."""

_MONTHS = table("amounts", "months")
_ALSO_WORDS = set("may march mars mai mar jan jun jul dec sep set dez".split())
DAY_NAMES = {
    word: f"--{month}" for word, month in _MONTHS.items() if word not in _ALSO_WORDS
} | table("amounts", "days")
"""Weekdays, relative days, and the months that are no common words."""
CAPITAL_MONTHS = {"May": "--05", "March": "--03"}
"""Months if written so within a sentence."""
NAMED_TIMES = DAY_NAMES.keys() | set(map(str.casefold, CAPITAL_MONTHS))
"""Words for a time that have a capital and are nobody's name."""

_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_OF = r"(?:of\s|de\s|del\s|di\s)?"
_WRITTEN = late(
    rf"""
    (?<![\w.,:/-])(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.|º|°)?\s{_OF}
        (?P<month>{_MONTH})\b\.?(?:,?\s{_OF}(?P<year>\d{{4}})\b)?
    | \b(?P<month2>{_MONTH})\b\.?,?\s(?:
        (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?![.:,/-]\d)(?:,?\s(?P<year2>\d{{4}})\b)?
        | {_OF}(?P<year3>\d{{4}})\b )
    | (?P<year4>\d{{4}})年(?P<month4>\d{{1,2}})月(?:(?P<day4>\d{{1,2}})[日号])?
    """,
    re.VERBOSE | re.IGNORECASE,
)


def dates_in_iso(text: str) -> str:
    """The text with written dates as ISO 8601: 8 May 2023 is 2023-05-08, May 8th is --05-08."""

    def iso(found: re.Match[str]) -> str:
        part = {name.rstrip("234"): value for name, value in found.groupdict().items() if value}
        month = _MONTHS.get(part["month"].lower(), part["month"].zfill(2))
        day = f"-{part['day'].zfill(2)}" if "day" in part else ""
        return f" {part.get('year', '-')}-{month}{day} "

    return _WRITTEN.sub(iso, text)


HALVES: Mapping[str, str] = lexicon("amounts")["halves"]
"""What tells before noon from after it."""
CARDINALS = {word: int(value) for word, value in COUNTING.items() if value.isdecimal()}
_LARGE = {word: int(value) for word, value in table("amounts", "large").items()}
_JOINED = {word: int(value) for word, value in table("amounts", "joined").items()}
"""Numbers only within a longer one: in dos mil, not in dos meninos."""
_ATOMS = _JOINED | _LARGE | CARDINALS
_ATOM = "|".join(sorted(_ATOMS, key=len, reverse=True))
_SPELLED = late(
    rf"(?<![^\W_])(?:{_ATOM})(?:(?:\s(?:and|y|e|et)\s|[\s-]|und|)(?:{_ATOM}))+s?(?![^\W_])",
    re.IGNORECASE,
)
_HALF_MORE = late(
    rf"\b(?:(?P<past>half past|halb)\s(?P<hour>\d{{1,2}}|{_ATOM})"
    rf"|(?P<number>\d{{1,2}}|{_ATOM})\s[ey]\s(?P<half>mezz[oa]|medi[oa]|mei[oa]))\b",
    re.IGNORECASE,
)
_GROUPED = late(
    r"(?<![\d.,])(\d{1,3})[ \u00a0\u202f](?=\d{3}(?:[ \u00a0\u202f]\d{3})*\b(?![.,:]\d))"
)
_HOUR_AND_MINUTES = late(r"\b(\d{1,2})\s?(?:h|uhr)\s?(\d\d)\b", re.IGNORECASE)
_THOUSAND = late(r"(?<![\w.,])(\d{1,3})k\b")
_COUNTED = late(rf"(?<![\w.,])(\d{{1,3}})\s?({'|'.join(_LARGE)})\b", re.IGNORECASE)
_SIGNS = {sign: int(value) for sign, value in table("amounts", "signs").items()}
_SIGN = f"[{''.join(_SIGNS)}]"
_IN_SIGNS = late(
    rf"(?![百千万]|一点(?![半钟分\d])){_SIGN}"
    rf"(?:{_SIGN}{{1,15}}|(?=[点點月日号岁年天周时块元次个人口只]))"
)
_WEEKDAY_SIGN = late("(?<![一二两三四五六七八九十几])(?:周|星期|礼拜)([一二三四五六日天])")
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday sunday".split()
_MONTH_SIGN = late(r"(?<![年\d])(\d{1,2})月(?:(\d{1,2})[日号])?")
_HOUR_SIGN = late(
    r"""
    (?:(?P<part>上午|下午|早上|晚上?|傍晚|凌晨|中午)\s? | (?P<day>(?<=day\s)))?
    (?<![\d.有这那])(?P<hour>[01]?\d|2[0-4])[点點]
    (?: (?P<half>半) | (?P<minute>[0-5]\d|\d(?=分))(?!\d)分? | 钟 | 鐘 | 整(?!理)
        | (?(part)|(?(day)|(?=\s*(?:$|[，。！？；、,.!?;)）])))) )
    """,
    re.VERBOSE,
)
"""三点 is three o'clock if something says so; three points as well (三点建议)."""
_QUARTERS = late(
    r"\b(?:three|drei|trois|tres|tre|três)\s?(?:quarters|viertel|quarts|cuartos|quarti|quartos)\s?"
    r"(?:of an? |d['’]|de |d[ao] )?(?=hour|stunde|heure|hora|ora)"
    r"|(?P<half>\b(?:half an?|(?:eine )?halbe[nr]?|(?:une )?demi|media|mezz[ao'’]|meia)[\s-]?)"
    r"(?=hour|stunde|heure|hora|ora)",
    re.IGNORECASE,
)


def spelled_in_digits(text: str) -> str:
    """The text with numbers of several words in digits: twenty-three is 23, 三千 is 3000.

    Numbers of one word stay, as lexemes know them; so do words in a row that make no number.
    """
    if not text.isascii():
        text = _signs_in_digits(text)
    text = _THOUSAND.sub(r"\g<1>000", _GROUPED.sub(r"\1,", text))
    text = _HOUR_AND_MINUTES.sub(r"\1:\2", text)
    text = _QUARTERS.sub(lambda found: "0.5 " if found["half"] else "0.75 ", text)
    text = _HALF_MORE.sub(_half_more, text)
    text = _SPELLED.sub(lambda found: _spelled(found[0]), text)
    return _COUNTED.sub(lambda found: str(int(found[1]) * _LARGE[found[2].lower()]), text)


def _half_more(found: re.Match[str]) -> str:
    """half past five, halb sechs, cinque e mezza: 05:30; dos y medio: 2.5."""
    told = (found["hour"] or found["number"]).lower()
    number = _ATOMS.get(told) or int(told)
    if found["half"] and found["half"][-1].lower() == "o":
        return f"{number}.5"
    hour = number - ((found["past"] or "").lower() == "halb")
    return f"{hour:02}:30" if 0 <= hour < 24 else found[0]


def _spelled(said: str) -> str:
    atoms = re.findall(rf"und|{_ATOM}", said.lower())
    values = [_ATOMS[atom] for atom in atoms if atom != "und"]
    total = part = 0
    for value in values:
        rest = part % 100
        if value >= 1000 and not total:
            total, part = max(part, 1) * value, 0
        elif value == 100 and part < 20:
            part = max(part, 1) * 100
        elif value == 20 and rest == 4:
            part += 76  # quatre-vingt
        elif value < 100 and (not rest or _goes_with(rest, value, "und" in atoms)):
            part += value
        else:
            return said
    return str(total + part)


def _goes_with(rest: int, value: int, is_reversed: bool) -> bool:
    """Twenty and three; soixante et onze; dix-sept; dreiundzwanzig."""
    if rest % 10:
        return is_reversed and rest < 10 and value >= 20
    return value < 10 and (rest > 10 or value > 6) or value < 20 and rest in (60, 80)


def _signs_in_digits(text: str) -> str:
    text = _WEEKDAY_SIGN.sub(lambda day: f" {_WEEKDAYS['一二三四五六日天'.index(day[1])]} ", text)
    text = _IN_SIGNS.sub(lambda found: _signed(found[0]), text)
    text = _MONTH_SIGN.sub(
        lambda found: f" --{int(found[1]):02}" + (f"-{int(found[2]):02} " if found[2] else " "),
        text,
    )
    return _HOUR_SIGN.sub(_clock_in_digits, text)


def _clock_in_digits(found: re.Match[str]) -> str:
    hour, part = int(found["hour"]), found["part"] or ""
    if part.startswith("晚") or part == "凌晨":
        is_later = part != "凌晨" and 4 < hour < 12
        hour = hour + 12 if is_later else hour % 12 if hour == 12 else hour
    elif part in ("下午", "傍晚") or part == "中午" and hour < 4:
        hour += 12 * (hour < 12)
    return f" {hour % 24:02}:{30 if found['half'] else int(found['minute'] or 0):02} "


def _signed(signs: str) -> str:
    """两三 (two or three) and 十二三 stay."""
    values = [_SIGNS[sign] for sign in signs]
    is_number = max(values) > 9
    if any(0 < one < next < 10 for one, next in pairwise(values)) and (is_number or len(signs) < 3):
        return signs
    if len(signs) > 1 and values[-1] < 10 and values[-2] >= 100:  # 一百五 is 150
        values.append(values[-2] // 10)
    if not is_number:
        return "".join(map(str, values))
    total = part = digit = 0
    for value in values:
        if value < 10:
            digit = value
        elif value < 10_000:
            part, digit = part + max(digit, 1) * value, 0
        else:
            total, part, digit = total + (part + digit) * value, 0, 0
    return str(total + part + digit)


_THOUSANDS = late(r"(\d{1,3}(?:,\d{3})+|\d{1,3}(?:'\d{3})+)(\.\d+)?")
_DOTTED_THOUSANDS = late(r"(\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:\.\d{3})+(?=,))(,\d+)?")
_DECIMAL = late(r"(\d+)[.,](\d+)")
_TIME = late(r"(\d{1,2})[:.](\d\d)(?::00)?")
_YMD = late(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_YM = late(r"\d{4}-(?:0\d|1[0-2])|--\d\d(?:-\d\d)?|(?:19|20)\d\d")
_DMY = late(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})")


def date(literal: str) -> str | None:
    """The digits as an ISO date, None if they are not surely one; a year alone is a date.

    05/08/2023 is read either way by different people, so it stays as written, without zeros.
    """
    if _YM.fullmatch(literal):
        return literal
    if found := _YMD.fullmatch(literal):
        year, month, day = (int(part) for part in found.groups())
    elif found := _DMY.fullmatch(literal):
        day, month, year = int(found[1]), int(found[3]), int(found[4])
        if found[2] != "." and day <= 12 and month <= 12 and day != month:
            return f"{day}/{month}/{year}"
        if month > 12:
            day, month = month, day
    else:
        return None
    return f"{year:04}-{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else None


def time(literal: str, half: str) -> str | None:
    """The digits as HH:MM; `half` is a, p or empty. None if they are no time of day."""
    found = _TIME.fullmatch(literal)
    if half and (found or literal.isdecimal()):
        hour, minute = (int(found[1]), found[2]) if found else (int(literal), "00")
        return f"{hour % 12 + 12 * (half == 'p'):02}:{minute}" if hour <= 12 else None
    if found and ":" in literal and int(found[1]) < 24:
        return f"{int(found[1]):02}:{found[2]}"
    return None


def number(literal: str) -> str:
    """The digits without marks between thousands and without a fraction of zeros.

    1,000 and 1000.0 are 1000; 3.10 is not 3.1 (it may be a version), 007 not 7 (it may be a code);
    1.000 stays, since it is a thousand in Berlin and one in London.
    """
    if found := _THOUSANDS.fullmatch(literal):
        literal = found[1].replace(",", "").replace("'", "") + (found[2] or "")
    elif found := _DOTTED_THOUSANDS.fullmatch(literal):
        literal = found[1].replace(".", "") + (found[2] or "")
    if found := _DECIMAL.fullmatch(literal):
        whole, part = found.groups()
        doubtful = len(part) == 3
        return literal if doubtful else whole if not part.strip("0") else f"{whole}.{part}"
    return literal


HALF_A_DAY = 12
DAY = re.compile(r"(\d{1,2})[./](\d{1,2})")
"""A day and its month, either first."""
_MEASURES: Mapping[str, Sequence[str]] = lexicon("amounts")["measures"]
"""Units that measure the same, in one of them."""
POUNDS = {"pound", "£"}
"""A pound is a weight or a currency; nobody says which."""
_ORDINAL_FIGURE = re.compile(r"(\d+)(?:st|nd|rd|th)")
_CLOCK_FIGURE = re.compile(r"(\d\d):(\d\d)")
_CODE_FIGURE = re.compile(r"0\d+|\d+\.\d*0")
"""007 and 3.10 may be a code and a version."""
_HOUR_FIGURE = re.compile(r"\d\d?")
_THOUSAND_FIGURE = re.compile(r"\d{1,3}\.\d{3}")


class Figure(NamedTuple):
    """A number and what it counts."""

    value: str
    """In digits; of a clock HH:MM."""
    unit: str
    """%, €, kg, "th"; "clock", or "clock?" before or after noon; empty if nobody says."""

    def is_one_with(self, other: "Figure") -> bool:
        """Whether they are as much of the same; a bare number may count anything. Symmetric."""
        if self == other:
            return True
        if self.unit.startswith("clock") or other.unit.startswith("clock"):
            return _tells_hour(self, other) or _tells_hour(other, self)
        (amount, measure), (another, its) = _measured(self), _measured(other)
        is_as_much = amount == another if amount is not None else self.value == other.value
        if measure == its or {measure, its} == POUNDS:
            return is_as_much
        return "" in (measure, its) and (is_as_much or self.value == other.value)


def figure(form: str, unit: str, tells_half: bool) -> Figure:
    """A lexeme's number with the unit behind it. `tells_half`: its text tells a.m. from p.m."""
    if _CLOCK_FIGURE.fullmatch(form):
        is_clear = tells_half or not 0 < int(form[:2]) <= HALF_A_DAY
        return Figure(form, "clock" if is_clear else "clock?")
    if ordinal := _ORDINAL_FIGURE.fullmatch(form):
        return Figure(ordinal[1], "th")
    if _THOUSAND_FIGURE.fullmatch(form):  # 1.000 is a thousand in Berlin, and here
        form = form.replace(".", "")
    return Figure(form, unit)


def _measured(one: Figure) -> tuple[Fraction | None, str]:
    unit, factor = _MEASURES.get(one.unit, (one.unit, "1"))
    if not unit and _CODE_FIGURE.fullmatch(one.value):
        return None, unit
    try:
        return Fraction(one.value) * Fraction(factor), unit
    except (ValueError, ZeroDivisionError):  # 3.2.1, 60/0
        return None, unit


def _tells_hour(clock: Figure, other: Figure) -> bool:
    """Whether the other is this time of day: 7, 7 h, or 7:00 where the first is 19:00."""
    if not (time := _CLOCK_FIGURE.fullmatch(clock.value)):
        return False
    hours, minutes = int(time[1]), time[2]
    if at := _CLOCK_FIGURE.fullmatch(other.value.replace(".", ":").zfill(5)):
        if "clock" == clock.unit == other.unit:
            return at[0] == time[0]
        return minutes == at[2] and (int(at[1]) - hours) % HALF_A_DAY == 0
    if minutes != "00" or other.unit not in ("", "h") or not _HOUR_FIGURE.fullmatch(other.value):
        return False
    return (int(other.value) - hours) % HALF_A_DAY == 0
