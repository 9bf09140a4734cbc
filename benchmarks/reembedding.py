"""What recall finds while the vectors of one embedder are being replaced by those of another."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

import numpy as np

from benchmarks.baselines import Remembering
from benchmarks.corpus import made
from benchmarks.data import ADVERSARIAL, Conversation, Question, data_sets, own_set
from benchmarks.kins import fresh_kin
from benchmarks.report import Row, Table, Target
from benchmarks.scoring import recall_at
from kinmem.llm.base import Embedder, Purpose
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import Filters, Vectors
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request
from kinmem.recall.search import choose
from kinmem.service import Service
from kinmem.upkeep.embed import SLICE
from kinmem.wiring.open_home import NoEmbedder

MEMORIES = 10_000
QUESTIONS = 200
CHECKPOINTS = (*range(5, 100, 5), 99)
"""Hundredths of the store that have their new vector."""
LOSS = 0.02
"""What the change may cost at any of them, against the better of the old vectors and the words;
where the old embedder is out of reach, against the words."""
SEED = 4


class Rotated:
    """Implements Embedder: another one's vectors, turned by a fixed rotation.

    Among themselves they are as near as they were; beside the others they mean nothing.
    """

    name = "benchmarks/rotated"
    ready = True

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.dimension = embedder.dimension
        self.calibration = embedder.calibration
        self.pieces = embedder.pieces
        self.window = embedder.window
        square = np.random.default_rng(SEED).standard_normal((self.dimension, self.dimension))
        self._rotation = np.linalg.qr(square)[0].astype(np.float32)

    def warm(self) -> None:
        """Nothing to load."""

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """See Embedder."""
        rows: Vectors = self._embedder.embed(texts, purpose=purpose) @ self._rotation
        return rows


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """On 10,000 memories, or with `short` on the own set."""
    sets = own_set() if short else data_sets()
    conversations = [one for found in sets.values() for one in found]
    turns = sum(len(one.ids) for one in conversations)
    more = 0 if short else max(0, MEMORIES - turns)
    rows, loss = changed(conversations, more)
    note = (
        f"{turns:,} turns and {more:,} texts of random words in one Kin; recall@10 in hundredths,"
        f" of {QUESTIONS} questions at most. The new vectors are the old ones, rotated."
    )
    columns = ("new vectors, %", "who answers", "R@10", "the old one away", "words alone")
    table = Table("Changing the embedder", columns, rows, note)
    return [table], [Target("loss while the embedder changes, recall@10", loss, LOSS)]


def changed(
    conversations: Sequence[Conversation], more: int = 0, checkpoints: Sequence[int] = CHECKPOINTS
) -> tuple[list[Row], float]:
    """A row for each checkpoint, the start and the end; the greatest loss at any of them.

    `more`: texts to fill up.
    """
    old = Remembering(BuiltinEmbedder())
    new = Rotated(old)
    with fresh_kin(old) as kin:
        if more:
            kin.memorize_many(made(more, 1).notes)
        asked = _told(kin, conversations)
        start = _recalled(kin, [old], asked)
        words = _recalled(kin, [NoEmbedder()], asked)
        rows: list[Row] = [(0, "the old one", start, None, words)]
        loss = 0.0
        for share in _filled(kin, new, checkpoints):
            answering, _ = choose([new, old], kin.store.index)
            now = _recalled(kin, [new, old], asked)
            alone = _recalled(kin, [new], asked)
            loss = max(loss, max(start, words) - now, words - alone)
            who = "the new one" if answering is new else "the old one"
            rows.append((share, who, now, alone, words))
    shown: list[Row] = [(*row[:2], *map(_hundredths, row[2:])) for row in rows]
    return shown, loss


def _told(
    kin: Service, conversations: Sequence[Conversation]
) -> list[tuple[Question, Mapping[str, str]]]:
    """Tell one Kin all of it; questions from all of it, and the turns by memory."""
    turn: dict[str, str] = {}
    asked: list[Question] = []
    for one in conversations:
        for id, stored in zip(one.ids, kin.memorize_many(one.notes), strict=True):
            if stored.id is not None:
                turn.setdefault(stored.id, f"{one.name} {id}")
        for question in one.questions:
            gold = frozenset(f"{one.name} {id}" for id in question.gold)
            if question.category != ADVERSARIAL and gold:
                asked.append(Question(question.text, gold, question.category))
    if not kin.settle():
        raise SystemExit("the vectors could not be made")
    step = -(-len(asked) // QUESTIONS)
    return [(question, turn) for question in asked[::step]]


def _filled(kin: Service, new: Embedder, checkpoints: Sequence[int]) -> Iterator[int]:
    """Make the new vectors, the oldest first; stop at each checkpoint and at the end."""
    kin.store.index.enroll(new.name, new.dimension)
    (total,) = {one.total for one in kin.store.index.coverage() if one.embedder == new.name}
    done = 0
    for share in (*checkpoints, 100):
        while done < -(-share * total // 100):
            waiting = kin.store.index.pending(new.name, min(SLICE, -(-share * total // 100) - done))
            vectors = new.embed([chunk.text for chunk in waiting])
            kin.store.index.fill(new.name, waiting, vectors)
            done += len(waiting)
        yield share


def _recalled(
    kin: Service,
    embedders: Sequence[Embedder],
    asked: Sequence[tuple[Question, Mapping[str, str]]],
) -> float:
    """The mean recall@10. Nothing counts as used by it."""
    recall = Recall(kin.store, embedders, kin.settings, kin.clock)
    return mean(
        recall_at(
            10,
            [
                turn.get(hit.memory.id, "")
                for hit in recall(Request(question.text, 10, Filters())).hits
            ],
            question.gold,
        )
        for question, turn in asked
    )


def _hundredths(score: object) -> float | None:
    return round(100 * score, 1) if isinstance(score, float) else None
