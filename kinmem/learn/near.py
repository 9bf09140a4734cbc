"""Stage 3 of learning: a text gets its vectors, and the memories near it are found."""

from collections.abc import Collection, Mapping, Sequence

from kinmem.llm.base import Embedder
from kinmem.llm.chunks import chunks_of, embedded, is_surely_one
from kinmem.models import Chunks, Filters, Memory, Vector
from kinmem.rules.restating import restated
from kinmem.rules.similarity import Ladder
from kinmem.settings import LearnSettings
from kinmem.store.base import Store

LONGEST_CORRECTION = 200
"""Characters; a longer text tells more than that something has changed."""
COMPARED = 5
"""What says the same, or contradicts, is the nearest or among the very next."""

Neighbour = tuple[Memory, float]


class Near:
    """Who stands near a statement, and how near is near."""

    def __init__(self, store: Store, embedder: Embedder, settings: LearnSettings) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings

    @property
    def ladder(self) -> Ladder:
        known = self._embedder.calibration
        duplicate = self._settings.duplicate_similarity or known.duplicate
        return Ladder.calibrated(known.noise, known.near, duplicate)

    def chunks(self, content: str) -> Chunks:
        """The parts of a text, embedded."""
        return self.embedded(Chunks(chunks_of(content, self._embedder)))

    def embedded(self, chunks: Chunks) -> Chunks:
        """With vectors; without, where the embedder is not there: the worker fills them in."""
        return embedded(chunks, self._embedder)

    def vectors_of(self, content: str, chunks: Chunks) -> list[Vector]:
        """Where a statement is looked for: its own vector, and that of what it says is so now.

        None for texts of several chunks, which say more than one thing, and without vectors. "I
        moved to Rome" is far from "I live in Lyon", and "I live in Rome" near.
        """
        if chunks.vectors is None or len(chunks.texts) != 1:
            return []
        own: Vector = chunks.vectors[0]
        if len(content) > LONGEST_CORRECTION or not (said := restated(content)).corrects:
            return [own]
        other = self.embedded(Chunks((said.text,)))
        return [own] if other.vectors is None else [own, other.vectors[0]]

    def neighbours(self, vectors: Sequence[Vector]) -> list[Neighbour]:
        """The live memories of a single chunk near any of the vectors, nearest first."""
        cosines: dict[str, float] = {}
        for found in self._nearest(vectors):
            for id, cosine in found:
                cosines[id] = max(cosine, cosines.get(id, -1.0))
        return _ranked(cosines, self._single(cosines, vectors))

    def neighbours_of_each(self, vectors: Sequence[Vector]) -> list[list[Neighbour]]:
        """As `neighbours`, of each of these vectors by itself."""
        near = [dict(found) for found in self._nearest(vectors)]
        memories = self._single({id for found in near for id in found}, vectors)
        return [_ranked(cosines, memories) for cosines in near]

    def _nearest(self, vectors: Sequence[Vector]) -> list[list[tuple[str, float]]]:
        related = self.ladder.related
        near = self._store.nearest_each(vectors, self._embedder.name, COMPARED, Filters())
        return [[(id, cosine) for id, cosine in found if cosine >= related] for found in near]

    def _single(self, ids: Collection[str], vectors: Sequence[Vector]) -> dict[str, Memory]:
        """Those of one chunk; only of the longer ones it has to be asked how many they have."""
        memories = self._store.memories(ids) if ids else {}
        longer = [id for id, memory in memories.items() if not is_surely_one(memory.content)]
        if longer:
            chunks = self._store.cosines(vectors[0], self._embedder.name, longer)
            for id in longer:
                if len(chunks.get(id, ())) != 1:
                    del memories[id]
        return memories


def _ranked(cosines: Mapping[str, float], memories: Mapping[str, Memory]) -> list[Neighbour]:
    ranked = sorted(cosines.items(), key=lambda found: -found[1])
    return [(memories[id], cosine) for id, cosine in ranked if id in memories]
