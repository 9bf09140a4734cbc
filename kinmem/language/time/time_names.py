"""Which words for a time name one day: no names (USA Today), and no weekdays that come again and
again. What is said of a day, and in which tense, is looked for in its own clause."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

from kinmem.language.lexicon import TENSES, alternatives, lexicon, pattern, word_class
from kinmem.language.sentence_borders import borders
from kinmem.language.time.phrases import WINDOW, Anchor, Grammar, Language
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
    around: Plain
    """The text that it is a part of."""
    language: Language
    has_other_day: bool
    """Today is Monday; the weekday only names a day that another word tells."""

    @classmethod
    def of(
        cls, anchor: Anchor, text: str, plain: Plain, language: Language, beside: Iterable[Anchor]
    ) -> "Clause":
        """The clause of a time; `beside` are the times next to it in the text."""
        first, last = _sentence(anchor, text, plain)
        start, end = _between(plain.text, anchor.start, anchor.end, first, last)
        if _is_empty(anchor, plain.text, start, end, language):
            start, end = _between(plain.text, start - 1, end + 1, first, last)
        part = text[plain.places[start] : plain.places[end]]
        words = frozenset(LETTERS.findall(plain.text[start:end])) | frozenset(
            LETTERS.findall(unicodedata.normalize("NFC", part.casefold()))
        )
        others = [one for one in beside if one.meaning in DAYS and start <= one.start < end]
        within = Plain(plain.text[start:end], [], words)
        return cls(part, within, start, plain, language, bool(others))

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
        return Tense(told or spoken_grammar(self.language).speaks_of_past(self.plain), future)

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
