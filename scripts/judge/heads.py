"""Trains one head of the shipped judge anew, on its encoder as it is.

`python -m scripts.judge.heads worth` takes minutes where a training of everything takes hours, and
no other head changes by it.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from kinmem.llm.builtin import BuiltinJudge
from kinmem.llm.onnx import FOLDER
from scripts.judge.examples import LABELS, Row, rows
from scripts.judge.export import fitted, temperatures, write_labels, write_network
from scripts.judge.network import Judge
from scripts.judge.shipped import LAYERS, names_of, shipped
from scripts.judge.training import LENGTH, fed

EPOCHS, SIZE, RATE, DECAY = 12, 64, 3e-4, 0.05
READ_AT_ONCE = 32
"""Texts that the encoder reads at once, of like length."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("head", choices=LABELS)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=FOLDER)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(asked.seed)
    judge, tokenizer = shipped(asked.out, LAYERS)
    tokenizer.enable_truncation(LENGTH)
    trained, held = rows()
    learn(judge, tokenizer, [row for row in trained if row.head == asked.head], asked.seed)
    weights = {name: value.numpy() for name, value in judge.state_dict().items()}
    write_network(weights | names_of(asked.out), LAYERS, asked.out / "judge.onnx")
    known = temperatures(asked.out)
    written = BuiltinJudge(asked.out)
    found = fitted(lambda row: written.logits(row.head, row.first, row.second), held)
    write_labels(known | {asked.head: found[asked.head]}, asked.out)


def learn(judge: Judge, tokenizer: Tokenizer, examples: Sequence[Row], seed: int) -> None:
    """Fit the head of these rows to what the encoder makes of them."""
    judge.eval()
    read, labels, weights = _read(judge, tokenizer, examples)
    head = judge.heads[examples[0].head].train()
    optimiser = torch.optim.AdamW(head.parameters(), lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.LinearLR(
        optimiser, 1.0, 0.0, EPOCHS * (len(examples) // SIZE)
    )
    for _ in range(EPOCHS):
        order = torch.randperm(len(examples))
        for first in range(0, len(examples) - SIZE + 1, SIZE):
            at = order[first : first + SIZE]
            each = functional.cross_entropy(head(read[at]), labels[at], reduction="none")
            optimiser.zero_grad()
            (each * weights[at]).mean().backward()
            optimiser.step()
            schedule.step()
    head.eval()


def _read(
    judge: Judge, tokenizer: Tokenizer, examples: Sequence[Row]
) -> tuple[Tensor, Tensor, Tensor]:
    """What a head reads of each row, float32 (rows, 768), with its label and its weight."""
    chance = random.Random(len(examples))
    order = sorted(
        examples, key=lambda row: len(row.first) + len(row.second or "") + chance.random()
    )
    found = []
    with torch.no_grad():
        for first in range(0, len(order), READ_AT_ONCE):
            found.append(judge.read(*fed(tokenizer, order[first : first + READ_AT_ONCE])))
    labels = torch.tensor([row.label for row in order])
    return torch.cat(found), labels, torch.tensor([row.weight for row in order])


if __name__ == "__main__":
    main()
