"""What time a question asks about, when a statement ends by itself, and times that name no day."""

import re
from dataclasses import dataclass
from datetime import datetime

from kinmem.language.lexicon import alternatives, pattern
from kinmem.language.time.phrases import (
    Anchor,
    Language,
    Plain,
    likely_languages,
    named_end,
    named_time,
)
from kinmem.text import late

# Signs that a question asks how things stood, in six languages; the words are in the lexica.
# Matched with texts as phrases.Plain has them: lower case, no accents, single spaces.


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


def interval_in_question(question: str, now: datetime) -> tuple[Interval, str] | None:
    """The one stretch of time that a question names in words, and the phrase that named it.

    English, German, French, Spanish, Italian, Portuguese. None if there is no such time, if there
    are two, if it is to come, or if the words could mean something else. `now` is aware; so is
    the result, in its zone.
    """
    return _named_interval(Plain.of(question), question, now)


def past_in_question(question: str, now: datetime) -> tuple[Interval, str] | None:
    """The stretch of the past of which a question asks how things stood then, and its phrase.

    "Where did I live in March?" names it; "what was my port before?" means all that is past. None
    where it asks how things are, or of a time in words that name none. `now` is aware.
    """
    plain = Plain.of(question)
    if OF_NOW.search(plain.text):
        return None
    looks_back = bool(LOOKING_BACK.search(plain.text))
    if looks_back and (
        named := _named_interval(plain, question, now)
        or _named_interval(plain, question, now, looks_back=True)
    ):
        return named
    former = FORMERLY.search(plain.text) or (looks_back and BEFORE.search(plain.text))
    if former:
        return Interval(None, now), _original(plain, question, former.start(), former.end())
    return None


def successor_in_question(question: str) -> str:
    """What is named behind "before": the name of what came next, else nothing."""
    found = FOLLOWED.search(question)
    return found["name"] if found else ""


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


def valid_until(statement: str, now: datetime) -> datetime | None:
    """When a statement ends by itself: "until June I live in Porto"; the time named is the last.

    A time that is over counts where nothing is told in the past: what is so until 2025 was so then.
    None where it names no such time, or where the time is what it is about: what is valid or due
    until then is so before and after. `now` is aware; so is the result, in its zone.
    """
    if len(statement) > LONGEST_STATEMENT:
        return None
    plain = Plain.of(statement)
    if not UNTIL.search(plain.text) or "?" in statement or NOT_A_STATE.search(plain.text):
        return None
    wall = now.replace(tzinfo=None)
    found = (named_end(plain, language, wall) for language in likely_languages(plain))
    ends = {end for end in found if end is not None}
    if len(ends) != 1:
        return None
    end = ends.pop()
    return None if end <= wall and _is_of_past(statement) else end.replace(tzinfo=now.tzinfo)


def _is_of_past(statement: str) -> bool:
    """Whether a verb of it is in a past tense; names are none: Nokia, María."""
    plain = Plain.of(NAMED.sub("", statement)).text
    return bool(LOOKING_BACK.search(plain) or PAST_FORM.search(plain))


NAMED = late(r"(?<=\w )[^\W\d_a-zß-ÿ][\w-]+")
"""A capital, and not at the beginning."""


WEEKDAYS = frozenset({"weekday", "last weekday", "coming weekday", "this weekday", "next weekday"})
CALENDAR = late(f"(?i){pattern('time_names', 'calendar')}")
"""Words within a time that have a capital of their own in English."""
NOUNS = frozenset({"Heute", "Gestern", "Vorgestern", "Morgen", "Übermorgen"})
"""In German only these are no time where they have a capital: der Morgen, die Zeitung Heute."""
BEGINS = late(r"(?:\A|[.!?…:;\n]|[-–—] |\A\W{1,8})[\s\"'“„«¡¿(]*\Z")
"""In front of a first word, where any word has a capital."""
CAPITAL_BEFORE = late(r"(?P<before>[\w’']+) (?P<name>[^\W\d_][\w’'-]+) \Z")
CAPITAL_BEHIND = late(r" [^\W\d_a-zß-ÿ][^\W\d_]")
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
CLAUSE = late(r"(?:\A|[,;:.!?(–—-] ?|\b(?:and|but|so|then|because) )\Z")
ENDS = late(r"""[ "')\]]?(?:\Z|[?.!,;:](?!\w))| (?:and|but|because|with|at|in|to|for)\b""")


def is_name(anchor: Anchor, text: str, plain: Plain, language: Language) -> bool:
    """Whether the words name something: USA Today, Freaky Friday, The Day After Tomorrow."""
    start, end = plain.places[anchor.start], plain.places[anchor.end - 1] + 1
    written = text[start:end]
    if TITLED.match(text[end:]) and BEGINS.search(text[:start]):
        return True
    first = BEGINS.search(text[:start]) is not None
    if not first and anchor.start and _follows_name(text[:start]):
        return True
    if anchor.meaning in WEEKDAYS and language.name in ("en", "de"):
        return _is_named_day(anchor, text, plain, language, first=first)
    words = re.findall(r"[^\W\d_]+", written)[first:]
    if language.name == "de":
        return not first and not NOUNS.isdisjoint(words[:1])
    return not written.isupper() and any(
        word[0] != word[0].lower() and not CALENDAR.fullmatch(word) for word in words
    )


def _follows_name(before: str) -> bool:
    """Whether it goes on a list that began with a name: Ieri, oggi, domani."""
    found = re.search(r"(\w+), (?:\w+, )?\Z", before)
    if found is None or found[1][0] == found[1][0].lower():
        return False
    return found[1].casefold() in {"ieri", "oggi", "yesterday", "gestern", "hier", "ayer", "ontem"}


def _is_named_day(
    anchor: Anchor, text: str, plain: Plain, language: Language, *, first: bool
) -> bool:
    """Whether a capital beside a weekday, or what stands before it, makes it a name."""
    start, end = plain.places[anchor.start], plain.places[anchor.end - 1] + 1
    before = plain.text[: anchor.start]
    if HOLIDAY.search(before):
        return True
    bare = anchor.meaning == "weekday" and not re.search(r"\b(?:on|am|an) \Z", before)
    if not bare:
        return False
    if NAMING.search(before) or (not first and CAPITAL_BEHIND.match(text, end)):
        return True
    name = CAPITAL_BEFORE.search(text[:start])
    if name and name["name"][0] != name["name"][0].lower():
        return language.name == "en" or not DETERMINER.fullmatch(name["before"])
    if language.name == "en":  # "the Friday meeting" is a topic
        return not CLAUSE.search(before) and not ENDS.match(plain.text, anchor.end)
    return False


def is_one_of_several(anchor: Anchor, plain: Plain) -> bool:
    """Whether a weekday comes again and again, or begins or ends a range of days."""
    if HABIT.search(plain.text, 0, anchor.start):
        return True
    if RANGE_BEHIND.match(plain.text, anchor.end):
        return True
    return RANGE_BEFORE.search(plain.text, 0, anchor.start) is not None
