"""How likely a statement has changed what a stored one says: a logistic regression over what the
judge reads.

The judge sees two sentences, and takes the manner of the new one ("since last night we have ...")
for a change of whatever is near. What else was said tells more: whether the whole message, or one
of its clauses, changes the stored statement too, and whether another statement is nearer.
scripts/train_changes.py fits the weights. Statements that a caller gives are worded to stand alone:
of those its reading, and what is nearer, tell more than this regression.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from operator import mul
from pathlib import Path
from typing import NamedTuple

from kinmem.language import Pair
from kinmem.learn.occasion import share_of_words
from kinmem.llm.base import Relation
from kinmem.llm.relating import LONGEST, UNCHANGED, Change, Relating, chance_of, log_odds

WEIGHTS = Path(__file__).with_name("changes.json")
CLAUSE = re.compile(r"(?<=[.!?;,])\s+|(?<=[。！？；，])")
# By how much the log odds fall, where no message is known, for each 1 by which the cosine is behind
# that of the nearest: what changes one memory is nearest to that one.
FURTHER = 20.0
# Characters. A shorter clause says too little to change anything.
SHORTEST_CLAUSE = 16
# The clauses are read only if the statement or its message changes or excludes the stored one with
# this chance. Of 4,600 pairs none that was read no further would have been asked about.
READ_ON = 0.05


class Near(NamedTuple):
    """A stored statement beside a new one. Cosines are on the scale of Calibration.scaled."""

    earlier: str
    later: str
    """The text of the new one, or of the stored one if that began later."""
    cosine: float
    of_message: float
    """The cosine to the message that the new one is from."""
    relation: Relation
    """How the later of the two relates to the earlier, by the judge."""


class Signs(NamedTuple):
    """What speaks for a change, and against it. Chances are log odds."""

    replaces: float
    """That the statement replaces the stored one."""
    unrelated: float
    message_replaces: float
    message_adds: float
    clause_replaces: float
    """Of the clause of the message that replaces it most likely."""
    clause_contradicts: float
    clause_unrelated: float
    """Of the clause that is nearest to it."""
    cosine: float
    of_message: float
    further: float
    """By how much it is further from the statement than the nearest stored one."""
    leads: float
    """1 if no other stored statement is replaced more likely, else 0."""
    words: float
    """The share of words that both have in common, as a cosine."""
    shares_words: float
    """See Pair.shares_words; 1 or 0."""
    is_all: float
    """1 if the message says nothing else, else 0."""


def changes(near: Sequence[Near], message: str | None, relating: Relating) -> list[Change | None]:
    """Return how likely the later of each two has changed the earlier; None if the judge could not
    read the message. `message` is what the new statement was said in; None if a caller gave it."""
    if message is None or _stands_alone(near, message):
        return _of_given(near, relating)
    weights, bias = _weights()
    return [
        signs and Change(chance_of(bias + sum(map(mul, weights, signs))), is_of_talk=True)
        for signs in signs_of(near, message, relating)
    ]


def _stands_alone(near: Sequence[Near], message: str) -> bool:
    """Return whether neither another stored statement nor the message could tell more: of 77
    changes told so 49 are noticed and 7 of 65 additions doubted, by the regression 39 and 19."""
    return len(near) == 1 and near[0].later == message


def _of_given(near: Sequence[Near], relating: Relating) -> list[Change | None]:
    """What states nothing is not changed: "That pic is gorgeous!" of a chat that was memorized."""
    nearest = max((one.cosine for one in near), default=0.0)
    found: list[Change | None] = []
    for one in near:
        odds = log_odds(one.relation.replaces) - FURTHER * (nearest - one.cosine)
        change = Change(chance_of(odds), is_of_talk=False)
        states = not change.is_likely or relating.states(one.earlier)
        found.append(change if states else UNCHANGED)
    return found


def signs_of(near: Sequence[Near], message: str, relating: Relating) -> list[Signs | None]:
    """Return what the judge and the form of the texts say of each two; None where it could not
    read the message."""
    of_message = relating([(one.earlier, message) for one in near])
    nearest = max((one.cosine for one in near), default=0.0)
    return [
        relation and _signs(one, near, relation, nearest, message, relating)
        for one, relation in zip(near, of_message, strict=True)
    ]


def excerpt(message: str, content: str) -> str:
    """Return as much of the message as the judge reads, with this part of it in the middle."""
    start = message.find(content) - max(0, LONGEST - len(content)) // 2
    start = max(0, min(start, len(message) - LONGEST))
    return message[start : start + LONGEST]


def _signs(
    one: Near,
    near: Sequence[Near],
    of_message: Relation,
    nearest: float,
    message: str,
    relating: Relating,
) -> Signs:
    relation = one.relation
    clauses = _clauses(one, of_message, message, relating) or [of_message]
    others = [other.relation.replaces for other in near if other is not one]
    return Signs(
        replaces=log_odds(relation.replaces),
        unrelated=log_odds(relation.unrelated),
        message_replaces=log_odds(of_message.replaces),
        message_adds=log_odds(of_message.adds),
        clause_replaces=log_odds(max(clause.replaces for clause in clauses)),
        clause_contradicts=log_odds(max(clause.contradicts for clause in clauses)),
        clause_unrelated=log_odds(min(clause.unrelated for clause in clauses)),
        cosine=one.cosine,
        of_message=one.of_message,
        further=nearest - one.cosine,
        leads=float(relation.replaces > max(others, default=0.0)),
        words=share_of_words(one.earlier, one.later),
        shares_words=float(Pair(one.earlier, one.later).shares_words),
        is_all=float(message == one.later),
    )


def _clauses(one: Near, of_message: Relation, message: str, relating: Relating) -> list[Relation]:
    """Return how each clause of the message relates to the stored statement, if that is in
    doubt."""
    likely = max(one.relation.replaces, one.relation.contradicts, of_message.replaces)
    if likely < READ_ON:
        return []
    clauses = [clause for clause in CLAUSE.split(message) if len(clause) >= SHORTEST_CLAUSE]
    read = relating([(one.earlier, clause) for clause in clauses])
    return [relation for relation in read if relation is not None]


@cache
def _weights() -> tuple[Signs, float]:
    """Return the weight of each sign, and the log odds without any."""
    known = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return Signs(**known["weights"]), float(known["bias"])
