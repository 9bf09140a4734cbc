"""A number with what it counts, and when two of them are one: 45 minutes, 0.75 hours."""

import re
from fractions import Fraction
from typing import NamedTuple

HALF_A_DAY = 12
DAY = re.compile(r"(\d{1,2})[./](\d{1,2})")
"""A day and its month, either first."""
_MEASURES = {
    **{"ms": ("s", "1/1000"), "s": ("s", "1"), "min": ("s", "60"), "h": ("s", "3600")},
    **{"day": ("s", "86400"), "week": ("s", "604800"), "month": ("month", "1")},
    **{"year": ("month", "12"), "mm": ("m", "1/1000"), "cm": ("m", "1/100"), "m": ("m", "1")},
    **{"km": ("m", "1000"), "mg": ("g", "1/1000"), "g": ("g", "1"), "kg": ("g", "1000")},
    **{"t": ("g", "1000000"), "ml": ("l", "1/1000"), "cl": ("l", "1/100"), "l": ("l", "1")},
    **{"dozen": ("", "12"), "thousand": ("", "1000"), "million": ("", "1000000")},
    **{"%": ("%", "1/100"), "pound": ("", "1")},  # a weight or a currency
}
"""Units that measure the same, in one of them."""
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_CLOCK = re.compile(r"(\d\d):(\d\d)")
_HOUR = re.compile(r"\d\d?")
_THOUSANDS = re.compile(r"\d{1,3}\.\d{3}")


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
        if measure == its:
            return is_as_much
        return "" in (measure, its) and (is_as_much or self.value == other.value)


def figure(form: str, unit: str, tells_half: bool) -> Figure:
    """A lexeme's number with the unit behind it. `tells_half`: its text tells a.m. from p.m."""
    if _CLOCK.fullmatch(form):
        is_clear = tells_half or not 0 < int(form[:2]) <= HALF_A_DAY
        return Figure(form, "clock" if is_clear else "clock?")
    if ordinal := _ORDINAL.fullmatch(form):
        return Figure(ordinal[1], "th")
    if _THOUSANDS.fullmatch(form):  # 1.000 is a thousand in Berlin, and here
        form = form.replace(".", "")
    return Figure(form, unit)


def _measured(one: Figure) -> tuple[Fraction | None, str]:
    unit, factor = _MEASURES.get(one.unit, (one.unit, "1"))
    try:
        return Fraction(one.value) * Fraction(factor), unit
    except (ValueError, ZeroDivisionError):  # 3.2.1, 60/0
        return None, unit


def _tells_hour(clock: Figure, other: Figure) -> bool:
    """Whether the other is this time of day: 7, 7 h, or 7:00 where the first is 19:00."""
    if not (time := _CLOCK.fullmatch(clock.value)):
        return False
    hours, minutes = int(time[1]), time[2]
    if at := _CLOCK.fullmatch(other.value.replace(".", ":").zfill(5)):
        if "clock" == clock.unit == other.unit:
            return at[0] == time[0]
        return minutes == at[2] and (int(at[1]) - hours) % HALF_A_DAY == 0
    if minutes != "00" or other.unit not in ("", "h") or not _HOUR.fullmatch(other.value):
        return False
    return (int(other.value) - hours) % HALF_A_DAY == 0
