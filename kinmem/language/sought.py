"""What kind of answer a question asks for, and whether a text holds one of that kind at all.

A memory may be about the very thing and still not tell what is asked: "how much does Biscuit
weigh?" is not answered where there is no number, nor where all numbers are euros. Amounts and
colours in English, German, French, Spanish, Italian and Portuguese, the rest in English; where a
question asks for none of these kinds, any text may answer it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kinmem.language.lexicon import lexicon
from kinmem.language.weight import TIMES
from kinmem.text import STOP_WORDS, late, words

_TABLES = lexicon("answers")
# The numbers of a text, in digits or in words, each with what it counts: 5 kilos are a mass. Only
# the English "one" is a number word: in the other languages it is the article.
MONEY, TIME, COUNT, DATE = "money", "time", "count", "date"
"""COUNT is a number without a unit that is known, DATE one that only says when."""
UNIT = {word: kind for kind, named in _TABLES["units"].items() for word in named}
NUMBERS = frozenset({*_TABLES["units"], COUNT})
"""All but DATE."""
NUMBER = late(
    rf"(?P<money>[€$£¥] ?)?(?:(?P<clock>\b\d\d?:\d\d\b)|(?P<digits>\d+(?:[.,]\d+)*)"
    rf"|\b(?:{'|'.join(_TABLES['number_words'])})\b)(?P<ordinal>(?:st|nd|rd|th)\b)?"
    r"(?:[ -]?(?P<next>°[cf]?|[%€$£¥]|per cent|[^\W\d_]+))?(?: (?P<second>[^\W\d_]+))?",
    re.IGNORECASE,
)
MONTHS = frozenset(_TABLES["months"])
YEAR = late(r"(?:19|20)\d\d")
BETWEEN = frozenset(_TABLES["between"])
"""What stands between a number and a unit that is not its own: 17.50 an hour is no time."""


def amounts(text: str) -> Iterator[str]:
    """For each number of the text a key of UNITS, COUNT or DATE."""
    for match in NUMBER.finditer(text):
        yield _counted(match, text)


def _counted(match: re.Match[str], text: str) -> str:
    after = (match["next"] or "").casefold().replace(" ", "-")
    if match["money"] or after in UNIT:
        return MONEY if match["money"] else UNIT[after]
    if match["clock"] or match["ordinal"] or after in MONTHS:
        return DATE
    before = text[: match.start()].rstrip().rpartition(" ")[2].casefold()
    if before in MONTHS or YEAR.fullmatch(match["digits"] or ""):
        return DATE
    second = (match["second"] or "").casefold()
    return COUNT if {after, second} & BETWEEN else UNIT.get(second, COUNT)


Test = Callable[[str], bool]

CAPITAL = late(r"\b[^\W\d_a-zß-ÿ][\w-]+")
CLOSES = ".!?:"
STOPS = frozenset().union(*STOP_WORDS.values())
DOES = late(r" (?:is|was|has|had|and|can|will|[a-z]{2,}(?:s|ed))\b")


def answer_test(question: str) -> Test | None:
    """Whether a text holds an answer of the kind asked for; None: any text may."""
    if counted := HOW_MANY.search(question):
        accepted = {UNIT.get(counted["what"].casefold(), COUNT), COUNT}
        return lambda text: not accepted.isdisjoint(amounts(text))
    return next((kind.test(question) for kind in KINDS if kind.asks.search(question)), None)


class Kind(NamedTuple):
    """A kind of answer, and the words of a question that ask for it."""

    asks: re.Pattern[str]
    says: re.Pattern[str]
    """What answers by itself."""
    counts: frozenset[str]
    """A number of these answers as well."""
    names: bool
    """A name that the question does not have answers as well."""

    def test(self, question: str) -> Test:
        """Of the answers to this question."""
        known = TIMES.union(words(question)) if self.names else frozenset()
        return lambda text: (
            bool(self.says.search(text))
            or not self.counts.isdisjoint(amounts(text) if self.counts else ())
            or (self.names and _names_other(text, known))
        )


def _names_other(text: str, known: frozenset[str]) -> bool:
    """Whether a word that is none of these has a capital, and not only as the first of a sentence.

    Names begin sentences as well: such a one counts before a comma, an apostrophe, or what somebody
    does: Bob drinks.
    """
    for match in CAPITAL.finditer(text):
        start, end = match.span()
        before = text[:start].rstrip()
        begins = not before or before[-1] in CLOSES
        if match.group().lower() in known:
            continue
        if not begins or text[end : end + 1] in set(",'’"):
            return True
        if match.group().lower() not in STOPS and DOES.match(text, end):
            return True
    return False


HOW_MANY = late(rf"\b(?:{'|'.join(_TABLES['how_many'])})\s*(?P<what>[^\W\d_]+)", re.IGNORECASE)


def _kind(row: Mapping[str, Any]) -> Kind:
    """The thing asked for, and not one that is only mentioned, is what behind <what_is> stands:
    "what is she planning to do after she got the phone number?" asks for no number."""
    asks = "|".join(row["asks"])
    for sign in ("what_is", "which"):
        asks = asks.replace(f"<{sign}>", "|".join(_TABLES[sign]))
    says = "|".join(_TABLES["says"][row["saying"]]) if "saying" in row else r"(?!)"
    says = says.replace("<months>", "|".join(sorted(MONTHS)))
    counts = [
        kind
        for one in row.get("counting", ())
        for kind in (NUMBERS if one == "<numbers>" else (one,))
    ]
    is_name = row.get("naming", False)
    return Kind(late(asks, re.IGNORECASE), late(says, re.IGNORECASE), frozenset(counts), is_name)


KINDS = tuple(map(_kind, _TABLES["kinds"]))
"""The first whose words a question has says what answers it."""
