"""The page's words in one language, with its numbers and times.

<language>.toml is the catalogue. A text with {n} has two forms, one and other.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from kinmem.errors import KinmemError
from kinmem.models import Issue

WORDS = Path(__file__).parent
DEFAULT = "en"
LANGUAGES = (DEFAULT, "de")
STEPS = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)
# Beyond that a date says more.
WEEK = timedelta(days=7)
# Nobody has an estimate that is finer than a hundredth.
LEAST_TOLD = 0.01


@dataclass(frozen=True, slots=True)
class Language:
    """One language of the page."""

    code: str
    words: Mapping[str, str]

    def text(self, key: str, **values: Any) -> str:
        """Return a text of the catalogue, with its values filled in."""
        return self.words[key].format(**values) if values else self.words[key]

    def count(self, key: str, n: int, **values: Any) -> str:
        """Return the text for that number: `key`.one or `key`.other."""
        form = "one" if n == 1 else "other"
        return self.words[f"{key}.{form}"].format(n=self.number(n), **values)

    def name(self, family: str, value: str) -> str:
        """Return how a fixed word of kinmem is called, such as a state; itself if it has no
        name."""
        return self.words.get(f"{family}.{value}") or value.replace("_", " ")

    def error(self, error: KinmemError) -> str:
        """Return what went wrong, by the case or the kind of error and its details, else by its
        code; what only its message says stays in English."""
        if (exact := f"wrong.{error.case or type(error).__name__}") in self.words:
            told = {name: self._detail(name, value) for name, value in error.details.items()}
            return self.text(exact, **told)
        kind = "storage" if error.code.startswith("storage_") else error.code
        key = f"error.{kind}"
        return self.text(key if key in self.words else "error.error", why=str(error))

    def _detail(self, name: str, value: str | int) -> str:
        if isinstance(value, int):
            return self.number(value)
        return self.name("field", value) if name == "what" else value

    def finding(self, issue: Issue) -> str:
        """Return what a review found; in its own words if a model did."""
        if not issue.finding:
            return issue.description
        told = dict(issue.details)
        if day := told.get("day"):
            told["day"] = self.date(date.fromisoformat(str(day)))
        more = [
            self.text(f"finding.{name}", **{name: told.pop(name)})
            for name in ("stays", "more")
            if name in told
        ]
        return " ".join([self.text(f"finding.{issue.finding}", **told), *more])

    def reason(self, reason: str) -> str:
        """Return why something was done: kinmem's own reasons by name, others as they were
        given."""
        return self.words.get(f"because.{reason}", reason)

    def setting(self, variable: str, told: str) -> str:
        """Return what a setting is for; `told` is its description in English."""
        return _settings(self.code).get(variable, told)

    def number(self, value: float, digits: int = 0) -> str:
        """Return the number with separators: 12,345.6 or 12.345,6."""
        told = f"{value:,.{digits}f}"
        return told if self.code == DEFAULT else told.translate(str.maketrans(",.", ".,"))

    def percent(self, share: float) -> str:
        """Return a share as a whole percentage."""
        return self.text("number.percent", n=self.number(100 * share))

    def chance(self, share: float) -> str:
        """Return a probability in percent. One that is not 0 or 1 is not shown as if it were."""
        if share < LEAST_TOLD:
            return self.text("number.under", n=self.number(100 * LEAST_TOLD))
        if share > 1 - LEAST_TOLD:
            return self.text("number.over", n=self.number(100 - 100 * LEAST_TOLD))
        return self.percent(share)

    def size(self, count: int) -> str:
        """Return a number of bytes."""
        for unit, of in (("MB", 1 << 20), ("KB", 1 << 10)):
            if count >= of:
                return f"{self.number(count / of, 1 if count % of else 0)} {unit}"
        return f"{count} B"

    def date(self, day: date) -> str:
        """Return a date: 5 Nov 2026, or 5. Nov. 2026."""
        month = self.words[f"month.{day.month}"]
        return self.text("time.date", day=day.day, month=month, year=day.year)

    def day(self, at: datetime, zone: tzinfo) -> str:
        """Return the date of a moment."""
        return self.date(at.astimezone(zone))

    def moment(self, at: datetime, zone: tzinfo) -> str:
        """Return a date with the time of day."""
        return f"{self.day(at, zone)}, {at.astimezone(zone):%H:%M}"

    def ago(self, at: datetime, now: datetime, zone: tzinfo) -> str:
        """Return how long ago it was, or how far ahead; beyond a week its date."""
        distance = abs(now - at)
        if distance >= WEEK:
            return self.day(at, zone)
        for unit, length in STEPS:
            if distance >= length:
                way = "ago" if at <= now else "ahead"
                return self.count(f"time.{way}.{unit}", distance // length)
        return self.text("time.now")

    def time(self, at: datetime, now: datetime, zone: tzinfo, how: str = "ago") -> Markup:
        """Return a time element: readable, with the exact time in UTC as its title. `how` is ago,
        day or moment."""
        match how:
            case "day":
                told = self.day(at, zone)
            case "moment":
                told = self.moment(at, zone)
            case _:
                told = self.ago(at, now, zone)
        exact = at.astimezone(UTC).isoformat(timespec="seconds")
        title = f"{exact[:10]} {exact[11:19]} UTC"
        return Markup(f'<time datetime="{exact}" title="{title}">{escape(told)}</time>')


@cache
def _settings(code: str) -> Mapping[str, str]:
    file = WORDS / f"settings.{code}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


@cache
def language(code: str) -> Language:
    """Return the language with that code."""
    document = tomllib.loads((WORDS / f"{code}.toml").read_text(encoding="utf-8"))
    return Language(code, dict(_flat(document)))


def chosen(accepted: str | None) -> Language:
    """Return the language that a browser's Accept-Language prefers among ours."""
    best, found = 0.0, DEFAULT
    for part in (accepted or "").split(","):
        name, _, rest = part.strip().partition(";")
        code = name.split("-")[0].lower()
        weight = _weight(rest)
        if code in LANGUAGES and weight > best:
            best, found = weight, code
    return language(found)


def _weight(rest: str) -> float:
    name, _, value = rest.strip().partition("=")
    try:
        return float(value) if name == "q" else 1.0
    except ValueError:
        return 0.0


def _flat(table: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{above}{key}.")
        else:
            found.append((f"{above}{key}", value))
    return found
