"""What a question looks for by its words, and whether it is asked after something said before."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kinmem.language.lexicon import by_language, either, lexicon, word_class
from kinmem.language.salience import TIMES
from kinmem.text import STOP_WORDS, content_words, folded, language_of, late, words

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


_BEGINS = late(
    rf"(?i)\W*(?:(?:{either('continues')})(?![-\w'’])|(?:{either('answers_with')})(?=\s*[,.;!?…]|\s*$))"
)
"""How a continuation begins: "what about", whatever follows; "yes" only before a pause, but not "No
smoking in the flat?"."""
_JOINS = {
    language: late(rf"(?i)\W*(?:{'|'.join(found)})(?![-\w'’.]| a-t-)")
    for language, found in by_language("conjunctions").items()
}
# Whom or what they mean was said before. Words that are articles as often as pronouns (la, lo, le,
# das, i) are left out: carrying over what nobody meant costs more than missing one.
PERSONS, THINGS = by_language("persons_before"), by_language("things_before")
BACKWARDS = word_class("backwards")
"""They may mean somebody named before them in the question: "Does my sister like her job?"."""
SOMEBODY = late(rf"(?i)\b(?:{either('somebodys')})\s+[^\W\d_]{{2,}}|\bl['’][^\W\d_]{{2,}}")
EMPTY = late(f"(?i){either('pointing_nowhere')}")
"""Nothing is meant by these: "Is it raining?", "Is there ...", "I think that ..."."""
NAME = late(r"(?<=\w[ ,])\s?\b([^\W\d_a-zß-ÿ][^\W\d_A-Z]\w*)")
LITTLE = word_class("asks_little")
"""Beside stop words they ask for nothing yet: "Since when?", "Where exactly?", "С каких пор?"."""
SELF = word_class("self_alone")
BARE = late(rf"(?i)\W*(?:{either('bare_questions')})\W*")
CHINESE = late(
    "^.{0,3}[他她它]|^那.*呢?[?？]?$|^(?:为什么|怎么样|多少钱|什么时候|谁|哪里|哪儿)[?？]?$"
)
AT_THE_END = late(r"\b(?:kostet|ist|war|heißt|macht|geht) das\W*$", re.IGNORECASE)
MOST_CARRIED = 4
_ALL_PERSONS = word_class("persons_before")


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question that only the conversation before it may explain."""

    text: str

    def is_likely(self, threshold: int) -> bool:
        """Whether it is at most `threshold` characters long, and begins as an answer or a
        continuation does, or has a pronoun and before it nobody whom it means, or no word with a
        meaning of its own."""
        text = self.text
        if len(text) > threshold:
            return False
        said = words(text)
        if _BEGINS.match(text) or _joins(text, said) or CHINESE.search(text):
            return True
        if (STOPS | LITTLE).issuperset(said) and SELF.isdisjoint(said):
            return True
        if BARE.fullmatch(text) or AT_THE_END.search(text):
            return True
        meant = _pronoun(text)
        return meant is not None and not _is_explained(meant, text)

    def words_left_out(self, before: Sequence[str], names: Collection[str]) -> list[str]:
        """What it leaves out and the latest texts before it name, at most four words.

        A person (he, she, they) is the one named last; else it is what the last text that has
        anything to say speaks of. `names`: who and what is known by name, see text.folded.
        """
        text = self.text
        own = set(content_words(text))
        if (meant := _pronoun(text)) and meant[0].casefold() in _ALL_PERSONS:
            for said in reversed(before):
                if named := _named(said, names):
                    return [named[-1]]
        has_name = bool(_named(text, names))
        for said in reversed(before):
            telling = _telling(said, names, with_names=not has_name)
            if left := [word for word in telling if word.casefold() not in own]:
                return left[:MOST_CARRIED]
        return []


def _joins(text: str, said: Sequence[str]) -> bool:
    """Whether it begins with an "and" of a language in which the rest may be."""
    rest = set(said[1:])
    known = {code: len(rest & stop) for code, stop in STOP_WORDS.items()}
    most = max(known.values())
    return any(begins.match(text) for code, begins in _JOINS.items() if known.get(code, 0) == most)


def _is_explained(meant: re.Match[str], text: str) -> bool:
    """Whether whom or what a pronoun means stands before it, or it begins a name."""
    before, after = text[: meant.start()], text[meant.end() :]
    if NAME.search(before) or ":" in before and content_words(before):
        return True
    if not words(before):
        return re.match(r" [^\W\d_a-zß-ÿ]\w+,", after) is not None
    return meant[0].casefold() in BACKWARDS and SOMEBODY.search(before) is not None


def _pronoun(text: str) -> re.Match[str] | None:
    """The first one, in the language of the text, that means something said before."""
    plain = EMPTY.sub(lambda match: " " * len(match[0]), text)
    found = set(words(text))
    languages = [language_of(text)] if found & STOPS else list(PERSONS)
    known = {word for code in languages for word in (*PERSONS[code], *THINGS[code])}
    return next((word for word in re.finditer(r"\w+", plain) if word[0].casefold() in known), None)


def _named(text: str, names: Collection[str]) -> list[str]:
    """Known names in order, or capitalised words within a sentence."""
    known = [word for word in re.findall(r"\w[\w-]*", text) if folded(word) in names]
    return [word for word in known if word[:1].isupper()] or NAME.findall(text)


def _telling(text: str, names: Collection[str], *, with_names: bool) -> list[str]:
    """Names first, then the longest words that are no stop words: short ones say little."""
    named = list(dict.fromkeys(_named(text, names)))
    known = STOPS | {name.casefold() for name in named}
    rest = {word for word in content_words(text) if word not in known}
    longest = sorted(rest, key=lambda word: (-len(word), word))
    return [*named, *longest] if with_names else longest
