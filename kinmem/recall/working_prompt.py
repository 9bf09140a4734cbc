"""What a working prompt touches, though it asks nothing: "the label printing test fails, fix it".

Three kinds of evidence are added up, none of which knows a language: how far a memory's nearness
stands out from that of the others (an embedder finds all texts of a language that it was not made
for near each other), the words that both have, rare ones more than common ones, whole, inflected or
in a compound, and names. The weights are those of a logistic regression on the development worlds
of `python -m benchmarks notes`, which gives the chance that a line helps.
"""

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from kinmem.models import Candidate, Found, Reasons, Scored
from kinmem.sentences import sentences
from kinmem.text import STOP_WORDS, folded, language_of, words

NEAREST, MATCHING = 200, 50
USUAL = 50
"""The farthest of those that were read; in a store of fewer, all are what is usual there."""
FEW = 8
"""Memories below which nobody can say what is usual."""
LEAST_SPREAD = 0.06
FEW_OF_CHANCE, MANY = 20, 1000
"""Memories in the worlds that the weights are from, and as many as are assumed where not all were
read."""
MOST_SHARED = 6.0
MOST_WORDS = 250
"""Words of a prompt that are looked for, the longest: about 3,000 characters have no more."""
CHANCE, STANDING_OUT, SHARED, BOTH, NAMED = -3.33, 0.61, 0.60, 0.65, 0.39
BAR = 0.45
"""Of the chance, 0 to 1."""
VERB = 0.5
"""What a command begins with says what is to be done, not with what."""
LONG_ENOUGH = 4
"""Letters of a word that may be inflected or part of a compound."""
NAME = re.compile(r"(?<=[^.!?:\s] )[^\W\d_a-zß-öø-ÿ][\w-]+")
"""Written large in the middle of a sentence."""


def sought_in(prompt: str) -> list[str]:
    """The words to be looked for."""
    stop = _stop_words()
    found = (word for word in map(folded, words(prompt)) if word not in stop)
    distinct = list(dict.fromkeys(word for word in found if len(word) > 1 or word.isdigit()))
    longest = set(sorted(distinct, key=len, reverse=True)[:MOST_WORDS])
    return [word for word in distinct if word in longest]


def touched(prompt: str, found: Found) -> list[Scored]:
    """The candidates that the prompt touches with the chance that they help, best first."""
    candidates = found.candidates
    if prompt.rstrip().endswith("?") or not candidates:
        return []  # recall answers questions
    stands_out = _standing_out(found)
    shared, named = _shared(prompt, candidates)
    judged = []
    for at, one in enumerate(candidates):
        z = stands_out.get(one.id, 0.0)
        common, names = min(shared[at], MOST_SHARED), named[at]
        logit = CHANCE + STANDING_OUT * z + SHARED * common + NAMED * names
        logit += BOTH * max(z, 0.0) if common else 0.0
        chance = 1 / (1 + math.exp(-logit))
        if chance >= BAR:
            reasons = Reasons(touches=chance, stands_out=z, shares=common, names=names)
            judged.append(Scored(one, chance, reasons))
    return sorted(judged, key=lambda one: (-one.score, one.candidate.id))


def noise_of(found: Found) -> float:
    """The cosine up to which memories are as near as the others of their language: in the prompt's
    own, which nobody has to know, they are the nearest."""
    return max(map(sum, _usual(_by_language(found)).values()), default=0.0)


def _usual(cosines: Mapping[str, Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """Mean and spread of the cosines that mean nothing, by language; none where few are known."""
    found = {}
    for language, near in cosines.items():
        ranked = sorted(near.values())
        if len(ranked) >= FEW:
            ranked = ranked[:USUAL] if len(ranked) >= NEAREST else ranked
            spread = max(LEAST_SPREAD, statistics.pstdev(ranked))
            found[language] = statistics.fmean(ranked), spread
    return found


def _by_language(found: Found) -> dict[str, dict[str, float]]:
    """The cosine of each memory by id, under the language of its text."""
    near: dict[str, dict[str, float]] = defaultdict(dict)
    for one in found.candidates:
        if cosines := found.cosines.get(one.id):
            near[language_of(one.content)][one.id] = max(cosines)
    return near


def _standing_out(found: Found) -> dict[str, float]:
    """By how many spreads; of many the best stands out by chance, which is taken off."""
    near = _by_language(found)
    usual = _usual(near)
    many = max(FEW_OF_CHANCE, len(found.cosines) if len(found.cosines) < NEAREST else MANY)
    by_chance = math.sqrt(2 * math.log(many)) - math.sqrt(2 * math.log(FEW_OF_CHANCE))
    return {
        id: (cosine - usual[language][0]) / usual[language][1] - by_chance
        for language in usual
        for id, cosine in near[language].items()
    }


def _shared(prompt: str, candidates: Sequence[Candidate]) -> tuple[list[float], list[float]]:
    """Of each candidate: how much the words it shares with the prompt say, and the names among
    them."""
    sought = sought_in(prompt)
    verbs = {folded(found[0]) for part in sentences(prompt) if (found := words(part))}
    names = {folded(word) for name in NAME.findall(prompt) for word in words(name)}
    having: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(candidates):
        for word in _told(one):
            having[word].append(at)
    shared, named = [0.0] * len(candidates), [0.0] * len(candidates)
    for word, others in _alike(sought, having).items():
        alike: dict[int, float] = {}
        for other, value in others.items():
            for at in having[other]:
                alike[at] = max(value, alike.get(at, 0.0))
        weight = math.log((len(candidates) + 1) / (len(alike) + 0.5))
        for at, value in alike.items():
            shared[at] += weight * value * (VERB if word in verbs else 1.0)
            named[at] += weight * (value >= 0.9 and word in names)
    return shared, named


def _told(candidate: Candidate) -> frozenset[str]:
    said = f"{candidate.content} {candidate.subject or ''}"
    return frozenset(map(folded, words(said))) - _stop_words()


def _alike(sought: Sequence[str], told: Collection[str]) -> dict[str, dict[str, float]]:
    """Of each word sought those told that are like it, with their likeness.

    Of two that are alike and not the same, one has the beginning of the other in it: no others are
    compared, for a long prompt has hundreds of words and the memories have thousands.
    """
    beginnings = {word[:LONG_ENOUGH] for word in sought if len(word) >= LONG_ENOUGH}
    having: dict[str, set[str]] = defaultdict(set)
    beginning: dict[str, set[str]] = defaultdict(set)
    for other in told:
        beginning[other[:LONG_ENOUGH]].add(other)
        for piece in beginnings.intersection(_pieces(other)):
            having[piece].add(other)
    found: dict[str, dict[str, float]] = {}
    for word in sought:
        near = {word} if word in told else set()
        near |= having.get(word[:LONG_ENOUGH], set())
        for piece in _pieces(word):
            near |= beginning.get(piece, set())
        values = {other: likeness(word, other) for other in near}
        if alike := {other: value for other, value in values.items() if value}:
            found[word] = alike
    return found


def _pieces(word: str) -> set[str]:
    return {word[at : at + LONG_ENOUGH] for at in range(len(word) - LONG_ENOUGH + 1)}


def likeness(word: str, other: str) -> float:
    """1 for the same, less for another form of it and where one is part of the other, else 0."""
    if word == other:
        return 1.0
    short, long = sorted((word, other), key=len)
    if len(short) < LONG_ENOUGH:
        return 0.0
    same = 0
    for one, two in zip(short, long, strict=False):
        if one != two:
            break
        same += 1
    if same >= LONG_ENOUGH and len(short) - same <= 3 and len(long) - same <= 4:
        return 0.9
    if same >= 6 and same >= 0.7 * len(short):
        return 0.7
    return 0.7 if short[: max(LONG_ENOUGH, len(short) - 2)] in long else 0.0


@lru_cache(maxsize=1)
def _stop_words() -> frozenset[str]:
    return frozenset(folded(word) for found in STOP_WORDS.values() for word in found)
