"""Stage 3: what was found by meaning and by words becomes one list, scored by relevance alone."""

import math

from kinmem.models import Found, Scored, Why
from kinmem.recall.profiles import Fusion
from kinmem.settings import RecallSettings

# Weight of the words beside the cosine: the best of a grid on LoCoMo and BEAM together.
WORDS_SHARE = 0.3
# A long text has more tries at being near: its first part, which says what it is about, counts
# most, and every further part costs (BEAM: best part alone -0.8 points, no cost -0.5).
FIRST_SHARE = 0.7
COST_PER_LN_PARTS = 0.03


def fuse(found: Found, fusion: Fusion, settings: RecallSettings) -> list[Scored]:
    """One entry per candidate that words or meaning speak for, in no order.

    score: cosine + 0.3 x BM25 / the best BM25. rrf: the sum over both lists of
    boost / (k + rank + 1), rank from 0. Meaning speaks for a candidate above the noise level.
    """
    relevance = _by_score if fusion == "score" else _by_rank
    whys = relevance(found, settings)
    return [
        Scored(
            candidate,
            sum(v for name, v in whys[candidate.id].items() if name[0] == "+"),
            whys[candidate.id],
        )
        for candidate in found.candidates
        if whys.get(candidate.id)
    ]


def meaning(cosines: list[float]) -> float:
    """How near a memory of these parts is to the question: at most the best part's cosine."""
    first, best = cosines[0], max(cosines)
    return (
        FIRST_SHARE * first + (1 - FIRST_SHARE) * best - COST_PER_LN_PARTS * math.log(len(cosines))
    )


def _by_score(found: Found, settings: RecallSettings) -> dict[str, Why]:
    best = max(found.matches.values(), default=0.0)
    whys = {}
    for candidate in found.candidates:
        cosines = found.cosines.get(candidate.id, [0.0])
        match = found.matches.get(candidate.id)
        if match is None and max(cosines) <= found.noise:
            continue
        why: Why = {"+meaning": max(meaning(cosines), 0.0)}
        if match is not None and best > 0:
            why["+words"] = WORDS_SHARE * match / best
        whys[candidate.id] = why
    return whys


def _by_rank(found: Found, settings: RecallSettings) -> dict[str, Why]:
    whys: dict[str, Why] = {}
    near = [id for id in found.nearest if max(found.cosines.get(id, [0.0])) > found.noise]
    for rank, id in enumerate(near):
        whys.setdefault(id, {})["+meaning"] = 1 / (settings.rrf_k + rank + 1)
    for rank, id in enumerate(found.matches):
        whys.setdefault(id, {})["+words"] = settings.fts_boost / (settings.rrf_k + rank + 1)
    for id, why in whys.items():
        if id in found.cosines:
            why["cosine"] = max(found.cosines[id])
    return whys
