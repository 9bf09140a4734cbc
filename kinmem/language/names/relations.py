"""What a text says of how people and things stand to each other, where the wording leaves no doubt.

Precision before recall: questions, denials, what was so once, what may be and what is wished say
nothing. Who says "I" is the speaker; without a name, "the user".
"""

import re
from collections.abc import Iterator, Mapping
from itertools import combinations

from kinmem.language.grammar import FUNCTION_WORDS
from kinmem.language.names import relation_words as told
from kinmem.language.names.relation_forms import FORMS, NAME, NAMES, SELF, USER, Form
from kinmem.language.pattern import Pattern, late
from kinmem.language.same.amounts import CAPITAL_MONTHS, DAY_NAMES
from kinmem.models import THE_USER, Relation
from kinmem.sentences import sentences
from kinmem.text import folded

SURE = 0.9
"""Confidence of what a rule finds."""
READ = 8000
"""Characters; more is a document, whose parts say little of anybody."""
LONGEST = 400
"""Characters of a sentence; longer ones are lists and tables."""
MOST = 12
SLUG = 40
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
ANY_ROLE = Pattern(rf"\b(?:{'|'.join(sorted({*told.ROLES, *told.PLURALS}))})\b")
ME = late(rf"(?:{SELF})$")
TIMES = told.NEVER_NAMES | DAY_NAMES.keys() | {month.casefold() for month in CAPITAL_MONTHS}
NOT_NAMES = TIMES | (FUNCTION_WORDS - {"mia"})  # mine in Italian, where no verb follows it
SILENT = frozenset({"assistant", "tool", "system"})
"""Speakers who say nothing of themselves."""


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


def settled(source: str, relation: str, target: str, confidence: float) -> Relation | None:
    """As it is stored: synonyms by one name, inverses turned round, of symmetric relations the end
    first that comes first. None if the relation is no name, or both ends are one."""
    slug = re.sub(r"[^a-z0-9]+", "_", folded(relation)).strip("_")
    slug = told.SAME.get(slug, slug)
    if not slug or len(slug) > SLUG or folded(source) == folded(target):
        return None
    if slug in told.TURNED:
        slug, source, target = told.TURNED[slug], target, source
    if slug in told.SYMMETRIC and folded(source) > folded(target):
        source, target = target, source
    return Relation(source, slug, target, confidence)


def seen_from_target(relation: str) -> str:
    """What a stored relation is called from its other end; the same with a mark where it has no
    name there."""
    return relation if relation in told.SYMMETRIC else told.INVERSES.get(relation, f"<-{relation}")


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
    doubt = told.HEDGED.search(first)
    before = f"{doubt[0].strip(', ')} " if doubt else ""
    return [first, *(f"{before}{begins['kin'] or begins['who']} {one}" for one in others)]


def _fitting(form: Form, clause: str, who: str | None) -> Iterator[Relation]:
    for match in form.pattern.finditer(clause):
        before, behind = clause[: match.start()], clause[match.end() :]
        if told.HEDGED.search(before + match[0]) or told.DENIED.search(before):
            return
        if told.TAKEN_BACK.search(behind):
            continue
        groups = match.groupdict()
        if groups.get("a") and _is_thing(groups["a"], before):
            continue
        relation, turned = form.relation, form.turned
        if role := (groups.get("role") or "").casefold():
            relation, is_target = told.PLURALS.get(role) or told.ROLES[role]
            turned = turned is is_target  # either <B> has the role, or <A> has
        for a, b in _ends(groups, None if told.QUOTED.search(before) else who):
            source, target = (b, a) if turned else (a, b)
            if one := settled(source, relation, target, SURE):
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
    kept = [name for name in names if is_name(name) and folded(name) not in told.PEOPLES]
    return kept if len(kept) == len(names) else []


def _is_thing(name: str, before: str) -> bool:
    """Meine Schwester, the Bosch: a noun, or a kind, and nobody's name."""
    first, _, rest = name.partition(" ")
    if ME.match(name) or folded(name) in ("user", THE_USER):
        return False
    return bool(told.DETERMINED.search(f"{first} " if rest else before))


def _opened(name: str | None) -> str | None:
    """Without the word that begins a sentence: Yesterday Anna."""
    first, _, rest = (name or "").partition(" ")
    return rest if rest[:1].isupper() and folded(first) in NOT_NAMES else name
