"""Stage 4 of learning, with what it needs: who is near, what the settings say, what time it is."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from kinmem.clock import Clock
from kinmem.learn.near import MOST_JUDGED, Near, Neighbour, worth_judging
from kinmem.learn.reconcile import (
    Merge,
    Outdated,
    Skip,
    Verdict,
    excludes,
    in_order,
    last_said,
    may_be_compared,
    reconcile,
)
from kinmem.llm.base import Embedder, Judge
from kinmem.llm.relating import PERHAPS_SAME, SAME, Judged, Relating
from kinmem.models import LIVE, Chunks, Draft, Filters, Memory, State, Vector
from kinmem.settings import Settings
from kinmem.store.base import Store

ENDED_COMPARED = 5


class Verdicts:
    """Decides about new memories beside those that are stored."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: Settings,
        clock: Clock,
        judge: Judge | None,
    ) -> None:
        self.near = Near(store, embedder, settings.learn)
        self.mode = settings.learn.conflict_mode
        self._store = store
        self._embedder = embedder
        self._zone = settings.general.zone
        self._clock = clock
        self._relating = Relating(judge)

    def beside(self, vectors: Sequence[Vector]) -> list[Neighbour]:
        """What a statement is decided beside, nearest first: however far where the judge is asked
        about it, since rules alone have nothing to say of what is far."""
        return self.near.around(vectors) if self._relating else self.near.neighbours(vectors)

    def of(
        self,
        new: Memory,
        neighbours: Sequence[Neighbour],
        *,
        updates: str | None = None,
        told: bool = False,
        most: int = MOST_JUDGED,
    ) -> Verdict:
        """See reconcile. `most`: how many of the nearest the judge is asked about.

        Only one's own makes it superfluous, since others may take theirs back; unless it was `told`
        directly, only one that as many see.
        """
        known = [*neighbours, *self._corrected(updates, neighbours)]
        known = [one for one in known if _holds_beside(one[0], new)]
        now = self._clock().astimezone(self._zone)
        asked = self._asked(new, known, most)
        known = self._compared(known, asked, updates)
        judged = self._judged(new, asked, now) if self._relating else None
        while True:
            verdict = reconcile(new, known, self.near.ladder, self.mode, now, updates, judged)
            if isinstance(verdict, Outdated):
                before = self.near.ended_by(verdict.by, new)
                clear = [one for one in before if excludes(one, new, self.near.ladder)]
                return replace(verdict, before=tuple(clear))
            if not isinstance(verdict, Skip) or _stands_for(verdict.known, new, told=told):
                return verdict
            gone = verdict.known.id
            known = [near for near in known if near[0].id != gone]

    def _asked(self, new: Memory, known: Sequence[Neighbour], most: int) -> list[Neighbour]:
        """Those of them that the judge is shown: few could be about the same."""
        if not self._relating:
            return []
        others = [one for one in known if one[0].id != new.id and may_be_compared(one[0], new)]
        scaled = self._embedder.calibration.scaled
        near = [(memory.content, scaled(cosine)) for memory, cosine in others]
        return [others[at] for at in worth_judging(new.content, near, most)]

    def _compared(
        self, known: Sequence[Neighbour], asked: Sequence[Neighbour], updates: str | None
    ) -> list[Neighbour]:
        """What is near, what the judge was shown, and what is known to be corrected: of the others
        nobody says anything."""
        if not self._relating:
            return list(known)
        shown = {updates, *(memory.id for memory, _ in (*self.near.close(known), *asked))}
        return [one for one in known if one[0].id in shown]

    def _judged(self, new: Memory, asked: Sequence[Neighbour], now: datetime) -> Judged:
        """What the judge says of those that may be about the same."""
        pairs = {one.id: in_order(one, new, self.mode, now) for one, _ in asked}
        found = zip(pairs, self._relating(list(pairs.values())), strict=True)
        relations = {id: relation for id, relation in found if relation is not None}
        same = (
            one.id
            for one, _ in asked
            if one.id in relations
            and relations[one.id].same >= PERHAPS_SAME
            and self._relating.same(last_said(one), new.content) >= SAME
        )
        kinds = {
            one.id: self._relating.of_one_kind(last_said(one), new.content)
            for one, _ in asked
            if one.id in relations
        }
        told = {id: kind for id, kind in kinds.items() if kind is not None}
        return Judged(relations, frozenset(same), told)

    def merged_chunks(self, verdict: Verdict, draft: Draft | None = None) -> Chunks | None:
        """The chunks of the text that a merge leads to."""
        if not isinstance(verdict, Merge):
            return None
        if draft is not None and verdict.content == draft.memory.content:
            return draft.chunks
        return self.near.chunks(verdict.content)

    def ended_before(self, new: Memory, vectors: Sequence[Vector]) -> str | None:
        """The id under which an outdated statement is stored as that already."""
        if not vectors:
            return None
        ended = Filters(states=(State.SUPERSEDED,))
        near = self._store.index.nearest(vectors[0], self._embedder.name, ENDED_COMPARED, ended)
        for one in self._store.memories([id for id, _ in near]).values():
            same = one.content_hash == new.content_hash and one.occurred_at == new.occurred_at
            if same and one.kin == new.kin and one.scope == new.scope:
                return one.id
        return None

    def _corrected(self, updates: str | None, neighbours: Sequence[Neighbour]) -> list[Neighbour]:
        """The memory that it is known to correct, if it is not among the neighbours."""
        if updates is None or any(memory.id == updates for memory, _ in neighbours):
            return []
        memory = self._store.memories([updates]).get(updates)
        return [] if memory is None or memory.state not in LIVE else [(memory, 0.0)]


def _holds_beside(known: Memory, new: Memory) -> bool:
    """Whether they could be about the same: what holds in one project says nothing of another."""
    return None in (known.place, new.place) or known.place == new.place


def _stands_for(older: Memory, new: Memory, *, told: bool) -> bool:
    """Whether the older one can replace the newer: it holds wherever that does, is one's own, and
    is seen by as many, unless somebody asked for it."""
    if older.place not in (None, new.place) or older.kin != new.kin:
        return False
    return told or older.scope in (new.scope, "shared")
