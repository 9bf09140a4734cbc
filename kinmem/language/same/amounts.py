"""Numbers, times, dates and units in one spelling each, so that equal ones are equal strings."""

import re

from kinmem.language.pattern import late
from kinmem.language.same.lexicon import grouped

COUNTING = grouped("amounts.counting")
"""Number words, but those that are oftener another language's: once, due, sei, elf, un, eins."""

UNITS = grouped("amounts.units")
"""Read as units only right behind a number."""

_MONTHS = grouped("amounts.months")
_ALSO_WORDS = set("may march mars mai mar jan jun jul dec sep set dez".split())
DAY_NAMES = {
    word: f"--{month}" for word, month in _MONTHS.items() if word not in _ALSO_WORDS
} | grouped("amounts.days")
"""Weekdays, relative days, and the months that are no common words."""
CAPITAL_MONTHS = {"May": "--05", "March": "--03"}
"""Months if written so within a sentence."""

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


HALVES = {
    "a": "morgens|vormittags|du matin|de la mañana|di mattina|del mattino|da manhã|in the morning",
    "p": "nachmittags|abends|du soir|de l'après-midi|de la tarde|de la noche|di sera"
    "|del pomeriggio|da tarde|da noite|in the afternoon|in the evening",
}
"""What tells before noon from after it."""
_HOURS = "|".join(["sept", *(word for word, one in COUNTING.items() if one.isdecimal())])
_SEPT = {"sept": "7"}
"""Alone it is a month."""
_OCLOCK = r"(?:uhr|heures?|h|horas?|ore|o'clock)"
_TELLS_HOUR = late(rf"(?:[\d\s]{_OCLOCK}|{HALVES['a']}|{HALVES['p']})\b", re.IGNORECASE)
_SPOKEN_HOUR = late(
    rf"\b(?P<hour>\d{{1,2}}|{_HOURS})(?:\s?{_OCLOCK})?\s"
    rf"(?:(?P<a>{HALVES['a']})|(?P<p>{HALVES['p']}))\b"
    rf"|\b(?P<at>um|às|à|alle)\s(?P<hour2>\d{{1,2}})\s?{_OCLOCK}\b(?!\s?\d)",
    re.IGNORECASE,
)


def hours_in_digits(text: str) -> str:
    """The text with spoken hours as HH:MM: sept heures du soir is 19:00."""

    def clock(found: re.Match[str]) -> str:
        if found["at"]:
            hour = int(found["hour2"])
            return f"{found['at']} {hour:02}:00" if hour < 24 else found[0]
        told = found["hour"].lower()
        return (
            time(_SEPT.get(told, COUNTING.get(told, told)), "p" if found["p"] else "a") or found[0]
        )

    return _SPOKEN_HOUR.sub(clock, text) if _TELLS_HOUR.search(text) else text


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
