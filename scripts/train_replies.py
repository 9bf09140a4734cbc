"""Train what tells questions, and replies that answer them, from training/replies/.

Two logistic regressions over the vectors of the built-in embedder: of a turn, whether it asks, and
of a question with its reply, whether that answers. What asks nothing is from training/talk/. Run
without an option it writes asks.npy and replies.npy into kinmem/llm/minilm/; with --check it only
measures, by what test.jsonl holds, which is never trained on. See scripts/README.md.
"""

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from kinmem.llm.base import warm  # noqa: E402
from kinmem.llm.builtin import FOLDER, BuiltinEmbedder  # noqa: E402
from kinmem.llm.vectors import Probe  # noqa: E402
from kinmem.recall.conversation import ASKS, INFORMS, LONGEST_REPLY  # noqa: E402
from scripts.train_places import fitted  # noqa: E402

TRAINING = ROOT / "training"
TEST = "test"
MARKS = "?？¿"
DECAY = 3e-5
"""Of the regression for questions; with 1e-4, 4 of 100 questions fewer are known at equal error."""
STATEMENTS = 4000
"""Drawn from the texts that ask nothing; the same every time."""


class Exchange(NamedTuple):
    asked: str
    reply: str
    answers: bool


def rows_of(name: str) -> list[dict[str, Any]]:
    files = sorted(TRAINING.glob(name))
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return [json.loads(line) for line in lines]


def exchanges(name: str) -> list[Exchange]:
    rows = rows_of(f"replies/{name}.jsonl")
    found = [Exchange(row["question"], row["reply"], row["answers"]) for row in rows]
    return [one for one in found if len(one.reply) <= LONGEST_REPLY]


def unmarked(question: str) -> str:
    """Return it as many type it."""
    bare = question.translate(str.maketrans("", "", MARKS)).strip()
    return bare[:1].lower() + bare[1:]


def statements() -> list[str]:
    """Return memories, and what people and assistants say, without what may ask."""
    found = {row["memory"] for row in rows_of("answers/*.jsonl")}
    found |= {text for row in rows_of("talk/*.jsonl") for text in (row["before"], row["text"])}
    return sorted(text for text in found if text and not set(MARKS) & set(text))


def asking(known: Sequence[Exchange]) -> tuple[list[str], list[str]]:
    """Return what asks and what does not."""
    marked = {row["question"] for row in rows_of("answers/*.jsonl")}
    marked = {question for question in marked if set(MARKS) & set(question)}
    asks = [one.asked for one in known] + sorted(marked) + sorted(map(unmarked, marked))
    replies = [one.reply for one in known if not set(MARKS) & set(one.reply)]
    return asks, replies + random.Random(0).sample(statements(), STATEMENTS)


class Vectors:
    def __init__(self) -> None:
        warm(embedder := BuiltinEmbedder())
        self._embedder = embedder

    def of(self, texts: Sequence[str]) -> np.ndarray:
        return self._embedder.embed(texts).astype(np.float64)

    def of_both(self, known: Sequence[Exchange]) -> np.ndarray:
        """As Calibration.replies reads them."""
        parts = [[one.reply for one in known], [one.asked for one in known]]
        return np.hstack([self.of(texts) for texts in parts])


def report(asks: Probe, informs: Probe, vectors: Vectors) -> None:
    """Print what is taken for an answer, rightly and wrongly."""
    for answers, what in ((True, "answers"), (False, "other replies")):
        known = [one for one in exchanges(TEST) if one.answers == answers]
        rows = vectors.of_both(known)
        asked = vectors.of([one.asked for one in known])
        taken = [
            asks.chance(question) >= ASKS and informs.chance(both) >= INFORMS
            for question, both in zip(asked, rows, strict=True)
        ]
        print(f"{what} of {TEST}.jsonl taken for answers: {sum(taken)} of {len(taken)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="measure, and write nothing")
    only_measured = parser.parse_args().check
    known, vectors = exchanges("replies-*"), Vectors()
    questions, others = asking(known)
    is_question = np.arange(len(questions) + len(others)) < len(questions)
    asks = fitted(vectors.of([*questions, *others]), is_question, DECAY)
    informs = fitted(vectors.of_both(known), np.array([one.answers for one in known]))
    if not only_measured:
        asks.write(FOLDER / "asks.npy")
        informs.write(FOLDER / "replies.npy")
    report(asks, informs, vectors)


if __name__ == "__main__":
    main()
