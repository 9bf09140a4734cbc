"""Find memories that a working prompt touches without asking: "the label printing test fails, fix
it".

Each memory's evidence is added up: its cosine, and how far that stands out from the others (an
embedder finds all texts in a language that it does not know near each other); the words that both
share, rare ones more than common ones, whole, inflected or in a compound; names; and the judge's
verdict. All of that hardly separates what helps from what is merely near. But it is plain whether
the prompt is about anything remembered at all, by the three best memories and by how much the
prompt says (area under the curve .99). So such a prompt gets the few likeliest memories, any other
gets none.

The weights come from logistic regressions on the development worlds of `python -m benchmarks
notes`, half of a set by another writer, and 63 prompts about nothing that is stored.
"""

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from kinmem.language import sentences
from kinmem.llm.base import Calibration
from kinmem.models import Candidate, Found, Hit, Reasons, Scored
from kinmem.recall.confidence import QUESTION_MARKS
from kinmem.recall.rerank import FOR_NOTES, Judging
from kinmem.text import STOP_WORDS, count_content_words, folded, language_of, words

NEAREST, MATCHING = 200, 50
# The farthest of the memories read define what is usual; in a smaller store all of them do.
USUAL = 50
# Memories below which it cannot be said what is usual.
FEW = 8
LEAST_SPREAD = 0.06
# Memories in the worlds that the weights were fitted on, and the number assumed if not all were
# read.
FEW_OF_CHANCE, MANY = 20, 1000
MOST_SHARED = 6.0
# Most words of a prompt that are looked for, the longest ones: about as many as 3,000 characters
# have.
MOST_WORDS = 250
# Weight of a sentence's first word: in a command it says what to do, not with what.
VERB = 0.5
# Least letters of a word that may be inflected or part of a compound.
LONG_ENOUGH = 4
# A capitalised word in the middle of a sentence.
NAME = re.compile(r"(?<=[^.!?:\s] )[^\W\d_a-zß-öø-ÿ][\w-]+")


class Weights(NamedTuple):
    """How much each piece of evidence adds to the log odds: of a memory, that it helps; of a
    prompt, that it is about something remembered."""

    constant: float
    nearness: float
    """Weight of the cosine on the shared scale."""
    stands_out: float
    shared: float
    both: float
    """Weight of standing out if words are shared as well."""
    named: float
    judge: float
    """Weight of the judge's log odds."""
    of_prompt: float
    best: float
    """Weight of the mean of the best memories' odds."""
    said: float
    """Weight of the number of content words."""


READ = Weights(-4.29, 4.18, 0.09, 0.19, 0.61, 0.36, 0.36, of_prompt=1.49, best=2.25, said=0.86)
UNREAD = Weights(-4.75, 6.3, 0.0, 0.27, 0.79, 0.37, 0.0, of_prompt=-1.33, best=1.85, said=1.29)
# Used without vectors.
BY_WORDS = Weights(-3.33, 0.0, 0.0, 0.6, 0.0, 0.39, 0.0, of_prompt=0.0, best=1.0, said=0.0)
# Limit of the judge's chance, which is never taken as more certain than that.
LEAST_CHANCE = 1e-3
BEST, MOST_SAID = 3, 12
# Log odds of a prompt from which it gets any memory.
ABOUT, ABOUT_BY_WORDS = 2.0, -0.2
# Log odds of a memory that is returned whatever the prompt's are.
SURELY = 1.0
# Log odds that the best memory must have; the second number is for questions, which recall answers.
# Questions about other people look as related to a long talk as its own: without this limit 12 of
# 30 of them got a memory, with it 2.
LEAST_BEST, LEAST_IF_ASKED = -2.5, 0.0
# Least log odds of a memory that is returned, and how far they may be behind the best.
LEAST, BEHIND = -3.0, 2.0
# The judge's chance from which a memory answers a prompt that asks. Of 18 questions that say little
# ("are you sure?", "what's next?") or are about something else, each beside ten memories, only "who
# am I?" reaches it, beside a memory of who one is.
ANSWERS = 0.85
# Most memories that one prompt gets by touching them.
MOST_TOLD = 4


def sought_in(prompt: str) -> list[str]:
    """Return the words to look for."""
    stop = _stop_words()
    found = (word for word in map(folded, words(prompt)) if word not in stop)
    distinct = list(dict.fromkeys(word for word in found if len(word) > 1 or word.isdigit()))
    longest = set(sorted(distinct, key=len, reverse=True)[:MOST_WORDS])
    return [word for word in distinct if word in longest]


def touched(prompt: str, found: Found, scale: Calibration, judging: Judging) -> list[Scored]:
    """Return the few candidates that the prompt touches, best first, scored by the chance that they
    help; none if the prompt is about something else.

    The cosines in `found` are the embedder's own; `scale` says what they mean.
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
    """Return the hits that, according to the judge, answer a prompt that asks. "Where do I work?"
    has no telling word, and may be far from its answer."""
    if not prompt.rstrip().endswith(QUESTION_MARKS):
        return []
    return [hit for hit in hits if not hit.weak and (hit.reasons.judge or 0.0) >= ANSWERS]


def _is_about(prompt: str, odds: Sequence[float], weights: Weights) -> bool:
    """Return whether the prompt is about something remembered, given its memories' log odds, best
    first."""
    asks = prompt.rstrip().endswith(QUESTION_MARKS)
    if not asks and (weights is BY_WORDS or odds[0] >= SURELY):
        return odds[0] >= ABOUT_BY_WORDS
    if weights is BY_WORDS or odds[0] < (LEAST_IF_ASKED if asks else LEAST_BEST):
        return False
    said = weights.said * min(count_content_words(prompt), MOST_SAID)
    return weights.of_prompt + weights.best * statistics.fmean(odds[:BEST]) + said >= ABOUT


def _evidence(prompt: str, found: Found, scale: Calibration) -> list[Scored]:
    """Collect the evidence for each candidate, without weights."""
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
    """Return the log odds. `plain` holds the weights for what the judge has not read."""
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
    """Return the cosine up to which memories are merely as near as others of their language. It is
    the highest of all languages: that of the prompt's own, which need not be identified."""
    return max(map(sum, _usual(_by_language(found)).values()), default=0.0)


def _usual(cosines: Mapping[str, Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """Return mean and spread of the meaningless cosines by language; a language with few memories
    is left out."""
    found = {}
    for language, near in cosines.items():
        ranked = sorted(near.values())
        if len(ranked) >= FEW:
            ranked = ranked[:USUAL] if len(ranked) >= NEAREST else ranked
            spread = max(LEAST_SPREAD, statistics.pstdev(ranked))
            found[language] = statistics.fmean(ranked), spread
    return found


def _by_language(found: Found) -> dict[str, dict[str, float]]:
    """Return the cosine of each memory by id, grouped by the language of its text."""
    near: dict[str, dict[str, float]] = defaultdict(dict)
    for one in found.candidates:
        if cosines := found.cosines.get(one.id):
            near[language_of(one.content)][one.id] = max(cosines)
    return near


def _standing_out(found: Found) -> dict[str, float]:
    """Return by how many spreads each stands out. Of many memories the best stands out by chance,
    and that much is deducted."""
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
    """Return for each candidate how much the words say that it shares with the prompt, and the same
    for the names among them."""
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
    """Map each word sought to the similar words among `told`, with their likeness.

    Of two words that are alike but not equal, one contains the beginning of the other. No other
    pairs are compared, since a long prompt has hundreds of words and the memories have thousands.
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
    """Return 1 for the same word, less for another form of it or if one is part of the other,
    otherwise 0."""
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
