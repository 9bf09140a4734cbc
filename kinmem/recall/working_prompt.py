"""What a working prompt touches, though it asks nothing: "the label printing test fails, fix it".

Evidence is added up for each memory: how near it is and how far that stands out from the others (an
embedder finds all texts of a language that it was not made for near each other), the words that
both have, rare ones more than common ones, whole, inflected or in a compound, names, and what the
judge of language says. All of it together hardly tells what helps from what is merely near. Whether
the prompt is about what is remembered at all is plain, however: by the three best and by how much
is said (area under the curve .99). So a prompt that is gets the likeliest few, another one nothing.

The weights are those of logistic regressions on the development worlds of `python -m benchmarks
notes`, half of a set of another writer, and 63 prompts about nothing that is stored.
"""

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from kinmem.llm.base import Calibration
from kinmem.models import Candidate, Found, Hit, Reasons, Scored
from kinmem.recall.confidence import QUESTION_MARKS
from kinmem.recall.judging import FOR_NOTES, Judging
from kinmem.sentences import sentences
from kinmem.text import STOP_WORDS, UNSPACED, content_words, folded, language_of, words

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
VERB = 0.5
"""What a command begins with says what is to be done, not with what."""
LONG_ENOUGH = 4
"""Letters of a word that may be inflected or part of a compound."""
NAME = re.compile(r"(?<=[^.!?:\s] )[^\W\d_a-zß-öø-ÿ][\w-]+")
"""Written large in the middle of a sentence."""


class Weights(NamedTuple):
    """How much each piece of evidence adds to the logarithm of the odds: of a line, that it helps;
    of a prompt, that it is about what is remembered."""

    constant: float
    nearness: float
    """Of the cosine on the one scale."""
    stands_out: float
    shared: float
    both: float
    """Of standing out where words are shared."""
    named: float
    judge: float
    """Of the log odds that the judge gives."""
    of_prompt: float
    best: float
    """Of the mean of the best lines."""
    said: float
    """Of the number of words with a meaning."""


READ = Weights(-4.29, 4.18, 0.09, 0.19, 0.61, 0.36, 0.36, of_prompt=1.49, best=2.25, said=0.86)
UNREAD = Weights(-4.75, 6.3, 0.0, 0.27, 0.79, 0.37, 0.0, of_prompt=-1.33, best=1.85, said=1.29)
BY_WORDS = Weights(-3.33, 0.0, 0.0, 0.6, 0.0, 0.39, 0.0, of_prompt=0.0, best=1.0, said=0.0)
"""Without vectors."""
LEAST_CHANCE = 1e-3
"""Of the judge's; it is never surer than that."""
BEST, MOST_SAID = 3, 12
ABOUT, ABOUT_BY_WORDS = 2.0, -0.2
"""Odds of a prompt from which it is told anything."""
SURELY = 1.0
"""Odds of a line that is told whatever the prompt's are."""
LEAST_BEST, LEAST_IF_ASKED = -2.5, 0.0
"""Odds that the best line must have. Recall answers questions; of a long talk others are about as
much as its own: without this 12 of 30 questions about other people were told something, 2 with."""
LEAST, BEHIND = -3.0, 2.0
"""Odds of a line that is told, and how far they may be behind those of the best."""
ANSWERS = 0.85
"""Chance, as the judge of language gives it, from which on a memory answers a prompt that asks. Of
18 questions that say little ("are you sure?", "what's next?") or are about something else, beside
ten memories each, none reaches it but "who am I?" beside who one is."""
MOST_TOLD = 4
"""Lines because of what one prompt touches."""


def sought_in(prompt: str) -> list[str]:
    """The words to be looked for."""
    stop = _stop_words()
    found = (word for word in map(folded, words(prompt)) if word not in stop)
    distinct = list(dict.fromkeys(word for word in found if len(word) > 1 or word.isdigit()))
    longest = set(sorted(distinct, key=len, reverse=True)[:MOST_WORDS])
    return [word for word in distinct if word in longest]


def touched(prompt: str, found: Found, scale: Calibration, judging: Judging) -> list[Scored]:
    """The candidates that the prompt touches with the chance that they help, best first: a few,
    none where the prompt is about something else.

    `found` has cosines as the embedder gives them; `scale` says what they mean.
    """
    plain = UNREAD if found.cosines else BY_WORDS
    told = _by_odds(_evidence(prompt, found, scale), plain)
    if found.cosines:
        told = _by_odds(judging.read(told, FOR_NOTES), plain)
    odds = [_odds(one.reasons, plain) for one in told]
    if not odds or not _is_about(prompt, odds, _weights_of(told[0].reasons, plain)):
        return []
    least = max(LEAST, odds[0] - BEHIND) if found.cosines else ABOUT_BY_WORDS
    chosen = [one for one, enough in zip(told, odds, strict=True) if enough >= least][:MOST_TOLD]
    return judging.read([_with_chance(one, plain) for one in chosen], FOR_NOTES)


def answering(prompt: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits that answer a prompt that asks, as the judge of language knows: "Where do I work?"
    has no word that says anything, and may be far from what answers it."""
    if not prompt.rstrip().endswith(QUESTION_MARKS):
        return []
    return [hit for hit in hits if not hit.weak and (hit.reasons.judge or 0.0) >= ANSWERS]


def _is_about(prompt: str, odds: Sequence[float], weights: Weights) -> bool:
    """Whether the prompt is about what is remembered: the odds of its lines, best first, tell."""
    asks = prompt.rstrip().endswith(QUESTION_MARKS)
    if not asks and (weights is BY_WORDS or odds[0] >= SURELY):
        return odds[0] >= ABOUT_BY_WORDS
    if weights is BY_WORDS or odds[0] < (LEAST_IF_ASKED if asks else LEAST_BEST):
        return False
    said = weights.said * min(_said(prompt), MOST_SAID)
    return weights.of_prompt + weights.best * statistics.fmean(odds[:BEST]) + said >= ABOUT


def _said(prompt: str) -> int:
    """Words with a meaning; in scripts without spaces two signs count as one."""
    unspaced = (len(word) // 2 if UNSPACED.search(word) else 1 for word in content_words(prompt))
    return sum(unspaced)


def _evidence(prompt: str, found: Found, scale: Calibration) -> list[Scored]:
    """What speaks for each candidate; not weighed yet."""
    stands_out = _standing_out(found)
    shared, named = _shared(prompt, found.candidates)
    return [
        Scored(
            one,
            0.0,
            Reasons(
                cosine=max(0.0, scale.scaled(max(found.cosines.get(one.id, [0.0])))),
                stands_out=stands_out.get(one.id, 0.0),
                shares=min(shared[at], MOST_SHARED),
                names=named[at],
            ),
        )
        for at, one in enumerate(found.candidates)
    ]


def _by_odds(told: Sequence[Scored], plain: Weights) -> list[Scored]:
    return sorted(told, key=lambda one: (-_odds(one.reasons, plain), one.candidate.id))


def _odds(reasons: Reasons, plain: Weights) -> float:
    """`plain`: the weights of what the judge has not read."""
    weights = _weights_of(reasons, plain)
    z, shared = reasons.stands_out or 0.0, reasons.shares or 0.0
    chance = min(1 - LEAST_CHANCE, max(LEAST_CHANCE, reasons.judge or 0.0))
    return (
        weights.constant
        + weights.nearness * (reasons.cosine or 0.0)
        + weights.stands_out * z
        + weights.shared * shared
        + weights.both * (max(z, 0.0) if shared else 0.0)
        + weights.named * (reasons.names or 0.0)
        + weights.judge * math.log(chance / (1 - chance))
    )


def _weights_of(reasons: Reasons, plain: Weights) -> Weights:
    return plain if reasons.judge is None or plain is BY_WORDS else READ


def _with_chance(one: Scored, plain: Weights) -> Scored:
    chance = 1 / (1 + math.exp(-_odds(one.reasons, plain)))
    return Scored(one.candidate, chance, one.reasons._replace(touches=chance))


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
