"""What kinmem has to beat: words alone, vectors alone, and both joined by rank as textbooks do."""

from collections.abc import Sequence

import apsw
import numpy as np

from benchmarks.data import Conversation
from kinmem.llm.base import Calibration, Embedder, Purpose, chunks_of
from kinmem.models import Vectors
from kinmem.text import content_words, words

POOL = 100
RRF_K = 60
WORDS_BOOST = 1.2


class Remembering:
    """Implements Embedder: another one, asked only once for the vector of each text."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[Purpose, dict[str, np.ndarray]] = {"memory": {}, "question": {}}
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.warm = embedder.warm
        self.pieces = embedder.pieces
        self.window = embedder.window

    @property
    def calibration(self) -> Calibration:
        """As the other's, which may be measured only once it is loaded."""
        return self._embedder.calibration

    @property
    def ready(self) -> bool:
        """As the other."""
        return self._embedder.ready

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """Known ones looked up."""
        known = self._known[purpose]
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            vectors = self._embedder.embed(missing, purpose=purpose, deadline=deadline)
            known.update(zip(missing, vectors, strict=True))
        return np.array([known[text] for text in texts], np.float32)


class Baselines:
    """One conversation in an FTS5 table and a matrix."""

    def __init__(self, conversation: Conversation, embedder: Embedder) -> None:
        self._ids = conversation.ids
        self._embedder = embedder
        self._db = apsw.Connection(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE words USING fts5 (said, around, tokenize = 'porter unicode61')"
        )
        self._db.executemany(
            "INSERT INTO words VALUES (?, ?)",
            [
                (
                    f"{note['content']}\n{note['speaker']}\n{note['occurred_at']}",
                    note["source_context"],
                )
                for note in conversation.notes
            ],
        )
        parts = [chunks_of(note["content"], embedder) for note in conversation.notes]
        self._starts = np.cumsum([0, *(len(chunks) for chunks in parts[:-1])])
        self._vectors = embedder.embed([chunk for chunks in parts for chunk in chunks])

    def words(self, question: str, limit: int) -> list[str]:
        """BM25 of all words of the question, in what was said, by whom and when."""
        return self._matching("said", words(question), limit)

    def content_words(self, question: str, limit: int) -> list[str]:
        """Without stop words."""
        return self._matching("said", content_words(question), limit)

    def words_around(self, question: str, limit: int) -> list[str]:
        """Without stop words, with the neighbouring turns at a third of the weight."""
        return self._matching("said around", content_words(question), limit)

    def vectors(self, question: str, limit: int) -> list[str]:
        """Cosine of the nearest part of each turn to the question as it is asked."""
        cosines = self._vectors @ self._embedder.embed([question])[0]
        best = np.maximum.reduceat(cosines, self._starts)
        return [self._ids[at] for at in np.argsort(-best, kind="stable")[:limit]]

    def rrf(self, question: str, limit: int) -> list[str]:
        """The sum over both lists of boost / (60 + rank + 1)."""
        scores: dict[str, float] = {}
        arms = ((self.vectors, 1.0), (self.words, WORDS_BOOST))
        for arm, boost in arms:
            for rank, id in enumerate(arm(question, POOL)):
                scores[id] = scores.get(id, 0.0) + boost / (RRF_K + rank + 1)
        return sorted(scores, key=lambda id: -scores[id])[:limit]

    def _matching(self, columns: str, terms: Sequence[str], limit: int) -> list[str]:
        any_of = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms))
        rows = self._db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, 1.0, 0.3) LIMIT ?",
            (f"{{{columns}}} : ({any_of})", limit),
        )
        return [self._ids[row - 1] for (row,) in rows]
