"""How much the judge learned from, and how well it knows the validation batches, in Markdown."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from kinmem.llm.builtin import BuiltinJudge
from scripts.judge.examples import FOLDER, LABELS, VALIDATION, Row, rows

BINS = 10

NOT_OF_IT = ("places", "not-learned")
"""Folders of training/ from which the judge has not learned."""


def learned_from() -> str:
    """The lines of each folder of training/, and the rows that are made of them, by head."""
    trained, held = rows()
    lines = ["| head | rows | not English | kept for validation |", "| --- | --- | --- | --- |"]
    for head in LABELS:
        of_head = [row for row in trained if row.head == head]
        foreign = sum(row.language != "en" for row in of_head) / len(of_head)
        kept = sum(row.head == head for row in held)
        lines.append(f"| {head} | {len(of_head):,} | {foreign:.0%} | {kept:,} |")
    batches = sum(1 for path in FOLDER.glob("*/*.jsonl") if path.parent.name not in NOT_OF_IT)
    validated = ", ".join(f"`{batch}`" for batch in sorted(VALIDATION))
    lines += ["", f"{batches} batches; for validation {validated}."]
    return "\n".join(lines)


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


def chances(judge: BuiltinJudge, row: Row) -> np.ndarray:
    """Of each label, in their order."""
    return np.array([*judge.chances(row.head, row.first, row.second).values()])


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
