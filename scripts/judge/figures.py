"""How well the shipped judge knows the validation batches, by head and language."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from scripts.judge.examples import LABELS, Row

BINS = 10


def table(rows: Sequence[Row], chances: Sequence[np.ndarray]) -> str:
    """A table in Markdown. `chances`: of each row, in the order of its head's labels."""
    lines = ["| head | language | rows | right | ECE |", "| --- | --- | --- | --- | --- |"]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        groups[row.head, "all"].append(at)
        groups[row.head, row.language].append(at)
    order = list(LABELS)
    for (head, language), found in sorted(
        groups.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]))
    ):
        right = [int(chances[at].argmax()) == rows[at].label for at in found]
        error = calibration_error([float(chances[at].max()) for at in found], right)
        lines.append(f"| {head} | {language} | {len(found)} | {np.mean(right):.3f} | {error:.3f} |")
    return "\n".join(lines)


def calibration_error(chances: Sequence[float], right: Sequence[bool]) -> float:
    """ECE: how far the chance that is told is from how often it holds, over ten equal bins."""
    told, holds = np.array(chances), np.array(right, float)
    bins = np.minimum((told * BINS).astype(int), BINS - 1)
    return float(
        sum(
            abs(told[bins == one].mean() - holds[bins == one].mean()) * (bins == one).mean()
            for one in set(bins.tolist())
        )
    )
