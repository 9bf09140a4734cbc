"""Several statements in one text, each with the day since which it was so: how mode merge tells a
change. "Until 2025-06-10: I live in Leeds. Since then: I live in Bristol."
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

_DAY = r"\d{4}-\d\d-\d\d"
_FIRST = re.compile(rf"Until ({_DAY}): ")
_NEXT = re.compile(rf" Since (then|{_DAY}): ")


class Period(NamedTuple):
    """What was so from a day on, until that of the next."""

    since: str
    """As ISO writes days; empty: from the beginning, whenever that was."""
    said: str


def periods(text: str) -> list[Period]:
    """What such a text tells, in its order; nothing if it is none."""
    begun = _FIRST.match(text)
    if begun is None:
        return []
    first, *more = _NEXT.split(text[begun.end() :])
    days = [begun[1] if day == "then" else day for day in more[::2]]
    return [Period("", first), *map(Period, days, more[1::2])]


def joined(told: Sequence[Period]) -> str:
    """The text of two periods or more, in their order."""
    first, second, *more = told
    text = f"Until {second.since}: {first.said} Since then: {second.said}"
    return " ".join([text, *(f"Since {one.since}: {one.said}" for one in more)])


def so_on(day: date, text: str) -> str | None:
    """What was so on that day by such a text."""
    held = [one.said for one in periods(text) if one.since <= day.isoformat()]
    return held[-1] if held else None
