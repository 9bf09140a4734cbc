"""Train what tells people's lives from projects, from training/places/*.jsonl.

A logistic regression over the vectors of the built-in embedder. Run without an option it writes
kinmem/llm/minilm/life.npy; with --check it only measures, each language by what the other ones
teach. See scripts/README.md.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from kinmem.learn.drafting import LIFE  # noqa: E402
from kinmem.llm.base import warm  # noqa: E402
from kinmem.llm.builtin import FOLDER, BuiltinEmbedder  # noqa: E402
from kinmem.llm.vectors import Probe  # noqa: E402

EXAMPLES = ROOT / "training" / "places"
EPOCHS, RATE, DECAY = 600, 0.2, 1e-4


def examples() -> list[dict[str, str]]:
    files = sorted(EXAMPLES.glob("*.jsonl"))
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return [json.loads(line) for line in lines]


def fitted(rows: np.ndarray, is_life: np.ndarray, decay: float = DECAY) -> Probe:
    """By Adam over all rows at once; the same every time."""
    weights, bias = np.zeros(rows.shape[1]), 0.0
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for epoch in range(1, EPOCHS + 1):
        off = 1 / (1 + np.exp(-(rows @ weights + bias))) - is_life
        slope = rows.T @ off / len(off) + decay * weights
        first += 0.1 * (slope - first)
        second += 0.01 * (slope**2 - second)
        bias -= 0.5 * off.mean()
        lifted = np.sqrt(second / (1 - 0.99**epoch)) + 1e-8
        weights -= RATE * (first / (1 - 0.9**epoch)) / lifted
    return Probe(weights.astype(np.float32), float(bias))


def report(rows: np.ndarray, is_life: np.ndarray, languages: np.ndarray) -> None:
    """What is taken for life, rightly and wrongly, of each language by what the others teach."""
    for language in dict.fromkeys(languages):
        held = languages == language
        probe = fitted(rows[~held], is_life[~held])
        taken = np.array([probe.chance(row) >= LIFE for row in rows[held]])
        right, wrong = taken & is_life[held], taken & ~is_life[held]
        count = is_life[held].sum()
        print(
            f"{language}: {right.sum()} of {count}, {wrong.sum()} of {held.sum() - count} wrongly"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="measure, and write nothing")
    only_measured = parser.parse_args().check
    known = examples()
    warm(embedder := BuiltinEmbedder())
    rows = embedder.embed([one["text"] for one in known]).astype(np.float64)
    is_life = np.array([one["holds"] == "everywhere" for one in known])
    if only_measured:
        report(rows, is_life, np.array([one["lang"] for one in known]))
    else:
        fitted(rows, is_life).write(FOLDER / "life.npy")


if __name__ == "__main__":
    main()
