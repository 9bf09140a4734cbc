"""Whom and what a text names: only what is surely a name, since a wrong one misleads later."""

import re
from collections.abc import Collection, Iterator

from kinmem.language.pattern import Pattern
from kinmem.language.same.amounts import CAPITAL_MONTHS, DAY_NAMES
from kinmem.language.talk.about import KIN, KIN_ABROAD
from kinmem.language.vocabulary import FUNCTION_WORDS, MARKERS
from kinmem.models import Entity
from kinmem.sentences import sentences
from kinmem.text import words

CAPITAL = r"(?:[A-ZÀ-Þ][\w’'-]*\w|[A-Z]{2,})"
RUN = re.compile(rf"{CAPITAL}(?:(?: (?:of|the|de|da|del|van|von))? {CAPITAL})*")
OF_KIN = Pattern(
    rf"\b(?:{KIN}|{KIN_ABROAD}),? (?:is |named |called |is called |is named |hei(?:ß|ss)t "
    rf"|namens )?$"
)
KIN_AND_NAME = Pattern(rf"(?:.* )?(?:{KIN}|{KIN_ABROAD}) (?=[A-ZÀ-Þ])")
MONTHS = frozenset(month.casefold() for month in CAPITAL_MONTHS)
WITHIN = re.compile(r"\w[^.!?:\"“]*$")
"""A word before, and no beginning of a sentence or a quotation since."""
ABBREVIATED = """i i'm i've i'll i'd i’m i’ve i’ll i’d ok okay tv pic fyi btw lol omg mom mum dad
    grandma grandpa god""".split()
NEVER = FUNCTION_WORDS | MONTHS | DAY_NAMES.keys() | frozenset(ABBREVIATED)
MOST = 8
NEAR = 80
"""Characters before a name that tell what it names."""
HEAD = 2000


def entities(text: str, known: Collection[str] = ()) -> tuple[Entity, ...]:
    """At most eight, in order, each once. `known`: names of people who talk.

    Within a sentence a capital makes a name, at its start only a known one does. Where nouns have
    capitals (German) a name is known, has two words, or follows what somebody is to the speaker.
    """
    found: dict[str, Entity] = {}
    for start, end in names_by_capitals(text[:HEAD], known):
        name = text[start:end]
        is_person = name in known or OF_KIN.search(text[max(0, start - NEAR) : start])
        found.setdefault(name, Entity(name, "person" if is_person else "other"))
    return tuple(found.values())[:MOST]


def names_by_capitals(text: str, known: Collection[str] = ()) -> Iterator[tuple[int, int]]:
    """Where they stand."""
    nouns, begin = _has_capital_nouns(text), 0
    for sentence in sentences(text):
        for match in RUN.finditer(sentence):
            name = re.sub(r"['’]s$", "", match[0])
            start = 0
            before = sentence[max(0, match.start() - NEAR) : match.start()]
            if of_kin := KIN_AND_NAME.match(name):
                start = of_kin.end()
            elif name not in known:
                if name.casefold() in NEVER or name.split()[0].casefold() in NEVER:
                    continue
                is_within = WITHIN.search(before) and (not nouns or " " in name)
                if not is_within and not OF_KIN.search(before):
                    continue
            yield begin + match.start() + start, begin + match.start() + len(name)
        begin += len(sentence)


def _has_capital_nouns(text: str) -> bool:
    told = set(words(text))
    score = {language: len(told & marks) for language, marks in MARKERS.items()}
    return score["de"] > 0 and score["de"] >= max(score.values())
