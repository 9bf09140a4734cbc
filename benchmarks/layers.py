"""What it costs that recall looks for turns behind the memories, and what keeping them costs.

The same questions are asked with and without the second layer, by turns, so that whatever else
the machine does slows both.
"""

import time
from datetime import timedelta
from pathlib import Path
from statistics import median

from benchmarks.corpus import A_SESSION, Corpus, Rows, made
from benchmarks.doubles import KnownVectors
from benchmarks.kins import fresh_kin
from benchmarks.latency import finished_loading
from benchmarks.report import Row, Table, Target
from kinmem.models import Filters
from kinmem.models.turns import Message
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request
from kinmem.service import Service

SIZE, SHORT_SIZE = 10_000, 1_000
QUESTIONS = 200
WARMING = 20
LIMIT = 10
RATIO = 2.0
MS = 1000.0


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """One row for each number of memories beside the turns."""
    turns = SHORT_SIZE if short else SIZE
    rows: list[Row] = []
    targets: list[Target] = []
    for memories in (turns // 2, turns):
        row = _measured(made(turns, QUESTIONS + WARMING, conversation=True), memories)
        rows.append(row)
        what = f"recall with / without {turns:,} turns, {memories:,} memories"
        targets.append(Target(what, row[4], RATIO))
    columns = ("turns", "memories", "recall p50, CPU ms", "with turns", "ratio", "bytes a turn")
    note = (
        f"{QUESTIONS} distinct questions, each asked both ways in turn; vectors known beforehand."
    )
    return [Table("Two layers", columns, rows, note)], targets


def _measured(corpus: Corpus, memories: int) -> tuple[int, int, float, float, float, int]:
    texts = [note["content"] for note in corpus.notes]
    embedder = KnownVectors(texts, corpus.vectors[: len(texts)])
    asked = list(zip(corpus.questions, corpus.vectors[len(texts) :], strict=True))
    with fresh_kin(embedder, KINMEM_LEARN=False) as kin:
        kin.memorize_many(corpus.notes[:memories])
        kin.settle()
        kin.store.turns.add(_messages(corpus, kin))
        said = _bytes(kin)
        kin.settle()
        recall = Recall(kin.store, [embedder], kin.settings, kin.clock)
        spent: dict[bool, list[float]] = {False: [], True: []}

        def ask(question: str, vector: Rows, *, turns: bool) -> float:
            embedder.other = vector
            started = time.thread_time()
            recall(Request(question, LIMIT, Filters(), turns=turns))
            return time.thread_time() - started

        for number, (question, vector) in enumerate(asked):
            for turns in (number % 2 == 0, number % 2 == 1):
                took = ask(question, vector, turns=turns)
                if number >= WARMING:
                    spent[turns].append(took)
                else:
                    finished_loading()
        without, both = (MS * median(spent[turns]) for turns in (False, True))
        size = (_bytes(kin) - said) // len(texts)
    return len(texts), memories, round(without, 2), round(both, 2), both / without, size


def _messages(corpus: Corpus, kin: Service) -> list[Message]:
    """The corpus as people would have said it."""
    started = kin.clock() - timedelta(days=400)
    return [
        Message(
            session=str(at // A_SESSION),
            turn=str(at),
            role="user",
            text=note["content"],
            speaker=note["speaker"],
            said_at=started + timedelta(minutes=at),
            learned_at=started,
        )
        for at, note in enumerate(corpus.notes)
    ]


def _bytes(kin: Service) -> int:
    home = Path(kin.settings.home) / "kins"
    return sum(path.stat().st_size for path in home.iterdir())
