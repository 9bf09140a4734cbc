"""Train the judge of what a sentence of talk is, from training/talk/*.jsonl.

    python scripts/train_worth.py           # measures by leaving out one file after another, then writes
    python scripts/train_worth.py --check   # measures only
"""

import argparse
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from kinmem.rules.talk.features import BUCKETS, Setting, pieces  # noqa: E402
from kinmem.rules.talk.statements import Statement, statements  # noqa: E402
from kinmem.rules.talk.worth import FILE, KINDS
from kinmem.rules.talk.worth import ENOUGH, KEPT as LEARN, LEFT as SKIP  # noqa: E402

FOLDER = ROOT / "training" / "talk"
EPOCHS, RATE, DECAY = 80, 0.05, 1e-4


@dataclass(frozen=True)
class Example:
    text: str
    setting: Setting
    kind: str
    batch: str
    lang: str
    mixed: bool = False


def settings_of(found, message, asked):
    lines = message.count("\n") + 1
    for at, one in enumerate(found):
        yield Setting(
            before=found[at - 1].text if at else "",
            after=found[at + 1].text if at + 1 < len(found) else "",
            asked=asked if at == 0 else "",
            first=at == 0,
            last=at + 1 == len(found),
            lines=lines,
        )


def examples(path: Path) -> list[Example]:
    made = []
    for line in path.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        message, asked = told["text"], told.get("before") or ""
        quotes = []
        for what in ("learn", "skip"):
            for quote in told[what]:
                start = message.find(quote["quote"])
                quotes.append((start, start + len(quote["quote"]), quote["kind"]))
        found = statements(message)
        for one, setting in zip(found, settings_of(found, message, asked)):
            over = {}
            for start, end, kind in quotes:
                shared = min(end, one.end) - max(start, one.start)
                if shared >= min(8, len(one.text) // 2):
                    over[kind] = over.get(kind, 0) + shared
            kinds = [kind for kind in over if kind in LEARN] or list(over)
            if kinds:
                kind = max(kinds, key=over.get)
                mixed = bool(set(over) & set(LEARN)) and bool(set(over) & set(SKIP))
                made.append(Example(one.text, setting, kind, path.stem, told.get("lang", "en"), mixed))
        spans = {(one.start, one.end) for one in found}
        for start, end, kind in quotes:
            if (start, end) not in spans and end - start < 600 and "\n" not in message[start:end]:
                text = message[start:end].strip(" ,;")
                made.append(Example(text, Setting(lines=message.count("\n") + 1, asked=asked), kind, path.stem + "+", told.get("lang", "en")))
    return made


def matrix(found: list[Example]) -> np.ndarray:
    rows = np.zeros((len(found), BUCKETS), np.float32)
    for at, one in enumerate(found):
        for bucket, value in pieces(one.text, one.setting).items():
            rows[at, bucket] = value
    return rows


def trained(rows: np.ndarray, kinds: np.ndarray, epochs=EPOCHS, rate=RATE, decay=DECAY):
    """Weights and biases of a multinomial logistic regression, by Adam over all rows at once."""
    count = len(KINDS)
    weights, bias = np.zeros((rows.shape[1], count), np.float32), np.zeros(count, np.float32)
    state = [np.zeros_like(weights), np.zeros_like(weights), np.zeros_like(bias), np.zeros_like(bias)]
    wanted = np.eye(count, dtype=np.float32)[kinds]
    for epoch in range(1, epochs + 1):
        slope = (probabilities(rows, weights, bias) - wanted) / len(rows)
        steps = (rows.T @ slope + decay * weights, slope.sum(axis=0))
        for at, (values, step) in enumerate(zip((weights, bias), steps)):
            first, second = state[2 * at], state[2 * at + 1]
            first += 0.1 * (step - first)
            second += 0.01 * (step**2 - second)
            lifted = np.sqrt(second / (1 - 0.99**epoch)) + 1e-8
            values -= rate * (first / (1 - 0.9**epoch)) / lifted
    return weights, bias


def probabilities(rows, weights, bias):
    scores = rows @ weights + bias
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def varied(found: list[Example]) -> list[Example]:
    """Each as it is, without its capital and full stop, and alone in small letters."""
    plain = [replace(one, text=one.text[:1].swapcase() + one.text[1:].rstrip(".")) for one in found]
    small = [
        replace(one, text=one.text.rstrip(". ").lower(), setting=Setting(asked=one.setting.asked))
        for one in found
    ]
    return [one for one in (*found, *plain, *small) if one.text]


def fitted(found: list[Example]):
    found = varied(found)
    return trained(matrix(found), np.array([KINDS.index(one.kind) for one in found]))


def write(weights: np.ndarray, bias: np.ndarray) -> None:
    scale = (np.abs(weights).max(axis=0) / 127).astype(np.float32)
    np.savez_compressed(FILE, weights=np.round(weights / scale).astype(np.int8), scale=scale, bias=bias)


def report(found: list[Example]) -> None:
    """What is kept, wrongly and rightly, of each file by what the others teach."""
    chances, wanted, kinds = [], [], []
    for batch in sorted({one.batch.rstrip("+") for one in found}):
        held = [one for one in found if one.batch == batch]
        weights, bias = fitted([one for one in found if one.batch.rstrip("+") != batch])
        chances.append(probabilities(matrix(held), weights, bias)[:, : len(LEARN)].sum(axis=1))
        wanted.append(np.array([one.kind in LEARN for one in held]))
        kinds += [one.kind for one in held]
        _line(batch, chances[-1], wanted[-1])
    chance, want = np.concatenate(chances), np.concatenate(wanted)
    _line("all", chance, want)
    for kind in SKIP:
        of_kind = chance[np.array(kinds) == kind]
        print(f"  {kind}: {(of_kind >= ENOUGH).sum()} of {len(of_kind)} kept")


def _line(name: str, chance: np.ndarray, wanted: np.ndarray) -> None:
    parts = []
    for least in (0.4, 0.5, 0.6, 0.7):
        kept = chance >= least
        parts.append(
            f"{least}: {(kept & wanted).sum() / wanted.sum():.1%} learned,"
            f" {(kept & ~wanted).sum() / max(1, kept.sum()):.1%} junk"
        )
    print(f"{name} ({len(wanted)}): " + "; ".join(parts), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="measure, and write nothing")
    only_measured = parser.parse_args().check
    found = [one for path in sorted(FOLDER.glob("*.jsonl")) for one in examples(path)]
    if only_measured:
        report(found)
    else:
        write(*fitted(found))


if __name__ == "__main__":
    main()
