"""Trains the judge: batches of the four heads, a rate that rises shortly and falls to zero."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from scripts.judge.examples import EITHER, LABELS, Row
from scripts.judge.network import Judge

SIZE = 24
"""Rows in a batch; all of one head and of like length."""
LENGTH = 112
RATES = (8e-5, 6e-4)
"""From the base on."""
RATES_GOING_ON = (4e-5, 1e-4)
"""Of a judge that has learned already."""
WARMING = 0.06
"""Share of the steps in which the rate rises."""
SMOOTHED = 0.05
SAVED_EVERY = 500
PADDING = 1


@dataclass(frozen=True)
class Plan:
    epochs: float
    seconds: float
    """At most; the rate falls by whichever of both ends first."""
    seed: int
    rates: tuple[float, float]
    """Of the encoder and of the heads, at their highest."""
    state: Path
    """Where it stands, so that it goes on from there after an interruption."""
    bfloat16: bool = False
    """Whether matrices are multiplied in 16 bits: 1.6 times as fast where the processor can."""


def train(judge: Judge, tokenizer: Tokenizer, rows: Sequence[Row], plan: Plan) -> None:
    """Prints the mean loss of each two hundred steps."""
    torch.manual_seed(plan.seed)
    heads = [weight for weight in judge.heads.parameters()]
    known = set(map(id, heads))
    encoder = [w for w in judge.parameters() if w.requires_grad and id(w) not in known]
    optimiser = torch.optim.AdamW([{"params": encoder}, {"params": heads}], weight_decay=0.01)
    steps = int(plan.epochs * len(batches(rows, random.Random(plan.seed))))
    step, begun = _resumed(judge, optimiser, plan, len(rows))
    losses: list[float] = []
    while True:
        for batch in batches(rows, random.Random(plan.seed + step)):
            done = max(step / steps, (time.monotonic() - begun) / plan.seconds)
            if done >= 1:
                return
            rate = min(1.0, (step + 1) / (WARMING * steps)) * (1 - done)
            for group, top in zip(optimiser.param_groups, plan.rates, strict=True):
                group["lr"] = top * rate
            judge.train()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=plan.bfloat16):
                logits = judge(batch[0].head, *fed(tokenizer, batch))
            lost = loss(logits.float(), batch)
            lost.backward()
            nn.utils.clip_grad_norm_([*encoder, *heads], 1.0)
            optimiser.step()
            optimiser.zero_grad()
            step += 1
            losses.append(float(lost.detach()))
            if step % 200 == 0:
                print(f"step {step} of {steps}: {sum(losses[-200:]) / 200:.3f}", flush=True)
            if step % SAVED_EVERY == 0:
                seconds = time.monotonic() - begun
                _save(judge, optimiser, plan, {"rows": len(rows), "step": step, "seconds": seconds})


def batches(rows: Sequence[Row], chance: random.Random) -> list[list[Row]]:
    found = []
    for head in LABELS:
        of_head = [row for row in rows if row.head == head]
        of_head.sort(key=lambda row: len(row.first) + len(row.second or "") + 30 * chance.random())
        found += [of_head[at : at + SIZE] for at in range(0, len(of_head), SIZE)]
    chance.shuffle(found)
    return found


def fed(tokenizer: Tokenizer, rows: Sequence[Row]) -> tuple[Tensor, Tensor]:
    """Ids and which of them are there, filled up to the longest."""
    read = [
        tokenizer.encode(row.first)
        if row.second is None
        else tokenizer.encode(row.first, row.second)
        for row in rows
    ]
    longest = max(len(one.ids) for one in read)
    ids = [one.ids + [PADDING] * (longest - len(one.ids)) for one in read]
    present = [[1.0] * len(one.ids) + [0.0] * (longest - len(one.ids)) for one in read]
    return torch.tensor(ids), torch.tensor(present)


def loss(logits: Tensor, rows: Sequence[Row]) -> Tensor:
    """Cross-entropy of rows of one head, by their weights; of a label that is EITHER, only that it
    is none of the other labels."""
    labels = torch.tensor([row.label for row in rows])
    weights = torch.tensor([row.weight for row in rows])
    known = labels != EITHER
    each = functional.cross_entropy(
        logits, labels.clamp(min=0), label_smoothing=SMOOTHED, reduction="none"
    )
    if not known.all():
        either = logits.log_softmax(1)[:, -2:].logsumexp(1)
        each = torch.where(known, each, -either)
    return (each * weights).sum() / weights.sum()


def _resumed(
    judge: Judge, optimiser: torch.optim.Optimizer, plan: Plan, rows: int
) -> tuple[int, float]:
    """The step it had come to, and when it would have begun without a break. What another training
    has left, with other rows, is passed over."""
    state = torch.load(plan.state, weights_only=True) if plan.state.exists() else {}
    if state.get("rows") != rows:
        return 0, time.monotonic()
    judge.load_state_dict(state["judge"])
    optimiser.load_state_dict(state["optimiser"])
    return state["step"], time.monotonic() - state["seconds"]


def _save(
    judge: Judge, optimiser: torch.optim.Optimizer, plan: Plan, progress: dict[str, float]
) -> None:
    beside = plan.state.with_suffix(".new")
    state = {"judge": judge.state_dict(), "optimiser": optimiser.state_dict()}
    torch.save(state | progress, beside)
    beside.replace(plan.state)
