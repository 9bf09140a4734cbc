"""Stage 6: standing instructions ("always show the unit") that the question falls under.

They are found by what they are (llm/vectors.py), not by how the question is worded. Of them those
nearest to the question come in, a few.
"""

import math
from collections.abc import Mapping, Sequence

from kinmem.language import is_standing
from kinmem.llm.base import Embedder
from kinmem.models import Aside, Candidate, Found, Scored, Vector
from kinmem.recall.fuse import meaning as nearness
from kinmem.recall.profiles import Formula, Profile

TOWARDS = 0.8
"""How far a question is moved towards the orders to look for those near it."""
POOL = 30
"""Memories that are looked at."""
MOST = 5
"""Instructions that one question brings."""
SURELY = 0.3
"""Degree from which something is an order though nothing else speaks for it: of 120 statements six
are above, of 30 instructions 22, of the other eight five are preferences by kinmem's judgement."""
WHOLLY = 0.4
"""Degree from which it counts whole; how near the question is tells more than how much of an order
it is."""
BY_USER = (None, "user")
"""Who orders; what people tell each other to do in a conversation is no instruction."""
LEAST = 0.05
"""Nearness of what is not near at all: some orders hold whatever is asked."""


def looked_for(vector: Vector, embedder: Embedder, profile: Profile) -> Aside | None:
    """What may be an order and lies towards the orders from the question with this vector.

    None for a profile that does not count them, and for an embedder that nobody has measured: then
    the words alone tell an instruction.
    """
    axis = embedder.calibration.orders
    if axis is None or profile.weighing != "bounded" or profile.formula.standing_wish == 0:
        return None
    return Aside(axis.towards(vector, TOWARDS), POOL, axis.degree)


def instructed(scored: Sequence[Scored], found: Found, formula: Formula) -> list[Scored]:
    """Add `+standing wish` to the instruction by its words that the question is most about: the
    bonus, fading below formula.gate as other bonuses do."""
    known = {one.candidate.id: one for one in scored}
    for candidate, _ in ranked(found, formula):
        one = known.get(candidate.id)
        if one is not None and is_standing(candidate.content, candidate.speaker):
            gate = min(1.0, max(0.0, one.score / formula.gate)) if formula.gate else 1.0
            gain = formula.standing_wish * gate
            reasons = one.reasons._replace(standing_wish=gain)
            known[candidate.id] = Scored(candidate, one.score + gain, reasons)
            break
    return list(known.values())


def ranked(found: Found, formula: Formula) -> list[tuple[Candidate, float]]:
    """Instructions with how much of an order each is, those first that the question is about."""
    worth: dict[str, float] = {}
    orders: list[tuple[Candidate, float]] = []
    for candidate in found.candidates:
        degree = _degree(candidate, found.degrees)
        if degree > 0:
            near = max(nearness(found.cosines.get(candidate.id, [0.0]), formula), LEAST)
            worth[candidate.id] = near * math.sqrt(min(1.0, degree / WHOLLY))
            orders.append((candidate, degree))
    return sorted(orders, key=lambda one: -worth[one[0].id])


def _degree(candidate: Candidate, degrees: Mapping[str, float]) -> float:
    """How much of an order it is: by its words, its vector, and what it was taken for."""
    if is_standing(candidate.content, candidate.speaker):
        return 1.0
    degree = degrees.get(candidate.id, 0.0) if candidate.speaker in BY_USER else 0.0
    return max(degree, SURELY) if degree and candidate.category == "preference" else degree
