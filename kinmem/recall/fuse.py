"""Stage 3: combine what was found by meaning and by words into one list, scored by relevance alone;
and the ranking profiles as data: how that is done, and the weight of everything else.

The numbers of the default ranking are all in Formula, so that each can be left out and measured:
`python -m benchmarks ablation` does that for every one of them, and docs/benchmarks.md has the
table.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kinmem.models import ROLES, Candidate, Curve, Found, Reasons, Scored
from kinmem.settings import RecallSettings

Fusion = Literal["score", "rrf"]
Weighing = Literal["bounded", "kinbot", "kore", "linear"]


@dataclass(frozen=True)
class Formula:
    """The weight of each part of a recall. 0, or False, switches a part off."""

    # question
    without_names: bool = True
    """Whether names that the store knows are left out of the embedded text."""
    without_phrases: bool = True
    """The same for phrases about the asking itself ("can you give me a summary of")."""
    without_asking_words: bool = True
    """Whether words about the asking itself are left out of the word search."""
    without_stop_words: bool = True

    # search
    nearest: int = 50
    """Candidates by meaning. More only cost time."""
    matching: int = 100
    """Candidates by words. Fewer lose recall."""
    listed: int = 200
    """How far down word ranks are reported, and so for how many candidates by meaning BM25 is
    known."""
    context: float = 0.3
    """Weight of a word in the source context; in content and subject it is 1."""

    # fuse
    words: float = 0.3
    """Weight of the best BM25, where a cosine has weight 1."""
    first_part: float = 0.7
    """Share of the first part, which says what a text is about, in a long text's cosine. The rest
    is the best part's."""
    per_ln_parts: float = 0.03
    """Deduction for further parts (times their natural logarithm): a long text has more chances to
    be near."""

    # expand
    expansion: float = 0.7
    """Weight of what another wording of the question finds, times the trust in the wording."""

    # neighbours
    neighbours: float = 0.2
    """Share of the better neighbour's score that is added."""
    answers: float = 0.15
    """Share of the score of the question right before it."""

    # weigh: bonuses, added only where a candidate is relevant
    gate: float = 0.3
    """Relevance below which bonuses fade."""
    named: float = 0.25
    """For what was said by or about the one person whom the question names."""
    by_user: float = 0.3
    """For what was not said by an assistant."""
    standing_wish: float = 0.15
    """For a standing instruction ("always ...") that applies to the question."""
    then: float = 0.2
    """For what was said at the time that the question names."""
    evidence: float = 1.0
    """Factor of the text's evidence (language/salience.py)."""
    worth: float = 0.25
    """Exponent of importance x use. Importance 1 to 10 alone spans 0.6 to 1.5; its fourth root
    spans a tenth either way, and no more may move."""
    age: float = 0.02
    """Exponent of the decay by age: less than a hundredth is lost, enough to order equals."""


@dataclass(frozen=True)
class Profile:
    """One way of ranking."""

    name: str
    weighing: Weighing
    fusion: Fusion = "score"
    shares: Mapping[str, float] = field(default_factory=dict)
    """For linear weighing: the share of each signal; they add up to 1."""
    curve: Curve = "kin"
    formula: Formula = field(default_factory=Formula)
    """The weights of everything for which no documented system has its own number."""
    all_words_first: bool = False
    """Whether memories with all of the question's words exclude the others."""
    reads: frozenset[str] = frozenset()
    """The environment variables for ranking that have an effect."""


RRF = frozenset({"MEMORY_RRF_K", "MEMORY_FTS_BOOST"})
DECAY = frozenset({"MEMORY_TEMPORAL_DECAY_LAMBDA", "MEMORY_TEMPORAL_DECAY_FLOOR"})
BOOSTS = frozenset({"MEMORY_SUBJECT_BOOST", "MEMORY_CATEGORY_BOOST", "MEMORY_RECENCY_BOOST"})


def _linear(
    name: str,
    semantic: float,
    recency: float,
    retention: float,
    importance: float,
    confidence: float,
) -> Profile:
    shares = {
        "semantic": semantic,
        "recency": recency,
        "retention": retention,
        "importance": importance,
        "confidence": confidence,
    }
    return Profile(name, "linear", shares=shares, curve="keyoku")


# `relevance` is the default and was measured (docs/benchmarks.md). kinbot, kore and Keyoku's five
# modes have the numbers of their documentation.
PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("relevance", "bounded", reads=DECAY),
        Profile("kinbot", "kinbot", fusion="rrf", all_words_first=True, reads=RRF | DECAY | BOOSTS),
        Profile("kore", "kore", curve="kore"),
        _linear("recent", 0.30, 0.50, 0.10, 0.07, 0.03),
        _linear("important", 0.40, 0.10, 0.10, 0.35, 0.05),
        _linear("historical", 0.50, 0.05, 0.25, 0.15, 0.05),
        _linear("comprehensive", 0.45, 0.15, 0.15, 0.20, 0.05),
        _linear("balanced", 0.35, 0.20, 0.20, 0.20, 0.05),
    )
}


def reads(name: str, fusion: Fusion | None) -> frozenset[str]:
    """Return the environment variables for ranking that have an effect with this profile."""
    profile = PROFILES[name]
    return profile.reads | (RRF if (fusion or profile.fusion) == "rrf" else frozenset())


NOWHERE = [0.0]
DEFAULT = Formula()
# Only this many of the best candidates raise their neighbours or are raised, since others would not
# come up by it. With 100, nDCG on BEAM falls by half a point.
COMPARED = 200
QUOTED = 200
NEVER = "\0"  # occurs in no text


def fuse(found: Found, profile: Profile, settings: RecallSettings) -> list[Scored]:
    """Return one entry per candidate found by words or by meaning, in no particular order.

    score: cosine + 0.3 x BM25 / the best BM25. rrf: the sum over both lists of boost / (k + rank +
    1), rank from 0. A candidate counts as found by meaning if its cosine is above both noise and
    threshold. The setting decides between the two formulas, or else the profile.
    """
    fusion = settings.fusion or profile.fusion
    return list(
        _by_score(found, profile.formula) if fusion == "score" else _by_rank(found, settings)
    )


def meaning(cosines: list[float], formula: Formula = DEFAULT) -> float:
    """Return how near a memory with these parts is to the question: at most the best part's
    cosine."""
    if len(cosines) == 1:
        return cosines[0]
    first = formula.first_part
    whole = first * cosines[0] + (1 - first) * max(cosines)
    return whole - formula.per_ln_parts * math.log(len(cosines))


def _by_score(found: Found, formula: Formula) -> Iterator[Scored]:
    best = max(found.matches.values(), default=0.0)
    least = max(found.noise, found.threshold)
    for candidate in found.candidates:
        cosines = found.cosines.get(candidate.id, NOWHERE)
        match = found.matches.get(candidate.id)
        if match is None and max(cosines) <= least:
            continue
        score = meaning(cosines, formula)
        if candidate.part:
            score -= formula.per_ln_parts * math.log(candidate.part.of)
        score = max(score, 0.0)
        by_words = formula.words * match / best if match is not None and best > 0 else None
        yield Scored(candidate, score + (by_words or 0.0), Reasons(score, by_words))


def _by_rank(found: Found, settings: RecallSettings) -> Iterator[Scored]:
    least = max(found.noise, found.threshold)
    near = [id for id in found.nearest if max(found.cosines.get(id, NOWHERE)) > least]
    by_meaning = {id: 1 / (settings.rrf_k + rank + 1) for rank, id in enumerate(near)}
    by_words = {
        id: settings.fts_boost / (settings.rrf_k + rank + 1)
        for rank, id in enumerate(found.matches)
    }
    for candidate in found.candidates:
        by_rank, match = by_meaning.get(candidate.id), by_words.get(candidate.id)
        if by_rank is None and match is None:
            continue
        cosines = found.cosines.get(candidate.id)
        reasons = Reasons(by_rank, match, cosine=None if cosines is None else max(cosines))
        yield Scored(candidate, (by_rank or 0.0) + (match or 0.0), reasons)


def lift(scored: Sequence[Scored], formula: Formula) -> list[Scored]:
    """Raise the neighbours of a good candidate in the same conversation: by 0.2 x the better
    neighbour's score, and by 0.15 x the score of a question right before it.

    Turns are often worded for each other: the question has the words, the answer the facts. Two
    memories are neighbours if they are of the same day and the source context of one quotes the
    beginning of the other.
    """
    leading = sorted(scored, key=lambda one: -one.score)[:COMPARED]
    base = {one.candidate.id: one.score for one in leading}
    before = dict(_adjacent([one.candidate for one in leading]))
    after = {earlier.id: later_id for later_id, earlier in before.items()}
    lifted = []
    for one in scored:
        id = one.candidate.id
        previous = before.get(id)
        gain = max(base[previous.id] if previous else 0.0, base.get(after.get(id, ""), 0.0))
        if gain > 0:
            beside, answers = formula.neighbours * gain, None
            if previous and _asks(previous) and one.candidate.speaker not in ROLES:
                answers = formula.answers * base[previous.id]
            reasons = one.reasons._replace(neighbours=beside, answers=answers)
            one = Scored(one.candidate, one.score + beside + (answers or 0.0), reasons)
        lifted.append(one)
    return lifted


def _adjacent(candidates: Sequence[Candidate]) -> Iterator[tuple[str, Candidate]]:
    """Yield (id, the turn right before it) for candidates whose source context quotes that turn."""
    days: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda one: one.id):
        days.setdefault(candidate.said_at[:10], []).append(candidate)
    for day in days.values():
        if len(day) > 1 and any(one.source_context for one in day):
            yield from _in_order(day)


def _in_order(day: Sequence[Candidate]) -> Iterator[tuple[str, Candidate]]:
    """Pair each candidate, oldest first, with the latest turn that it quotes and that no other
    follows."""
    beginnings = [_beginning(candidate.content) for candidate in day]
    for at, candidate in enumerate(day):
        if at == 0 or candidate.source_context is None:
            continue
        context = f" {_plain(candidate.source_context)} "
        for earlier in range(at - 1, -1, -1):
            if beginnings[earlier] in context:
                beginnings[earlier] = NEVER
                yield candidate.id, day[earlier]
                break


def _beginning(content: str) -> str:
    """Return the beginning as it appears in a context: from the start of a word, and, if the
    content is quoted whole, to the end of one."""
    return f" {_plain(content[:QUOTED])}" + (" " if len(content) <= QUOTED else "")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _asks(candidate: Candidate) -> bool:
    return candidate.content.rstrip().endswith("?")
