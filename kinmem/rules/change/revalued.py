"""What has another value now: an entry, a number, a place, a maker, somebody's home or job.

Each rule takes what is known, a clause of what is new and all of it, and gives a reason or None.
"""

import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple

from kinmem.rules.change import events as events
from kinmem.rules.change import words as signs
from kinmem.rules.change.exchanged import beside, signs_of
from kinmem.rules.change.outlived import denied, states_of
from kinmem.rules.change.sides import (
    ADDING,
    ARTICLES,
    DOING,
    KIN,
    SELF,
    STOPS,
    THIRD,
    VERBS,
    WORD,
    Side,
    among,
    amounts_of,
    is_cued,
    lacking,
    named_first,
    side_of,
    without,
)

MOST_LOST, MOST_GAINED = 2, 3
"""Words that a sign of change may stand for: the value that was, the value that is."""
_PREPOSITION = re.compile(
    r"\b(?:to|into|in|on|as|nach|auf|zu|zum|in|an|den|a|au|en|vers|quai|para|em|ad|als|come|como)\b"
)


def other_entry(before: Side, clause: Side, now: Side) -> str | None:
    """Another value behind the same label: home address: 5 Elm Road."""
    ours, theirs = (_ENTRY.match(_NEWS.sub("", side.text).strip()) for side in (before, now))
    if ours is None or theirs is None or ours["label"] != theirs["label"]:
        return None
    if signs.NOT_ONE.search(ours["label"]) or not signs.SINGULAR.search(ours["label"]):
        return None
    if ours["value"] == theirs["value"]:
        return None
    return "has another value now"


_ENTRY = re.compile(r"(?P<label>[^:.!?;]{3,40}) ?: (?P<value>(?:[^:\s]{1,30}(?: |$)){1,5})$")


def switched(before: Side, clause: Side, now: Side) -> str | None:
    """A thing is said to have been changed for another: I changed banks."""
    match = events.SWITCHED.search(clause.text)
    if match is None or not _begins_with_one(before) or clause.amounts:
        return None
    rest = clause.text[match.end() :]
    joint = _PREPOSITION.search(rest)
    told = clause.text[: match.end()] + (rest[: joint.start()] if joint else rest)
    things = without(frozenset(WORD.findall(told)) & clause.content, [match])
    things -= named_first(clause)
    lost = {word for word in before.content if not among(word, things)}
    return "is another one" if things and lost and not lacking(things, before) else None


def _begins_with_one(side: Side) -> bool:
    return bool(SELF & set(side.head)) and not signs.EVENT.search(side.text)


def older(before: Side, clause: Side, now: Side) -> str | None:
    """Of somebody a greater age is told: I'm 40, I'm 41 now; I turned 41."""
    was, became = _AGE.match(before.text), _AGE.match(clause.text) or _TURNED.search(clause.text)
    if was is None or became is None or _is_of_another(before, clause):
        return None
    ours, theirs = (side.content - signs_of(side) - _AGED for side in (before, clause))
    if lacking(ours, clause) or lacking(theirs, before):
        return None
    return "is older now" if int(was["age"]) < int(became["age"]) else None


_AGED = frozenset("years year old age jahre jahr alt turned turns geworden".split())
_AGE = re.compile(
    r"(?:i'm|i am|ich bin|we are|\w+ (?:\w+ )?(?:is|ist)) (?:now |jetzt |just )?(?P<age>\d{1,3})"
    r"(?: (?:years? old|years of age|jahre alt|now|jetzt))*[.!]?$"
)
_TURNED = re.compile(r"\b(?:turned|turns|bin|ist) (?:\w+ ){0,2}(?P<age>\d{1,3})(?: geworden)?\b")


def other_amount(before: Side, clause: Side, now: Side) -> str | None:
    """Of one thing there is another number, date or time."""
    if not before.amounts or before.amounts == amounts_of(clause) or not amounts_of(clause):
        return None
    if not _of_one_kind(before, clause) or _is_of_another(before, clause):
        return None
    told = [match for kind in _AMOUNTS for match in events.TURNED[kind].finditer(clause.text)]
    if not told and (signs.EVENT.search(before.text) or signs.PAST.search(clause.text)):
        return None
    theirs = without(clause.content, [*told, *signs.CUE.finditer(clause.text)])
    laid = _laid(before.content, theirs)
    measures = {word for word in before.words + clause.words if signs.METRICS.fullmatch(word)}
    if not laid.shared and not (told and measures):
        return None
    lost, gained = laid.lost - measures - VERBS, laid.gained - measures
    spelt = {word for word in gained if side_of(word).amounts}
    same = laid.shared or before.words[:2] == clause.words[:2]
    if not same and not gained - spelt <= _AGED | set(before.words):
        return None
    if told or is_cued(now):
        few = len(lost) <= 1 and len(gained) <= MOST_GAINED
        return "has another value now" if few and not (lost and gained) else None
    return (
        "there is one, of another value"
        if not lost | gained and _is_one(before, clause, laid.shared)
        else None
    )


_AMOUNTS = ("amount", "place")


class _Laid(NamedTuple):
    """Two sets of words side by side; forms of one word are one."""

    shared: frozenset[str]
    lost: frozenset[str]
    gained: frozenset[str]


def _laid(ours: frozenset[str], theirs: frozenset[str]) -> _Laid:
    shared = frozenset(word for word in ours if among(word, theirs))
    gained = frozenset(word for word in theirs if not among(word, ours))
    return _Laid(shared, ours - shared, gained)


def _is_one(before: Side, clause: Side, shared: Collection[str]) -> bool:
    """Whether there is one of it at a time, and only what is said of it differs."""
    single = any(signs.SINGULAR.fullmatch(word) for word in before.words)
    return single and _begin_alike(before, clause, shared) and _states(before) and _states(clause)


def _states(side: Side) -> bool:
    """Whether something is said at all: note number 3 is none."""
    return ":" in side.text or not DOING.isdisjoint(side.words) or bool(SELF & set(side.head))


def _begin_alike(before: Side, clause: Side, shared: Collection[str]) -> bool:
    """Whether all that they have in common comes first, and what differs behind it."""
    alike = takewhile(
        lambda pair: pair[0] == pair[1], zip(before.words, clause.words, strict=False)
    )
    return set(shared) <= {word for word, _ in alike}


def _is_of_another(before: Side, clause: Side) -> bool:
    """Whether one is said of the speaker, the other of something of the speaker's: my cat is 3."""
    starts = [side.words[:1] for side in (before, clause)]
    if not any(_SPEAKER & set(start) for start in starts):
        return False
    mine = [side.words[1:3] for side in (before, clause) if set(side.words[:1]) & SELF - _SPEAKER]
    return any(not any(map(_is_measured, words)) for words in mine)


def _is_measured(word: str) -> bool:
    return bool(signs.METRICS.fullmatch(word) or signs.SINGULAR.fullmatch(word))


_SPEAKER = frozenset("i we ich wir je nous yo io eu i'm".split())


def _of_one_kind(before: Side, clause: Side) -> bool:
    ours, theirs = before.found, clause.found
    if ours.units and theirs.units and ours.units.isdisjoint(theirs.units):
        return False
    return bool(ours.dates) == bool(theirs.dates) or bool(ours.numbers) == bool(theirs.numbers)


def turned_into(before: Side, clause: Side, now: Side) -> str | None:
    """A change of the thing is told as an event: it moved to, was rewritten in, is now called."""
    for kind in ("place", "making", "name", "value", "role"):
        match = events.TURNED[kind].search(clause.text)
        if match is None or kind == "place" and not _has_place(before, match):
            continue
        if kind == "making" and not (events.MADE.search(before.text) or _IN.search(before.text)):
            continue
        if kind == "name" and not events.CALLED.search(before.text):
            continue
        if _is_replaced(before, clause, match, kind):
            return "has changed"
    return None


_IN = re.compile(r"\b(?:in|en|em)\b")


def _has_place(before: Side, match: re.Match[str]) -> bool:
    """Whether it is said where it is, and of somebody where they live, not what they do there."""
    if any(aspect.search(before.text) for name, aspect in signs.ASPECTS.items() if name != "home"):
        return match.start() > 0 and not named_first(before)
    if states_of(before):
        return False
    return bool(events.LOCATED.search(before.text) or _USED & set(before.words))


_USED = frozenset(
    "use uses keep run runs host store deploy nutze nutzen nutzt utilise utilisons uso usa usamos"
    " usiamo".split()
)


def _is_replaced(before: Side, clause: Side, match: re.Match[str], kind: str) -> bool:
    value = _behind(clause.text, match, kind)
    things = without(clause.content, [match, *signs.CUE.finditer(clause.text)]) - value
    if kind == "role":
        things -= clause.names - before.names - set(before.words)
    if not things or lacking(things, before) or before.amounts and not clause.amounts:
        return False
    lost = {word for word in before.content if not among(word, things)}
    if not lost and kind != "role" and not events.FROM.search(clause.text):
        return False
    if any(_is_behind(before.text, word) for word in things):
        return False  # we use Slack with the client, the client moved
    if kind != "role" and named_first(clause) - set(before.words[:1]):
        return False  # I met Tom in Oslo, Tom moved to Bergen
    return kind == "role" or bool(value) and bool(lacking(value, before))


_WITH_IT = re.compile(r"\b(?:with|mit|avec|con|com) ")


def _is_behind(text: str, word: str) -> bool:
    found = _WITH_IT.search(text)
    return found is not None and word in text[found.end() :]


def _behind(text: str, match: re.Match[str], kind: str) -> frozenset[str]:
    """The words of the value that a change ends with."""
    rest = text[match.end() :]
    if kind == "role":
        return frozenset()
    joints = list(_PREPOSITION.finditer(rest))
    tail = rest[joints[-1].end() :] if joints else rest
    if not joints:  # German puts it before the verb
        before = list(_PREPOSITION.finditer(text[: match.start()]))
        tail = text[before[-1].end() : match.start()] if before else rest
    return frozenset(WORD.findall(tail)) - STOPS


def other_aspect(before: Side, clause: Side, now: Side) -> str | None:
    """Another home, job or subject of study of the same one, where a sign tells that it changed."""
    told = (*events.TURNED.values(), events.ENDING)
    if not is_cued(now) and not any(event.search(now.text) for event in told):
        return None
    for aspect, pattern in signs.ASPECTS.items():
        was, became = pattern.search(before.text), pattern.search(clause.text)
        if became is None and aspect == "home" and events.MOVED.search(now.text):
            became = events.BEING_THERE.search(clause.text)
        if was is None or became is None or denied(before, was) or denied(clause, became):
            continue
        if signs.PAST.search(clause.text) and aspect != "home" or not _is_of_somebody(before, was):
            continue
        value = without(clause.content, [became, *signs.CUE.finditer(clause.text)]) - before.names
        former = without(before.content, [was]) - named_first(before)
        if (value or not former) and lacking(value, before):
            return f"has changed: {aspect}"
    return None


def renewed(before: Side, clause: Side, now: Side) -> str | None:
    """Of what one has one of there is a new one, whatever is said of it: our new address is."""
    new = events.NEW_ONE.search(clause.text)
    known = events.HAD_ONE.match(before.text)
    if new is None or known is None or before.denies or clause.denies:
        return None
    ours, theirs = (set(WORD.findall(match["thing"])) - STOPS for match in (known, new))
    single = any(signs.SINGULAR.fullmatch(word) for word in theirs)
    return "there is a new one" if ours == theirs and single else None


def _is_of_somebody(side: Side, match: re.Match[str]) -> bool:
    head = set(side.head)
    return bool((SELF | THIRD | KIN) & head or named_first(side)) or match.start() == 0


def other_value(before: Side, clause: Side, now: Side) -> str | None:
    """A sign of change, and all but a value is the same."""
    if signs.PAST.search(clause.text) or before.amounts != amounts_of(clause):
        return None
    new = signs.NEW.search(now.text)
    if new and not signs.CUE.search(now.text) and lacking(_next(now.text[new.end() :]), before):
        return None  # a new job is no new name
    standing = bool(signs.STANDING.search(now.text) or new)
    if ADDING & set(before.words) and not standing:
        return None
    gone = [*signs.CUE.finditer(clause.text), *_NEWS.finditer(clause.text)]
    laid = _laid(before.content, without(clause.content, gone))
    if not _is_of_the_same(before, clause, laid) or beside(before.said, clause.said):
        return None
    is_told = bool(_NEWS.search(clause.text)) or not (laid.lost or laid.gained)
    if not is_told and not _says_alike(before, clause, gone, laid):
        return None
    ended = events.ENDING.search(now.text) and not events.ENDING.search(clause.text)
    if not (is_cued(now) or ended or _is_favourite(before, clause, laid.shared)):
        return None
    if not laid.lost and not laid.gained and _TURNED_ROUND.search(now.text):
        return "is the other way round" if before.words != clause.words else None
    denies = before.denies != clause.denies
    if denies and laid.gained or _is_with_another(before, laid.lost):
        return None
    if laid.lost and laid.gained or standing and denies and not laid.lost:
        return "has another value now"
    return None


def _is_of_the_same(before: Side, clause: Side, laid: _Laid) -> bool:
    """Whether they differ in no more than a value, and not in what it is of: dentist, doctor."""
    if not laid.shared or len(laid.lost) > MOST_LOST or len(laid.gained) > MOST_GAINED:
        return False
    if _first(before) not in laid.shared and not among(_first(clause), before.content):
        return False
    return not (_is_singular(laid.lost) and _is_singular(laid.gained) or KIN & laid.gained)


def _says_alike(
    before: Side, clause: Side, signs_of_change: Iterable[re.Match[str]], laid: _Laid
) -> bool:
    """Whether one thing is said of it both times, in one place: a job is no home, a state no role,
    and who plays chess may work as well."""
    ours, theirs = _told(before, ()), _told(clause, signs_of_change)
    if states_of(before).keys() != states_of(clause).keys():
        return False
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    gaps = [gap for gap in matcher.get_opcodes() if gap[0] != "equal"]
    if len(gaps) > 1:  # the order may be another one: now live I in Bonn
        rest = [sorted(set(side) - laid.lost - laid.gained) for side in (ours, theirs)]
        return len(laid.lost) == len(laid.gained) == 1 and rest[0] == rest[1]
    return all(
        (not DOING.isdisjoint(ours[:a]) or a > 1 and len(set(ours[a:b]) - STOPS) <= 1)
        and _opening(ours[a:b]) == _opening(theirs[c:d])
        for _, a, b, c, d in gaps
    )


def _next(text: str) -> list[str]:
    """The first word."""
    return WORD.findall(text)[:1]


def _told(side: Side, gone: Iterable[re.Match[str]]) -> list[str]:
    spans = [match.span() for match in gone]
    return [
        word[0]
        for word in WORD.finditer(side.text)
        if not any(first <= word.start() < last for first, last in spans)
    ]


def _opening(words: Iterable[str]) -> list[str]:
    """The words before a value, which tell what kind of value it is: in Bonn, a nurse, tired."""
    joints = [word for word in takewhile(STOPS.__contains__, words) if word not in _TITLES]
    return ["the" if word in ARTICLES else word for word in joints]


_TITLES = frozenset("mr mrs ms dr herr frau".split())


def _is_favourite(before: Side, clause: Side, shared: Collection[str]) -> bool:
    """Whether both tell a favourite of the same kind: then it needs no sign."""
    named = [word for word in shared if signs.FAVOURITE.fullmatch(word)]
    kinds = [word for word in shared if word not in named or _LIEBLING.match(word)]
    return bool(named and kinds) and _begin_alike(before, clause, shared)


def _is_with_another(before: Side, lost: Collection[str]) -> bool:
    """Whom one does something with adds up: I work with Eva, with Leo."""
    person = SELF & set(before.head) or named_first(before)
    return bool(person) and any(
        f"{joint} {word}" in before.text for joint in _WITH for word in lost
    )


def _is_singular(words: Iterable[str]) -> bool:
    return any(signs.SINGULAR.fullmatch(word) for word in words)


_WITH = ("with", "mit", "avec", "con", "com")


def _first(side: Side) -> str:
    return next((word for word in side.words if word in side.content), "")


_LIEBLING = re.compile("lieblings.")
_TURNED_ROUND = re.compile(r"\b(?:changed my mind|other way round|actually|correction|was wrong)\b")
_NEWS = re.compile(r"\b(?:new|neue[rsn]?|nouve(?:au|l|lle)|nuev[oa]|nuov[oa]|nov[oa])\b")
