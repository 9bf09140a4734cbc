"""Decides from the judge's verdict how a statement relates to earlier ones, and how sure it must
be.

A statement is ended only if the form of both texts makes that certain (language/change/clash.py)
and the judge agrees. Whatever else the judge finds, a person is asked about. What the vetoes forbid
is never ended.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import exp, log
from typing import Literal, NamedTuple

from kinmem.errors import ModelError
from kinmem.language import KEPT, Clash, Pair, claim
from kinmem.llm.base import Judge, Relation
from kinmem.models import Entity, EntityType
from kinmem.text import count_content_words, languages_of, words

logger = logging.getLogger(__name__)

# Chance that both are about the same thing (same, replaces or contradicts) from which a certain
# form ends the older statement. The judge alone ends nothing, however sure it is: at .95 it ended
# two of 500 look-alikes that were held out, but one of six that only say "now". Of 1,780 pairs that
# may both hold (pairs-2, cards-2, lookalikes, same; now_and_then and updates of benchmarks/own)
# both together ended 4; rules alone had ended 23.
AGREES = 0.5
# Chance of a change from which both stay and a person is asked, if the texts are built alike but
# for one place: "launch date: 1 September" is no event, and the judge is less sure of it.
ALIGNED = 0.25
# Chances of a change (learn/change_chance.py) from which a person is asked about any two texts:
# given ones and what was said in talk. Of 240 pairs that nobody had looked at the first notices
# 72 % of 120 changes told in passing, and 21 % of what only looks like one. Of 22 worlds and 4
# lives, each by what the others teach, the second notices 254 of 345 changes and asks 177 times
# wrongly.
ASKS, ASKS_OF_TALK = 0.35, 0.25
# Chance of `contradicts` from which a person is asked about given texts. In talk it is no sign: of
# ten pairs asked about for it alone none excluded each other.
EXCLUDES = 0.7
# The first of these if another number or name points to two things, or if the statement is
# temporary.
SURE = 0.8
# Chance from which it is a duplicate (see Relating.same). It is reached by .27 % of 1,500 pairs of
# the batches for validation that are not the same, and by 87 % of 250 that are; at .84 by as many
# and 84 %. What must agree exactly is compared besides.
SAME = 0.8
# In statements with fewer content words than SHORT a single changed word can change the meaning, so
# they count as duplicates only from SAME_OF_SHORT. Less likely pairs are listed in a review.
SHORT, SAME_OF_SHORT = 4, 0.95
# Chance that the new one is the same as the stored one below which the other direction is not
# asked.
PERHAPS_SAME = 0.3
LEAST_CHANCE = 1e-4
# Chance from which a review lists a pair: 79 % of those that are the same, 1.4 % of those that are
# not.
ALIKE = 0.6
# "Now" alone does not make a change. Without it, the statement must still exclude the older one
# with at least EXCLUDED: the server runs Debian; the server is in Frankfurt. At .1, 2 points fewer
# changes are found, and .3 fewer that are none.
LEAST, EXCLUDED = 0.3, 0.05
# Chance of a change below which nobody is asked about what the form alone suggests.
DISSENT = 0.15
# Chance of KEPT together from which a given text states something. Of 300 pairs by a writer who saw
# neither code nor data, a person was asked about 117 changes and 37 others. This bar drops 2 of the
# changes and 11 of the others; .3 drops none and 7, .5 drops 9 and 12.
STATES = 0.4
# Seconds for all pairs of one statement, loading included. After that nothing is ended.
PATIENCE = 5.0
# The type that products are given: Bosch and Slack are products and organizations, and a sentence
# need not say which.
MADE_BY: EntityType = "organization"
# Characters. The judge reads about this much of a pair, and a longer text says many things.
LONGEST = 400


class Change(NamedTuple):
    """How likely a statement has changed an earlier one: see learn/change_chance.py."""

    chance: float
    is_of_talk: bool
    """Whether it was said in a message that is known; else a caller gave it."""

    @property
    def is_likely(self) -> bool:
        """Whether a person is asked."""
        return self.chance >= (ASKS_OF_TALK if self.is_of_talk else ASKS)


UNCHANGED = Change(0.0, is_of_talk=False)


class Judged(NamedTuple):
    """The judge's verdicts on a new statement, by the ids of stored ones.

    A stored statement without an entry was not judged, or the judge gave no answer: it is not
    ended.
    """

    relations: Mapping[str, Relation]
    """How the later of the two relates to the earlier."""
    same: frozenset[str]
    """The statements that say what it says, no more and no less."""
    of_one_kind: Mapping[str, bool]
    """See Relating.of_one_kind; without an entry for those it cannot decide."""
    changed: Mapping[str, Change]
    """Whether each no longer holds; without an entry for those that were not judged."""


class Relating:
    """Asks the judge, if there is one, how statements relate."""

    def __init__(self, judge: Judge | None) -> None:
        self._judge = judge

    def __bool__(self) -> bool:
        return self._judge is not None

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None]:
        """Return the relation of each (earlier, later); None where there is no verdict."""
        if self._judge is None:
            return [None] * len(pairs)
        try:
            return [self._of(earlier, later, self._judge) for earlier, later in pairs]
        except ModelError as error:
            logger.warning("nothing is ended: %s", error)
            return [None] * len(pairs)

    def of(self, earlier: str, later: str) -> Relation | None:
        """Return the relation of one pair."""
        return self([(earlier, later)])[0]

    def same(self, known: str, new: str) -> float:
        """Return the chance that the new statement says no more and no less than the known one.

        It is 0 if the new one has an exact part that the known one lacks (language/same/exact.py),
        or names persons in another order: who reviews whose work? It is at most ALIKE in two
        languages, where the judge takes "je me couche à six heures" for "I get up at six", and
        without a word in common.
        """
        chance, named, pair = self.likeness(known, new), cache(self._named), Pair(known, new)
        if chance < PERHAPS_SAME or not pair.known_holds_all(lambda text: _must_stand(named(text))):
            return 0.0
        ours, theirs = _persons(named(known)), _persons(named(new))
        if [one for one in ours if one in theirs] != [one for one in theirs if one in ours]:
            return 0.0
        is_short = min(count_content_words(known), count_content_words(new)) < SHORT
        of_one_language = not languages_of(known).isdisjoint(languages_of(new))
        if (is_short and chance < SAME_OF_SHORT) or not (of_one_language and pair.shares_words):
            return min(chance, ALIKE)
        return chance

    def states(self, text: str) -> bool:
        """Return whether a text states something that can change, and is no mere reaction or
        question. True if the judge does not answer."""
        if self._judge is None:
            return True
        try:
            chances = self._judge.kinds(text[:LONGEST], deadline=PATIENCE)
        except ModelError as error:
            logger.warning("every text counts as a statement: %s", error)
            return True
        return sum(chances[kind] for kind in KEPT) >= STATES

    def likeness(self, one: str, other: str) -> float:
        """Return the judge's chance that both are the same: the mean of the log odds of both
        directions."""
        there, back = self([(one, other), (other, one)])
        if there is None or back is None:
            return 0.0
        return chance_of((log_odds(there.same) + log_odds(back.same)) / 2)

    def _named(self, text: str) -> Sequence[Entity] | None:
        """Return the names in a text; None if there is no judge or no answer."""
        if self._judge is None:
            return None
        try:
            return self._judge.names(text, deadline=PATIENCE)
        except ModelError as error:
            logger.warning("nobody tells what is named: %s", error)
            return None

    def of_one_kind(self, earlier: str, later: str) -> bool | None:
        """Return whether the names in which two statements differ are of one type: two places.

        None if they do not differ in names alone, or if the judge does not know the type of a name:
        Berlin is a place, but Marketing may be anything.
        """
        exchanged = Pair(earlier, later).names_exchanged
        if self._judge is None or exchanged is None:
            return None
        before, now = (
            _type_of(name, self._named(text) or ())
            for name, text in zip(exchanged, (earlier, later), strict=True)
        )
        return None if before is None or now is None else before == now

    def _of(self, earlier: str, later: str, judge: Judge) -> Relation | None:
        if max(len(earlier), len(later)) > LONGEST:
            return None
        relation = judge.relations([earlier], later, deadline=PATIENCE)[0]
        said = claim(later)
        if relation.replaces < LEAST or not said.corrects or said.ends or said.text == later:
            return relation
        bare = judge.relations([earlier], said.text, deadline=PATIENCE)[0]
        if bare.replaces + bare.contradicts >= EXCLUDED:
            return relation
        return relation._replace(replaces=0.0, adds=relation.adds + relation.replaces)


def _must_stand(named: Sequence[Entity] | None) -> Iterable[str] | None:
    """Return the names that must stand in both texts; None if names are not known."""
    return None if named is None else [one.name for one in named if one.type != "concept"]


def _persons(named: Sequence[Entity] | None) -> list[str]:
    """Return each person once, in the order of the text."""
    return list(dict.fromkeys(one.name for one in named or () if one.type == "person"))


def _type_of(name: Sequence[str], named: Sequence[Entity]) -> EntityType | None:
    known = (one for one in named if not {*name}.isdisjoint(words(one.name)))
    types = {MADE_BY if one.type == "product" else one.type for one in known}
    return types.pop() if len(types) == 1 and "other" not in types else None


def log_odds(chance: float) -> float:
    """Return the logarithm of the odds, of a chance that is not quite 0 or 1."""
    bounded = min(max(chance, LEAST_CHANCE), 1 - LEAST_CHANCE)
    return log(bounded / (1 - bounded))


def chance_of(log_odds: float) -> float:
    """Return the chance with these log odds."""
    return 1 / (1 + exp(-log_odds))


def weighed(
    found: Clash | None,
    relation: Relation | None,
    earlier: str,
    later: str,
    of_one_kind: bool | None,
    changed: Change,
) -> Clash | None:
    """Return how the later statement excludes the earlier one, from exact rules and the judge
    together. For `changed`, see Judged.

    What the form of the texts makes certain ends the earlier statement if the judge takes both to
    be about the same thing and, where names differ, knows the names to be `of_one_kind`. If the
    judge sees no change at all, nobody is asked, unless one denies the other. Without a verdict
    nothing is ended.
    """
    if relation is None:
        return found and replace(found, clear=False)
    if found is not None and found.names and of_one_kind is False:
        found = None
    change = relation.replaces + relation.contradicts
    about_one = change + relation.same
    if found is not None and found.clear and about_one >= AGREES:
        return replace(found, clear=not found.names or of_one_kind is True)
    if found is not None and (found.kind == "contradiction" or change >= DISSENT):
        return replace(found, clear=False)
    pair = Pair(earlier, later)
    is_aligned = of_one_kind is not False and pair.differ_in_one_place
    if is_aligned and change >= ALIGNED and pair.veto is None:
        return _found_by_judge("update", "to have another value", change)
    return _judged(relation, pair, of_one_kind, changed)


def _judged(
    relation: Relation, pair: Pair, of_one_kind: bool | None, changed: Change
) -> Clash | None:
    if changed.chance < SURE and (of_one_kind is False or pair.may_be_apart):
        return None
    if changed.is_likely:
        return _found_by_judge("update", "to have taken its place", changed.chance)
    may_both_hold = pair.both_happened or pair.stand_side_by_side or not pair.shares_words
    if changed.is_of_talk or may_both_hold or relation.contradicts < EXCLUDES:
        return None
    return _found_by_judge("contradiction", "to exclude it", relation.contradicts)


def _found_by_judge(kind: Literal["update", "contradiction"], what: str, chance: float) -> Clash:
    return Clash(False, kind, f"judged {what} ({chance:.2f})", chance=round(chance, 2))
