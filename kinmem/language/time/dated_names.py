"""Words for a time that name no day: titles, holidays, habits, ranges. Precision before recall: a
date that is missing costs little, a wrong one stays."""

import re

from kinmem.language.time.phrases import Anchor, Language, Plain
from kinmem.text import late

WEEKDAYS = frozenset({"weekday", "last weekday", "coming weekday", "this weekday", "next weekday"})
CALENDAR = late(
    r"(?i)(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|winter|spring|summer|autumn|fall"
)
"""Words within a time that have a capital of their own in English."""
NOUNS = frozenset({"Heute", "Gestern", "Vorgestern", "Morgen", "Übermorgen"})
"""In German only these are no time where they have a capital: der Morgen, die Zeitung Heute."""
BEGINS = re.compile(r"(?:\A|[.!?…:;\n]|[-–—] |\A\W{1,8})[\s\"'“„«¡¿(]*\Z")
"""In front of a first word, where any word has a capital."""
CAPITAL_BEFORE = re.compile(r"(?P<before>[\w’']+) (?P<name>[^\W\d_][\w’'-]+) \Z")
CAPITAL_BEHIND = re.compile(r" [^\W\d_a-zß-ÿ][^\W\d_]")
DETERMINER = late(
    r"(?i)(?:the|my|our|his|her|der|die|das|den|dem|des|eine?[nmrs]?|(?:mein|unser|sein|ihr|kein)\w*"
    r"|diese\w?|zum|zur|im|am|beim|vom)"
)
TITLED = late(
    r"(?i)(?: (?:by|von|de|di|par)(?: the| los| las| les| i| den)? (?-i:[A-ZÀ-Þ])"
    r"|,? (?:is|was|ist|est|es|è|é)(?: \w+){1,3} (?:song|film|movie|book|novel|band|series|show"
    r"|album|lied|buch|serie|chanson|livre|canción|película|libro|canzone|música|livro|filme))\b"
)
"""Behind a title: Yesterday by the Beatles."""
NAMING = late(
    r"(?:called|named|titled|song|film|movie|book|novel|band|series|show|episode|album|magazine"
    r"|newspaper|game|like[sd]?|love[sd]?|hate[sd]?|adore[sd]?|watch(?:ed|es|ing)?|reads?"
    r"|(?:call|nam)\w* (?:my|our|the|him|her|it)(?: \w+)?|played|sang|performed|by|of|with|than"
    r"|heisst|namens) \Z"
)
"""Before what has a name of its own: my cat is called Friday."""
HOLIDAY = late(
    r"(?:ash|shrove|good|holy|easter|whit|palm|cyber|black|fat|pancake|super|maundy|casual|giving"
    r"|plough|spy|red-letter|rainy) \Z"
)
HABIT = late(
    r"(?<!\w)(?:every|each|any|most|some|jede[nrms]?|alle|chaque|tous les|toutes les|cada"
    r"|todos (?:los|as)|todas (?:las|as)|ogni|tutti i|tutte le|todos os|todo)(?: [\w.]+){0,2} \Z"
    r"|(?<!\w)(?:an? |one |some |any |einem |an einem |un |une |uno |una |um |uma |numa |di |de )\Z"
    r"|(?<!\w)(?:first|second|third|fourth|last|erste[nr]|zweite[nr]|dritte[nr]|premier|deuxieme"
    r"|primer|segundo|primo|secondo|primeir[oa]) \Z"
)
"""Before a weekday that comes again and again: every second Thursday, on a Sunday."""
RANGE_BEHIND = late(
    r" ?(?:to|until|till|through|thru|bis|au|a|al|fino a|ate|-|–|—) ?(?:zum |la |el |il |o )?"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun|mitt|diens|donners|frei|sams|sonn|lun|mar|mer|jeu|gio"
    r"|ven|sam|sab|dim|dom|mier|jue|vie|seg|ter|qua|qui|sex)\w*"
)
RANGE_BEFORE = late(
    r"(?:day|tag|mittwoch|di|dimanche|lunes|martes|miercoles|jueves|viernes|sabado|domingo|sabato"
    r"|domenica|feira) ?(?:to|until|till|through|thru|bis|au|a|al|fino a|ate|-|–|—) ?"
    r"(?:zum |la |el |il |o )?\Z"
)
CLAUSE = re.compile(r"(?:\A|[,;:.!?(–—-] ?|\b(?:and|but|so|then|because) )\Z")
ENDS = re.compile(r"""[ "')\]]?(?:\Z|[?.!,;:](?!\w))| (?:and|but|because|with|at|in|to|for)\b""")


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
