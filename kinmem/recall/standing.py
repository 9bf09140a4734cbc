"""Stage 4c: standing instructions ("always show the unit") that the question falls under.

They are found by what they are, not by how the question is worded: orders lie on one side of a
model's space and statements on the other, whatever they are about and, for a model that reads many
languages, whatever the language. Of the orders those nearest to the question come in, a few.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Embedder
from kinmem.llm.deadline import Deadline
from kinmem.models import ROLES, Candidate, Filters, Found, Scored, Vector
from kinmem.recall.formula import Formula
from kinmem.recall.fuse import meaning
from kinmem.rules.evidence import is_standing
from kinmem.store.base import Store

ORDERS = (
    "Always reply in Spanish.",
    "Never use bullet points when you answer me.",
    "When I ask about music, include the year of release.",
    "If I mention my car, remind me of the insurance.",
    "Use metric units.",
    "Keep your answers under a hundred words.",
    "For hotel suggestions, only list ones with parking.",
    "Don't show me recipes with pork.",
    "Whenever you write an email for me, keep it formal.",
    "Give examples in Python.",
    "Explain things as if I were a beginner.",
    "Please cite a source for every claim.",
    "Ask before you change any file.",
    "Suggest only places that are open on Sundays.",
    "Before you run a command, tell me what it does.",
    "Round amounts to whole dollars.",
    "Answer in one sentence.",
    "Write code without comments.",
    "No emojis.",
    "Only suggest films that suit children.",
    "Tell me the time in both zones when we plan a call.",
    "Convert miles into kilometres.",
    "Don't forget to mention allergens in recipes.",
    "For anything about my health, remind me to see a doctor.",
    "Call me Captain.",
    "Translate quotations.",
    "Offer a cheaper alternative with every purchase.",
    "Leave out adjectives in my drafts.",
    "Check the spelling before you send something.",
    "Give me the pros and cons when I have to decide.",
    "Mention opening hours with restaurants.",
    "Be honest when my ideas are bad.",
)
STATEMENTS = (
    "I speak Spanish at home.",
    "My list of bullet points was too long.",
    "The concert hall was built in 1962.",
    "My car is a blue Volvo.",
    "The tank holds forty litres.",
    "My answer was a hundred words long.",
    "We stayed in a hotel with parking.",
    "My brother doesn't eat pork.",
    "I wrote a formal email to the bank.",
    "The scripts are written in Python.",
    "I am a beginner at chess.",
    "The article had no source for its claim.",
    "The file was changed on Tuesday.",
    "The bakery is open on Sundays.",
    "The command failed on the server.",
    "The bill was rounded to whole dollars.",
    "I bake bread every weekend.",
    "I take the bus to school.",
    "Swimming is my favourite sport.",
    "I tell my sister about my day.",
    "We grow roses behind the house.",
    "My grandmother lives in Turin.",
    "I get headaches from red wine.",
    "My idea for the holidays is a cycling tour.",
    "Thursday is the day for the laundry.",
    "The office has a new coffee machine.",
    "I was on a boat last summer.",
    "The children need new shoes.",
    "I want to learn the guitar.",
    "My plan is to sell the house.",
    "I spend my evenings with old films.",
    "The recipe is from my aunt.",
)
"""The first half on the subjects of the orders, so that the two differ in nothing else."""
TOWARDS = 0.8
"""How far a question is moved towards the orders to look for those near it."""
POOL = 30
"""Memories that are looked at."""
MOST = 5
"""Instructions that gain by one question."""
SURELY = 0.5
"""Degree from which something is an order though nothing else speaks for it."""
LEAST = 0.05
"""Nearness of what is not near at all: some orders hold whatever is asked."""


@dataclass(frozen=True)
class Axis:
    """What tells an embedder's orders from its statements."""

    direction: Vector
    low: float
    """Along it, where three of four statements lie below."""
    high: float
    """Along it, where half of the orders lie above."""

    def degree(self, vector: Vector) -> float:
        """How much of an order it is, 0 to 1."""
        share = (float(vector @ self.direction) - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))


class Standing:
    """Finds instructions; what an embedder makes of the examples is measured once."""

    def __init__(self) -> None:
        self._axes: dict[str, Axis] = {}

    def near(
        self,
        question: Vector,
        store: Store,
        embedder: Embedder,
        filters: Filters,
        time: Deadline,
    ) -> dict[str, float]:
        """By id how much of an order each of the memories is that lie towards them.

        None for an embedder whose scale is unknown: then the words alone tell an instruction.
        """
        axis = self._axis(embedder, time)
        if axis is None:
            return {}
        moved = question + TOWARDS * axis.direction
        moved = (moved / np.linalg.norm(moved)).astype(np.float32)
        ids = [id for id, _ in store.nearest(moved, embedder.name, POOL, filters)]
        vectors = store.first_vectors(embedder.name, ids)
        degrees = {id: axis.degree(vector) for id, vector in vectors.items()}
        return {id: degree for id, degree in degrees.items() if degree > 0}

    def _axis(self, embedder: Embedder, time: Deadline) -> Axis | None:
        if embedder.name not in self._axes:
            if not embedder.calibration.measured:
                return None
            try:
                made = embedder.embed([*ORDERS, *STATEMENTS], deadline=time.left)
            except ModelError:
                return None
            orders, statements = made[: len(ORDERS)], made[len(ORDERS) :]
            direction = orders.mean(axis=0) - statements.mean(axis=0)
            direction /= np.linalg.norm(direction)
            low = float(np.quantile(statements @ direction, 0.75))
            high = float(np.median(orders @ direction))
            self._axes[embedder.name] = Axis(direction, low, high)
        return self._axes[embedder.name]


def instructed(
    scored: Sequence[Scored], found: Found, degrees: Mapping[str, float], formula: Formula
) -> list[Scored]:
    """Add `+standing wish` to the instructions that the question is most about, MOST of them: the
    bonus times how much of an order they are, fading below formula.gate as other bonuses do."""
    known = {one.candidate.id: one for one in scored}
    for candidate, degree in ranked(found, degrees, formula)[:MOST]:
        one = known.get(candidate.id)
        if one is not None:
            gate = min(1.0, max(0.0, one.score / formula.gate)) if formula.gate else 1.0
            gain = formula.standing_wish * degree * gate
            why = {**one.why, "+standing wish": gain}
            known[candidate.id] = Scored(candidate, one.score + gain, why)
    return list(known.values())


def ranked(
    found: Found, degrees: Mapping[str, float], formula: Formula
) -> list[tuple[Candidate, float]]:
    """Instructions with how much of an order each is, those first that the question is about."""
    near: dict[str, float] = {}
    orders: list[tuple[Candidate, float]] = []
    for candidate in found.candidates:
        known = is_standing(candidate.content, candidate.speaker)
        degree = 1.0 if known else degrees.get(candidate.id, 0.0)
        if degree > 0 and candidate.speaker not in ROLES - {"user"}:
            cosines = found.cosines.get(candidate.id, [0.0])
            near[candidate.id] = max(meaning(cosines, formula), LEAST)
            orders.append((candidate, degree))
    return sorted(orders, key=lambda one: -one[1] * near[one[0].id])
