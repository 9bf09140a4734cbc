"""Whom and what a text is about: the names in it, of what type they are, and their relations.

Rules alone; a model's findings are joined to them in llm/naming.py.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kinmem.language.names.naming import entities as named_in
from kinmem.language.names.relations import ENDS, NAME, PEOPLES, SILENT, is_name, relations
from kinmem.language.pattern import Pattern
from kinmem.models import ROLES, THE_USER, Entity, EntityType, Knowledge, Relation
from kinmem.sentences import sentences
from kinmem.text import folded

MOST = 12
"""Entities of one text."""
HEAD = 2000
"""Characters in which names are looked for; what comes later is seldom what a text is about."""
AT_START = re.compile(rf"(?P<name>{NAME})(?P<behind>['’]s)? (?=(?P<verb>[\w’']+(?: \w+)?))")
OF_PEOPLE = Pattern(
    r"(?:likes|loves|hates|prefers|enjoys|dislikes|wants|said|says|told|thinks|believes|works|lives"
    r"|lived|moved|studies|studied|plays|speaks|drinks|eats|smokes|drives|owns|married|calls|called"
    r"|asked|decided|plans|knows|met|visited|travell?ed|grew up|was born|turned \d+|birthday|wife"
    r"|husband|brother|sister|mother|father|son|daughter|manager|boss"
    r"|is (?:allergic|vegan|vegetarian|married|retired|pregnant|engaged|divorced|my|our"
    r"|\d+(?! ?[\w,]))"
    r"|arbeitet|wohnt|mag|liebt|trinkt|spielt|travaille|habite|aime|trabaja|vive|lavora|abita"
    r"|trabalha|mora)\b"
)
"""What only people do, or have."""


def read(
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
        return together(_ends(said), said)
    if named is not None:
        return together([*_ends(said), *named, *_subject(subject, speaker)], said)
    known = [name for name in (speaker, subject) if name and name not in ROLES and name in text]
    found = [
        *_ends(said),
        *named_in(text[:HEAD], known),
        *_first_words(text[:HEAD]),
        *_subject(subject, speaker),
    ]
    return together(found, said)


def together(found: Iterable[Entity], said: Sequence[Relation], origin: str = "rules") -> Knowledge:
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


def _first_words(text: str) -> list[Entity]:
    """Names at the beginning of a sentence, where every word has a capital: Anna likes tea."""
    found = []
    for sentence in sentences(text):
        match = AT_START.match(sentence)
        if match is None or not OF_PEOPLE.match(match["verb"]):
            continue
        name = folded(match["name"])
        if is_name(match["name"]) and name not in PEOPLES and not name.startswith("the "):
            found.append(Entity(match["name"], "person"))
    return found


def _subject(subject: str | None, speaker: str | None) -> list[Entity]:
    """A name has a capital, or a digit in it; a topic has not."""
    if not subject or folded(subject) in ROLES | {THE_USER} or len(subject) > 60:
        return []
    if subject == speaker:
        return [Entity(subject, "person")]
    capitals = all(word[:1] != word[:1].lower() for word in subject.split())
    return [Entity(subject, "other")] if capitals and is_name(subject) else []
