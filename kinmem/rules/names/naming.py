"""Whom and what a text names: only what is surely a name, since a wrong one misleads later."""

import re
from collections.abc import Collection, Iterator

from kinmem.models import Entity, EntityType
from kinmem.rules.grammar import FUNCTION_WORDS, MARKERS
from kinmem.rules.pattern import Pattern
from kinmem.rules.same.amounts import CAPITAL_MONTHS, DAY_NAMES
from kinmem.rules.talk.cues import KIN, KIN_ABROAD
from kinmem.text import sentences, words

CAPITAL = r"(?:[A-ZÀ-Þ][\w’'-]*\w|[A-Z]{2,})"
RUN = re.compile(rf"{CAPITAL}(?:(?: (?:of|the|de|da|del|van|von))? {CAPITAL})*")
OF_KIN = Pattern(
    rf"\b(?:{KIN}|{KIN_ABROAD}),? (?:is |named |called |is called |is named |hei(?:ß|ss)t "
    rf"|namens )?$"
)
LIVES_IN = Pattern(
    r"\b(?:live[sd]?|living|moved?|moving|born|travel\w*|trip|flew|fly|flying|based|wohn\w+"
    r"|lebe\w*|reise|habit\w+|vivo|vive|moro|mora|abito|abita|viv\w+)\b"
    r"[\w ]{0,20}\b(?:in|to|from|near|nach|aus|[aà]|en|em|de)\s$"
)
KIN_AND_NAME = Pattern(rf"(?:.* )?(?:{KIN}|{KIN_ABROAD}) (?=[A-ZÀ-Þ])")
WORKS_AT = Pattern(
    r"\b(?:works?|working|worked|job|arbeite\w*|travaille|trabajo|lavoro|trabalho) (?:at|for|with"
    r"|bei|chez|en|per|na|no)\s$"
)
COMPANY = re.compile(r"\b(?:Inc|Ltd|LLC|GmbH|AG|Corp|SA|SpA|University|Bank|Company)\b")
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
    nouns = _has_capital_nouns(text)
    for sentence in sentences(text[:HEAD]):
        for entity in _in_sentence(sentence, known, nouns):
            found.setdefault(entity.name, entity)
    return tuple(found.values())[:MOST]


def _in_sentence(sentence: str, known: Collection[str], nouns: bool) -> Iterator[Entity]:
    for match in RUN.finditer(sentence):
        name = re.sub(r"['’]s$", "", match[0])
        before = sentence[max(0, match.start() - NEAR) : match.start()]
        if of_kin := KIN_AND_NAME.match(name):
            yield Entity(name[of_kin.end() :], "person")
        elif name in known:
            yield Entity(name, "person")
        elif name.casefold() in NEVER or name.split()[0].casefold() in NEVER:
            continue
        elif OF_KIN.search(before):
            yield Entity(name, "person")
        elif WITHIN.search(before) and (not nouns or " " in name):
            yield Entity(name, _type(name, before))


def _type(name: str, before: str) -> EntityType:
    if LIVES_IN.search(before):
        return "location"
    return "organization" if WORKS_AT.search(before) or COMPANY.search(name) else "other"


def _has_capital_nouns(text: str) -> bool:
    told = set(words(text))
    score = {language: len(told & marks) for language, marks in MARKERS.items()}
    return score["de"] > 0 and score["de"] >= max(score.values())
