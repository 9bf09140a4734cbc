"""Stage 3b: what other wordings of the question find is added to what the question finds.

A wording is believed as far as it is near the question, and what it finds as far as the wording is,
or as far as the question itself speaks for it: what a model makes up moves little, and what it hits
on moves much.
Measured with wordings that are the answers, and with random ones: docs/recall.md.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from kinmem.models import Scored
from kinmem.recall.formula import Formula

DEFAULT = Formula()


def join(
    plain: Sequence[Scored],
    others: Sequence[tuple[float, Sequence[Scored]]],
    formula: Formula = DEFAULT,
) -> list[Scored]:
    """One entry per candidate, in no order: `+expansion` is the most that one wording adds, 0.7 of
    its score times the trust in it.

    `others`: for each wording how near it is to the question (0 to 1), and what it found, scored
    like `plain`. The trust is that, times that again or the root of the candidate's share of the
    best plain score, whichever is more.
    """
    best = max((one.score for one in plain if one.score > 0), default=1.0)
    support = {one.candidate.id: math.sqrt(max(one.score, 0.0) / best) for one in plain}
    added: dict[str, tuple[float, Scored]] = {}
    for nearness, found in others:
        for one in found:
            id = one.candidate.id
            trust = nearness * max(nearness, support.get(id, 0.0))
            gain = formula.expansion * trust * one.score
            if gain > added.get(id, (0.0, one))[0]:
                added[id] = gain, one
    joined = {one.candidate.id: one for one in plain}
    for id, (gain, one) in added.items():
        known = joined.get(id) or Scored(one.candidate, 0.0, {})
        joined[id] = replace(known, score=known.score + gain, why={**known.why, "+expansion": gain})
    return list(joined.values())
