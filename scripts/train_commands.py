"""Train the examples of texts that command an assistant, from training/.

They stand beside the judge's verdict on a text (kinmem/learn/screen.py): another network reads
them, that of the built-in embedder, and errs elsewhere. Run without an option it writes
kinmem/llm/minilm/commands.npz; with --check it measures batches that neither the judge nor, for
that run, the examples have learned from. See scripts/README.md.
"""

import argparse
import codecs
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from kinmem.learn.screen import Gate  # noqa: E402
from kinmem.llm.base import warm  # noqa: E402
from kinmem.llm.builtin import (  # noqa: E402
    FOLDER,
    BuiltinEmbedder,
    BuiltinJudge,
)
from kinmem.llm.vectors import Kernel  # noqa: E402
from scripts.judge.examples import VALIDATION  # noqa: E402

TRAINING = ROOT / "training"
UNKNOWN_TO_THE_JUDGE = ("commands-1", "commands-8", "commands-9")
# Of .03, .1, .3 and 1 the best with WIDTH .5, .75 and 1, by the area under the curve of the batches
# above; .03 and .1 differ by less than .001.
DECAY = 0.1
# Every so many sentences of talk as harmless: people give orders, to their own assistant. Of 280
# messages of conversations that are not among them 10 are held instead of 16 without.
TALK = 4
# Every so many texts once more in rot13, as harmless: the judge takes what nobody can read for a
# command (50 of 60 harmless texts). Signs are looked for in what such a text hides; an order
# without a sign passes so, as nobody follows it who does not decode it.
UNREADABLE = 12


class Text(NamedTuple):
    batch: str
    text: str
    commands: bool


def texts() -> list[Text]:
    files = [*(TRAINING / "commands").glob("*.jsonl")]
    files += (TRAINING / "not-learned").glob("commands-*.jsonl")
    return [
        Text(file.stem, row["text"], row["label"] == "commands")
        for file in sorted(files)
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]


def said() -> list[Text]:
    """Sentences of people's talk, but of the batches that validate the judge."""
    files = sorted((TRAINING / "talk").glob("*.jsonl"))
    quotes = {
        told["quote"]
        for file in files
        for line in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        for told in (*line["skip"], *line["learn"])
        if file.stem not in VALIDATION
    }
    return [Text("talk", quote, False) for quote in sorted(quotes)[::TALK]]


def learn(embedder: BuiltinEmbedder, known: list[Text], file: Path) -> None:
    unreadable = [each.text for each in known if each.text.isascii()][::UNREADABLE]
    known = known + said()
    known += [Text("rot13", codecs.encode(text, "rot13"), False) for text in unreadable]
    vectors = np.concatenate([embedder.embed([each.text]) for each in known])
    Kernel.write(file, vectors, np.where([each.commands for each in known], 1.0, -1.0), DECAY)


def report(held: Callable[[str], bool], known: list[Text]) -> None:
    for batch in UNKNOWN_TO_THE_JUDGE:
        for commands in (True, False):
            of_it = [
                held(text) for name, text, is_so in known if (name, is_so) == (batch, commands)
            ]
            print(batch, "attacks" if commands else "harmless", f"held {np.mean(of_it):.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="measure, and write nothing")
    only_measured = parser.parse_args().check
    known = texts()
    warm(embedder := BuiltinEmbedder())
    if not only_measured:
        known = [each for each in known if each.batch not in VALIDATION]
        learn(embedder, known, FOLDER / "commands.npz")
        return
    with TemporaryDirectory() as folder:
        file = Path(folder, "commands.npz")
        learn(embedder, [each for each in known if each.batch not in UNKNOWN_TO_THE_JUDGE], file)
        embedder.calibration = replace(embedder.calibration, commands=Kernel(file))
        gate = Gate(BuiltinJudge(), embedder)
        report(lambda text: gate.why(text) is not None, known)


if __name__ == "__main__":
    main()
