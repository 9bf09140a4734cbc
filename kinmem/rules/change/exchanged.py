"""One thing in place of another of its kind: Postgres for MySQL, one employer for another, another
number, another position.

Each rule takes what is known, a clause of what is new and all of it, and gives a reason or None.
"""

import re
from collections.abc import Collection
from itertools import pairwise

from kinmem.rules.change import events as events
from kinmem.rules.change import words as signs
from kinmem.rules.change.kinds import EMPLOYER, VEHICLE, kinds_in, of_other_kinds, words_of
from kinmem.rules.change.outlived import states_of
from kinmem.rules.change.sides import KIN, VERBS, WORD, Side, is_cued, lacking, named_first, without
from kinmem.text import folded


def other_of_kind(before: Side, clause: Side, now: Side) -> str | None:
    """A well-known thing of the same kind, said of the same, where a sign tells of a change.

    All that the new one speaks of is spoken of by the known one; and the other way round, unless
    what was is named, or it is an employer, where a position goes with it.
    """
    if signs.PAST.search(clause.text):
        return None
    ours, theirs, told = kinds_in(before.said), kinds_in(clause.said), kinds_in(now.said)
    for kind in ours.keys() & theirs.keys():
        became = theirs[kind] - ours[kind]
        if len(became) != 1 or not _is_told(kind, before, clause, now):
            continue
        named = not ours[kind].isdisjoint(told[kind])
        if clause.denies and not named:
            continue
        values = ours[kind] | became | words_of(kind)
        was, here = _topics(before, values), _topics(clause, values)
        if lacking(here, before) or not (named or kind == EMPLOYER) and lacking(was, now):
            continue
        return f"another {kind}"
    return None


def _is_told(kind: str, before: Side, clause: Side, now: Side) -> bool:
    """Whether it is said to have changed; of an employer and a car, that one has another now."""
    switched = bool(events.SWITCHING.search(now.text))
    if kind == VEHICLE:
        return switched or bool(signs.NEW.search(now.text))
    if kind == EMPLOYER and not signs.ASPECTS["work"].search(before.text):
        return bool(words_of(EMPLOYER) & set(before.words)) and (switched or is_cued(now))
    if kind == EMPLOYER and (signs.ASPECTS["work"].search(clause.text) or _AT.search(clause.text)):
        events_told = (events.ENDING, events.STARTING)
        return switched or is_cued(now) or any(one.search(now.text) for one in events_told)
    return switched or is_cued(now)


_AT = re.compile(
    r"\b(?:(?:is|am|i'm|are|he's|she's|we're) (?:\w+ )?(?:with|at)|(?:bin|ist|sind) (?:\w+ )?bei"
    r"|(?:suis|est|sommes) (?:\w+ )?chez|(?:estoy|esta|estamos) (?:\w+ )?en"
    r"|(?:sono|e|siamo) (?:\w+ )?(?:in|alla?)|(?:estou|esta|estamos) (?:\w+ )?n[ao]"
    r"|passat[oa] (?:a|in|alla?)|(?:fui|foi) para)\b"
)
"""Where one works, of an employer; of a place it is where one happens to be."""


def _topics(side: Side, values: Collection[str]) -> set[str]:
    """What it is said of, and for what; without whoever speaks and what is done."""
    gone = {word for value in values for word in WORD.findall(value)}
    signed = [
        match
        for pattern in (events.SWITCHING, events.ENDING, signs.CUE, signs.ASPECTS["work"], _AT)
        for match in pattern.finditer(side.text)
    ]
    doing = {word for last, word in pairwise(side.words) if last in _SPEAKER}
    return set(without(side.content, signed)) - gone - VERBS - doing - _USING


_USING = frozenset(
    "statt anstatt anstelle lieu vez lugar invece instead on with everything all uses used using"
    " utilisons utilise usamos usiamo nutzen nutzt verwenden"
    " verwendet benutze benutzt verwende setzen setze use run runs running hosted based stack"
    " project team's alles tout todo tutto tudo gone place verkauft using bought favour sake"
    " started starting start".split()
)


def other_contact(before: Side, clause: Side, now: Side) -> str | None:
    """Another number or address where somebody is reached."""
    told = is_cued(now) or events.TURNED["value"].search(now.text) or _NEW.search(now.text)
    if not told or signs.PAST.search(now.text):
        return None
    for pattern in (_MAIL, _PHONE):
        ours, theirs = (set(pattern.findall(side.said)) for side in (before, clause))
        if len(ours) != 1 or len(theirs - ours) != 1:
            continue
        gone = {part for one in ours | theirs for part in WORD.findall(one.casefold())}
        was, here = (
            side.content - gone - _CONTACT - named_first(side) - VERBS for side in (before, clause)
        )
        signed = [*signs.CUE.finditer(clause.text), *events.TURNED["value"].finditer(clause.text)]
        if not lacking(without(here, signed), before) and not lacking(was, now):
            return "is reached elsewhere"
    return None


_NEW = re.compile(r"\b(?:new|neue[rn]?|nouve(?:au|l|lle)|nuev[oa]|nuov[oa]|nov[oa])\b")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"\+?\d[\d /().-]{5,18}\d")
_CONTACT = frozenset(
    "phone number mobile cell telephone tel mail email e-mail address reach call ring contact text"
    " new nummer handy handynummer telefonnummer telefon rufnummer neue neuer mailadresse adresse"
    " erreichen erreichst anrufen numero telephone portable nouveau nouvelle joindre courriel"
    " telefono movil nuevo nueva correo cellulare nuovo nuova indirizzo telemovel novo nova"
    " endereco direccion please use bitte dial write send schreib schreibt ecris scrivi"
    " escribe".split()
)


def promoted(before: Side, clause: Side, now: Side) -> str | None:
    """A new position is told as an event; what one was by occupation one is no longer."""
    became = signs.OCCUPATION.search(clause.text) and is_cued(now) and not states_of(clause)
    if not (events.PROMOTED.search(clause.text) or became) or signs.PAST.search(before.text):
        return None
    is_one = signs.OCCUPATION.search(before.text) and not states_of(before) and not before.denies
    if not is_one or clause.denies or (KIN | _PRIVATELY) & {*before.words, *clause.words}:
        return None
    if not _is_of_one(before, clause):
        return None
    same = not lacking(clause.content - signs_of(clause), before)
    return None if same else "has another position now"


def _is_of_one(before: Side, clause: Side) -> bool:
    """Whether both begin with the speaker, or the same name: my dentist is no position of mine."""
    was, here = (
        next((word for word in side.words if word not in signs_of(side)), "")
        for side in (before, clause)
    )
    return was in _SPEAKER and here in _SPEAKER or bool(named_first(before) & named_first(clause))


_SPEAKER = frozenset(
    "i we ich wir je nous yo io eu soy somos sono siamo sou sommes suis m've ve j me fui"
    " passei".split()
)


def beside(known: str, new: str) -> bool:
    """Whether the new thing is one more: of another kind, for something else, another medicine."""
    if of_other_kinds(known, new):
        return True
    texts = [folded(known), folded(new)]
    if all(_TAKES.search(text) for text in texts):
        return not any(_RIDE.search(text) for text in texts)
    purpose = _PURPOSE.search(texts[1]) if all(_USES.search(text) for text in texts) else None
    return purpose is not None and not _PURPOSE.search(texts[0]) and purpose[1] not in texts[0]


_TAKES = re.compile(r"\b(?:takes?|nehme|nimmt|prends?|tomo|toma|prendo|prende) (?!(?:over|off)\b)")
_USES = re.compile(r"\b(?:us(?:e|es|ing|o|a|amos|iamo|an)|utilis\w+|(?:be)?nutz\w+|verwend\w+)\b")
_PURPOSE = re.compile(
    r"\b(?:for|fur|pour|para|per) (?!now\b|good\b|a\b|\d)(?:(?:the|our|my|die|das|den|unsere?|les?|"
    r"la|el|los|"
    r"las|il|lo|gli|i|o|os|as?) )?(\w+)"
)
_RIDE = re.compile(
    r"\b(?:bus|train|tram|metro|subway|tube|car|bike|taxi|ferry|road|route|stairs|lift|sugars?|milk"
    r"|zug|bahn|rad|auto|velo|voiture|bici|coche|treno|macchina|comboio|carro|\d+|instead)\b"
)


def signs_of(side: Side) -> set[str]:
    """The words that tell of a change."""
    return {word for match in signs.CUE.finditer(side.text) for word in WORD.findall(match[0])}


_PRIVATELY = frozenset(
    "runner swimmer cyclist dancer gamer owner fan user lover beginner believer member dad mum mom"
    " parent mama papa vater mutter pai mae mere pere papi padre madre volunteer guitarist better"
    " older winner tired owner smoker drinker raucher christ christian".split()
)
"""What one may be beside a position."""
