"""Stage 3: what was found by meaning and by words becomes one list, scored by relevance alone."""

import math
from collections.abc import Iterator

from kinmem.models import Found, Scored, Why
from kinmem.recall.formula import Formula
from kinmem.recall.profiles import Fusion
from kinmem.settings import RecallSettings

NOWHERE = [0.0]
DEFAULT = Formula()


def fuse(
    found: Found, fusion: Fusion, settings: RecallSettings, formula: Formula = DEFAULT
) -> list[Scored]:
    """One entry per candidate that words or meaning speak for, in no order.

    score: cosine + 0.3 x BM25 / the best BM25. rrf: the sum over both lists of
    boost / (k + rank + 1), rank from 0. Meaning speaks for a candidate above noise and threshold.
    """
    return list(_by_score(found, formula) if fusion == "score" else _by_rank(found, settings))


def meaning(cosines: list[float], formula: Formula = DEFAULT) -> float:
    """How near a memory of these parts is to the question: at most the best part's cosine."""
    if len(cosines) == 1:
        return cosines[0]
    first = formula.first_part
    whole = first * cosines[0] + (1 - first) * max(cosines)
    return whole - formula.per_ln_parts * math.log(len(cosines))


def _by_score(found: Found, formula: Formula) -> Iterator[Scored]:
    best = max(found.matches.values(), default=0.0)
    for candidate in found.candidates:
        tries = math.log(candidate.part.of) if candidate.part else 0.0
        cosines = found.cosines.get(candidate.id, NOWHERE)
        match = found.matches.get(candidate.id)
        if match is None and max(cosines) <= max(found.noise, found.threshold):
            continue
        score = max(meaning(cosines, formula) - formula.per_ln_parts * tries, 0.0)
        why: Why = {"+meaning": score}
        if match is not None and best > 0:
            why["+words"] = formula.words * match / best
            score += why["+words"]
        yield Scored(candidate, score, why)


def _by_rank(found: Found, settings: RecallSettings) -> Iterator[Scored]:
    least = max(found.noise, found.threshold)
    near = [id for id in found.nearest if max(found.cosines.get(id, NOWHERE)) > least]
    by_meaning = {id: 1 / (settings.rrf_k + rank + 1) for rank, id in enumerate(near)}
    by_words = {
        id: settings.fts_boost / (settings.rrf_k + rank + 1)
        for rank, id in enumerate(found.matches)
    }
    for candidate in found.candidates:
        parts = {"+meaning": by_meaning.get(candidate.id), "+words": by_words.get(candidate.id)}
        why: Why = {name: value for name, value in parts.items() if value is not None}
        if why:
            score = sum(why.values())
            if candidate.id in found.cosines:
                why["cosine"] = max(found.cosines[candidate.id])
            yield Scored(candidate, score, why)
