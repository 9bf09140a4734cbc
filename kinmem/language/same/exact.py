"""What a statement says exactly: numbers, days, names, addresses, and whether it denies.

Whoever calls two statements the same, in whatever words, asks here first: how many of the words
they share does not matter, and what is missing here no chance outweighs.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from kinmem.language import vocabulary
from kinmem.language.grammar import FUNCTION_WORDS
from kinmem.language.pattern import late
from kinmem.language.same import amounts
from kinmem.language.same.amounts import DAY_NAMES, UNITS, spelled_in_digits
from kinmem.language.same.atoms import contrast, is_content
from kinmem.language.same.lexemes import UNSPACED, Lexeme, lexemes
from kinmem.language.same.lexicon import grouped
from kinmem.text import folded, words

Names = Callable[[str], Iterable[str]]
"""The names in a text."""

REWORDED = 0.3
"""Share of the shorter text's words: where fewer are other words, a `not` more turns it round."""
SHORTEST_NAME, SHORTEST_IN_SIGNS = 3, 2
"""Letters; shorter ones are mostly abbreviations: UK, Fr, St. In Chinese one sign is a surname."""
HALF_A_DAY = 12
DENYING = vocabulary.NEGATORS | vocabulary.CONCORD | {"do", "does", "did"}

PERHAPS = grouped("exact.perhaps")
"""Words that may be numbers: of what is known they are, of what is new they need not be."""
_MEASURES = {
    **{"ms": ("s", "1/1000"), "s": ("s", "1"), "min": ("s", "60"), "h": ("s", "3600")},
    **{"day": ("s", "86400"), "week": ("s", "604800"), "month": ("month", "1")},
    **{"year": ("month", "12"), "mm": ("m", "1/1000"), "cm": ("m", "1/100"), "m": ("m", "1")},
    **{"km": ("m", "1000"), "mg": ("g", "1/1000"), "g": ("g", "1"), "kg": ("g", "1000")},
    **{"t": ("g", "1000000"), "ml": ("l", "1/1000"), "cl": ("l", "1/100"), "l": ("l", "1")},
    **{"dozen": ("", "12"), "thousand": ("", "1000"), "million": ("", "1000000"), "%": ("%", "1/100")},
}
"""Units that measure the same, in one of them."""
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_CLOCK = re.compile(r"(\d\d):(\d\d)")
_THOUSANDS = re.compile(r"\d{1,3}\.\d{3}")
_HOUR = re.compile(r"\d\d?")
_DAY = re.compile(r"(\d{1,2})[./](\d{1,2})")
_DATE = re.compile(r"(?P<year>\d{4}|-)(?:-(?P<month>\d\d))?(?:-(?P<day>\d\d))?")
_ONE = re.compile(r"(?<![\d.,:/-])1(?![\d.,:/-]*\d)")
"""A one in digits."""
_PLAIN = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_SIGNS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_EQUALS = re.compile(r"\s?=+\s?")
_PER = late(rf"(?<=[\w€$£¥])/(?=(?:{'|'.join(map(re.escape, UNITS))})\b)", re.IGNORECASE)
_TIMES = re.compile(r"(\d+)x")
_HALF = re.compile(rf"(?i)\b[ap]\.?m\b|\d[ap]m\b|{amounts.HALVES['a']}|{amounts.HALVES['p']}")
_NUMBERED = re.compile(r"\bno\.\s?(?=\d)", re.IGNORECASE)
_CAPITAL = re.compile(r"(?<=[\w,;:'’)] )[\"'“(]?([A-ZÀ-ÞА-Я][\w-]+)")


def by_capitals(text: str) -> Iterator[str]:
    """Words with a capital within a sentence: what may be a name, where nobody knows names."""
    return (name for name in _CAPITAL.findall(text) if not _is_day(name))


def holds_all(known: str, new: str, names: Names = by_capitals) -> bool:
    """Whether every exact part of the new statement stands in the known one, by its value.

    Two is 2, 45 minutes are three quarters of an hour and 11.10. is the 11th of October; 5 % are
    not 5 €, and 5 alone may be either. A name stands there in the same letters, but for the
    genitive's. Texts in nearly the same words must also deny the same, and the new one is not the
    known one with something added. The known one may hold more.
    """
    ours, theirs = _read(known), _read(new)
    return (
        _has_figures(ours, theirs)
        and all(_has_date(ours, date) for date in theirs.dates)
        and all(_stands_in(known, code) for code in theirs.codes)
        and not _lacks_name(known, names(new))
        and _denies_as_much(known, new)
        and not _goes_on(known, new)
    )


class Figure(NamedTuple):
    """A number and what it counts."""

    value: str
    """As written, or in digits; of a clock HH:MM."""
    unit: str
    """%, €, kg, "th"; "clock", "clock?" before or after noon; empty if nobody says."""

    @property
    def is_clock(self) -> bool:
        return self.unit.startswith("clock")

    def is_one_with(self, other: "Figure") -> bool:
        if self == other:
            return True
        if self.is_clock or other.is_clock:
            return _tells_hour(self, other) or _tells_hour(other, self)
        (amount, measure), (another, its) = self._measured, other._measured
        is_as_much = amount == another if amount is not None else self.value == other.value
        if measure == its:
            return is_as_much
        return "" in (self.unit, other.unit) and (is_as_much or self.value == other.value)

    def read_as_thousands(self) -> "Figure":
        """1.000 is a thousand in Berlin, and 7.30 a time."""
        value = self.value.replace(".", "") if _THOUSANDS.fullmatch(self.value) else self.value
        return self._replace(value=value)

    @property
    def _measured(self) -> tuple[Fraction | None, str]:
        unit, factor = _MEASURES.get(self.unit, (self.unit, "1"))
        try:
            return Fraction(self.value) * Fraction(factor), unit
        except (ValueError, ZeroDivisionError):  # 3.2.1, 60/40/0
            return None, unit


def _tells_hour(clock: Figure, other: Figure) -> bool:
    """Whether the other is this time of day: 7, 7 h, or 7:00 where the first is 19:00."""
    if not (time := _CLOCK.fullmatch(clock.value)):
        return False
    hours, minutes = int(time[1]), time[2]
    if at := _CLOCK.fullmatch(other.value.replace(".", ":").zfill(5)):
        is_either = "clock" not in (clock.unit, other.unit) or clock.unit != other.unit
        return is_either and minutes == at[2] and (int(at[1]) - hours) % HALF_A_DAY == 0
    if minutes != "00" or other.unit not in ("", "h") or not _HOUR.fullmatch(other.value):
        return False
    return (int(other.value) - hours) % HALF_A_DAY == 0


class Parts(NamedTuple):
    """What is exact in a text, but for its names."""

    figures: Collection[Figure]
    perhaps: Collection[Figure]
    """One, half, second: words that need not be numbers."""
    dates: Collection[str]
    codes: Collection[str]
    """Addresses, paths, versions, identifiers; in the case in which they are compared."""
    beginnings: Collection[str]
    """Three letters of each word: of Wed, and of Mittwochabend."""


def _read(text: str) -> Parts:
    figures, perhaps, dates, codes = list[Figure](), list[Figure](), list[str](), list[str]()
    found = lexemes(spelled_in_digits(_PER.sub(" / ", _EQUALS.sub(" ", text))))
    tells_half, has_one = _HALF.search(text) is not None, _ONE.search(text) is not None
    for one, follower in pairwise([*found, Lexeme("", "break")]):
        if one.kind == "number":
            for part in _ranged(one.form):
                figure = _figure(part, follower, tells_half)
                is_word = figure.value == "1" and not has_one
                (perhaps if is_word else figures).append(figure)
        elif one.kind == "date" and not one.form.isalpha():  # today: of whatever day it was said
            dates.append(one.form.removesuffix("s"))
        elif times := _TIMES.fullmatch(one.form):
            figures.append(Figure(times[1], ""))
        elif one.kind == "name" and not _PLAIN.fullmatch(one.form):
            codes += [one.form] if re.search(r"\w", one.form) else []
        elif value := PERHAPS.get(one.form) or PERHAPS.get(one.form[:-1] + "o"):
            perhaps.append(Figure(value, ""))
    beginnings = {word[:3] for word in words(text)}
    return Parts({*figures}, {*perhaps}, {*dates}, {*codes}, beginnings)


def _ranged(form: str) -> list[str]:
    """From 9:00-17:00 both."""
    parts = form.split("-")
    return [part.zfill(5) if ":" in part else part for part in parts] if all(parts) else [form]


def _figure(form: str, follower: Lexeme, tells_half: bool) -> Figure:
    if _CLOCK.fullmatch(form):
        is_clear = tells_half or not 0 < int(form[:2]) <= HALF_A_DAY
        return Figure(form, "clock" if is_clear else "clock?")
    if ordinal := _ORDINAL.fullmatch(form):
        return Figure(ordinal[1], "th")
    return Figure(form, _unit(follower))


def _unit(follower: Lexeme) -> str:
    """A pound may be a weight or a currency."""
    return follower.form if follower.kind == "unit" and follower.form != "pound" else ""


def _has_figures(known: Parts, new: Parts) -> bool:
    """Whether each number of the new one is one of the known one's, or a part of its dates.

    That may be in words: the fourth go, four goes. One is a number where another was said instead.
    """
    ours = {*known.figures, *known.perhaps}
    ours |= {one.read_as_thousands() for one in ours}
    days = {str(int(part)) for date in known.dates for part in _parts_of(date).values()}

    def stands(figure: Figure) -> bool:
        if figure in ours or figure.read_as_thousands() in ours:
            return True
        if figure.unit in ("", "th", "year") and figure.value in days:
            return True
        if (day := _DAY.fullmatch(figure.value)) and _on_day(known.dates, *day.groups()):
            return True
        return any(map(figure.is_one_with, ours))

    if not all(map(stands, new.figures)):
        return False
    theirs = [*new.figures, *new.perhaps]
    given_up = not all(any(map(one.is_one_with, theirs)) for one in known.figures)
    return not given_up or all(stands(one) for one in new.perhaps if one.value == "1")


def _on_day(dates: Iterable[str], one: str, other: str) -> bool:
    """Whether a date is of this day, its month written before or behind it."""
    wanted = {int(one), int(other)}
    parts = map(_parts_of, dates)
    return any({int(date.get("month", 0)), int(date.get("day", 0))} == wanted for date in parts)


def _has_date(known: Parts, date: str) -> bool:
    """Whether the known one has this day, at least as exactly."""
    if date in known.dates:
        return True
    parts = _parts_of(date)
    if not parts:
        return any(day[:3] in known.beginnings for day, its in DAY_NAMES.items() if its == date)
    numbers = {figure.value.lstrip("0") for figure in known.figures}
    if {"month", "day"} <= parts.keys():
        days = (found.groups() for one in known.figures if (found := _DAY.fullmatch(one.value)))
        written = any({int(part) for part in day} == {int(parts["month"]), int(parts["day"])} for day in days)
        if written and "year" not in parts:
            return True
    told = list(map(_parts_of, known.dates))
    return all(
        any(other.get(name) == part for other in told)
        or (name != "month" and part.lstrip("0") in numbers)
        for name, part in parts.items()
    )


def _parts_of(date: str) -> dict[str, str]:
    """Year, month and day, as far as it has them; a weekday has none."""
    found = _DATE.fullmatch(date)
    parts = found.groupdict() if found else {}
    return {name: part for name, part in parts.items() if part and part != "-"}


def _stands_in(text: str, code: str) -> bool:
    whole = rf"(?<![A-Za-z0-9_]){re.escape(code)}(?![A-Za-z0-9_])"
    return re.search(whole, text, re.IGNORECASE) is not None


def _lacks_name(text: str, names: Iterable[str]) -> bool:
    """Whether one has a word that the text has not; of signs without spaces between, a row."""
    told = folded(text)
    said = set(map(_bare, words(_SIGNS.sub(" ", told))))
    named = {word for name in names if not _is_day(name) for word in _in_parts(name)}
    return any(word not in (told if UNSPACED.match(word) else said) for word in named)


def _in_parts(name: str) -> Iterator[str]:
    yield from (signs for signs in _SIGNS.findall(folded(name)) if len(signs) >= SHORTEST_IN_SIGNS)
    capitals = [word for word in name.split() if not word.islower()]
    for word in map(_bare, words(folded(_SIGNS.sub(" ", " ".join(capitals or [name]))))):
        if len(word) >= SHORTEST_NAME and word not in FUNCTION_WORDS:
            yield word


def _bare(word: str) -> str:
    return re.sub(r"['’]?s$", "", word)


def _is_day(word: str) -> bool:
    return any(day.startswith(word.casefold()) for day in DAY_NAMES)


def _denies_as_much(known: str, new: str) -> bool:
    """Whether texts in nearly the same words deny the same and turn nothing round; other texts may
    say it the other way: only Ana may, nobody but Ana may."""
    pair = contrast(_NUMBERED.sub("", known), _NUMBERED.sub("", new))
    shorter = min(len(pair.left.words), len(pair.right.words))
    is_close = max(_others(pair.lost), _others(pair.gained)) <= max(1, REWORDED * shorter)
    denied = [bool(side.negations) for side in (pair.left, pair.right)]
    return not is_close or denied[0] == denied[1] and not pair.differs(("opposite", "question"))


def _others(found: Counter[str]) -> int:
    """How many words there are besides those that deny: do not."""
    return sum(count for word, count in found.items() if word not in DENYING)


def _goes_on(known: str, new: str) -> bool:
    """Whether the new one has all words of the known one in their order, and says more besides."""
    pair = contrast(known, new)
    rest = iter(pair.right.words)
    return any(map(is_content, pair.gained)) and all(word in rest for word in pair.left.words)
