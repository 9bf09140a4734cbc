"""Which texts are held back because they want to command an assistant, and which should not be.

A file of texts, each a line of JSON as in training/commands: `python -m benchmarks commands FILE`,
or KINMEM_BENCH_COMMANDS. Without it, it is a batch that the judge was not trained with, but that
its threshold was chosen by.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Table, Target
from kinmem.learn.screen import Gate
from kinmem.settings import load
from kinmem.wiring.open_memory import chat_models, embedder_named

FILE = Path(__file__).parent.parent / "training" / "commands" / "commands-1.jsonl"
SHORT = 60


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """By the signs of an order alone and with the judge: what is caught, and false alarms."""
    path = Path(os.environ.get("KINMEM_BENCH_COMMANDS", FILE))
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = rows[:SHORT] if short else rows
    settings = load(environment={})
    gates = (Gate(), Gate(chat_models(settings).judge, embedder_named("builtin", settings)))
    held = [[gate.why(row["text"]) is not None for gate in gates] for row in rows]
    lines = [
        (
            f"{label}, {language}",
            sum(told := [_is(row, label, language) for row in rows]),
            *(_share(told, [one[at] for one in held]) for at in (0, 1)),
        )
        for label in ("commands", "harmless")
        for language in ("all", *sorted({row["lang"] for row in rows}))
    ]
    header = ("texts", "count", "held by signs", "by signs or the judge")
    return [Table(f"Texts that command: {path.stem}", header, [one for one in lines if one[1]])], []


def _is(row: dict[str, str], label: str, language: str) -> bool:
    return row["label"] == label and language in ("all", row["lang"])


def _share(told: Sequence[bool], held: Sequence[bool]) -> str:
    found = sum(one and of_it for one, of_it in zip(held, told, strict=True))
    return f"{found}, {found / max(1, sum(told)):.1%}"
