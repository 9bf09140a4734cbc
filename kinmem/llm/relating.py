"""What follows from the judge's verdict on two statements, and how sure it must be of it.

Only what the form of two texts makes certain (rules/change/clash.py) is ended, and only where the
judge agrees; what it finds besides is asked about. What the vetoes forbid is never ended.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, log
from types import MappingProxyType
from typing import NamedTuple

from kinmem.errors import ModelError
from kinmem.llm.base import Judge, Relation
from kinmem.rules.change.clash import Clash, differ_in_one
from kinmem.rules.change.restating import restated
from kinmem.rules.change.vetoes import FOR_A_TIME, OF_THINGS, veto
from kinmem.rules.same.similarity import are_apart, says_more
from kinmem.text import content_words

logger = logging.getLogger(__name__)

AGREES = 0.5
"""Chance that both are about one thing (the same, replaced or contradicted) from which on what
their form makes certain ends the older one. The judge alone ends nothing, however sure it is: at
.95 it ended two of 500 look-alikes that were kept back, but one of six that only say "now". With
both, of 1,780 pairs that may both be so (pairs-2,
cards-2, lookalikes, same; now_and_then and updates of benchmarks/own) 4 ended; rules alone had
ended 23."""
ALIGNED = 0.25
"""Chance of a change from which on both stay and a person is asked, of texts built alike but for
one place: "launch date: 1 September" is no event, and the judge is less sure of it."""
ASKS, EXCLUDES = 0.35, 0.7
"""Chances of `replaces` and of `contradicts` from which on a person is asked about any texts. Of
1,500 relations of the validation batches the first is reached by 79 % of changes and 2.3 % of what
else may be so; at .4 by 76 and 1.9 %, at .5 by 66 and 1.4 %."""
SURE = 0.8
"""The first of them where another number tells of two things, or it is for a time only."""
SAME = 0.88
"""Chance from which on it is a duplicate, see Relating.same: of 1,184 relations of the validation
batches that are not the same two or three are taken for it, .2 %, and 64 % of 316 that are. The
lower of both chances found 55 % at .5 %; a regression with the cosine, the shares of other words
and the other labels .02 more at most."""
SHORT, SAME_OF_SHORT = 4, 0.97
"""Content words below which one other word makes another thing of it, and what it then takes: "I
live in Ulm" and "My office is in Ulm" are the same to the judge with .93. Below, a review lists
them."""
PERHAPS_SAME = 0.3
"""Of the new one beside the stored one; below, the other direction is not asked."""
LEAST_CHANCE = 1e-4
ALIKE = 0.6
"""The same, of what a review lists: 79 % of those that are, 1.4 % of those that are not."""
LEAST, EXCLUDED = 0.3, 0.05
"""A "now" alone does not make a change: without it the statement must exclude the older one still,
with so much chance. The server runs Debian, the server is in Frankfurt. At .1 there are 2 points
fewer changes found, and .3 fewer that are none."""
DISSENT = 0.15
"""Chance of any change below which what the form alone would ask about is not asked."""
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
        chance = 1 / (1 + exp(-(_log_odds(there.same) + _log_odds(back.same)) / 2))
        is_short = min(len(content_words(known)), len(content_words(new))) < SHORT
        return min(chance, ALIKE) if is_short and chance < SAME_OF_SHORT else chance

    def _of(self, earlier: str, later: str, judge: Judge) -> Relation | None:
        if max(len(earlier), len(later)) > LONGEST:
            return None
        relation = judge.relations([earlier], later, deadline=PATIENCE)[0]
        said = restated(later)
        if relation.replaces < LEAST or not said.corrects or said.ends or said.text == later:
            return relation
        bare = judge.relations([earlier], said.text, deadline=PATIENCE)[0]
        if bare.replaces + bare.contradicts >= EXCLUDED:
            return relation
        return relation._replace(replaces=0.0, adds=relation.adds + relation.replaces)


def _log_odds(chance: float) -> float:
    bounded = min(max(chance, LEAST_CHANCE), 1 - LEAST_CHANCE)
    return log(bounded / (1 - bounded))


def weighed(
    found: Clash | None, relation: Relation | None, earlier: str, later: str
) -> Clash | None:
    """How the later statement excludes the earlier one, by what is exact and by the judge together.

    What the texts' form makes certain ends the earlier one where the judge takes both to be about
    one thing; where it sees no change at all, nothing is asked, unless one denies the other.
    """
    if relation is None:
        return found
    change = relation.replaces + relation.contradicts
    about_one = change + relation.same
    if found is not None and found.clear and about_one >= AGREES:
        return found
    if found is not None and (found.kind == "contradiction" or change >= DISSENT):
        return replace(found, clear=False)
    if change >= ALIGNED and differ_in_one(earlier, later) and veto(earlier, later) is None:
        return Clash(False, "update", f"judged to have another value ({change:.2f})")
    return _judged(relation, earlier, later)


def _judged(relation: Relation, earlier: str, later: str) -> Clash | None:
    replaces, contradicts = relation.replaces, relation.contradicts
    if replaces < ASKS and contradicts < EXCLUDES:
        return None
    if replaces < SURE and veto(earlier, later) in (OF_THINGS, FOR_A_TIME):
        return None
    if replaces >= ASKS:
        return Clash(False, "update", f"judged to have taken its place ({replaces:.2f})")
    return Clash(False, "contradiction", f"judged to exclude it ({contradicts:.2f})")
