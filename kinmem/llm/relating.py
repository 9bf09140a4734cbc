"""What follows from the judge's verdict on two statements, and how sure it must be of it.

The vetoes (rules/change/vetoes.py) stand above it: what they forbid is never ended, whatever the
judge says, only asked about.
"""

import logging
from collections.abc import Mapping, Sequence
from math import exp, inf, log
from types import MappingProxyType
from typing import NamedTuple

from kinmem.errors import ModelError
from kinmem.llm.base import Judge, Relation
from kinmem.rules.change.clash import Clash
from kinmem.rules.change.restating import restated
from kinmem.rules.change.vetoes import veto
from kinmem.rules.same.similarity import are_apart, says_more

logger = logging.getLogger(__name__)

ENDS = inf
"""Chance of `replaces` from which on the older one ends: none is sure enough. At 0.94, of 1,562
pairs of the files that training had not seen 5 ended wrongly, and 2 of 330 look-alikes that were
kept back, but 35 of 168 that were written to be hard, in every language: told in the words of a
change, of something else. What the rules find ends as before."""
SURE = 0.94
"""From which on a person is asked although a veto stands: of 90 such pairs of those files all were
changes."""
ASKS, EXCLUDES = 0.8, 0.7
"""Chances of `replaces` and of `contradicts` from which on both stay and a person is asked: 1.9 to
4 % of those pairs."""
SAME = 0.85
"""Chance from which on it is a duplicate, see Relating.same: of 1,770 pairs that are not the same
(pairs-2, cards-2, tests/corpora/same.jsonl) five are taken for it, .3 %, and 69 % of 430 that are.
Judges of later steps of one training are surer of themselves: one needed 0.9 for .4 % and 64 %. The
lower of both chances found 55 % at .5 %; a regression with the cosine, the shares of other words
and the other labels .02 more at most."""
PERHAPS_SAME = 0.3
"""Of the new one beside the stored one; below, the other direction is not asked."""
LEAST_CHANCE = 1e-4
ALIKE = 0.6
"""The same, of what a review lists: 79 % of those that are, 1.4 % of those that are not."""
LEAST, EXCLUDED = 0.5, 0.5
"""A "now" alone does not make a change: without it the statement must exclude the older one still,
with so much chance. The server runs Debian, the server is in Frankfurt."""
DISSENT = 0.15
"""Chance of any change below which what the rules would ask about is not asked."""
PATIENCE = 5.0
"""Seconds for all pairs of one statement, loading included; rules then decide alone."""
LONGEST = 400
"""Characters; the judge reads about as many of a pair, and a longer text tells many things."""


class Judged(NamedTuple):
    """What the judge says of a new statement beside stored ones, by their ids."""

    relations: Mapping[str, Relation]
    """What the later of the two is to the earlier."""
    same: frozenset[str]
    """Those that say what it says, no more and no less."""


UNJUDGED = Judged(MappingProxyType({}), frozenset())


class Relating:
    """Asks the judge, where there is one, what a statement is to others."""

    def __init__(self, judge: Judge | None) -> None:
        self._judge = judge

    def __bool__(self) -> bool:
        return self._judge is not None

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None]:
        """For each (earlier, later); None where nobody can tell."""
        if self._judge is None:
            return [None] * len(pairs)
        try:
            return [self._of(earlier, later, self._judge) for earlier, later in pairs]
        except ModelError as error:
            logger.warning("rules decide alone: %s", error)
            return [None] * len(pairs)

    def of(self, earlier: str, later: str) -> Relation | None:
        """The same of one pair."""
        return self([(earlier, later)])[0]

    def same(self, known: str, new: str) -> float:
        """The chance that each says what the other does: the mean of both directions, as log odds.

        0 where an exact part differs, or one has the words of the other and more.
        """
        if self._judge is None or are_apart(known, new) or says_more(known, new):
            return 0.0
        there, back = self([(known, new), (new, known)])
        if there is None or back is None:
            return 0.0
        return 1 / (1 + exp(-(_log_odds(there.same) + _log_odds(back.same)) / 2))

    def _of(self, earlier: str, later: str, judge: Judge) -> Relation | None:
        if max(len(earlier), len(later)) > LONGEST:
            return None
        relation = judge.relations([earlier], later, deadline=PATIENCE)[0]
        said = restated(later)
        if relation.replaces < LEAST or not said.corrects or said.ends or said.text == later:
            return relation
        bare = judge.relations([earlier], said.text, deadline=PATIENCE)[0]
        excluded = min(1.0, (bare.replaces + bare.contradicts) / EXCLUDED)
        replaces = relation.replaces * excluded
        return relation._replace(
            replaces=replaces, adds=relation.adds + relation.replaces - replaces
        )


def _log_odds(chance: float) -> float:
    bounded = min(max(chance, LEAST_CHANCE), 1 - LEAST_CHANCE)
    return log(bounded / (1 - bounded))


def weighed(
    found: Clash | None, relation: Relation | None, earlier: str, later: str
) -> Clash | None:
    """How the later statement excludes the earlier one, by the judge and by rules together.

    What the rules are sure of stands; what they would ask about is dropped where the judge sees no
    change at all.
    """
    if relation is None:
        return found
    judged = _judged(relation, earlier, later)
    is_doubted = relation.replaces + relation.contradicts < DISSENT
    if found is not None and not found.clear and is_doubted:
        found = None
    if found is None or (judged is not None and judged.clear and not found.clear):
        return judged
    return found


def _judged(relation: Relation, earlier: str, later: str) -> Clash | None:
    replaces, contradicts = relation.replaces, relation.contradicts
    if max(replaces, contradicts) < min(ASKS, EXCLUDES):
        return None
    forbidden = veto(earlier, later)
    reason = f"judged to have taken its place ({replaces:.2f})"
    if forbidden is not None:
        return Clash(False, "update", f"{reason}, but {forbidden}") if replaces >= SURE else None
    if replaces >= ASKS:
        return Clash(replaces >= ENDS, "update", reason)
    if contradicts >= EXCLUDES:
        return Clash(False, "contradiction", f"judged to exclude it ({contradicts:.2f})")
    return None
