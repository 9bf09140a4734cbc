"""Whom and what a text names, of what type that is, and how it stands to each other.

Only what is surely a name is found, since a wrong one misleads later. Rules alone; a model's
findings are joined to them in llm/naming.py.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from kinmem.language.lexicon import FUNCTION_WORDS, MARKERS, either
from kinmem.language.names.relations import ENDS, SILENT, is_name, relations
from kinmem.language.same.amounts import NAMED_TIMES
from kinmem.language.sentence_borders import sentences
from kinmem.language.talk.statements import KIN, KIN_ABROAD
from kinmem.models import ROLES, THE_USER, Entity, EntityType, Knowledge, Relation
from kinmem.text import folded, late, words

CAPITAL = r"(?:[A-ZÀ-Þ][\w’'-]*\w|[A-Z]{2,})"
RUN = re.compile(rf"{CAPITAL}(?:(?: (?:of|the|de|da|del|van|von))? {CAPITAL})*")
OF_KIN = late(
    rf"(?i)\b(?:{KIN}|{KIN_ABROAD}),? (?:is |named |called |is called |is named |hei(?:ß|ss)t "
    rf"|namens )?$"
)
KIN_AND_NAME = late(rf"(?i)(?:.* )?(?:{KIN}|{KIN_ABROAD}) (?=[A-ZÀ-Þ])")
WITHIN = re.compile(r"\w[^.!?:\"“]*$")
"""A word before, and no beginning of a sentence or a quotation since."""
ABBREVIATED = """i i'm i've i'll i'd i’m i’ve i’ll i’d ok okay tv pic fyi btw lol omg mom mum dad
    grandma grandpa god""".split()
NEVER = FUNCTION_WORDS | NAMED_TIMES | frozenset(ABBREVIATED)
MOST_NAMED = 8
NEAR = 80
"""Characters before a name that tell what it names."""
HEAD = 2000


def names_in(text: str, known: Collection[str] = ()) -> tuple[Entity, ...]:
    """At most eight, in order, each once. `known`: names of people who talk.

    Within a sentence a capital makes a name, at its start only a known one does. Where nouns have
    capitals (German) a name is known, has two words, or follows what somebody is to the speaker.
    """
    found: dict[str, Entity] = {}
    for start, end in names_by_capitals(text[:HEAD], known):
        name = text[start:end]
        is_person = name in known or OF_KIN.search(text[max(0, start - NEAR) : start])
        found.setdefault(name, Entity(name, "person" if is_person else "other"))
    return tuple(found.values())[:MOST_NAMED]


@lru_cache(maxsize=1)
def _opening() -> re.Pattern[str]:
    name = rf"(?P<%s>{CAPITAL}(?: {CAPITAL}){{0,2}})"
    greeting = r"(?:[^\W\d_]{2,9}(?: [^\W\d_]{2,9})?,\s)?"
    return re.compile(
        rf"\W*{greeting}(?:{name % 'first'}\s(?i:{either('speaks_behind')})\s?(?:[:,.!]|\s[–—-])"
        rf"|(?i:{either('speaks_before')})\s{name % 'last'}\s?(?::|\s[–—-]))\s+(?=\w)"
    )


def introduced_in(text: str) -> tuple[str, int] | None:
    """Who says of himself at the start that it is he who speaks, "Robin here: ...", and where his
    words begin. A form alone: "Bug here: ..." has it too, and the judge tells names from things."""
    found = _opening().match(text[:HEAD])
    return (found["first"] or found["last"], found.end()) if found else None


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


MOST = 12
"""Entities of one text."""


def knowledge(
    text: str,
    speaker: str | None = None,
    subject: str | None = None,
    named: Iterable[Entity] | None = None,
) -> Knowledge:
    """Whom and what a memory's content is about. `named`: what a judge has found there; None: rules
    alone are asked. `subject` is one of its entities if it is a name that
    stands there; `speaker` if it is about himself. Of what assistants and tools say, only the ends
    of relations are kept: their texts are full of headings, and no facts of anybody's."""
    said = relations(text, speaker)
    if speaker in SILENT:
        return join_knowledge(_ends(said), said)
    if named is not None:
        return join_knowledge([*_ends(said), *named, *_subject(subject, speaker)], said)
    known = [name for name in (speaker, subject) if name and name not in ROLES and name in text]
    found = [
        *_ends(said),
        *names_in(text, known),
        *_subject(subject, speaker),
    ]
    return join_knowledge(found, said)


def join_knowledge(
    found: Iterable[Entity], said: Sequence[Relation], origin: str = "rules"
) -> Knowledge:
    """Each name once, of the most telling type; Anna is Anna Schmidt where no other Anna is named.

    Ends of relations come first; others fall away beyond twelve.
    """
    once: dict[str, Entity] = {}
    for one in found:
        key = folded(one.name)
        known = once.get(key, one)
        type = one.type if known.type == "other" else known.type
        once[key] = Entity(known.name, type, known.alias or one.alias)
    whole = {key: _whole(once[key], once.values()) for key in once}
    said = tuple(
        replace(one, source=whole[folded(one.source)].name, target=whole[folded(one.target)].name)
        for one in said
    )
    ends = {folded(name) for one in said for name in (one.source, one.target)}
    kept: dict[str, Entity] = {}
    for one in whole.values():
        if one.alias or folded(one.name) not in kept:
            kept[folded(one.name)] = one
    ordered = sorted(kept, key=lambda key: key not in ends)
    most = max(MOST, len(ends))
    relating = tuple(one for one in said if folded(one.source) != folded(one.target))
    return Knowledge(tuple(kept[key] for key in ordered[:most]), relating, origin)


def _whole(one: Entity, others: Iterable[Entity]) -> Entity:
    """The entity whose first word this name is, if it is the only one and can be the same."""
    if " " in one.name:
        return one
    begin = folded(one.name) + " "
    longer = [other for other in others if folded(other.name).startswith(begin)]
    fits = len(longer) == 1 and "person" in (one.type, longer[0].type)
    return Entity(longer[0].name, "person", alias=one.name) if fits else one


def _ends(said: Iterable[Relation]) -> list[Entity]:
    found = []
    for one in said:
        source, target = ENDS.get(one.relation, ("other", "other"))
        if one.relation == "partner_of" and THE_USER in (one.source, one.target):
            source = target = "person"
        found += [_end(one.source, source), _end(one.target, target)]
    return found


def _end(name: str, type: EntityType) -> Entity:
    return Entity(name, "person" if name == THE_USER else type)


def _subject(subject: str | None, speaker: str | None) -> list[Entity]:
    """A name has a capital, or a digit in it; a topic has not."""
    if not subject or folded(subject) in ROLES | {THE_USER} or len(subject) > 60:
        return []
    if subject == speaker:
        return [Entity(subject, "person")]
    capitals = all(word[:1] != word[:1].lower() for word in subject.split())
    return [Entity(subject, "other")] if capitals and is_name(subject) else []
