"""What was so and has ended: another state, an end that is told, what is so again or found.

Each rule takes what is known, a clause of what is new and all of it, and gives a reason or None.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from kinmem.rules.change import events as events
from kinmem.rules.change import states as states
from kinmem.rules.change import words as signs
from kinmem.rules.change.kinds import kinds_in
from kinmem.rules.change.restating import restated
from kinmem.rules.change.sides import (
    ARTICLES,
    DENYING,
    VERBS,
    WORD,
    Side,
    among,
    amounts_of,
    is_cued,
    is_of_self,
    lacking,
    named_first,
    numbers_in,
    side_of,
    without,
)
from kinmem.rules.pattern import Pattern


def other_state(before: Side, clause: Side, now: Side) -> str | None:
    """Of states that exclude one another another one is told: open, done; single, married."""
    ours, theirs = states_of(before), states_of(clause)
    if before.amounts and clause.amounts and before.amounts != clause.amounts:
        return None
    for state in ours.keys() & theirs.keys():
        (was, there), (became, here) = ours[state], theirs[state]
        if was == became or denied(before, there) or denied(clause, here):
            continue
        if state in states.WISHES and not is_cued(now):
            continue
        if state != "bond" and _OF_PARTNER & set(clause.words[:2]) - set(before.words):
            continue
        topic = _topic(before, state, there, has_rest=bool(_rest(clause, here)))
        if state not in states.OF_PERSONS and _is_of_more(before, clause, here):
            continue
        mine = not topic and not lacking(_topic(clause, state, here, has_rest=False), before)
        if state in states.OF_PERSONS or mine or topic and not lacking(topic, now):
            return f"was {was}, is {became}"
    return None


def _is_of_more(before: Side, clause: Side, match: re.Match[str]) -> bool:
    """Whether it is said of a thing that is told more closely: the docs build, not the build."""
    if not clause.words or clause.words[0] not in ARTICLES:
        return False
    ahead = clause.content.intersection(WORD.findall(clause.text[: match.start()]))
    ahead = without(ahead - VERBS, signs.CUE.finditer(clause.text))
    return bool(lacking(ahead, before))


_OF_PARTNER = frozenset(
    "girlfriend boyfriend partner freund freundin copain copine novio novia fidanzato fidanzata"
    " ragazzo ragazza namorado namorada boss chef chefin manager teacher".split()
)
"""Who is told of, where it is no bond of the speaker's."""


def _topic(before: Side, state: str, match: re.Match[str], *, has_rest: bool) -> frozenset[str]:
    """Of what it is said: all of it, where both say more behind it; else what stands before."""
    patterns = states.STATES[state].values()
    told = [match for one in patterns for match in one.finditer(before.text)]
    topic = without(before.content, told) | numbers_in(before)
    if has_rest and _rest(before, match):
        return topic
    return topic & set(WORD.findall(before.text[: match.start()])) or topic


Told = tuple[str, re.Match[str]]


@lru_cache(maxsize=2048)
def states_of(side: Side) -> Mapping[str, Told]:
    """By kind, which state is told, and where."""
    found = {state: _told(values, side) for state, values in states.STATES.items()}
    return {state: told for state, told in found.items() if told is not None}


def _told(values: Mapping[str, Pattern], side: Side) -> Told | None:
    """Which of these states; of several the one that comes last in life."""
    found = [
        (value, match) for value, pattern in values.items() for match in pattern.finditer(side.text)
    ]
    told = [one for one in found if not any(_is_part(one[1], other) for _, other in found)]
    return told[-1] if told else None


def _is_part(match: re.Match[str], other: re.Match[str]) -> bool:
    (start, end), (first, last) = match.span(), other.span()
    return first <= start and end <= last and last - first > end - start


def _rest(side: Side, match: re.Match[str]) -> frozenset[str]:
    """What is said behind a state: where, for whom."""
    return side.content.intersection(WORD.findall(side.text[match.end() :]))


def denied(side: Side, match: re.Match[str]) -> bool:
    """Whether a negation stands before it, and is no part of it."""
    before = side.text[: match.start()].split()[-3:]
    inside = match[0].split()
    return (
        bool(DENYING & set(before))
        and not (DENYING & set(inside))
        or any(word.endswith("n't") for word in before)
    )


def ended(before: Side, clause: Side, now: Side) -> str | None:
    """What is named beside an end is what the known statement tells of the same one."""
    match = events.ENDING.search(clause.text)
    if match is None or signs.ATTITUDE.search(before.text) or events.ENDING.search(before.text):
        return None
    if before.denies or clause.denies:
        return None
    if clause.text[: match.start()].rstrip().endswith(("'s", "my", "the", "his", "her")):
        return None  # his left knee
    gone = without(clause.content, [match, *events.BELONGING.finditer(clause.text)])
    gone = without(gone, signs.CUE.finditer(clause.text)) - named_first(before)
    if exchanged := _EXCHANGED.search(clause.text, match.end()):
        gone -= set(WORD.findall(clause.text[exchanged.end() :]))
    if not gone or lacking(gone, before) or _of_another_time(before, clause, match):
        return None
    named = named_first(before) or named_first(now) & set(before.words[:1])
    if events.CALLED.search(before.text):
        named |= named_first(now) & set(before.words)
    tools = frozenset[str]().union(*kinds_in(before.said).values())
    if tools & set(WORD.findall(clause.text)) and is_of_self(before):
        named |= tools
    if not (named or is_of_self(before) and is_of_self(now)):
        return None
    return "is so no longer"


def _of_another_time(before: Side, clause: Side, match: re.Match[str]) -> bool:
    """Whether it names an amount or a day that is not the known one's, and not that of the end."""
    more = amounts_of(clause) - before.amounts
    ahead = side_of(clause.text[: match.start()]).amounts
    days = clause.found.dates if not before.found.dates and not more & ahead else frozenset()
    return bool(more - days)


_EXCHANGED = re.compile(
    r"\b(?:in for|over to|back to|to (?=my|his|her|our|their)|for|against|gegen|contre|pour"
    r"|and (?:started|bought|got))\b"
)


def gained(before: Side, clause: Side, now: Side) -> str | None:
    """What was looked for is found, what one did not have one has: we're hiring, we've hired."""
    got = events.GETTING.search(clause.text)
    sought = events.SEEKING.search(before.text)
    if got is None or clause.denies or not (before.denies or sought):
        return None
    things = without(before.content, [sought]) if sought else _denied_things(before)
    missing = lacking(things, clause) if things else {""}
    return "is there now" if _is_had(missing, clause) else None


def _denied_things(side: Side) -> frozenset[str]:
    """What is not there: what stands behind the negation, or all of it."""
    at = next((n for n, word in enumerate(side.words) if word in DENYING), -1)
    behind = side.content.intersection(side.words[at + 1 :]) - VERBS - _ANY
    return behind or side.content - VERBS - _ANY


_ANY = frozenset(
    "any kein keine keinen keinem aucun ningun ninguna nessun nessuna nenhum nenhuma".split()
)


def so_again(before: Side, clause: Side, now: Side) -> str | None:
    """What was denied is said to be so again."""
    if not before.denies or clause.denies or not events.AGAIN.search(clause.text):
        return None
    missing = lacking((before.content | numbers_in(before)) - VERBS, clause)
    if not before.content or not _is_had(missing, clause):
        return None
    return "is so again"


def _is_had(missing: Collection[str], clause: Side) -> bool:
    """Whether of each of these something is named that is such a one: of alcohol wine."""
    return all(set(clause.words) & signs.MEMBERS.get(word, frozenset()) for word in missing)


def no_longer(before: Side, clause: Side, now: Side) -> str | None:
    """What is denied for now, or used to be, is what is known."""
    said = restated(clause.said)
    if before.denies or not (said.ends or _USED_TO.search(clause.text)):
        return None
    gone = side_of(_USED_TO.sub("", clause.text) if not said.ends else said.text)
    if not gone.content or lacking(gone.content | numbers_in(gone), before):
        return None
    rest = {word for word in before.content - _EACH if not among(word, gone.words)}
    return "is so no longer" if len(rest - before.names) <= 1 else None


_EACH = frozenset(
    "every each jeden jede jedes chaque tous toutes cada todos todas ogni tutti".split()
)
_USED_TO = re.compile(r"\bused to\b")


def instead(before: Side, clause: Side, now: Side) -> str | None:
    """What it took the place of is named, and is what is known."""
    former = restated(now.said).instead_of
    if not former:
        return None
    gone = side_of(former)
    words = gone.content | numbers_in(gone)
    if not words or lacking(words, before):
        return None
    rest = {word for word in before.content if word not in gone.words} - VERBS
    rest = {word for word in rest if not signs.SINGULAR.fullmatch(word)}
    return "instead of what was" if all(among(word, now.words) for word in rest) else None
