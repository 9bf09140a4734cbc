"""Stage 4 of learning: find the stored memories near a statement, by words and by meaning. With
them the judge and the rules of reconcile.py (stage 5) give the verdict."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

from kinmem.clock import Clock
from kinmem.language import Ladder, claim
from kinmem.learn.change_chance import Near, changes
from kinmem.learn.drafting import Candidate
from kinmem.learn.occasion import MOST_JUDGED, in_order, last_said, worth_judging
from kinmem.learn.reconcile import (
    Merge,
    Neighbour,
    Outdated,
    Skip,
    Verdict,
    excludes,
    may_be_compared,
    reconcile,
)
from kinmem.llm.base import Embedder, Judge, Relation, chunks_of, embedded, is_surely_one
from kinmem.llm.relating import PERHAPS_SAME, SAME, Change, Judged, Relating
from kinmem.models import LIVE, Asked, Chunks, Draft, Filters, Memory, State, Stored, Vector
from kinmem.models.places import compare_places
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.text import words

# Characters. A longer text says more than that something has changed.
LONGEST_CORRECTION = 200
# Memories that may be found by their words.
MATCHING = 20
# Neighbours at any distance; the judge reads the nearest that may be about the same thing.
AROUND = 24
# A memory that says the same or contradicts is the nearest or among the very next.
COMPARED = 5
# Superseded memories among which an outdated statement is looked for.
ENDED_COMPARED = 5
# Pairs that the judge reads for a turn, 3 ms each, and at least for each of its notes.
JUDGED_PER_TURN, LEAST_JUDGED = 24, 2
# Pairs for a memory stored in bulk; reading them takes less time than its vectors did.
JUDGED_IN_BULK = 2
# Quarantined memories among which the same text is looked for.
HELD_COMPARED = 100


def judged_per_note(notes: int) -> int:
    """Return how many pairs the judge may read for each of so many notes."""
    return min(MOST_JUDGED, max(LEAST_JUDGED, JUDGED_PER_TURN // max(1, notes)))


class Compare:
    """Compares statements with the stored memories, and gives the verdict."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: Settings,
        clock: Clock,
        judge: Judge | None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings.learn
        self._zone = settings.general.zone
        self._clock = clock
        self._relating = Relating(judge)

    @property
    def ladder(self) -> Ladder:
        """The cosines of the embedder from which two texts are related, near and duplicates."""
        level, chosen = self._embedder.calibration, self._settings.duplicate_similarity
        return Ladder.calibrated(level.noise, level.near, level.duplicate, chosen)

    def by_words(self, drafted: Sequence[Candidate | Stored]) -> list[Candidate | Stored]:
        """Return the notes, with a duplicate in place of each whose text is stored already."""
        candidates = [item for item in drafted if isinstance(item, Candidate)]
        known = self._store.same_statements([candidate.draft for candidate in candidates])
        ids = {item.memory.id: id for item, id in zip(candidates, known, strict=True)}
        return [
            Stored("duplicate_of", ids[item.memory.id])
            if isinstance(item, Candidate)
            and ids[item.memory.id] is not None
            and item.note.quarantine is None
            else item
            for item in drafted
        ]

    def embed(
        self, drafted: Sequence[Candidate | Stored], *, is_settled_later: bool
    ) -> list[Candidate | Stored]:
        """Return the notes with their vectors, or without if the embedder is not ready: the worker
        makes them, and if `is_settled_later`, the memory is compared then."""
        return [
            self._embed(item, is_settled_later) if isinstance(item, Candidate) else item
            for item in drafted
        ]

    def _embed(self, candidate: Candidate, is_settled_later: bool) -> Candidate:
        draft = candidate.draft
        draft = replace(draft, chunks=embedded(draft.chunks, self._embedder))
        if is_settled_later and draft.chunks.vectors is None:
            draft = replace(draft, memory=replace(draft.memory, status="pending"))
        vectors = self.vectors_of(draft.memory.content, draft.chunks)
        return Candidate(candidate.note, draft, vectors)

    def chunks(self, content: str) -> Chunks:
        """Return the parts of a text, embedded."""
        return embedded(Chunks(chunks_of(content, self._embedder)), self._embedder)

    def vectors_of(self, content: str, chunks: Chunks) -> list[Vector]:
        """Return the vectors to search with: that of a statement, and that of what it says is true
        now. "I moved to Rome" is far from "I live in Lyon", and "I live in Rome" is near.

        Empty without vectors, and for texts of several chunks, which say more than one thing.
        """
        if chunks.vectors is None or len(chunks.texts) != 1:
            return []
        own: Vector = chunks.vectors[0]
        if len(content) > LONGEST_CORRECTION or not (claimed := claim(content)).corrects:
            return [own]
        other = embedded(Chunks((claimed.text,)), self._embedder)
        return [own] if other.vectors is None else [own, other.vectors[0]]

    def near(self, vectors: Sequence[Vector]) -> list[Neighbour]:
        """Return the live memories to decide beside, nearest first: at any distance if there is a
        judge, since what tells of a change in other words may share none; for rules alone, only
        those that are related."""
        if self._relating:
            ranked = self._store.index.nearest_each(vectors, self._embedder.name, AROUND, Filters())
            return self._nearest_to_any(ranked, vectors)
        return self.related(vectors)

    def related(self, vectors: Sequence[Vector]) -> list[Neighbour]:
        """Return the live memories of a single chunk near any of the vectors, nearest first."""
        return self._nearest_to_any(self._related_ids(vectors), vectors)

    def related_to_each(self, vectors: Sequence[Vector]) -> list[list[Neighbour]]:
        """Return what `related` would return for each vector by itself."""
        cosines = [dict(ranked) for ranked in self._related_ids(vectors)]
        memories = self._of_one_chunk({id for near in cosines for id in near}, vectors)
        return [_rank(near, memories) for near in cosines]

    def close(self, neighbours: Sequence[Neighbour]) -> list[Neighbour]:
        """Return those of the neighbours that are near enough for rules."""
        least = self.ladder.related
        return [neighbour for neighbour in neighbours if neighbour[1] >= least][: 2 * COMPARED]

    def _nearest_to_any(
        self, ranked: Sequence[Sequence[tuple[str, float]]], vectors: Sequence[Vector]
    ) -> list[Neighbour]:
        """Return each memory once, with the highest of its cosines."""
        cosines: dict[str, float] = {}
        for id, cosine in chain.from_iterable(ranked):
            cosines[id] = max(cosine, cosines.get(id, -1.0))
        return _rank(cosines, self._of_one_chunk(cosines, vectors))

    def _related_ids(self, vectors: Sequence[Vector]) -> list[list[tuple[str, float]]]:
        least = self.ladder.related
        near = self._store.index.nearest_each(vectors, self._embedder.name, COMPARED, Filters())
        return [[(id, cosine) for id, cosine in ranked if cosine >= least] for ranked in near]

    def _of_one_chunk(self, ids: Collection[str], vectors: Sequence[Vector]) -> dict[str, Memory]:
        """Return the memories that have one chunk and are no documents. Only for long ones does
        the store have to be asked how many chunks they have."""
        stored = self._store.memories(ids) if ids else {}
        memories = {id: memory for id, memory in stored.items() if not memory.is_document}
        longer = [id for id, memory in memories.items() if not is_surely_one(memory.content)]
        if longer:
            chunks = self._store.index.cosines(vectors[0], self._embedder.name, longer)
            for id in longer:
                if len(chunks.get(id, ())) != 1:
                    del memories[id]
        return memories

    def verdict(
        self,
        new: Memory,
        neighbours: Sequence[Neighbour],
        *,
        updates: str | None = None,
        is_given: bool = False,
        told_in: str | None = None,
        message: str | None = None,
        most: int = MOST_JUDGED,
        ends_nothing: bool = False,
    ) -> Verdict:
        """Stage 5: return what is to become of a new memory beside its neighbours; see reconcile.

        The judge reads at most `most` pairs. Only the Kin's own memory makes the new one
        superfluous, since others may take theirs back; and unless it `is_given` by a caller, only
        one that as many can see. What was told in one project (`told_in`) is not compared with
        what belongs to another, even if it holds everywhere itself. `message` is what it was said
        in; None if a caller gave it. If it `ends_nothing`, a person is asked about what it
        contradicts.
        """
        known = [*neighbours, *self._corrected(updates, neighbours)]
        place = new.place or told_in
        known = [near for near in known if compare_places(near[0].place, place) == "same"]
        now = self._clock().astimezone(self._zone)
        shown = self._to_judge(new, known, most)
        known = self._comparable(known, shown, updates)
        judged = self._judge(new, shown, now, message) if self._relating else None
        mode = "ask" if ends_nothing else self._settings.conflict_mode
        while True:
            verdict = reconcile(new, known, self.ladder, mode, now, updates, judged)
            if isinstance(verdict, Outdated):
                before = self._ended_by(verdict.by, new)
                clear = [memory for memory in before if excludes(memory, new, self.ladder)]
                return replace(verdict, before=tuple(clear))
            if not isinstance(verdict, Skip) or _stands_for(verdict.known, new, is_given):
                return verdict
            passed_over = verdict.known.id
            known = [neighbour for neighbour in known if neighbour[0].id != passed_over]

    def _corrected(self, updates: str | None, neighbours: Sequence[Neighbour]) -> list[Neighbour]:
        """Return the memory that the new one is known to correct, unless it is a neighbour."""
        if updates is None or any(memory.id == updates for memory, _ in neighbours):
            return []
        memory = self._store.memories([updates]).get(updates)
        return [] if memory is None or memory.state not in LIVE else [(memory, 0.0)]

    def _to_judge(self, new: Memory, known: Sequence[Neighbour], most: int) -> list[Neighbour]:
        """Return the neighbours that the judge is shown: few could be about the same thing."""
        if not self._relating:
            return []
        others = [
            (memory, cosine)
            for memory, cosine in known
            if memory.id != new.id and may_be_compared(memory, new)
        ]
        scaled = self._embedder.calibration.scaled
        texts = [(memory.content, scaled(cosine)) for memory, cosine in others]
        return [others[at] for at in worth_judging(new.content, texts, most)]

    def _comparable(
        self, known: Sequence[Neighbour], shown: Sequence[Neighbour], updates: str | None
    ) -> list[Neighbour]:
        """Return what is near, what the judge is shown, and what is known to be corrected. Nothing
        can be said of the others."""
        if not self._relating:
            return list(known)
        kept = {updates, *(memory.id for memory, _ in (*self.close(known), *shown))}
        return [neighbour for neighbour in known if neighbour[0].id in kept]

    def _judge(
        self, new: Memory, shown: Sequence[Neighbour], now: datetime, message: str | None
    ) -> Judged:
        mode, relating = self._settings.conflict_mode, self._relating
        pairs = {memory.id: in_order(memory, new, mode, now) for memory, _ in shown}
        answers = zip(pairs, relating(list(pairs.values())), strict=True)
        relations = {id: relation for id, relation in answers if relation is not None}
        texts = {memory.id: last_said(memory) for memory, _ in shown if memory.id in relations}
        same = (
            id
            for id, text in texts.items()
            if relations[id].same >= PERHAPS_SAME and relating.same(text, new.content) >= SAME
        )
        kinds = {id: relating.of_one_kind(text, new.content) for id, text in texts.items()}
        known_kinds = {id: kind for id, kind in kinds.items() if kind is not None}
        changed = self._changed({id: pairs[id] for id in relations}, relations, shown, message)
        return Judged(relations, frozenset(same), known_kinds, changed)

    def _changed(
        self,
        pairs: Mapping[str, tuple[str, str]],
        relations: Mapping[str, Relation],
        shown: Sequence[Neighbour],
        message: str | None,
    ) -> dict[str, Change]:
        """Return how likely each earlier text no longer holds; see change_chance.py."""
        scaled = self._embedder.calibration.scaled
        cosines = {memory.id: scaled(cosine) for memory, cosine in shown}
        to_message = cosines | ({} if message is None else self._cosines(message, pairs))
        near = [Near(*pairs[id], cosines[id], to_message[id], relations[id]) for id in pairs]
        found = zip(pairs, changes(near, message, self._relating), strict=True)
        return {id: change for id, change in found if change is not None}

    def _cosines(self, text: str, pairs: Mapping[str, tuple[str, str]]) -> dict[str, float]:
        """Return the scaled cosines of a text with stored memories; empty if it is the new one's,
        or there are no vectors."""
        texts = Chunks((text,))
        if not pairs or all(text == later for _, later in pairs.values()):
            return {}
        vectors = embedded(texts, self._embedder).vectors
        if vectors is None:
            return {}
        scaled = self._embedder.calibration.scaled
        found = self._store.index.cosines(vectors[0], self._embedder.name, list(pairs))
        return {id: scaled(max(chunks)) for id, chunks in found.items() if chunks}

    def _ended_by(self, by: Memory, new: Memory) -> list[Memory]:
        """Return the Kin's memories that gave way to `by`, although `new` began after them and
        before `by`."""
        ended = Filters(states=(State.SUPERSEDED,), scope=new.scope)
        sought = sorted(set(words(new.content)))
        asked = Asked(sought, None, self._embedder.name, 0, matching=MATCHING, listed=MATCHING)
        found = self._store.index.search(asked, ended)
        memories = self._store.memories([candidate.id for candidate in found.candidates])
        return [
            memory
            for memory in memories.values()
            if memory.superseded_by == by.id
            and memory.kin == new.kin
            and memory.valid_to is not None
            and memory.holds_since < new.holds_since < memory.valid_to
        ]

    def ended_before(self, candidate: Candidate) -> str | None:
        """Return the id under which an outdated statement is stored as such already."""
        if not candidate.vectors:
            return None
        new, ended = candidate.memory, Filters(states=(State.SUPERSEDED,))
        near = self._store.index.nearest(
            candidate.vectors[0], self._embedder.name, ENDED_COMPARED, ended
        )
        for memory in self._store.memories([id for id, _ in near]).values():
            is_same = memory.content_hash == new.content_hash
            is_same = is_same and memory.occurred_at == new.occurred_at
            is_same = is_same and memory.days_meant == new.days_meant
            if is_same and memory.kin == new.kin and memory.scope == new.scope:
                return memory.id
        return None

    def merged_chunks(self, verdict: Verdict, draft: Draft | None = None) -> Chunks | None:
        """Return the chunks of the text that a merge leads to."""
        if not isinstance(verdict, Merge):
            return None
        if draft is not None and verdict.content == draft.memory.content:
            return draft.chunks
        return self.chunks(verdict.content)

    def quarantined(self) -> dict[str, str]:
        """Return the ids of the latest quarantined memories, by the hashes of their texts."""
        page = self._store.page(Filters(states=(State.QUARANTINED,)), "newest", HELD_COMPARED)
        return {memory.content_hash: memory.id for memory in page.memories}

    def with_copies(self, outcome: Stored, new: Memory, neighbours: Sequence[Neighbour]) -> Stored:
        """Return the outcome, naming other Kins that share the same text. They may change it or
        take it back at any time, so the new one is stored all the same."""
        copies = [
            f"{memory.kin}'s {memory.id}"
            for memory, _ in self.close(neighbours)
            if memory.kin != new.kin and memory.content_hash == new.content_hash
        ]
        if outcome.status != "created" or not copies:
            return outcome
        return replace(outcome, reason=f"says the same as {', '.join(copies)}")


def _rank(cosines: Mapping[str, float], memories: Mapping[str, Memory]) -> list[Neighbour]:
    ranked = sorted(cosines.items(), key=lambda scored: -scored[1])
    return [(memories[id], cosine) for id, cosine in ranked if id in memories]


def _stands_for(older: Memory, newer: Memory, is_given: bool) -> bool:
    """Return whether the older memory can replace the newer: it holds wherever that does, is the
    Kin's own, and is seen by as many, unless a caller asked for it."""
    if older.place not in (None, newer.place) or older.kin != newer.kin:
        return False
    return is_given or older.scope in (newer.scope, "shared")
