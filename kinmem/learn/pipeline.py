"""Notes become memories: prepare, chunk, look for the same statement, embed, reconcile, store."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from kinmem.clock import Clock
from kinmem.errors import InvalidInput, ModelError
from kinmem.learn.prepare import draft_of
from kinmem.learn.reconcile import Skip, reconcile
from kinmem.llm.base import Embedder
from kinmem.models import Chunks, Draft, Filters, Memory, Note, State, Stored, Vector
from kinmem.rules.similarity import Ladder
from kinmem.settings import Settings
from kinmem.store.base import Store

logger = logging.getLogger(__name__)

# A duplicate is the nearest or among the very next; more would be compared in vain.
COMPARED = 5


class Memorize:
    """Stores what is new, and says of the rest under which id it is known."""

    def __init__(self, store: Store, embedder: Embedder, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._clock = clock

    def one(self, note: Note) -> Stored:
        """Compare by words and by meaning, then store with its vectors. Raises InvalidInput."""
        draft = self._draft(note, self._clock())
        known = self._store.same_statements([draft])[0]
        if known is None:
            draft = replace(draft, chunks=self.embedded(draft.chunks))
            known = self._known_by_meaning(draft)
        if known is not None:
            return Stored("duplicate_of", known)
        return _stored(draft, self._store.add([draft])[0])

    def many(self, notes: Sequence[Note]) -> list[Stored]:
        """Compare by words only and store without vectors, in one transaction per scope.

        What became of each note, in order. One that cannot be stored is refused alone. Vectors are
        made in the background (upkeep/embed.py); settle compares by meaning when they are there.
        """
        now = self._clock()
        results: list[Stored | Draft] = [self._draft_or_refusal(note, now) for note in notes]
        drafts = [draft for draft in results if isinstance(draft, Draft)]
        known = self._store.same_statements(drafts)
        fresh = [draft for draft, id in zip(drafts, known, strict=True) if id is None]
        ids = dict(zip((draft.memory.id for draft in fresh), self._store.add(fresh), strict=True))
        told = {
            draft.memory.id: _stored(draft, id or ids[draft.memory.id])
            for draft, id in zip(drafts, known, strict=True)
        }
        return [r if isinstance(r, Stored) else told[r.memory.id] for r in results]

    def embedded(self, chunks: Chunks) -> Chunks:
        """With vectors; without, where the embedder is not there: the worker fills them in."""
        if not self._embedder.ready:
            return chunks
        try:
            vectors = self._embedder.embed(chunks.texts)
        except ModelError as error:
            logger.warning("stored without vectors for now: %s", error)
            return chunks
        return Chunks(chunks.texts, vectors, self._embedder.name)

    def _draft(self, note: Note, now: datetime, *, fresh: bool = False) -> Draft:
        zone = self._settings.general.zone
        return draft_of(note, self._store.kin, self._embedder, now, zone, fresh=fresh)

    def _draft_or_refusal(self, note: Note, now: datetime) -> Draft | Stored:
        try:
            return self._draft(note, now, fresh=True)
        except InvalidInput as error:
            return Stored("refused", reason=str(error))

    def settle(self, id: str, vector: Vector) -> None:
        """Supersede a memory that was stored unseen if an older one says the same."""
        ladder = self._ladder()
        neighbours = self._neighbours(vector, ladder)
        new = next((memory for memory, _ in neighbours if memory.id == id), None)
        older = [
            (memory, cosine)
            for memory, cosine in neighbours
            if new is not None and memory.id < id and _stands_for(memory, new)
        ]
        if new is None or new.kin != self._store.kin or not older:
            return
        verdict = reconcile(new, older, ladder)
        if isinstance(verdict, Skip):
            gone = {
                "state": State.SUPERSEDED,
                "superseded_by": verdict.known.id,
                "valid_to": self._clock(),
            }
            why = f"says the same as {verdict.known.id}"
            self._store.update(id, gone, action="superseded", reason=why)

    def _known_by_meaning(self, draft: Draft) -> str | None:
        """The id of a memory that says the same in other words."""
        if draft.chunks.vectors is None or len(draft.chunks.texts) != 1:
            return None
        ladder = self._ladder()
        neighbours = self._neighbours(draft.chunks.vectors[0], ladder)
        verdict = reconcile(draft.memory, neighbours, ladder)
        return verdict.known.id if isinstance(verdict, Skip) else None

    def _neighbours(self, vector: Vector, ladder: Ladder) -> list[tuple[Memory, float]]:
        """The nearest memories of a single chunk; longer ones say more than one thing."""
        near = self._store.nearest(vector, self._embedder.name, COMPARED, Filters())
        ids = [id for id, cosine in near if cosine >= ladder.near]
        if not ids:
            return []
        cosines = self._store.cosines(vector, self._embedder.name, ids)
        memories = self._store.memories(ids)
        return [
            (memories[id], cosines[id][0])
            for id in ids
            if id in memories and len(cosines.get(id, ())) == 1
        ]

    def _ladder(self) -> Ladder:
        calibration = self._embedder.calibration
        duplicate = self._settings.memorize.duplicate_similarity or calibration.duplicate
        return Ladder(duplicate=duplicate, near=min(calibration.near, duplicate))


def _stands_for(older: Memory, new: Memory) -> bool:
    """Whether the older one can replace the newer unasked: one's own, and seen by as many."""
    return older.kin == new.kin and older.scope in (new.scope, "shared")


def _stored(draft: Draft, id: str) -> Stored:
    return Stored("created" if id == draft.memory.id else "duplicate_of", id)
