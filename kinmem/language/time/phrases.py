"""From a question to the one stretch of time it names, as wall-clock time and in two steps.

First every time that a language can name is found ("May 2023", "last week": an anchor), then each
is read with the words around it ("since", "between ... and", "about"). One anchor that cannot be
trusted spoils the whole question: a missing filter costs order, a wrong one costs the answer.

The words are in lexicon/*.json, written as `Plain` has a text: lower case, without accents, one
space between words. In lists of names and numbers `|` stands between two ways to say the same. A
template is a regular expression with {slots}. It holds no `*`, no `+` and no count, so that a match
is of bounded length and reading a text takes linear time. Slots: {n} a number, {unit} day to year,
{period} week to year, {month} a full name, {mon} also an abbreviation, {weekday}, {day_name} also
a short one, {weekdays} several of one name, {on_a} an optional weekday before a date, {feast},
{season}, {year}, {day} of a month, {part} an optional part of the day, {of_day} that part alone.
{numeric date}, {day first} and {numeric month} are dates in figures.
`links` are what stands before a time; `never` takes the time out of use (a topic, a habit, a
purpose, an estimate, a list). `pairs` are the words before and between two times. A time followed
by one of `not_before` is no time of its own. `past` words show that a question looks back; they
have accents where without them they would be others. Those `refused` speak of plans, dues, births
and distances, for which no filter is right. `signals` are further words that tell the language.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from itertools import chain
from typing import Any

from kinmem.language.lexicon import lexicon
from kinmem.language.time.calendar import FLOATING, MEANINGS, Slots, Stretch
from kinmem.text import LETTERS, Plain, late

OpenStretch = tuple[datetime | None, datetime | None]
CLAUSE_END = re.compile(r"""[ "')\]]?(?:\Z|[?.!,;:](?!\w))""")

# Not in a word, in a quotation, or in a number as the 5 of "2.5 years ago"; nor a price or a share.
LEFT = r"(?<![\w\"“”„«])(?<![0-9][.,/:-])"
RIGHT = r"(?!\w|[%€$]|[-/.,:][0-9])"

WINDOW = 40  # characters looked at in front of an anchor; no link is longer

BARE = "day of month"
SURELY_PAST = {
    *("yesterday", "day before yesterday", "last night", "last unit", "rolling", "ago"),
    *("last weekend", "last weekday", "last month name", "last season"),
}
NAMES = {"month", "season", "year"}  # persons, verbs and numbers, unless a link stands before
CALENDAR = {
    "date",
    "feast",
    "month and year",
    "season and year",
}  # a link before, or a clause ends after

YEAR_IN_FIGURES = "(?P<year>(?:19|20)[0-9][0-9])"
DAY_IN_FIGURES = "(?P<day>[0-3]?[0-9])"
_MONTH_IN_FIGURES = "(?P<month>[01]?[0-9])"
_THE = r"(?<![-/._])(?:(?:the|der|den|dem|le|el|il|o) )?"
_BY_YEAR = f"{_THE}{YEAR_IN_FIGURES}"
_BY_DAY = f"{_THE}{DAY_IN_FIGURES}"
IN_FIGURES = {
    "{numeric date}": (
        f"{_BY_YEAR}-{_MONTH_IN_FIGURES}-{DAY_IN_FIGURES}",
        f"{_BY_YEAR}/{_MONTH_IN_FIGURES}/{DAY_IN_FIGURES}",
        rf"{_BY_DAY}\.{_MONTH_IN_FIGURES}\.{YEAR_IN_FIGURES}",
    ),
    # in English 5/8/2023 may be either day
    "{day first}": (f"{_BY_DAY}/{_MONTH_IN_FIGURES}/{YEAR_IN_FIGURES}",),
    "{numeric month}": (f"{_BY_YEAR}-{_MONTH_IN_FIGURES}",),
}
FEASTS = ("{feast}", "{feast},? (?:of |in |de |del )?{year}")
LISTS = (
    "months",
    "short_months",
    "weekdays",
    "seasons",
    "numbers",
    "units",
    "parts",
    "more_weekdays",
)
OTHER_WORDS = ("not_before", "refused_phrases", "past", "refused", "signals")


@dataclass(frozen=True, eq=False)
class Language:
    """How one language speaks of time."""

    name: str
    table: Mapping[str, Any]
    """As the lexicon has it."""
    numbers: Sequence[str]
    """One to twelve, or more."""
    phrases: Mapping[str, Sequence[str]]
    """Templates by the meaning of the time that they name, dates in figures among them."""


def _language(name: str) -> Language:
    table: Mapping[str, Any] = lexicon(name)["time"]
    phrases = {
        meaning: [one for template in found for one in IN_FIGURES.get(template, (template,))]
        for meaning, found in {**table["phrases"], "feast": FEASTS}.items()
    }
    return Language(name, table, table["numbers"], phrases)


LANGUAGES = tuple(map(_language, ("en", "de", "fr", "es", "it", "pt")))


class NotATime(ValueError):
    """The words name a topic, a habit or a plan, or could mean two things."""


@dataclass(frozen=True)
class Anchor:
    """A time found in the text, before its surroundings are read."""

    meaning: str
    start: int
    end: int
    slots: Slots

    @property
    def floating(self) -> bool:
        """The year or week is left open: the most recent one is meant."""
        return self.meaning in FLOATING and self.slots.year is None

    def stretch(self, today: date) -> Stretch:
        return MEANINGS[self.meaning](self.slots, today)


@dataclass(frozen=True)
class Named:
    """A time read with its surroundings; `start` and `end` are places in the plain text."""

    stretch: OpenStretch
    start: int
    end: int


class Grammar:
    """One language, compiled."""

    def __init__(self, language: Language) -> None:
        fill = _fillings(language)
        table = language.table
        self.weekday_alone = table["weekday_alone"]
        self.tables = _tables(language)
        self.templates = [
            (meaning, _needed(template), late(f"{LEFT}(?:{template.format_map(fill)}){RIGHT}"))
            for meaning, templates in language.phrases.items()
            for template in templates
        ]
        self.link = _link(language, fill["units"])
        self.pairs = [
            (late(rf"(?<!\w)(?:{opening}) ?\Z"), late(rf",? (?:{joining}) ?"))
            for opening, joining in table["pairs"]
        ]
        self.not_before = late(rf" ?(?:{'|'.join(table['not_before'])})(?!\w)")
        self.past = frozenset(" ".join(table["past"]).split())
        self.past_phrases = [_whole(phrase) for phrase in table["past_phrases"]]
        self.refused = frozenset(" ".join(table["refused"]).split())
        self.refused_phrases = _whole("|".join(table["refused_phrases"]).format_map(fill))

    def anchors(self, text: str) -> list[Anchor]:
        """In order, none over another; of two that overlap the earlier, then the longer, stays, but
        the 22nd of December is no bare 22nd."""
        there = {slot for slot, words in self.tables.items() if any(word in text for word in words)}
        there |= {"year"} if any(map(str.isdigit, text)) else set()
        found = [
            Anchor(meaning, match.start(), match.end(), self._slots(match))
            for meaning, needed, template in self.templates
            if needed <= there  # what is not looked for is not compiled
            for match in template.finditer(text)
        ]
        kept: list[Anchor] = []
        for anchor in sorted(found, key=lambda anchor: (anchor.start, -anchor.end)):
            if not kept or anchor.start >= kept[-1].end:
                kept.append(anchor)
            elif kept[-1].meaning == BARE and anchor.meaning == "date":
                kept[-1] = anchor
        return kept

    def _slots(self, match: re.Match[str]) -> Slots:
        words = {name: word for name, word in match.groupdict().items() if word}
        numbers = {name: self._number(name, word) for name, word in words.items()}
        if (feast := numbers.pop("feast", 0)) > 0:
            numbers["month"], numbers["day"] = divmod(feast, 100)
        return Slots(**numbers)

    def _number(self, slot: str, word: str) -> int:
        return int(word) if word[0].isdigit() else self.tables[slot][word]

    def speaks_of_past(self, plain: Plain) -> bool:
        """A verb or another word of the question shows it; "on Monday" alone does not."""
        return not self.past.isdisjoint(plain.words) or any(
            phrase.search(plain.text) for phrase in self.past_phrases
        )

    def refuses(self, text: str, anchors: list[Anchor]) -> bool:
        """It asks for a plan, a birth, a distance; "morgen" counts, but not in "gestern Morgen"."""
        starts = [0, *(anchor.end for anchor in anchors)]
        ends = [*(anchor.start for anchor in anchors), len(text)]
        outside = " ".join(text[a:b] for a, b in zip(starts, ends, strict=True))
        return not self.refused.isdisjoint(LETTERS.findall(outside)) or bool(
            self.refused_phrases.search(text)
        )


def _needed(template: str) -> frozenset[str]:
    """The tables of which a word must be in the text; "year" for a digit."""
    sure = _OPTIONAL.sub("", template)
    slots = {_TABLES[slot] for slot in _SLOT.findall(sure) if slot in _TABLES}
    return frozenset(slots | {"year"} if "[0-9]" in sure else slots)


_OPTIONAL = late(r"\(\?:[^()]*\)\?")
_SLOT = late(r"\{(\w+)\}")
_TABLES = {
    "unit": "unit",
    "units": "unit",
    "period": "unit",
    "month_or_year": "unit",
    "month": "month",
    "mon": "month",
    "weekday": "weekday",
    "weekdays": "weekday",
    "day_name": "weekday",
    "feast": "feast",
    "season": "season",
    "of_day": "part",
    "year": "year",
    "day": "year",
}
"""What the slots of templates are filled from, as far as they must be."""


def _whole(words: str) -> re.Pattern[str]:
    return late(rf"(?<!\w)(?:{words})(?!\w)")


def _link(language: Language, units: str) -> re.Pattern[str]:
    """What stands right before an anchor; "two days before" puts the time meant `apart` from it."""
    said = {name: "|".join(words) for name, words in language.table["links"].items()}
    links = "|".join(f"(?P<{name}>{words})" for name, words in said.items())
    apart = f"{units} (?:{said['before']}|{said['after']})"
    return late(rf"(?:(?<!\w)|(?='))(?:(?P<apart>{apart})|{links})[ -]?\Z")


def _tables(language: Language) -> dict[str, dict[str, int]]:
    """For each slot the number that a word in it stands for."""
    table = language.table
    return {
        "month": _numbered(table["months"], 1) | _numbered(table["short_months"], 1),
        "weekday": {
            word: at for names in _weekdays(table) for word, at in _numbered(names).items()
        },
        "feast": {
            word: int(month) * 100 + int(day)
            for (month, day), names in (
                (on.split("-"), said) for on, said in table["feasts"].items()
            )
            for word in names.split("|")
        },
        "season": _numbered(table["seasons"]),
        "n": _numbered(language.numbers, 1),
        "unit": _numbered(table["units"]),
        "part": _numbered(table["parts"]),
    }


def _weekdays(table: Mapping[str, Any]) -> list[Sequence[str]]:
    """The names of weekdays: as they are, shorter, and of several."""
    return [table["weekdays"], table.get("short_weekdays", ()), table["more_weekdays"]]


def _numbered(words: Sequence[str], first: int = 0) -> dict[str, int]:
    """Each word and the number of the meaning it stands for."""
    return {word: at for at, names in enumerate(words, first) for word in names.split("|")}


def _either(words: Sequence[str]) -> str:
    """One of the words of a list, longer ones first."""
    return "|".join(sorted(map(re.escape, _numbered(words)), key=len, reverse=True))


def _fillings(language: Language) -> dict[str, str]:
    """What the slots of a template stand for."""
    table = language.table
    weekdays, parts, units = map(_either, (table["weekdays"], table["parts"], table["units"]))
    names, short, more = _weekdays(table)
    periods, longer = _either(table["units"][1:]), _either(table["units"][2:])
    return {
        "n": f"(?P<n>[1-9][0-9]?[0-9]?|{_either(language.numbers)})",
        "unit": f"(?P<unit>{units})",
        "units": f"(?:{units})",
        "period": f"(?P<unit>{periods})",
        "month_or_year": f"(?P<unit>{longer})",
        "month": f"(?P<month>{_either(table['months'])})",
        "mon": f"(?P<month>{_either([*table['months'], *table['short_months']])})",
        "weekday": f"(?P<weekday>{weekdays})",
        "day_name": f"(?P<weekday>{_either([*names, *short])})",
        "weekdays": f"(?P<weekday>{_either(more)})",
        "feast": f"(?P<feast>{_either(list(table['feasts'].values()))})",
        "on_a": f"(?:(?:{weekdays}),? )?",
        "season": f"(?P<season>{_either(table['seasons'])})",
        "year": YEAR_IN_FIGURES,
        "day": DAY_IN_FIGURES,
        "part": f"(?:,? (?P<part>{parts}))?",
        "of_day": f"(?P<part>{parts})",
    }


@cache
def grammar(language: Language) -> Grammar:
    """Compiled when first needed: kinmem starts without."""
    return Grammar(language)


@cache
def _signals(language: Language) -> frozenset[str]:
    """Every word of its vocabulary; what several languages share tells nothing and does no harm."""
    words = [language.name, *language.numbers]
    words += chain.from_iterable(language.table[part] for part in (*LISTS, *OTHER_WORDS))
    words += chain(language.table["feasts"].values(), *language.table["links"].values())
    templates = " ".join(chain.from_iterable(language.phrases.values()))
    words.append(re.sub(r"\{\w*\}|\(\?P<\w*>", " ", templates))
    return frozenset(LETTERS.findall(" ".join(words)))


def likely_languages(plain: Plain) -> list[Language]:
    """Those with the most words in the question that belong to them; all, if none has any."""
    scores = [len(_signals(language) & plain.words) for language in LANGUAGES]
    return [
        language for language, score in zip(LANGUAGES, scores, strict=True) if score == max(scores)
    ]


def named_time(
    plain: Plain, language: Language, now: datetime, *, looks_back: bool = False
) -> Named | None:
    """The one stretch the question names in this language; `now` is a wall-clock time.

    `looks_back`: it is known to; plans and lengths may be asked then.
    """
    speech = grammar(language)
    anchors = speech.anchors(plain.text)
    if not looks_back and (not anchors or speech.refuses(plain.text, anchors)):
        return None
    try:
        named = list(Reader(plain, speech, now, past=looks_back).read(anchors))
    except (ValueError, OverflowError):  # NotATime, 31 February, or beyond the calendar
        return None
    return named[0] if len({time.stretch for time in named}) == 1 else None


LASTING = {"month", "month and year", "date", "weekday", "year", "season", "season and year"}
GOING_ON = re.compile(
    r" (?:bei|im?|am|an|auf|als|mit|at|in|with|as|chez|a|au|en|dans|comme|con|como|na|no|em|da"
    r"|presso|alla|come)\b"
)
"""Where and with whom it is so may stand behind the time, in German most of all."""
THE_END = re.compile(r"(?<= )(?:the end of|ende|la fin d[eu]|finales? de|la fine di|o fim de) \Z")
ROUND = {"weekday": timedelta(days=7)}
YEARLY = timedelta(days=365)


def named_end(plain: Plain, language: Language, now: datetime) -> datetime | None:
    """The end of the one time before which `until` stands; None without, or with two.

    One that names no year is to come; one that does may be over.
    """
    speech = grammar(language)
    anchors = speech.anchors(plain.text)
    if len(anchors) != 1 or anchors[0].meaning not in LASTING:
        return None
    anchor = anchors[0]
    text = THE_END.sub("", plain.text[: anchor.start])
    found = speech.link.search(text, max(0, len(text) - WINDOW))
    if found is None or found.lastgroup != "until":
        return None
    if plain.text.startswith(":", anchor.end):
        return None  # until then this, and since then that
    closed = CLAUSE_END.match(plain.text, anchor.end) or GOING_ON.match(plain.text, anchor.end)
    if found.start() > 0 and not closed:
        return None
    try:
        end = anchor.stretch(now.date())[1]
        if end <= now and anchor.floating:
            end = anchor.stretch(now.date() + ROUND.get(anchor.meaning, YEARLY))[1]
    except (ValueError, OverflowError):
        return None
    return end


class Reader:
    """Reads the anchors of one question with what stands around them."""

    def __init__(self, plain: Plain, speech: Grammar, now: datetime, *, past: bool = False) -> None:
        self.text = plain.text
        self.speech = speech
        self.now = now
        self.past = past or speech.speaks_of_past(plain)

    def read(self, anchors: list[Anchor]) -> Iterator[Named]:
        """What each anchor, or pair of them, names. Raises NotATime if one cannot be trusted."""
        rest = deque(anchors)
        while rest:
            anchor = rest.popleft()
            opening = self._opening(anchor, rest[0]) if rest else None
            last = anchor if opening is None else rest.popleft()
            if self.speech.not_before.match(self.text, last.end):
                raise NotATime
            if opening is not None:
                yield self._between(opening, anchor, last)
            elif named := self._linked(anchor):
                yield named

    def _opening(self, earlier: Anchor, later: Anchor) -> int | None:
        """Where "between" or "from" stands if the two times are joined, as in "from X to Y"."""
        for opening, joining in self.speech.pairs:
            if joining.fullmatch(self.text, earlier.end, later.start):
                found = opening.search(self.text, max(0, earlier.start - WINDOW), earlier.start)
                if found:
                    return found.start()
        return None

    def _between(self, opening: int, earlier: Anchor, later: Anchor) -> Named:
        """From the beginning of one to the end of the other, which lends its year."""
        end = later.stretch(self.now.date())
        begin = earlier.stretch(end[0].date() if earlier.floating else self.now.date())
        sure = self._sure(later, end) and (earlier.floating or self._sure(earlier, begin))
        if not (sure and begin[0] <= self.now and begin[0] < end[1]):
            raise NotATime
        return Named((begin[0], end[1]), opening, later.end)

    def _linked(self, anchor: Anchor) -> Named | None:
        """One time with the word before it; None if it is a name, or describes a thing."""
        found = self.speech.link.search(self.text, max(0, anchor.start - WINDOW), anchor.start)
        link = found.lastgroup if found else None
        if link is None and not self._stands_alone(anchor):
            return None
        stretch = anchor.stretch(self.now.date())
        deadline = link == "by" and anchor.floating
        if link in ("never", "apart") or deadline or not self._sure(anchor, stretch):
            raise NotATime
        start = found.start() if found else anchor.start
        return Named(self._opened(link or "in", stretch), start, anchor.end)

    def _stands_alone(self, anchor: Anchor) -> bool:
        """It names a time without a word before it, unlike "April" or "the May 2023 report"."""
        if anchor.meaning in NAMES:
            return False
        if anchor.meaning in CALENDAR or (
            anchor.meaning == "weekday" and not self.speech.weekday_alone
        ):
            return self.past and CLAUSE_END.match(self.text, anchor.end) is not None
        return True

    def _sure(self, anchor: Anchor, stretch: Stretch) -> bool:
        """It lies in the past, by its own words or by those of the question."""
        explicit = anchor.slots.year is not None and stretch[1] <= self.now
        return self.past or explicit or anchor.meaning in SURELY_PAST

    def _opened(self, link: str, stretch: Stretch) -> OpenStretch:
        """The time itself, or what lies before or after it. Raises NotATime for what is to come."""
        start, end = stretch
        opened: dict[str, tuple[datetime, OpenStretch]] = {
            "in": (start, stretch),
            "since": (start, (start, None)),
            "before": (start, (None, start)),
            "after": (end, (end, None)),
            "until": (end, (None, end)),
            "by": (end, (None, end)),
        }
        edge, result = opened[link]
        if edge > self.now:
            raise NotATime
        return result
