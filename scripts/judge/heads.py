"""Trains one head of the shipped judge anew, with the layers that it has for itself, on its encoder
as it is.

`python -m scripts.judge.heads answers` takes minutes where a training of everything takes hours,
and no other head changes by it.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from kinmem.llm.builtin import BuiltinJudge
from kinmem.llm.onnx import FOLDER
from scripts.judge.examples import LABELS, Row, rows
from scripts.judge.export import fitted, temperatures, write_labels, write_network
from scripts.judge.network import Judge
from scripts.judge.shipped import LAYERS, OWN, names_of, shipped
from scripts.judge.training import LENGTH, fed, loss

EPOCHS, EPOCHS_OF_LAYERS = 12, 2
"""Of a head alone, and of one with layers."""
RATE, RATE_OF_LAYERS, DECAY = 3e-4, 1e-4, 0.02
WARMING = 100
"""Steps in which the rate rises; then it falls to zero."""
SIZE = 32
SORTED = 50
"""Batches whose rows are put in the order of their lengths together."""
Read = tuple[Row, Tensor]
"""A row, and what is known of each of its pieces: float16, (length, width)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("head", choices=LABELS)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=FOLDER)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(asked.seed)
    judge, tokenizer = shipped(asked.out)
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
    """Fit the head of these rows, and its own layers, to what the layers below make of them."""
    name = examples[0].head
    read = _read(judge.eval(), tokenizer, examples)
    head, layers = judge.heads[name], nn.ModuleList(judge.of(name))
    learning = [weight for weight in layers.parameters() if weight.requires_grad]
    steps = (EPOCHS_OF_LAYERS if name in OWN else EPOCHS) * -(-len(read) // SIZE)
    optimiser = torch.optim.AdamW(
        [
            {"params": list(head.parameters()), "lr": RATE},
            {"params": learning, "lr": RATE_OF_LAYERS},
        ],
        weight_decay=DECAY,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / WARMING, 1 - step / steps)
    )
    head.train(), layers.train()
    for batch in _batches(read, steps, random.Random(seed)):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = judge.above(name, *_filled([states for _, states in batch]))
        optimiser.zero_grad()
        loss(logits.float(), [row for row, _ in batch]).backward()
        nn.utils.clip_grad_norm_([*head.parameters(), *learning], 1.0)
        optimiser.step()
        schedule.step()
    head.eval(), layers.eval()


def _read(judge: Judge, tokenizer: Tokenizer, examples: Sequence[Row]) -> list[Read]:
    found: list[Read] = []
    order = sorted(examples, key=lambda row: len(row.first) + len(row.second or ""))
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for at in range(0, len(order), SIZE):
            batch = order[at : at + SIZE]
            ids, present = fed(tokenizer, batch)
            states = judge.below(batch[0].head, ids, present).half()
            lengths = present.sum(1).int().tolist()
            texts = zip(batch, states, lengths, strict=True)
            found += [(row, known[:length].clone()) for row, known, length in texts]
    return found


def _batches(read: Sequence[Read], steps: int, chance: random.Random) -> Iterator[list[Read]]:
    """Rows of like length, every row once before any comes again."""
    while steps > 0:
        order, found = chance.sample(read, len(read)), []
        for first in range(0, len(order), SIZE * SORTED):
            part = sorted(order[first : first + SIZE * SORTED], key=lambda one: len(one[1]))
            found += [part[at : at + SIZE] for at in range(0, len(part), SIZE)]
        chance.shuffle(found)
        yield from found[:steps]
        steps -= len(found)


def _filled(texts: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The states of texts, filled up to the longest, and which are there."""
    padded = nn.utils.rnn.pad_sequence([text.float() for text in texts], batch_first=True)
    lengths = torch.tensor([len(text) for text in texts])
    return padded, (torch.arange(padded.shape[1]) < lengths[:, None]).float()


if __name__ == "__main__":
    main()
