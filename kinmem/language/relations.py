"""What a text says of how people and things stand to each other, where the wording leaves no doubt.

Precision before recall: questions, denials, what was so once, what may be and what is wished say
nothing. Who says "I" is the speaker; without a name, "the user". How relations are worded stands in
lexicon/relations.json, English first, the clearest of five languages beside it: <A> and <B> are the
ends, each a name or several, and an end that is missing is the speaker; <still> is what may stand
before the verb, <end> says that nothing else belongs to the name.

Its first part is how relations are named where they are stored, and told from either end. Of 20 the
names are Keyoku's (lexicon/relations.json); any other lowercase slug is kept as it is. Its last
part is all that a memory is about: the ends of relations, and who else is named; a model's findings
are joined to it in llm/naming.py.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import combinations
from typing import NamedTuple

from kinmem.language.lexicon import FUNCTION_WORDS, by_word, either, lexicon, word_class
from kinmem.language.same.amounts import NAMED_TIMES
from kinmem.language.sentence_borders import sentences
from kinmem.language.talk.statements import names_in
from kinmem.models import ROLES, THE_USER, Entity, EntityType, Knowledge, Relation
from kinmem.text import folded, late

_TABLES = lexicon("relations")
SYMMETRIC = frozenset(_TABLES["symmetric"])
"""Told from either end in the same word."""
INVERSES: Mapping[str, str] = _TABLES["inverses"]
"""The name of the stored direction, and how it is told from the other end."""
TURNED = {told: stored for stored, told in INVERSES.items()}
SAME = by_word(_TABLES["synonyms"].items())
"""What models say instead."""
ENDS: Mapping[str, tuple[EntityType, EntityType]] = {
    relation: (source, target) for relation, (source, target) in _TABLES["ends"].items()
}
"""Of what type source and target are, where the sentence says no more."""
SLUG = 40


def stored_relation(source: str, relation: str, target: str, confidence: float) -> Relation | None:
    """As it is stored: synonyms by one name, inverses turned round, of symmetric relations the end
    first that comes first. None if the relation is no name, or both ends are one."""
    slug = re.sub(r"[^a-z0-9]+", "_", folded(relation)).strip("_")
    slug = SAME.get(slug, slug)
    if not slug or len(slug) > SLUG or folded(source) == folded(target):
        return None
    if slug in TURNED:
        slug, source, target = TURNED[slug], target, source
    if slug in SYMMETRIC and folded(source) > folded(target):
        source, target = target, source
    return Relation(source, slug, target, confidence)


def inverse_relation(relation: str) -> str:
    """What a stored relation is called from its other end; the same with a mark where it has no
    name there."""
    return relation if relation in SYMMETRIC else INVERSES.get(relation, f"<-{relation}")


SURE = 0.9
"""Confidence of what a rule finds."""
READ = 8000
"""Characters; more is a document, whose parts say little of anybody."""
LONGEST = 400
"""Characters of a sentence; longer ones are lists and tables."""
MOST = 12
SILENT = frozenset({"assistant", "tool", "system"})
"""Speakers who say nothing of themselves."""


class Role(NamedTuple):
    """What somebody is to somebody else."""

    relation: str
    turned: bool = False
    """Whether the one with the role is the target."""


ROLE_WORDS = {
    word: Role(row["relation"], row["turned"]) for row in _TABLES["roles"] for word in row["words"]
}
PLURALS = {
    f"{word}s": role
    for word, role in ROLE_WORDS.items()
    if role.relation in SYMMETRIC or role.turned
} | {
    "children": ROLE_WORDS["child"],
    "kinder": ROLE_WORDS["child"],
    "siblings": ROLE_WORDS["sibling"],
}
"""The same of two or more."""
NEVER_NAMES = word_class("never_names")
"""Capital words that name nobody: at the start of a sentence, or a time, or a German noun."""
PEOPLES = word_class("peoples")
"""What somebody may be, with a capital, without being called so."""
TIMES = NEVER_NAMES | NAMED_TIMES
NOT_NAMES = TIMES | (FUNCTION_WORDS - {"mia"})  # mine in Italian, where no verb follows it
HEDGED = late("|".join([rf"(?i:\b(?:{either('hedging')})\b)", *_TABLES["hedged"]]))
"""Before a statement: it is none."""
DENIED = late(rf"(?i:\b(?:{either('denying')})\b|n['’]t\b|\bn['’](?=\w))")
TAKEN_BACK = late(rf"(?i:^, no\b|\b(?:{either('taken_back')})\b|\?)")
"""Behind a statement: it is none either."""
DETERMINED = late(rf"\b(?:{either('determiners')}) $", re.IGNORECASE)
"""Before a capital word: it is a thing, or a German noun, and nobody's name."""
QUOTED = late("|".join(_TABLES["quoted"]))
"""Before what somebody else says of himself."""
_UPPER = "A-ZÀ-ÖØ-ÞŁŚŠŽČĆĐ"
_TOKEN = rf"(?!I\b)[{_UPPER}][\w&-]*(?:['’][{_UPPER}]\w+)?"
_BETWEEN = r"(?:(?:of|the|de|da|do|dos|das|del|della|di|du|van|von|der|den|bin|al|la|le|&) ){1,2}"
NAME = rf"(?:(?:Dr|Prof|Mr|Mrs|Ms)\. )?{_TOKEN}(?: (?:{_BETWEEN})?{_TOKEN}){{0,4}}"
NAMES = rf"{NAME}(?:(?:, {NAME}){{0,5}},? (?:and|und|et|y|e) {NAME})?"
USER = r"(?:[Tt]he )?[Uu]ser(?= )"
SELF = r"I|[Ww]e|Ich|Wir|Je"
_ADJECTIVES = (
    r"(?:(?:very|best|good|close|dear|old|new|little|big|older|elder|younger|oldest|youngest"
    r"|eldest|twin|only|direct|line|current|business|main|beste[nr]?|kleine|große) )*"
)
_COMPANY = r"[A-Z][\w&-]{1,20} (?:Inc|GmbH|AG|Ltd|LLC|Corp|Labs|Technologies|Consulting|Holdings?)"
_PLACES_IN_CAPITALS = "USA?|UK|UAE|NYC|LA|SF|DC|EU|DR|NZ"


def _role(words: Mapping[str, Role]) -> str:
    return rf"{_ADJECTIVES}(?P<role>(?i:{'|'.join(sorted(words, key=len, reverse=True))}))"


def _one_of(names: list[str]) -> str:
    ordered = sorted(set(names), key=len, reverse=True)
    spelt = "|".join(
        f"(?{'-' * one[0].isupper()}i:{re.escape(one).replace('_', '[ -]')})" for one in ordered
    )
    return rf"(?<![\w-])(?:{spelt})(?!\w|-\w)"


def _surely_employers(known: Mapping[str, list[str]]) -> str:
    """Those that are nothing else that one may move to: Slack is a chat as well."""
    things = {name.casefold() for name in known["things"]}
    short = "|".join(sorted(name for name in things if name.isalpha() and len(name) <= 5))
    alone = [name for name in known["employers"] if name.casefold() not in things]
    capitals = rf"(?!(?:{_PLACES_IN_CAPITALS}|(?i:{short}))\b)[A-Z]{{2,5}}(?:&[A-Z])?(?![\w-])"
    return rf"(?:{_one_of(alone)}|(?-i:{_COMPANY}\b)|(?-i:{capitals}))"


@cache
def _signs() -> tuple[tuple[str, str], ...]:
    """What the signs in the forms of relations stand for."""
    known = {kind: names for kind, names in lexicon("well_known").items() if kind != "subject"}
    return (
        ("<employer>", _surely_employers(known)),
        ("<known>", _one_of([name for names in known.values() for name in names])),
        ("<role>", _role(ROLE_WORDS)),
        ("<many>", _role(PLURALS)),
        ("<A>", rf"(?<![\w'’-])(?P<a>{SELF}|{USER}|{NAMES})"),
        ("<B>['’]s", rf"(?P<b>{NAMES})['’]s"),
        ("<B>", rf"(?P<b>{NAMES})(?![\w-])(?!['’]s)"),
        ("<NAMES>", NAMES),
        *_TABLES["signs"].items(),
    )


class Form:
    """One way of saying a relation."""

    # Not a dataclass: hooks load this module for the names alone, and making one takes 1 ms.
    def __init__(self, relation: str, hints: tuple[str, ...], turned: bool, text: str) -> None:
        """For the relation `role` the word in the group of that name tells which one it is. Of
        `hints` one, in lower case, is in all that fits: most texts need not be searched; forms of
        roles have none. `turned` says that <B> is the source."""
        self.relation = relation
        self.hints = hints
        self.turned = turned
        self.text = text

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when a hint is first seen: all of them take 200 ms."""
        text = self.text
        for sign, meaning in _signs():
            text = text.replace(sign, meaning)
        return re.compile(text)


FORMS = tuple(
    Form(row["relation"].rstrip("<"), tuple(row["hints"]), "<" in row["relation"], text)
    for row in _TABLES["forms"]
    for text in row["texts"]
)
SHORTENED = (
    (late(r"\bI['’]m\b"), "I am"),
    (late(r"\b([Ww])e['’]re\b"), r"\1e are"),
    (late(r"\b(I|[Ww]e)['’]ve\b"), r"\1 have"),
)
BEGINNING = late(
    rf"(?:[Mm]y|[Oo]ur) [a-z -]+,? (?P<kin>{NAMES})|(?P<who>{SELF}|{USER}|{NAMES})(?= )"
)
"""Whom a sentence is about."""
GOES_ON = late(
    r",? (?:and|but) (?=(?:also |now )?(?:works?|lives?|am|is|are|reports?|manages?|uses?|founded"
    r"|collaborates?|mentors?|has|have) )"
)
ONE = late(NAME)
ANY_ROLE = late(rf"(?i)\b(?:{'|'.join(sorted({*ROLE_WORDS, *PLURALS}))})\b")
ME = late(rf"(?:{SELF})$")


def relations(text: str, speaker: str | None = None) -> tuple[Relation, ...]:
    """At most twelve, in order, each once. `speaker`: whose words they are; None: the user's.

    Ends are named as they are written there, in the direction in which relations are stored. What
    an assistant or a tool says of itself is nothing.
    """
    found: dict[tuple[str, str, str], Relation] = {}
    who = {None: THE_USER, "user": THE_USER}.get(speaker, speaker)
    for part in sentences(text[:READ]):
        sentence = " ".join(part.split())
        for one in _of_sentence(sentence, None if who in SILENT else who):
            found.setdefault((folded(one.source), one.relation, folded(one.target)), one)
    return tuple(found.values())[:MOST]


def is_name(text: str) -> bool:
    """Whether its capital makes it a name: no day, no month, no word of every day."""
    first, _, rest = folded(text).partition(" ")
    return len(text) > 1 and first not in (TIMES if rest else NOT_NAMES)  # Los Angeles is one


def _of_sentence(sentence: str, speaker: str | None) -> Iterator[Relation]:
    if len(sentence) > LONGEST or sentence.rstrip("\"'”’) ").endswith("?"):
        return
    for short, whole in SHORTENED:
        sentence = short.sub(whole, sentence)
    for clause in _clauses(sentence):
        small = clause.casefold()
        has_role = ANY_ROLE.search(small) is not None
        for form in FORMS:
            if any(hint in small for hint in form.hints) or (has_role and form.relation == "role"):
                yield from _fitting(form, clause, speaker)


def _clauses(sentence: str) -> list[str]:
    """Of one subject with several verbs one for each: she lives in Ulm and works at Bosch.

    A doubt in front of the first is in front of all of them.
    """
    first, *others = GOES_ON.split(sentence)
    begins = BEGINNING.match(sentence) if others else None
    if begins is None:
        return [sentence]
    doubt = HEDGED.search(first)
    before = f"{doubt[0].strip(', ')} " if doubt else ""
    return [first, *(f"{before}{begins['kin'] or begins['who']} {one}" for one in others)]


def _fitting(form: Form, clause: str, who: str | None) -> Iterator[Relation]:
    for match in form.pattern.finditer(clause):
        before, behind = clause[: match.start()], clause[match.end() :]
        if HEDGED.search(before + match[0]) or DENIED.search(before):
            return
        if TAKEN_BACK.search(behind):
            continue
        groups = match.groupdict()
        if groups.get("a") and _is_thing(groups["a"], before):
            continue
        relation, turned = form.relation, form.turned
        if role := (groups.get("role") or "").casefold():
            relation, is_target = PLURALS.get(role) or ROLE_WORDS[role]
            turned = turned is is_target  # either <B> has the role, or <A> has
        for a, b in _ends(groups, None if QUOTED.search(before) else who):
            source, target = (b, a) if turned else (a, b)
            if one := stored_relation(source, relation, target, SURE):
                yield one


def _ends(groups: Mapping[str, str | None], speaker: str | None) -> list[tuple[str, str]]:
    """Who stands to whom: <A> to <B>, or all to each other."""
    if both := groups.get("both"):
        return list(combinations(_names(both, speaker), 2))
    others = _names(groups.get("b"), speaker)
    return [(a, b) for a in _names(_opened(groups.get("a")), speaker) for b in others]


def _names(told_of: str | None, speaker: str | None) -> list[str]:
    """Whom an end of a relation names; the speaker where it names nobody."""
    if told_of is None or ME.match(told_of):
        return [speaker] if speaker else []
    if folded(told_of) in ("user", THE_USER):
        return [THE_USER]
    names = ONE.findall(told_of)
    kept = [name for name in names if is_name(name) and folded(name) not in PEOPLES]
    return kept if len(kept) == len(names) else []


def _is_thing(name: str, before: str) -> bool:
    """Meine Schwester, the Bosch: a noun, or a kind, and nobody's name."""
    first, _, rest = name.partition(" ")
    if ME.match(name) or folded(name) in ("user", THE_USER):
        return False
    return bool(DETERMINED.search(f"{first} " if rest else before))


def _opened(name: str | None) -> str | None:
    """Without the word that begins a sentence: Yesterday Anna."""
    first, _, rest = (name or "").partition(" ")
    return rest if rest[:1].isupper() and folded(first) in NOT_NAMES else name


MOST_ENTITIES = 12
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
        return join_knowledge(_entities_of(said), said)
    if named is not None:
        return join_knowledge([*_entities_of(said), *named, *_subject(subject, speaker)], said)
    known = [name for name in (speaker, subject) if name and name not in ROLES and name in text]
    found = [
        *_entities_of(said),
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
    most = max(MOST_ENTITIES, len(ends))
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


def _entities_of(said: Iterable[Relation]) -> list[Entity]:
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
