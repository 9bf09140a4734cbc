"""What follows from the judge's verdict on two statements, and how sure it must be of it.

Only what the form of two texts makes certain (language/change/clash.py) is ended, and only where
the judge agrees; what it finds besides is asked about. What the vetoes forbid is never ended.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import exp, log
from typing import NamedTuple

from kinmem.errors import ModelError
from kinmem.language import Clash, Pair, claim, stem
from kinmem.llm.base import Judge, Relation
from kinmem.models import Entity, EntityType
from kinmem.text import UNSPACED, content_words, words

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
ASKS, EXCLUDES = 0.5, 0.7
"""Chances of `replaces` and of `contradicts` from which on a person is asked about any texts. Of
600 pairs (pairs-2) the first is reached by 88 % of the changes and 8 % of what may be so as well,
of 900 written to be mistaken (groups-en-3, groups-mixed) by 72 and 7 %; at .35 by 93 and 11, by 78
and 10 %."""
SURE = 0.8
"""The first of them where another number or name tells of two things, or it is for a time only."""
SAME = 0.82
"""Chance from which on it is a duplicate, see Relating.same: of 1,817 pairs that are not the same
(pairs-2, groups-en-3, groups-mixed, near-pt, tests/corpora and 140 by another writer) .3 % reach
it, of 1,475 that are 71 %; at .9 .2 and 65 %."""
SHORT, SAME_OF_SHORT = 4, 0.95
"""In statements of fewer content words one changed word can change the meaning, so they count as
duplicates only from the second on; less likely pairs are listed in a review."""
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
"""Seconds for all pairs of one statement, loading included; then nothing is ended."""
MADE_BY: EntityType = "organization"
"""What a product counts as: Bosch and Slack name both, and a sentence need not tell which."""
LONGEST = 400
"""Characters; the judge reads about as many of a pair, and a longer text tells many things."""


class Judged(NamedTuple):
    """What the judge says of a new statement beside stored ones, by their ids. Of those that are
    not among them it was not asked, or had no answer: nothing ends there."""

    relations: Mapping[str, Relation]
    """What the later of the two is to the earlier."""
    same: frozenset[str]
    """Those that say what it says, no more and no less."""
    of_one_kind: Mapping[str, bool]
    """See Relating.of_one_kind; those of which it says nothing are left out."""


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
            logger.warning("nothing is ended: %s", error)
            return [None] * len(pairs)

    def of(self, earlier: str, later: str) -> Relation | None:
        """The same of one pair."""
        return self([(earlier, later)])[0]

    def same(self, known: str, new: str) -> float:
        """The chance that the new one says no more and no less than the known one does; 0 where it
        has an exact part that the known one has not (language/same/exact.py), or names persons in
        another order: who reviews whose work?"""
        chance, named = self.likeness(known, new), cache(self._named)
        if chance < PERHAPS_SAME or not Pair(known, new).known_holds_all(
            lambda text: _must_stand(named(text))
        ):
            return 0.0
        ours, theirs = _persons(named(known)), _persons(named(new))
        if [one for one in ours if one in theirs] != [one for one in theirs if one in ours]:
            return 0.0
        is_short = min(_said(known), _said(new)) < SHORT
        return min(chance, ALIKE) if is_short and chance < SAME_OF_SHORT else chance

    def likeness(self, one: str, other: str) -> float:
        """That chance in the judge's word alone: the mean of both directions, as log odds."""
        there, back = self([(one, other), (other, one)])
        if there is None or back is None:
            return 0.0
        return 1 / (1 + exp(-(_log_odds(there.same) + _log_odds(back.same)) / 2))

    def _named(self, text: str) -> Sequence[Entity] | None:
        """None where nobody knows."""
        if self._judge is None:
            return None
        try:
            return self._judge.names(text, deadline=PATIENCE)
        except ModelError as error:
            logger.warning("nobody tells what is named: %s", error)
            return None

    def of_one_kind(self, earlier: str, later: str) -> bool | None:
        """Whether the names by which two statements differ name things of one type: two places.

        None where they do not differ in names alone, or the judge does not know what one of them
        is: Berlin is a place, and Marketing may be anything.
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
    """The names that must stand in both texts; None where nobody knows names."""
    return None if named is None else [one.name for one in named if one.type != "concept"]


def _persons(named: Sequence[Entity] | None) -> list[str]:
    """Each once, in the order of the text."""
    return list(dict.fromkeys(one.name for one in named or () if one.type == "person"))


def _type_of(name: Sequence[str], named: Sequence[Entity]) -> EntityType | None:
    known = (one for one in named if not {*name}.isdisjoint(words(one.name)))
    types = {MADE_BY if one.type == "product" else one.type for one in known}
    return types.pop() if len(types) == 1 and "other" not in types else None


def shares_words(one: str, other: str) -> bool:
    """Whether they share a word that says something. Without one the judge takes plain facts about
    somebody for contradictions: I live in Leeds, I work as a nurse (.8)."""
    return not _content(one).isdisjoint(_content(other))


def _content(text: str) -> set[str]:
    return {*map(stem, content_words(text)), *UNSPACED.findall(text)}


def _said(text: str) -> int:
    """How many content words it has; two signs make one where no spaces part them."""
    return len(content_words(text)) + len(UNSPACED.findall(text)) // 2


def _log_odds(chance: float) -> float:
    bounded = min(max(chance, LEAST_CHANCE), 1 - LEAST_CHANCE)
    return log(bounded / (1 - bounded))


def weighed(
    found: Clash | None,
    relation: Relation | None,
    earlier: str,
    later: str,
    of_one_kind: bool | None = None,
) -> Clash | None:
    """How the later statement excludes the earlier one, by what is exact and by the judge together.

    What the texts' form makes certain ends the earlier one where the judge takes both to be about
    one thing, and where names differ only if it knows them to be `of_one_kind`; where it sees no
    change at all, nothing is asked, unless one denies the other. Without its verdict nothing ends.
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
        return Clash(False, "update", f"judged to have another value ({change:.2f})")
    return _judged(relation, earlier, later, of_one_kind)


def _judged(relation: Relation, earlier: str, later: str, of_one_kind: bool | None) -> Clash | None:
    replaces, contradicts = relation.replaces, relation.contradicts
    pair = Pair(earlier, later)
    if pair.both_happened or pair.stand_side_by_side or not shares_words(earlier, later):
        contradicts = 0.0
    if replaces < ASKS and contradicts < EXCLUDES:
        return None
    doubtful = of_one_kind is False or pair.may_be_apart
    if replaces < SURE and doubtful:
        return None
    if replaces >= ASKS:
        return Clash(False, "update", f"judged to have taken its place ({replaces:.2f})")
    return Clash(False, "contradiction", f"judged to exclude it ({contradicts:.2f})")
