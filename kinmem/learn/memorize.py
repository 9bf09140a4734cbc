"""What somebody tells kinmem to remember: prepare, look for the same statement, embed, reconcile,
store. What is learned from a conversation comes by from_turns.py."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from kinmem.clock import Clock
from kinmem.errors import InvalidInput, MemoryNotFound, VersionConflict
from kinmem.language import Wording, only_asks
from kinmem.learn.apply import Deeds, absorbed, decided, deeds
from kinmem.learn.near import Neighbour
from kinmem.learn.prepare import OF_QUESTION, draft_of, judged, unsecret
from kinmem.learn.reconcile import Keep, Merge, Outdated, Skip, Verdict
from kinmem.learn.verdicts import Verdicts
from kinmem.llm.base import Embedder
from kinmem.llm.naming import Naming
from kinmem.models import Chunks, Draft, Memory, Note, Stored, Vector
from kinmem.models.turns import Batch, Change
from kinmem.settings import Settings
from kinmem.store.base import Store

READS_AS_QUESTION = "this reads as a question; recall answers questions"
MOST_COMPARED = 20_000
JUDGED_IN_BULK = 2
"""Of the nearest so many are shown to the judge, which takes less time than the vectors did."""
SETTLED_TOGETHER = 16
"""Memories whose neighbours are looked up at once, and again when one of them has changed another:
so many that a look-up costs a third, so few that little is looked up in vain."""


class Memorize:
    """Stores what is new, lets what it contradicts give way, and says what became of each note."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: Settings,
        clock: Clock,
        verdicts: Verdicts,
        naming: Naming,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._clock = clock
        self._verdicts, self._near, self._naming = verdicts, verdicts.near, naming
        self._compared: set[frozenset[tuple[str, int]]] = set()

    def one(self, note: Note) -> Stored:
        """Compare by words and by meaning, then store with its vectors. Raises InvalidInput."""
        draft = self._draft(note, self._clock())
        known = self._store.same_statements([draft])[0]
        if known is not None:
            return Stored("duplicate_of", known)
        draft = replace(draft, chunks=self._near.embedded(draft.chunks))
        vectors = self._near.vectors_of(draft.memory.content, draft.chunks)
        stored = decided(lambda: self._compared_and_stored(draft, vectors, note.updates))
        return _described(stored, draft.memory)

    def many(
        self,
        notes: Sequence[Note],
        batch: str | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> list[Stored]:
        """Compare by words only and store without vectors, in one transaction.

        What became of each note, in order. One that cannot be stored is refused alone. Vectors are
        made in the background (upkeep/embed.py); settle compares by meaning when they are there.
        """
        now = self._clock()
        results: list[Stored | Draft] = []
        for note in notes:
            results.append(self._draft_or_refusal(note, now))
            progress(len(results))
        drafts = [draft for draft in results if isinstance(draft, Draft)]
        known = self._store.same_statements(drafts)
        fresh = [draft for draft, id in zip(drafts, known, strict=True) if id is None]
        stand = self._store.add(fresh, batch=batch)
        ids = dict(zip((draft.memory.id for draft in fresh), stand, strict=True))
        told = {
            draft.memory.id: _told(draft, id or ids[draft.memory.id])
            for draft, id in zip(drafts, known, strict=True)
        }
        return [r if isinstance(r, Stored) else told[r.memory.id] for r in results]

    def settle(self, fresh: Mapping[str, Vector]) -> None:
        """Compare memories that were stored unseen with what is near them, as `one` would have.

        Of two that were both stored unseen the newer one is what is compared with the older,
        whichever gets its vector first.
        """
        waiting = list(fresh.items())
        while waiting:
            part = waiting[:SETTLED_TOGETHER]
            near = self._near.neighbours_of_each([vector for _, vector in part])
            for (id, vector), neighbours in zip(part, near, strict=True):
                del waiting[0]
                if not self._settle_one(id, vector, neighbours):
                    break  # something else may be near the others now

    def _settle_one(self, id: str, vector: Vector, near: Sequence[Neighbour]) -> bool:
        """Whether all memories stand as they stood."""
        new = next((memory for memory, _ in near if memory.id == id), None)
        if new is None or new.kin != self._store.kin:
            return True  # not live any more, or of several chunks, which say more than one thing
        chunks = Chunks((new.content,), vector[None], self._embedder.name)
        vectors = self._near.vectors_of(new.content, chunks)
        if len(vectors) > 1:
            near = self._near.neighbours(vectors)
        near = [(known, cosine) for known, cosine in near if self._is_first_time(new, known)]
        later = [(one, cosine) for one, cosine in near if one.id > id and one.kin == new.kin]
        return self._compare(new, [(one, cosine) for one, cosine in near if one.id < id]) and all(
            self._compare(one, [(new, cosine)]) for one, cosine in later
        )

    def _is_first_time(self, a: Memory, b: Memory) -> bool:
        """Whether these two have not been compared as they are; each is near the other."""
        pair = frozenset({(a.id, a.version), (b.id, b.version)})
        if a.id == b.id or pair in self._compared:
            return False
        if len(self._compared) >= MOST_COMPARED:
            self._compared.clear()
        self._compared.add(pair)
        return True

    def embedded(self, chunks: Chunks) -> Chunks:
        """With vectors; without, where the embedder is not there: the worker fills them in."""
        return self._near.embedded(chunks)

    def _compare(self, new: Memory, older: Sequence[Neighbour]) -> bool:
        """Decide about a stored memory; whether both it and the others stand as they stood."""
        verdict = self._verdicts.of(new, older, most=JUDGED_IN_BULK)
        if isinstance(verdict, Keep):
            return True
        done = deeds(
            verdict, new, self._verdicts.merged_chunks(verdict), self._verdicts.mode, self._naming
        )
        changes = list(done.changes)
        match verdict:
            case Skip(known):
                changes.append(absorbed(new, known, "says the same"))
            case Merge(known):
                changes.append(absorbed(new, known, "is told by the same text"))
            case Outdated(by):
                changes.append(_outdated(new, done, by))
        try:
            name = f"settle {new.id}"
            self._store.apply(
                Batch(changes=changes, conflicts=done.conflicts, repeated=done.repeated, name=name)
            )
        except (VersionConflict, MemoryNotFound):
            return False  # changed meanwhile: review finds the pair
        return not changes

    def _compared_and_stored(
        self, draft: Draft, vectors: Sequence[Vector], updates: str | None
    ) -> Stored:
        near = self._verdicts.beside(vectors)
        verdict = self._verdicts.of(draft.memory, near, updates=updates, told=True)
        if isinstance(verdict, Outdated):
            again = self._verdicts.ended_before(draft.memory, vectors)
            if again is not None:
                return Stored("duplicate_of", again, verdict.reason)
        stored = self._stored(draft, verdict)
        said_by = [
            f"{one.kin}'s {one.id}"
            for one, _ in self._near.close(near)
            if _is_copy(one, draft.memory)
        ]
        if stored.status != "created" or not said_by:
            return stored
        return replace(stored, reason=f"says the same as {', '.join(said_by)}")

    def _stored(self, draft: Draft, verdict: Verdict) -> Stored:
        chunks = self._verdicts.merged_chunks(verdict, draft)
        done = deeds(verdict, draft.memory, chunks, self._verdicts.mode, self._naming)
        drafts = [] if done.memory is None else [replace(draft, memory=done.memory)]
        batch = Batch(
            drafts=drafts, changes=done.changes, conflicts=done.conflicts, repeated=done.repeated
        )
        ids = self._store.apply(batch) or []
        if drafts and ids[0] != draft.memory.id:
            return Stored("duplicate_of", ids[0])
        return done.told

    def _draft(self, note: Note, now: datetime, *, fresh: bool = False) -> Draft:
        zone = self._settings.general.zone
        note = self.judged(note)
        return draft_of(
            note, self._store.kin, self._embedder, now, zone, naming=self._naming, fresh=fresh
        )

    def judged(self, note: Note) -> Note:
        """The note as far as it may be stored, with category and importance. Raises
        InvalidInput."""
        return judged(unsecret(note, self._settings.learn.secrets))

    def _draft_or_refusal(self, note: Note, now: datetime) -> Draft | Stored:
        try:
            return self._draft(note, now, fresh=True)
        except InvalidInput as error:
            return Stored("refused", reason=str(error))


def _outdated(new: Memory, done: Deeds, by: Memory) -> Change:
    assert done.memory is not None
    names = ("state", "superseded_by", "valid_to")
    fields = {name: getattr(done.memory, name) for name in names}
    return Change(new.id, fields, "superseded", f"outdated by {by.id}", new.version)


def _is_copy(theirs: Memory, own: Memory) -> bool:
    """Whether another Kin shares the same text, which may be changed or taken back any time."""
    return theirs.kin != own.kin and theirs.content_hash == own.content_hash


def _told(draft: Draft, id: str) -> Stored:
    if id != draft.memory.id:
        return Stored("duplicate_of", id)
    return _described(Stored("created", id), draft.memory)


def _described(stored: Stored, memory: Memory) -> Stored:
    """With what the memory was taken for, if it was stored."""
    if stored.id != memory.id:
        return stored
    may_ask = memory.importance == OF_QUESTION or Wording(memory.content).asks
    is_question = may_ask and only_asks(memory.content)
    reason = stored.reason or (READS_AS_QUESTION if is_question else None)
    return replace(stored, reason=reason, category=memory.category, importance=memory.importance)
