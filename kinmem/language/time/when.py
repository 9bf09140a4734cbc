"""The times that a text names, read on the day on which it was said or asked: what time a question
asks about, on which day something happened, and when a statement ends by itself.

Relative times get their date beside them, so that a sentence stays true: yesterday (2023-05-07).
What `phrases` finds is used as far as it can mean only one stretch of time, and the times to come,
which questions never ask for. A date is ISO 8601; a stretch has a slash: 2023-05-01/07.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import NamedTuple

from kinmem.language.lexicon import alternatives, either
from kinmem.language.time import calendar
from kinmem.language.time.calendar import (
    COMING,
    DAY,
    OF_THE_PAST,
    Stretch,
    _coming_weekday,
    _exactly,
)
from kinmem.language.time.phrases import (
    BARE,
    NAMES,
    WINDOW,
    Anchor,
    Language,
    likely_languages,
    named_end,
    named_time,
)
from kinmem.language.time.time_names import (
    DAYS,
    ONCE_SAID_TO_BE,
    STANDS_ALONE,
    Clause,
    Named,
    Once,
    Tense,
    bare_day,
    is_name,
    is_on,
    is_one_day,
    is_weekday,
    named_before,
    spoken_grammar,
)
from kinmem.text import Plain, late

CHINESE = late(r"[天日晚夜早晨周拜期月年]")
RELATIVE = frozenset(
    {"today", "yesterday", "day before yesterday", "last night", "part of today", "this unit"}
    | {"last unit", "ago", "this weekend", "last weekend", "last weekday", "last month name"}
    | {"last season", "weekdays ago", "weekday before last", "ago to the day"}
)
HINT = late(rf"(?i)\b(?:{either('time_hints')})\b")
"""In every text that names a relative time, and in some others."""


class RelativeDate(NamedTuple):
    """A relative time of a text, and when that was or will be."""

    phrase: str
    """As it was said."""
    date: str
    """ISO 8601; a stretch has a slash: 2023-05-01/07."""
    first: datetime
    """The beginning of that time, in the speaker's zone."""
    end: int
    """Where the phrase ends in the text."""


def relative_dates(
    text: str, said: datetime, once: Once | None = None, leading: str = ""
) -> list[RelativeDate]:
    """The relative times of the text, in order, that mean one stretch of time.

    `said` is a moment in the speaker's zone, `leading` what was said before. Never raises.
    """
    if CHINESE.search(text) and (times := list(calendar.times(text, said.date()))):
        return [
            _resolved(text, one.start, one.end, one.stretch, said)
            for one in times
            if one.is_relative and not (one.is_doubtful and _is_every_week(one, text, once))
        ]
    if not HINT.search(text):
        return []
    plain = Plain.of(text)
    for language in likely_languages(plain):
        if found := list(_found(text, plain, language, said.date(), once, leading)):
            return [
                _resolved(text, plain.places[start], plain.places[end - 1] + 1, stretch, said)
                for start, end, stretch in found
            ]
    return []


def count_relative(text: str, said: datetime) -> int:
    """How many times of a text are counted from the day on which it is said, a bare weekday not
    among them."""
    if not HINT.search(text):
        return 0
    plain = Plain.of(text)
    counts = (
        sum(one.meaning in RELATIVE or one.meaning in COMING for one, *_ in found)
        for language in likely_languages(plain)
        if (found := list(times_in(text, plain, language, said.date())))
    )
    return next(counts, 0)


def _is_every_week(time: calendar.Time, text: str, once: Once | None) -> bool:
    return once is None or once(text[: time.start] + text[time.end :]) < ONCE_SAID_TO_BE


def _resolved(text: str, start: int, end: int, stretch: Stretch, said: datetime) -> RelativeDate:
    first = stretch[0].replace(tzinfo=said.tzinfo)
    return RelativeDate(text[start:end], _spelled(stretch), first, end)


def named_stretch(text: str, now: datetime, *, ahead: bool = False) -> Stretch | None:
    """The stretch of wall-clock time that a text names which says nothing else: yesterday, next
    week, in 3 days, vor zwei Wochen. None for any other text.

    `now` is a moment in the zone of whoever wrote it. So many weeks, months or years from now, or
    ago, are counted to the day. Of a weekday `ahead` takes the next instead of the latest one.
    """
    plain = Plain.of(text.strip())
    found = {
        time.stretch
        for time in calendar.times(plain.text, now.date())
        if (time.start, time.end) == (0, len(plain.text))
    }
    for language in likely_languages(plain):
        anchors = spoken_grammar(language).anchors(plain.text)
        if [(anchor.start, anchor.end) for anchor in anchors] == [(0, len(plain.text))]:
            with suppress(ValueError, OverflowError):  # beyond the calendar
                found.add(_alone(anchors[0], now.date(), ahead))
    return found.pop() if len(found) == 1 else None


def _alone(anchor: Anchor, today: date, ahead: bool) -> Stretch:
    """What a time means that stands by itself."""
    if anchor.meaning in AWAY:
        return _exactly(replace(anchor.slots, n=AWAY[anchor.meaning] * anchor.slots.n), today)
    if anchor.meaning == "weekday" and ahead:
        return _coming_weekday(anchor.slots, today)
    return _stretch(anchor, today, Tense(past=not ahead, future=ahead))


def _found(
    text: str,
    plain: Plain,
    language: Language,
    today: date,
    once: Once | None,
    leading: str,
) -> Iterator[tuple[int, int, Stretch]]:
    """From where to where in the plain text a time is told, and which one."""
    speech = spoken_grammar(language)
    for anchor, last, stretch, clause in times_in(text, plain, language, today, leading):
        if speech.not_before.match(plain.text, last.end):
            continue
        if plain.text.startswith(" (", last.end) or stretch is None:
            continue
        if is_sure(anchor, clause, once):
            yield anchor.start, last.end, stretch


def times_in(
    text: str, plain: Plain, language: Language, today: date, leading: str = ""
) -> Iterator[tuple[Anchor, Anchor, Stretch | None, Clause]]:
    """Each time that is no name: where it begins, where it ends, when that is (None where that is
    not sure, or beyond the calendar), and what is said of it."""
    speech = spoken_grammar(language)
    anchors = speech.anchors(plain.text)
    before = _last_named(leading, today) if any(one.meaning == BARE for one in anchors) else None
    for anchor, away, last, beside in _joined(anchors, plain):
        if is_name(anchor, text, plain, language):
            continue
        clause = Clause.of(anchor, text, plain, language, beside)
        found: Stretch | None = None
        with suppress(ValueError, OverflowError):  # beyond the calendar
            stretch = _stretch(anchor, today, clause.tense)
            if anchor.meaning == BARE:
                stretch = bare_day(anchor.slots.day, clause, today, before)
            stretch = _further(away, stretch, language) if away else stretch
            _spelled(stretch)
            found = stretch
        if anchor.meaning not in NAMES or speech.link.search(
            plain.text, max(0, anchor.start - WINDOW), anchor.start
        ):
            before = named_before(anchor, found, clause.tense, today) or before
        yield anchor, last, found, clause


LOOKED_BACK = 800
"""Characters of what was said before."""


def _last_named(leading: str, today: date) -> Named | None:
    """Return the last time that is named before a text and tells which month is spoken of."""
    text = leading[-LOOKED_BACK:]
    plain = Plain.of(text)
    for language in likely_languages(plain) if plain.text else ():
        before = None
        for anchor, _, stretch, clause in times_in(text, plain, language, today):
            before = named_before(anchor, stretch, clause.tense, today) or before
        if before is not None:
            return before._replace(place=-1)
    return None


def _joined(
    anchors: list[Anchor], plain: Plain
) -> Iterator[tuple[Anchor, Anchor | None, Anchor, list[Anchor]]]:
    """Each time, how far from it the one is that is meant (tomorrow in a week, a week ago today),
    where both end, and the times beside it."""
    taken: Anchor | None = None
    for at, anchor in enumerate(anchors):
        if anchor is taken:
            continue
        beside = [*anchors[max(0, at - 1) : at], *anchors[at + 1 : at + 2]]
        behind = anchors[at + 1] if at + 1 < len(anchors) else anchor
        taken = behind if plain.text[anchor.end : behind.start] == " " else None
        if taken and anchor.meaning in DAYS and behind.meaning in AWAY:
            yield anchor, behind, behind, beside
        elif taken and anchor.meaning in AWAY and behind.meaning in DAYS:
            yield replace(behind, start=anchor.start), anchor, behind, beside
        else:
            taken = None
            yield anchor, None, anchor, beside


AWAY = {"in units": 1, "ago": -1}
LASTING = frozenset({"in units", "weeks after weekday"})
OF_ITS_TENSE = frozenset({"weekday", "this weekday", BARE})
COUNTED_BOTH = {8: 7, 15: 14}
"""Eight days from today are a week, where the first is counted as well: not in English."""


def _further(away: Anchor, base: Stretch, language: Language) -> Stretch:
    """The very day so many units on from a day, or before it."""
    n = away.slots.n
    if away.slots.unit == DAY:
        n = COUNTED_BOTH.get(n, n) if language.name != "en" else n
    return _exactly(replace(away.slots, n=AWAY[away.meaning] * n), base[0].date())


def is_sure(anchor: Anchor, clause: Clause, once: Once | None = None) -> bool:
    """Whether it means one stretch only."""
    if anchor.meaning in OF_ITS_TENSE and not clause.has_own_tense:
        return False
    if anchor.meaning == "weekday":
        return is_one_day(anchor, clause, once)
    if anchor.meaning in LASTING:  # "it took me", "finished in two days": so long
        return clause.tense.future or not clause.tense.past
    if anchor.meaning == "day of month":  # not the 15th floor
        return STANDS_ALONE.match(clause.whole, anchor.end) is not None
    return anchor.meaning in RELATIVE or anchor.meaning in COMING


def _stretch(anchor: Anchor, today: date, tense: Tense) -> Stretch:
    if anchor.meaning == "weekday" and not tense.past:
        return _coming_weekday(anchor.slots, today)
    if anchor.meaning in ("this weekday", BARE) and tense.past and not tense.future:
        return OF_THE_PAST[anchor.meaning](anchor.slots, today)
    meaning = COMING.get(anchor.meaning)
    return meaning(anchor.slots, today) if meaning else anchor.stretch(today)


def _spelled(stretch: Stretch) -> str:
    """2023-05-07, 2023-05-01/07, 2023-05-29/06-04, 2023-04, 2022, or 2022-06/08."""
    first = stretch[0].date()
    last = (stretch[1] - timedelta(microseconds=1)).date()
    if (stretch[1] - stretch[0]) <= timedelta(hours=24):
        return first.isoformat()
    whole_months = first.day == 1 and stretch[1].day == 1
    if whole_months and (first.month, last.month) == (1, 12):
        return f"{first.year}"
    start, end = (day.isoformat()[: 7 if whole_months else 10] for day in (first, last))
    if start == end:
        return start
    same = 8 if start[:7] == end[:7] else 5 if start[:4] == end[:4] else 0
    return f"{start}/{end[same:]}"


# Signs that a question asks how things stood, in six languages; the words are in the lexica.
# Matched with texts as text.Plain has them: lower case, no accents, single spaces.


def _any_sign(name: str) -> re.Pattern[str]:
    return late("|".join(rf"(?<!\w)(?:{found})(?!\w)" for found in alternatives("past", name)))


LOOKING_BACK = _any_sign("looking_back")
"""Verbs in a past tense. Some present ones end as they do: alone they mean nothing."""
FORMERLY = _any_sign("formerly")
BEFORE = _any_sign("before")
"""Where a verb looks back as well; else they may speak of a plan."""
OF_NOW = _any_sign("now")
"""It asks how things are."""
PAST_FORM = _any_sign("past_form")
"""Told of the past, besides those: in English -ed, in Spanish and Portuguese what I did."""
UNTIL = _any_sign("until")
NOT_A_STATE = _any_sign("not_a_state")
"""Told of an offer, a deadline or the past, a time is what it is about, and not its end."""
FOLLOWED = late(
    r"\b(?i:before|prior to|vor|bevor|avant|antes d[aeo]l?|prima d(?:i|el|ella|ello|ell['’]))\b ?"
    r"(?:(?i:the|my|our|der|dem|den|le|la|l['’]|el|il|lo|o|a) ?)?"
    r"(?P<name>[^\W\d_a-zß-ÿ][\w-]*(?: [^\W\d_a-zß-ÿ][\w-]*){0,2})"
)
"""What came next, by name: before Ericsson."""
LONGEST_STATEMENT = 200
"""Characters; a longer one says more than what ends."""


@dataclass(frozen=True)
class Interval:
    """A stretch of time, half-open: start <= t < end; None is unbounded."""

    start: datetime | None
    end: datetime | None

    def holds(self, moment: datetime) -> bool:
        """Whether an aware moment lies in it."""
        return (self.start is None or self.start <= moment) and (
            self.end is None or moment < self.end
        )


def _named_interval(
    plain: Plain, question: str, now: datetime, *, looks_back: bool = False
) -> tuple[Interval, str] | None:
    wall = now.replace(tzinfo=None)
    named = [
        time
        for language in likely_languages(plain)
        if (time := named_time(plain, language, wall, looks_back=looks_back)) is not None
    ]
    if len({time.stretch for time in named}) != 1:
        return None
    longest = max(named, key=lambda time: time.end - time.start)
    start, end = (edge and edge.replace(tzinfo=now.tzinfo) for edge in longest.stretch)
    return Interval(start, end), _original(plain, question, longest.start, longest.end)


def _original(plain: Plain, question: str, start: int, end: int) -> str:
    return question[plain.places[start] : plain.places[end]].strip()


def _is_of_past(statement: str) -> bool:
    """Whether a verb of it is in a past tense; names are none: Nokia, María."""
    plain = Plain.of(NAMED.sub("", statement)).text
    return bool(LOOKING_BACK.search(plain) or PAST_FORM.search(plain))


NAMED = late(r"(?<=\w )[^\W\d_a-zß-ÿ][\w-]+")
"""A capital, and not at the beginning."""
LONGEST_EVENT = 400  # characters; a longer text tells of more than one day
ALWAYS = late(rf"(?i)\b(?:{either('for_good')})\b")
LATELY = timedelta(days=31)
"""How long ago a feast is at most that names no year: "we had carp on Christmas Eve" may tell of
any year, or of every one."""
_DIGIT = re.compile(r"\d")


def day_of_event(text: str, said: datetime) -> date | None:
    """The day on which it happened, if a text that looks back names just one time, and that is a
    day that is over, or the same one: "yesterday", "on 5 May", "this morning".

    Not a week or a month, nor a day since or until which something is so. `said` is a moment in the
    speaker's zone. Never raises.
    """
    if len(text) > LONGEST_EVENT:
        return None
    if CHINESE.search(text) and any(calendar.times(text, said.date())):
        return calendar.happened(text, said.date())
    if not (HINT.search(text) or _DIGIT.search(text)):
        return None
    plain = Plain.of(text)
    for language in likely_languages(plain):
        named = set(_named(text, plain, language, said.date()))
        if named:
            return named.pop() if len(named) == 1 else None
    return None


def _named(text: str, plain: Plain, language: Language, today: date) -> Iterator[date | None]:
    """Each time that a text names: the day, if something is told of it, else None."""
    speech = spoken_grammar(language)
    for anchor, last, stretch, clause in times_in(text, plain, language, today):
        is_part = anchor.meaning not in DAYS and speech.not_before.match(plain.text, last.end)
        if stretch is None or is_part:  # beyond the calendar; the last Friday but one of May
            yield None
            continue
        if clause.has_other_day and anchor.meaning == "weekday" and not is_weekday(anchor, clause):
            continue  # yesterday, Tuesday
        link = speech.link.search(plain.text, max(0, anchor.start - WINDOW), anchor.start)
        if link is None and anchor.meaning in NAMES:
            continue  # 1900 grams
        on = link is None or link.lastgroup == "in"
        tense, day = clause.tense, stretch[0].date()
        start = link.start() if link else anchor.start
        # A date with its year needs no verb in the past, unless something is on that date.
        is_past = tense.past or (anchor.slots.year is not None and not is_on(clause, start))
        if anchor.meaning == "feast" and anchor.slots.year is None:
            is_past &= today - day <= LATELY and not clause.refuses(anchor)
            is_past &= not ALWAYS.search(clause.text)
        told = anchor.meaning in ("date", "feast") and is_past or is_sure(anchor, clause)
        is_over = day < today or (anchor.meaning in ("today", "part of today") and tense.past)
        is_day = stretch[1] - stretch[0] <= timedelta(days=1) and is_over
        yield day if on and told and is_day and not tense.future else None


@dataclass(frozen=True, slots=True)
class Dates:
    """A text and the aware moment, in its writer's zone, at which it was said. Never raises."""

    text: str
    said: datetime
    once: Once | None = None
    """What tells a day to come from one of every week; without, the words decide. If it raises,
    so does `relative`."""
    leading: str = ""
    """What was said before it, of which a bare day of the month may be a part."""

    @property
    def relative(self) -> list[RelativeDate]:
        """Its relative times that can mean one stretch only, in order."""
        return relative_dates(self.text, self.said, self.once, self.leading)

    @property
    def written_out(self) -> str:
        """The text with a date behind each of these: yesterday (2023-05-07)."""
        parts, done = [], 0
        for one in self.relative:
            parts.append(f"{self.text[done : one.end]} ({one.date})")
            done = one.end
        return "".join([*parts, self.text[done:]])

    def meant(self, *, is_day_known: bool = False) -> list[str]:
        """What a reader on another day has to know: each phrase and its date, and where a further
        one can mean several times, the day on which it was said, unless that is known."""
        dates = self.relative
        named = [f"{one.phrase}: {one.date}" for one in dates]
        is_open = not is_day_known and count_relative(self.text, self.said) > len(dates)
        return [*named, f"said on {self.said:%Y-%m-%d}"] if is_open else named

    @property
    def of_event(self) -> date | None:
        """The day on which it happened; see day_of_event."""
        return day_of_event(self.text, self.said)

    @property
    def asked(self) -> tuple[Interval, str] | None:
        """The one stretch of time that a question names in words, in English, German, French,
        Spanish, Italian or Portuguese, and the phrase that named it. None if there is no such time,
        if there are two, if it is to come, or if the words could mean something else."""
        return _named_interval(Plain.of(self.text), self.text, self.said)

    @property
    def asked_of_past(self) -> tuple[Interval, str] | None:
        """The stretch of the past of which a question asks how things stood then, and its phrase.

        "Where did I live in March?" names it; "what was my port before?" means all that is past.
        None where it asks how things are, or of a time in words that name none.
        """
        plain, now = Plain.of(self.text), self.said
        if OF_NOW.search(plain.text):
            return None
        looks_back = bool(LOOKING_BACK.search(plain.text))
        if looks_back and (
            named := self.asked or _named_interval(plain, self.text, now, looks_back=True)
        ):
            return named
        former = FORMERLY.search(plain.text) or (looks_back and BEFORE.search(plain.text))
        if former:
            return Interval(None, now), _original(plain, self.text, former.start(), former.end())
        return None

    @property
    def asked_before(self) -> str:
        """What is named behind "before": what came next; else nothing."""
        found = FOLLOWED.search(self.text)
        return found["name"] if found else ""

    @property
    def end(self) -> datetime | None:
        """When what it states ends by itself: "until June I live in Porto"; the time named is the
        last. A time that is over counts where nothing is told in the past: what is so until 2025
        was so then. None where it names no such time, or where the time is what it is about: what
        is valid or due until then is so before and after."""
        text, now = self.text, self.said
        if len(text) > LONGEST_STATEMENT:
            return None
        plain = Plain.of(text)
        if not UNTIL.search(plain.text) or "?" in text or NOT_A_STATE.search(plain.text):
            return None
        wall = now.replace(tzinfo=None)
        found = (named_end(plain, language, wall) for language in likely_languages(plain))
        ends = {end for end in found if end is not None}
        if len(ends) != 1:
            return None
        end = ends.pop()
        return None if end <= wall and _is_of_past(text) else end.replace(tzinfo=now.tzinfo)

    def alone(self, *, ahead: bool = False) -> Stretch | None:
        """The time, if the text names one and says nothing else. Of a weekday `ahead` takes the
        next instead of the latest one."""
        return named_stretch(self.text, self.said, ahead=ahead)
