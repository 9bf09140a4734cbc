"""Stage 3 of learning: a text gets its vectors, and the memories near it are found; of
them those that the judge is shown."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from math import sqrt

from kinmem.language import Ladder, claim
from kinmem.learn.occasion import begins
from kinmem.llm.base import Embedder
from kinmem.llm.pieces import chunks_of, embedded, is_surely_one
from kinmem.models import Asked, Chunks, Filters, Memory, State, Vector
from kinmem.settings import LearnSettings
from kinmem.store.base import Store
from kinmem.text import words

LONGEST_CORRECTION = 200
"""Characters; a longer text tells more than that something has changed."""
LIVING = Filters()
MATCHING = 20
"""Memories that tell the same of somebody, in any words."""
AROUND = 24
"""However far; of these the judge is asked about the nearest that may be about the same."""
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
        chosen = self._settings.duplicate_similarity
        return Ladder.calibrated(known.noise, known.near, known.duplicate, chosen)

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
        if len(content) > LONGEST_CORRECTION or not (said := claim(content)).corrects:
            return [own]
        other = self.embedded(Chunks((said.text,)))
        return [own] if other.vectors is None else [own, other.vectors[0]]

    def neighbours(self, vectors: Sequence[Vector]) -> list[Neighbour]:
        """The live memories of a single chunk near any of the vectors, nearest first."""
        return self._of_any(self._nearest(vectors), vectors)

    def around(self, vectors: Sequence[Vector]) -> list[Neighbour]:
        """As `neighbours`, however far: what tells of a change in other words may share none."""
        found = self._store.index.nearest_each(vectors, self._embedder.name, AROUND, Filters())
        return self._of_any(found, vectors)

    def close(self, found: Sequence[Neighbour]) -> list[Neighbour]:
        """Those of them that are near enough for rules."""
        return [one for one in found if one[1] >= self.ladder.related][: 2 * COMPARED]

    def ended_by(self, by: Memory, new: Memory) -> list[Memory]:
        """Own memories that gave way to `by`, though `new` had begun before it and after them."""
        ended = Filters(states=(State.SUPERSEDED,), scope=new.scope)
        found = self._with_words(words(new.content), ended).values()
        return [
            one
            for one in found
            if one.superseded_by == by.id and one.kin == new.kin and one.valid_to is not None
            if begins(one) < begins(new) < one.valid_to
        ]

    def _with_words(self, said: Collection[str], filters: Filters = LIVING) -> dict[str, Memory]:
        sought = sorted(set(said))
        asked = Asked(sought, None, self._embedder.name, 0, matching=MATCHING, listed=MATCHING)
        found = self._store.index.search(asked, filters)
        return self._store.memories([one.id for one in found.candidates])

    def neighbours_of_each(self, vectors: Sequence[Vector]) -> list[list[Neighbour]]:
        """As `neighbours`, of each of these vectors by itself."""
        near = [dict(found) for found in self._nearest(vectors)]
        memories = self._single({id for found in near for id in found}, vectors)
        return [_ranked(cosines, memories) for cosines in near]

    def _of_any(
        self, found: Sequence[Sequence[tuple[str, float]]], vectors: Sequence[Vector]
    ) -> list[Neighbour]:
        """What is near any of the vectors, by the highest cosine."""
        cosines: dict[str, float] = {}
        for id, cosine in chain.from_iterable(found):
            cosines[id] = max(cosine, cosines.get(id, -1.0))
        return _ranked(cosines, self._single(cosines, vectors))

    def _nearest(self, vectors: Sequence[Vector]) -> list[list[tuple[str, float]]]:
        related = self.ladder.related
        near = self._store.index.nearest_each(vectors, self._embedder.name, COMPARED, Filters())
        return [[(id, cosine) for id, cosine in found if cosine >= related] for found in near]

    def _single(self, ids: Collection[str], vectors: Sequence[Vector]) -> dict[str, Memory]:
        """Those of one chunk that are no documents; only of the longer ones it has to be asked how
        many they have."""
        found = self._store.memories(ids) if ids else {}
        memories = {id: memory for id, memory in found.items() if not memory.is_document}
        longer = [id for id, memory in memories.items() if not is_surely_one(memory.content)]
        if longer:
            chunks = self._store.index.cosines(vectors[0], self._embedder.name, longer)
            for id in longer:
                if len(chunks.get(id, ())) != 1:
                    del memories[id]
        return memories


def _ranked(cosines: Mapping[str, float], memories: Mapping[str, Memory]) -> list[Neighbour]:
    ranked = sorted(cosines.items(), key=lambda found: -found[1])
    return [(memories[id], cosine) for id, cosine in ranked if id in memories]


# Which stored statements are shown to the judge beside a new one: a pair costs 3 to 6 ms of a
# processor, and of a hundred neighbours two or three could matter.
MOST_JUDGED = 6
SHARED = 0.5
"""Of the part of words that two texts share, beside their cosine."""
LEAST_SUM = 0.2
"""Of that sum: what is neither near nor shares a word."""
MOST_BEHIND = 0.4
"""Of that sum, what is so far behind the first."""
# Chosen with the 1,005 cards of training/, in files of about 110 memories: of what says the same,
# replaces or contradicts a memory 98.0, 73.3 and 94.7 % are asked about, with 2.1 to 4.8 pairs a
# statement. The nearest eight were 98.2, 75.4 and 92.6 %.
WORD = re.compile(r"[^\W_]+")
BEGINNING = 6
"""Letters of a word by which it is taken for the same: an ending says little."""
WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def worth_judging(
    new: str, near: Sequence[tuple[str, float]], most: int = MOST_JUDGED, least: float = LEAST_SUM
) -> list[int]:
    """Places in `near` of those that could be the same as the new statement or exclude it, the
    likeliest first, `most` at most.

    `near`: texts with their cosines to it, on the scale of Calibration.scaled.
    """
    own = beginnings(new)
    sums = [cosine + SHARED * _share_of_words(own, beginnings(text)) for text, cosine in near]
    floor = max(least, max(sums, default=0.0) - MOST_BEHIND)
    order = sorted(range(len(near)), key=lambda at: -sums[at])
    return [at for at in order if sums[at] >= floor][:most]


def beginnings(text: str) -> frozenset[str]:
    """Of its words; of a script without spaces every two signs."""
    found: set[str] = set()
    for word in WORD.findall(text):
        if WITHOUT_SPACES.search(word):
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        else:
            found.add(word.casefold()[:BEGINNING])
    return frozenset(found)


def _share_of_words(own: frozenset[str], other: frozenset[str]) -> float:
    """0 to 1: the cosine of the two sets."""
    if not own or not other:
        return 0.0
    return len(own & other) / sqrt(len(own) * len(other))
