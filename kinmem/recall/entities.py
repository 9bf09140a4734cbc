"""Stage 4b: memories about what the question names gain, and those one relation away come in."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from kinmem.models import THE_USER, Found, Scored
from kinmem.recall.formula import Formula
from kinmem.recall.fuse import meaning
from kinmem.store.graph import Graph, Key, Spoken
from kinmem.text import folded

WORD = re.compile(r"[^\W_][\w&'’-]*")
LONGEST = 3
"""Words of a name."""
MOST_NAMED = 5
"""Entities of one question."""
ABOUT = 100
"""Memories about each of them, the latest."""
NEXT_TO = 20
"""The same about each of those that it is related to, of which there are five at most."""
MOST_NEXT = 5
HOP = 0.5
STRONG = 0.3
"""Strength that a relation needs (Keyoku)."""


def about(text: str, graph: Graph, now: datetime) -> dict[str, float]:
    """By id of a memory how much the entities that the question names speak for it, 0 to 1.

    1 / (1 + ln n) for what is about one that n memories are about; half of that, times the strength
    of the relation, for what is about one that it is related to.
    """
    names = list(dict.fromkeys(_names(text)))
    spoken = graph.spoken_of(names, MOST_NAMED + 1, ABOUT) if names else []
    spoken = [one for one in spoken if one.key.folded != THE_USER][:MOST_NAMED]
    near = {one.key: _near(one, now) for one in spoken}
    latest = graph.latest({key for some in near.values() for key in some}, NEXT_TO)
    shares: dict[str, float] = {}
    for one in spoken:
        own = 1 / (1 + math.log(max(1, one.mentions)))
        _raise(shares, one.memories, own)
        for key, strength in near[one.key].items():
            _raise(shares, latest.get(key, ()), own * HOP * strength)
    return shares


def _near(one: Spoken, now: datetime) -> dict[Key, float]:
    """Those that it is most strongly related to, and how strongly."""
    related = sorted(
        ((edge.strength(now), edge.other(one.key)) for edge in one.edges), reverse=True
    )
    strong = [(how, key) for how, key in related if key.folded != THE_USER and how >= STRONG]
    return {key: how for how, key in reversed(strong[:MOST_NEXT])}


def _raise(shares: dict[str, float], ids: Sequence[str], share: float) -> None:
    for id in ids:
        shares[id] = max(shares.get(id, 0.0), share)


def raised(
    scored: Sequence[Scored],
    found: Found,
    shares: Mapping[str, float],
    weight: float,
    formula: Formula,
) -> list[Scored]:
    """Add `+entity`, the weight times what speaks for it, also to what nothing else has found."""
    known = {one.candidate.id: one for one in scored}
    for candidate in found.candidates:
        share = shares.get(candidate.id)
        if share is None:
            continue
        one = known.get(candidate.id)
        if one is None:
            near = max(meaning(found.cosines.get(candidate.id, [0.0]), formula), 0.0)
            one = Scored(candidate, near, {"+meaning": near})
        gain = weight * share
        known[candidate.id] = Scored(candidate, one.score + gain, {**one.why, "+entity": gain})
    return list(known.values())


def _names(text: str) -> list[str]:
    """Every one to three words that begin with a capital; the store knows which are names."""
    places = [match.span() for match in WORD.finditer(text)]
    names = []
    for first, (start, _) in enumerate(places):
        if text[start] == text[start].lower() != text[start].upper():
            continue
        for _, end in places[first : first + LONGEST]:
            name = re.sub(r"['’]s?$", "", text[start:end])
            names.append(folded(name))
    return names
