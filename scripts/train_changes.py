"""Train what tells how likely a statement changes a stored one, from worlds and lives.

A logistic regression over what learning reads of each two (kinmem/learn/change_chance.py): the
worlds and lives of training/ are told to a real Kin, and what it reads is recorded. Run without an
option it writes kinmem/learn/changes.json; with --check it only measures. Each source is measured
by what the others teach. See scripts/README.md.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import lives, worlds  # noqa: E402
from benchmarks.baselines import Remembering  # noqa: E402
from kinmem.learn import change_chance, compare  # noqa: E402
from kinmem.learn.change_chance import Near, Signs  # noqa: E402
from kinmem.llm.builtin import BuiltinEmbedder  # noqa: E402
from kinmem.llm.relating import ASKS_OF_TALK, Change, Relating  # noqa: E402

DECAY = 5.0
"""Of standardised weights; between 1 and 20 the numbers differ by chance."""
STEPS = 30
"""Of Newton's method; it has converged after ten."""


class Pair(NamedTuple):
    """A stored statement beside what was said later."""

    source: str
    signs: Signs
    is_changed: bool


class Read(NamedTuple):
    message: str
    near: Near
    signs: Signs


class Recorder:
    """Stands for change_chance.changes: keeps what learning reads, and asks about nothing."""

    def __init__(self) -> None:
        self.read: list[Read] = []

    def __call__(
        self, near: Sequence[Near], message: str | None, relating: Relating
    ) -> list[Change | None]:
        if message is None:
            return [None for _ in near]
        found = change_chance.signs_of(near, message, relating)
        for one, signs in zip(near, found, strict=True):
            if signs is not None:
                self.read.append(Read(message, one, signs))
        return [None for _ in near]


def of_worlds(embedder: Remembering) -> Iterator[Pair]:
    for file in sorted(worlds.FOLDER.glob("*.json")):
        world = json.loads(file.read_text("utf-8"))
        places = {text: at for at, text in enumerate(world["memories"])}
        with patch.object(compare, "changes", recorder := Recorder()):
            worlds.lived(world | {"questions": []}, embedder)
        for read in recorder.read:
            at = places.get(read.near.earlier)
            if at is not None and read.near.later not in places:
                said = next(one for one in world["said"] if read.message in one["text"])
                yield Pair(file.stem, read.signs, at in said["changes"])


def of_lives(embedder: Remembering) -> Iterator[Pair]:
    for file in sorted(lives.FOLDER.glob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        told: dict[str, int] = {}
        with patch.object(compare, "changes", recorder := Recorder()):
            # As many as there are lines: the review behind them would need the weights.
            for _, line in zip(lines, lives.lived(lines, embedder), strict=False):
                for read in recorder.read:
                    at = told.get(read.near.earlier)
                    if at is not None:
                        yield Pair(file.stem, read.signs, at in line.changes)
                recorder.read.clear()
                told |= line.stored


class Regression:
    """A logistic regression of standardised signs, by Newton's method; the same every time."""

    def __init__(self, rows: np.ndarray, is_changed: np.ndarray) -> None:
        self._mean, self._scale = rows.mean(0), rows.std(0) + 1e-9
        standard = self._standard(rows)
        decay = np.diag([DECAY] * rows.shape[1] + [0.0])
        self._weights = np.zeros(standard.shape[1])
        for _ in range(STEPS):
            chance = 1 / (1 + np.exp(-standard @ self._weights))
            slope = standard.T @ (is_changed - chance) - decay @ self._weights
            bend = standard.T @ (standard * (chance * (1 - chance))[:, None]) + decay
            self._weights += np.linalg.solve(bend, slope)

    def _standard(self, rows: np.ndarray) -> np.ndarray:
        return np.c_[(rows - self._mean) / self._scale, np.ones(len(rows))]

    def chances(self, rows: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-self._standard(rows) @ self._weights))

    def write(self, file: Path) -> None:
        """The weights of the signs as they are read, by name."""
        weights = self._weights[:-1] / self._scale
        bias = float(self._weights[-1] - weights @ self._mean)
        named = dict(zip(Signs._fields, (round(float(one), 4) for one in weights), strict=True))
        text = json.dumps({"bias": round(bias, 4), "weights": named}, indent=1)
        file.write_text(text + "\n", encoding="utf-8")


def report(pairs: Sequence[Pair], rows: np.ndarray, is_changed: np.ndarray) -> None:
    """What each world and life would be asked about by what the others teach."""
    sources = np.array([pair.source for pair in pairs])
    chances = np.zeros(len(pairs))
    for source in dict.fromkeys(sources):
        held = sources == source
        chances[held] = Regression(rows[~held], is_changed[~held]).chances(rows[held])
    asked = chances >= ASKS_OF_TALK
    for source in ["", *dict.fromkeys(sources)]:
        held = np.char.startswith(sources, source)
        right = (asked & is_changed & held).sum()
        wrong = (asked & held).sum() - right
        print(f"{source or 'all'}: {right} of {is_changed[held].sum()} noticed, {wrong} wrongly")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="measure, and write nothing")
    only_measured = parser.parse_args().check
    embedder = Remembering(BuiltinEmbedder())
    pairs = [*of_worlds(embedder), *of_lives(embedder)]
    rows = np.array([pair.signs for pair in pairs])
    is_changed = np.array([pair.is_changed for pair in pairs])
    if not only_measured:
        Regression(rows, is_changed).write(change_chance.WEIGHTS)
    report(pairs, rows, is_changed)


if __name__ == "__main__":
    main()
