"""Which words for a time name one day: no names (USA Today), and no weekdays that come again and
again. What is said of a day, and in which tense, is looked for in its own clause; the month of a
bare day ("on the 7th") in what is said before it."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, cached_property
from typing import Literal, NamedTuple

from kinmem.language.lexicon import TENSES, alternatives, lexicon, pattern, word_class
from kinmem.language.sentence_borders import borders
from kinmem.language.time.calendar import (
    COMING,
    MONTH,
    Slots,
    Stretch,
    day_of,
    month_of,
    same_day,
)
from kinmem.language.time.phrases import BARE, WINDOW, Anchor, Grammar, Language
from kinmem.text import LETTERS, Plain, late

WEEKDAYS = frozenset({"weekday", "last weekday", "coming weekday", "this weekday", "next weekday"})
CALENDAR = late(f"(?i){pattern('time_names', 'calendar')}")
"""Words within a time that have a capital of their own in English."""
NOUNS = frozenset({"Heute", "Gestern", "Vorgestern", "Morgen", "Übermorgen"})
"""In German only these are no time where they have a capital: der Morgen, die Zeitung Heute."""
BEGINS = late(r"(?:\A|[.!?…:;\n]|[-–—] |\A\W{1,8})[\s\"'“„«¡¿(]*\Z")
"""In front of a first word, where any word has a capital."""
CAPITAL_BEFORE = late(r"(?P<before>[\w’']+) (?P<name>[^\W\d_][\w’'-]+) \Z")
CAPITAL_BEHIND = late(r" [^\W\d_a-zß-ÿ][^\W\d_]")
LISTED = late(r"(\w+), (?:\w+, )?\Z")
ON = late(r"\b(?:on|am|an) \Z")
DETERMINER = late(f"(?i)(?:{pattern('time_names', 'determiner')})")
TITLED = late(rf"(?i)(?:{pattern('time_names', 'titled')})\b")
"""Behind a title: Yesterday by the Beatles."""
NAMING = late(rf"(?:{pattern('time_names', 'naming')}) \Z")
"""Before what has a name of its own: my cat is called Friday."""
HOLIDAY = late(rf"(?:{pattern('time_names', 'holiday')}) \Z")
HABIT = late(pattern("time_names", "habit"))
"""Before a weekday that comes again and again: every second Thursday, on a Sunday."""
RANGE_BEHIND = late(pattern("time_names", "range_behind"))
RANGE_BEFORE = late(pattern("time_names", "range_before"))
BEGINS_CLAUSE = late(r"(?:\A|[,;:.!?(–—-] ?|\b(?:and|but|so|then|because) )\Z")
ENDS = late(r"""[ "')\]]?(?:\Z|[?.!,;:](?!\w))| (?:and|but|because|with|at|in|to|for)\b""")


Once = Callable[[str], float]
"""How likely it is that what a clause says beside its day happens once, and not every week."""
ONCE, ONCE_SAID_TO_BE = 0.8, 0.93
"""From which a day has a date; the second for what is said to be one: "the deadline is Friday" has
.96, "my least favourite day is Monday" .90."""
REACH = 200
"""Characters on each side of a time in which its clause ends."""
BORDER = late(r"[,;:](?= )| [–—-] ")
STANDS_ALONE = late(
    r"""["')\]]?(?: ?\Z| ?[?.!,;:](?!\w)| (?:at|in the|we|i|she|he|they|with|um|a|a las)(?!\w))"""
)
CONJUNCTIONS = word_class("conjunctions")
JOINT = late(rf" (?:{'|'.join(sorted(CONJUNCTIONS))}) ")
FORMERLY = late(
    "|".join(rf"(?<!\w)(?:{found})(?!\w)" for found in alternatives("past", "formerly"))
)
DAYS = frozenset({"today", "yesterday", "day before yesterday", "tomorrow", "overmorrow"})


class Tense(NamedTuple):
    """Where a clause looks; both, in "she told me that she will"."""

    past: bool
    future: bool


@cache
def spoken_grammar(language: Language) -> Grammar:
    """The language as statements use it, theirs first."""
    spoken = lexicon(language.name)["spoken_time"]
    numbers = ", ".join(language.numbers)
    for number, ways in spoken["numbers"].items():
        numbers = re.sub(rf"\b{number}\b", "|".join(ways), numbers, count=1)
    phrases: dict[str, Sequence[str]] = dict(spoken["phrases"])
    for meaning, templates in language.phrases.items():
        phrases[meaning] = [*phrases.get(meaning, ()), *templates]
    numbered = [*numbers.split(", "), *spoken["more_numbers"]]
    return Grammar(replace(language, phrases=phrases, numbers=numbered))


@dataclass(frozen=True)
class Clause:
    """What is said with a time: the part of its sentence between the marks around it, or where
    nothing else stands in that ("On Monday, ..."), the parts beside it too."""

    text: str
    plain: Plain
    start: int
    """Where it begins in the plain text."""
    sentence: int
    """Where its sentence does."""
    around: Plain
    """The text that it is a part of."""
    language: Language
    has_other_day: bool
    """Today is Monday; the weekday only names a day that another word tells."""
    has_own_tense: bool = True
    """Not where another time shares it and its own part looks elsewhere: we got back on Sunday and
    I start work on Wednesday. Nor can be told which verb "I met Ana on Monday and Tom on Friday"
    leaves out."""

    @classmethod
    def of(
        cls, anchor: Anchor, text: str, plain: Plain, language: Language, beside: Iterable[Anchor]
    ) -> "Clause":
        """The clause of a time; `beside` are the times next to it in the text."""
        first, last = _sentence(anchor, text, plain)
        start, end = _between(plain.text, anchor.start, anchor.end, first, last)
        if _is_empty(anchor, plain.text, start, end, language):
            start, end = _between(plain.text, start - 1, end + 1, first, last)
        part, within = _cut(text, plain, start, end)
        others = [one for one in beside if one.meaning in DAYS and start <= one.start < end]
        whole = cls(part, within, start, first, plain, language, bool(others))
        own = _own_part(anchor, plain.text, start, end, beside)
        if own == (start, end) or _is_empty(anchor, plain.text, *own, language):
            return whole
        part, within = _cut(text, plain, *own)
        is_own = replace(whole, text=part, plain=within).tense.past == whole.tense.past
        return replace(whole, has_own_tense=is_own)

    @property
    def whole(self) -> str:
        """The plain text that it is a part of."""
        return self.around.text

    def without(self, start: int, end: int) -> str:
        """What else is said in it, as it is written: "the appointment is"."""
        first = self.around.places[self.start]
        cut = slice(self.around.places[start] - first, self.around.places[end] - first)
        return " ".join(f"{self.text[: cut.start]} {self.text[cut.stop :]}".split()).strip(
            " ,;:.!?"
        )

    @cached_property
    def tense(self) -> Tense:
        """By verbs alone: "next" and "in two days" show nothing; the ending of a past tense does: I
        arrived, llegué, ich bin gefahren."""
        told = _past_of(self.language).search(self.text.casefold()) is not None
        future = _future_of(self.language).search(self.plain.text) is not None
        plain = _without_present(self.plain, self.language)
        return Tense(told or spoken_grammar(self.language).speaks_of_past(plain), future)

    def refuses(self, anchor: Anchor) -> bool:
        """Whether it tells of a plan or of what was so for long, whatever its verbs look like."""
        speech, since = spoken_grammar(self.language), self.language.table["links"]["since"]
        if FORMERLY.search(self.plain.text) or self.plain.words & speech.past & frozenset(since):
            return True
        own = replace(anchor, start=anchor.start - self.start, end=anchor.end - self.start)
        return speech.refuses(self.plain.text, [own])


def _sentence(anchor: Anchor, text: str, plain: Plain) -> tuple[int, int]:
    """Where the sentence begins and ends in which a time stands, as far as it is looked at."""
    first, last = max(0, anchor.start - REACH), min(len(plain.text), anchor.end + REACH)
    begins = plain.places[first]
    for border in borders(text[begins : plain.places[last]]):
        at = bisect_left(plain.places, begins + border, first, last)
        if at >= anchor.end:
            return first, at
        first = min(at, anchor.start)
    return first, last


def _between(whole: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """The nearest marks on both sides within a sentence."""
    before = [border.end() for border in BORDER.finditer(whole, first, max(first, start))]
    behind = BORDER.search(whole, min(end, last), last)
    return before[-1] if before else first, behind.start() if behind else last


def _cut(text: str, plain: Plain, start: int, end: int) -> tuple[str, Plain]:
    """Return a part as it is written, and plain."""
    part = text[plain.places[start] : plain.places[end]]
    words = frozenset(LETTERS.findall(plain.text[start:end])) | frozenset(
        LETTERS.findall(unicodedata.normalize("NFC", part.casefold()))
    )
    return part, Plain(plain.text[start:end], [], words)


def _own_part(
    anchor: Anchor, whole: str, start: int, end: int, beside: Iterable[Anchor]
) -> tuple[int, int]:
    """Return from where to where a clause reaches if "and" parts it from its other times."""
    for other in beside:
        if start <= other.start and other.end <= anchor.start:
            joints = [*JOINT.finditer(whole, other.end, anchor.start)]
            start = joints[-1].end() if joints else start
        elif anchor.end <= other.start and other.end <= end:
            joint = JOINT.search(whole, anchor.end, other.start)
            end = joint.start() if joint else end
    return start, end


def _is_empty(anchor: Anchor, whole: str, start: int, end: int, language: Language) -> bool:
    """Whether nothing is said in it but the time: "And on Monday, ..."."""
    link = _before(spoken_grammar(language).link, whole, anchor.start)
    first = whole[start : max(start, link.start() if link else anchor.start)]
    rest = f"{first} {whole[anchor.end : end]}"
    return CONJUNCTIONS.issuperset(LETTERS.findall(rest))


@cache
def _past_of(language: Language) -> re.Pattern[str]:
    endings = "|".join(lexicon(language.name)["spoken_time"]["past_forms"])
    return re.compile(rf"(?<!\w)(?:{endings})(?!\w)")


@cache
def _future_of(language: Language) -> re.Pattern[str]:
    verbs = "|".join(lexicon(language.name)["spoken_time"]["future"])
    return re.compile(rf"(?<!\w)(?:{verbs})(?!\w)")


def _without_present(plain: Plain, language: Language) -> Plain:
    """What is left without present tenses that have a word of the past: I've got two tickets."""
    present = "|".join(lexicon(language.name)["spoken_time"].get("present", ()))
    if not present:
        return plain
    rest = re.sub(rf"(?<!\w)(?:{present})(?!\w)", " ", plain.text)
    gone = {*LETTERS.findall(plain.text)} - {*LETTERS.findall(rest)}
    return Plain(rest, [], plain.words - gone)


@cache
def _is_on(language: Language) -> re.Pattern[str]:
    """What a day stands behind on which something is: the exam is on Monday."""
    verbs = "|".join(lexicon(language.name)["spoken_time"]["is_on"])
    return re.compile(rf"(?<!\w)(?:{verbs}) ?(?:el |al )?\Z")


def is_one_day(anchor: Anchor, clause: Clause, once: Once | None = None) -> bool:
    """Whether a weekday means one day only: in a clause that only looks back; and where something
    is on that day, which is the next one: "the exam is on Monday".

    A weekday that only describes a thing names no day: "Thursday's slot". By its words "choir is on
    Monday" is no different from the exam, nor "bin day is Tuesday" from "the deadline is Friday":
    `once` tells, and what will be on a day has one too where it does.
    """
    whole, language = clause.whole, clause.language
    link = _before(spoken_grammar(language).link, whole, anchor.start)
    if link is not None and link.lastgroup != "in":
        return False
    if clause.has_other_day or is_one_of_several(anchor, whole):
        return False
    is_said_to_be = link is None and is_weekday(anchor, clause)
    if whole.startswith("'", anchor.end) or (is_said_to_be and once is None):
        return False
    if clause.tense.past and not is_said_to_be:
        return not clause.refuses(anchor)
    start = link.start() if link else anchor.start
    alone = STANDS_ALONE.match(whole, anchor.end) is not None  # unlike Friday mornings
    happens_then = alone and (is_said_to_be or is_on(clause, start))
    if once is None:
        return happens_then and not clause.tense.future
    rest = clause.without(max(start, clause.start), anchor.end)
    least = ONCE_SAID_TO_BE if is_said_to_be else ONCE
    return (happens_then or clause.tense.future) and bool(rest) and once(rest) >= least


def is_on(clause: Clause, start: int) -> bool:
    """Whether something is said to be at the time that begins there: the exam is on Monday."""
    return _before(_is_on(clause.language), clause.whole, start) is not None


def is_weekday(anchor: Anchor, clause: Clause) -> bool:
    """Whether something is said to be a weekday; what is on one has a preposition there, in English
    and German."""
    if clause.language.name not in ("en", "de"):
        return False
    before = re.findall(r"\w+", clause.whole[max(0, anchor.start - WINDOW) : anchor.start])
    is_verb = bool(before) and before[-1] in TENSES
    return is_verb or is_on(clause, anchor.start)


def _before(pattern: re.Pattern[str], text: str, end: int) -> re.Match[str] | None:
    """What a pattern finds right before a place: it looks back so far, not to where a text begins,
    and so a long text takes no longer for each of its times."""
    return pattern.search(text, max(0, end - WINDOW), end)


def is_name(anchor: Anchor, text: str, plain: Plain, language: Language) -> bool:
    """Whether the words name something: USA Today, Freaky Friday, The Day After Tomorrow."""
    start, end = plain.places[anchor.start], plain.places[anchor.end - 1] + 1
    written = text[start:end]
    first = _before(BEGINS, text, start) is not None
    if first and TITLED.match(text, end, end + REACH):
        return True
    if not first and _follows_name(text, start):
        return True
    if anchor.meaning == "feast":
        return _before(NAMING, plain.text, anchor.start) is not None
    if anchor.meaning in WEEKDAYS and language.name in ("en", "de"):
        return _is_named_day(anchor, text, plain, language, first=first)
    words = re.findall(r"[^\W\d_]+", written)[first:]
    if language.name == "de":
        return not first and not NOUNS.isdisjoint(words[:1])
    return not written.isupper() and any(
        word[0] != word[0].lower() and not CALENDAR.fullmatch(word) for word in words
    )


def _follows_name(text: str, start: int) -> bool:
    """Whether it goes on a list that began with a name: Ieri, oggi, domani."""
    found = _before(LISTED, text, start)
    if found is None or found[1][0] == found[1][0].lower():
        return False
    return found[1].casefold() in {"ieri", "oggi", "yesterday", "gestern", "hier", "ayer", "ontem"}


def _is_named_day(
    anchor: Anchor, text: str, plain: Plain, language: Language, *, first: bool
) -> bool:
    """Whether a capital beside a weekday, or what stands before it, makes it a name."""
    start, end = plain.places[anchor.start], plain.places[anchor.end - 1] + 1
    if _before(HOLIDAY, plain.text, anchor.start):
        return True
    bare = anchor.meaning == "weekday" and not _before(ON, plain.text, anchor.start)
    if not bare:
        return False
    if _before(NAMING, plain.text, anchor.start) or (not first and CAPITAL_BEHIND.match(text, end)):
        return True
    name = _before(CAPITAL_BEFORE, text, start)
    if name and name["name"][0] != name["name"][0].lower():
        return language.name == "en" or not DETERMINER.fullmatch(name["before"])
    if language.name == "en":  # "the Friday meeting" is a topic
        begins = _before(BEGINS_CLAUSE, plain.text, anchor.start)
        return not begins and not ENDS.match(plain.text, anchor.end)
    return False


def is_one_of_several(anchor: Anchor, whole: str) -> bool:
    """Whether a weekday comes again and again, or begins or ends a range of days."""
    if _before(HABIT, whole, anchor.start) or RANGE_BEHIND.match(whole, anchor.end):
        return True
    return _before(RANGE_BEFORE, whole, anchor.start) is not None


# A bare day of the month ("on the 22nd", "am 2.", "le 7", "el 15") is by itself the next such day.
# Behind another time in its sentence it is of that one's month: "the 70th is on 3 March, the party
# on the 7th". Where the two do not go together it is no day at all, and a month that another
# sentence names can only take its date away: whether both are about one thing is not known, and no
# date is better than a wrong one. Nor has it one where a verb is in the past: what was booked on
# the 18th may have been booked then, or be then.

NEAR = timedelta(days=14)
"""How far from a feast a day is that is named with it: "at New Year's Eve ..., back on the 2nd"."""
MONTHS = frozenset(
    {"month", "this month name", "last month name", "next month name", "month and year"}
)
DATES = frozenset({"date", "feast"})


class Named(NamedTuple):
    """A time that is named before a bare day."""

    kind: Literal["month", "day", "feast", "counted"]
    """`counted`: from the day on which it is said, as tomorrow is. It gives a bare day no month."""
    first: date | None
    """The day on which it begins; None where that is not known."""
    place: int = -1
    """Where it stands in the plain text; -1 before it."""


def named_before(
    anchor: Anchor, stretch: Stretch | None, tense: Tense, today: date
) -> Named | None:
    """Return what a time tells of a bare day behind it; None for a season or a year."""
    slots = anchor.slots
    if anchor.meaning == BARE:
        return Named("day", stretch[0].date() if stretch else None, anchor.start)
    if anchor.meaning in MONTHS or (slots.unit == MONTH and stretch and _is_month(stretch)):
        first = stretch[0].date() if stretch else None
        if anchor.floating:
            first = _placed(lambda year: date(year, slots.month, 1), tense, today)
        return Named("month", first, anchor.start)
    if anchor.meaning in DATES:
        first = stretch[0].date() if stretch else None
        if slots.year is None:
            first = _placed(lambda year: date(year, slots.month, slots.day), tense, today)
        return Named("feast" if anchor.meaning == "feast" else "day", first, anchor.start)
    if stretch and stretch[1] - stretch[0] <= timedelta(weeks=1):
        return Named("counted", stretch[0].date(), anchor.start)
    return None


def _is_month(stretch: Stretch) -> bool:
    return stretch == month_of(stretch[0].year, stretch[0].month)


def _placed(in_year: Callable[[int], date], tense: Tense, today: date) -> date | None:
    """Return the day in the year that is meant: the next one unless the sentence looks back."""
    days: list[date] = []
    for year in range(today.year - 8, today.year + 9):
        with suppress(ValueError):  # 29 February
            days.append(in_year(year))
    if tense.past and not tense.future:
        return max((day for day in days if day <= today), default=None)
    this_month = today.replace(day=1)
    return min((day for day in days if day >= this_month), default=None)


def bare_day(day: int, clause: Clause, today: date, before: Named | None) -> Stretch:
    """Return which day is meant. Raises ValueError where that is not sure."""
    looks_back = clause.tense.past and not clause.tense.future
    is_of_sentence = before is not None and before.place >= clause.sentence
    if looks_back and (before is None or before.kind == "counted" or not is_of_sentence):
        raise ValueError("it may be over, or to come")
    alone = COMING[BARE](Slots(day=day), today)
    if before is None:
        return alone
    if before.kind == "counted":
        if before.first and today < before.first > alone[0].date():
            raise ValueError("an end before its beginning")
        return alone
    found = _of_month(day, before)
    if found is not None and (found > today if looks_back else found < today):
        found = None  # the one is over, the other to come
    if not is_of_sentence:
        if before.first and before.first < today.replace(day=1):
            return alone
        if found != alone[0].date():
            raise ValueError("of one month or of the other")
    if found is None:
        raise ValueError("of no month that is known")
    return day_of(found)


def _of_month(day: int, before: Named) -> date | None:
    """Return the day in the month of what is named before it; of a feast, the nearest one."""
    first = before.first
    if first is None:
        return None
    months = (-1, 0, 1) if before.kind == "feast" else (0,)
    days: list[date] = []
    for months_on in months:
        with suppress(ValueError):  # no 31st
            days.append(same_day(first.replace(day=1), months_on).replace(day=day))
    if before.kind == "feast":
        days = [one for one in days if abs(one - first) <= NEAR]
    elif before.kind == "day":
        days = [one for one in days if one >= first]
    return days[0] if days else None
