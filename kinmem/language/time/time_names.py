"""Words for a time that name no day: names (USA Today), and weekdays that come again and again."""

import re

from kinmem.language.lexicon import pattern
from kinmem.language.time.phrases import Anchor, Language, Plain
from kinmem.text import late

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
