"""Stage 6: add standing instructions ("always show the unit") that apply to the question.

They are recognised by what they are (llm/vectors.py), not by the wording of the question. The few
that are nearest to the question are added.
"""

import math
from collections.abc import Mapping, Sequence

from kinmem.language import Weight
from kinmem.llm.base import Embedder
from kinmem.models import Aside, Candidate, Found, Scored, Vector
from kinmem.recall.fuse import meaning as nearness
from kinmem.recall.profiles import Formula, Profile

# How far the question's vector is moved towards the orders to find those near it.
TOWARDS = 0.8
# Memories that are examined.
POOL = 30
# Most instructions that one question adds.
MOST = 5
# Degree from which a memory counts as an order though kinmem has not classified it as a preference,
# which it does with 28 of 30 instructions. A lower one takes plain facts for orders: from 0.3 on,
# 26 % of 200 English ones (tests/corpora/told.jsonl), 40 % of 90 German and 55 % of 73 Portuguese
# ones (training/places); from 0.8 on, 3 %, 9 % and 1 %.
SURELY = 0.8
# Degree from which an order counts fully: nearness to the question says more than the degree.
WHOLLY = 0.4
# Degree that a preference has at least, if it has any.
PREFERRED = 0.3
# Speakers whose orders count. What people tell each other to do in a conversation is no
# instruction.
BY_USER = (None, "user")
# Nearness of an order that is not near at all: some apply whatever is asked.
LEAST = 0.05


def looked_for(vector: Vector, embedder: Embedder, profile: Profile) -> Aside | None:
    """Return the search for memories that may be orders and lie from the question in their
    direction.

    None if the profile does not count orders or the embedder was not measured: then instructions
    are recognised by their words alone.
    """
    axis = embedder.calibration.orders
    if axis is None or profile.weighing != "bounded" or profile.formula.standing_wish == 0:
        return None
    return Aside(axis.towards(vector, TOWARDS), POOL, axis.degree)


def instructed(scored: Sequence[Scored], found: Found, formula: Formula) -> list[Scored]:
    """Add `+standing wish` to the instruction, recognised by its words, that the question is most
    about. The bonus fades below formula.gate as other bonuses do."""
    known = {one.candidate.id: one for one in scored}
    for candidate in ranked(found, formula):
        one = known.get(candidate.id)
        if one is not None and Weight(candidate.content).is_standing(candidate.speaker):
            gate = min(1.0, max(0.0, one.score / formula.gate)) if formula.gate else 1.0
            gain = formula.standing_wish * gate
            reasons = one.reasons._replace(standing_wish=gain)
            known[candidate.id] = Scored(candidate, one.score + gain, reasons)
            break
    return list(known.values())


def ranked(found: Found, formula: Formula) -> list[Candidate]:
    """Return the instructions, those that the question is most about first."""
    worth: dict[str, float] = {}
    orders: list[Candidate] = []
    for candidate in found.candidates:
        degree = _degree(candidate, found.degrees)
        if degree > 0:
            near = max(nearness(found.cosines.get(candidate.id, [0.0]), formula), LEAST)
            worth[candidate.id] = near * math.sqrt(min(1.0, degree / WHOLLY))
            orders.append(candidate)
    return sorted(orders, key=lambda one: -worth[one.id])


def _degree(candidate: Candidate, degrees: Mapping[str, float]) -> float:
    """Return the degree to which it is an order, by its words, its category and its vector; 0 if it
    is likelier to be a statement."""
    if Weight(candidate.content).is_standing(candidate.speaker):
        return 1.0
    degree = degrees.get(candidate.id, 0.0) if candidate.speaker in BY_USER else 0.0
    if degree and candidate.category == "preference":
        return max(degree, PREFERRED)
    return degree if degree >= SURELY else 0.0
