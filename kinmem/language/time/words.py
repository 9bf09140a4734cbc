"""How six languages speak of time, as language/lexicon/*.json has it. `phrases` reads it.

Everything there is written as `phrases.Plain` has a text: lower case, without accents, one space
between words. In lists of names and numbers `|` stands between two ways to say the same. A
template is a regular expression with {slots}. It holds no `*`, no `+` and no count, so that a
match is of bounded length and reading a text takes linear time.

Slots: {n} a number, {unit} day to year, {period} week to year, {month} a full name, {mon} also an
abbreviation, {weekday}, {on_a} an optional weekday before a date, {season}, {year}, {day} of a
month, {part} an optional part of the day. {of_day} is the part of the day alone. {numeric date},
{day first} and {numeric month} are dates in figures, the same everywhere.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kinmem.language.lexicon import lexicon

YEAR = "(?P<year>(?:19|20)[0-9][0-9])"
DAY = "(?P<day>[0-3]?[0-9])"
MONTH_NUMBER = "(?P<month>[01]?[0-9])"
THE = r"(?<![-/._])(?:(?:the|der|den|dem|le|el|il|o) )?"
IN_FIGURES = {
    "{numeric date}": (
        f"{THE}{YEAR}-{MONTH_NUMBER}-{DAY}",
        f"{THE}{YEAR}/{MONTH_NUMBER}/{DAY}",
        rf"{THE}{DAY}\.{MONTH_NUMBER}\.{YEAR}",
    ),
    "{day first}": (f"{THE}{DAY}/{MONTH_NUMBER}/{YEAR}",),  # in English 5/8/2023 may be either day
    "{numeric month}": (f"{THE}{YEAR}-{MONTH_NUMBER}",),
}


@dataclass(frozen=True, eq=False)
class Language:
    """One language.

    `phrases` maps a meaning to templates; `links` maps what stands before a time to alternatives,
    where `never` takes the time out of use (a topic, a habit, a purpose, an estimate, a list).
    `pairs` are the words before and between two times. A time followed by one of `not_before` is
    no time of its own. `past` words show that a question looks back; they have accents where
    without them they would be others. Those `refused` speak of plans, dues, births and distances,
    for which no filter is right. `signals` are further words that tell the language.
    """

    name: str
    months: str
    short_months: str
    weekdays: str
    seasons: str  # winter, spring, summer, autumn
    numbers: str  # one to twelve
    units: str  # day, week, month, year
    parts: str  # morning, afternoon, evening, night
    phrases: Mapping[str, tuple[str, ...]]
    links: Mapping[str, str]
    pairs: tuple[tuple[str, str], ...]
    not_before: str
    past: str
    refused: str
    refused_phrases: str
    signals: str
    weekday_alone: bool
    past_phrases: tuple[str, ...]


LISTS = ("months", "short_months", "weekdays", "seasons", "numbers", "units", "parts")
ALTERNATIVES = ("not_before", "refused_phrases")
WORDS = ("past", "refused", "signals")


def _language(name: str) -> Language:
    told: Mapping[str, Any] = lexicon(name)["time"]
    return Language(
        name=name,
        **{part: ", ".join(told[part]) for part in LISTS},
        **{part: "|".join(told[part]) for part in ALTERNATIVES},
        **{part: " ".join(told[part]) for part in WORDS},
        phrases={meaning: tuple(_templates(found)) for meaning, found in told["phrases"].items()},
        links={link: "|".join(found) for link, found in told["links"].items()},
        pairs=tuple((before, between) for before, between in told["pairs"]),
        weekday_alone=told["weekday_alone"],
        past_phrases=tuple(told["past_phrases"]),
    )


def _templates(found: list[str]) -> Iterator[str]:
    for template in found:
        yield from IN_FIGURES.get(template, (template,))


LANGUAGES = tuple(map(_language, ("en", "de", "fr", "es", "it", "pt")))
