"""Train the judge of what a sentence of talk is, from training/talk/*.jsonl.

Run without an option it writes kinmem/language/talk/worth.npz; with --check it only measures, each
file by what the other ones teach. See scripts/README.md.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from kinmem.language.talk import worth  # noqa: E402
from kinmem.language.talk.statements import Statement, statements  # noqa: E402
from kinmem.language.talk.worth import BUCKETS, Setting, pieces  # noqa: E402

FOLDER = ROOT / "training" / "talk"
EPOCHS, RATE, DECAY = 120, 0.05, 1e-5
STEPS = 31
"""Values of a weight above zero; as many as the file has room for."""
CHOOSES = frozenset({"conversations"})
"""Batches that choose from which probability on a sentence is kept, and are not trained on."""
LEAST_SHARED = 8
"""Characters of a sentence that a quote must hold for its kind to be the sentence's."""
Model = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Example:
    """One sentence, or one quote that is a part of one."""

    text: str
    setting: Setting
    kind: str
    batch: str
    is_sentence: bool


def examples(path: Path) -> Iterator[Example]:
    for line in path.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        quotes = [
            (start := told["text"].find(quote["quote"]), start + len(quote["quote"]), quote["kind"])
            for quote in (*told["learn"], *told["skip"])
        ]
        yield from _of_message(told["text"], told.get("before") or "", quotes, path.stem)


def _of_message(
    message: str, asked: str, quotes: list[tuple[int, int, str]], batch: str
) -> Iterator[Example]:
    found, lines = statements(message), message.count("\n") + 1
    for at, one in enumerate(found):
        if kind := _kind_of(one, quotes):
            setting = Setting(
                before=found[at - 1].text if at else "",
                after=found[at + 1].text if at + 1 < len(found) else "",
                asked="" if at else asked,
                first=at == 0,
                last=at + 1 == len(found),
                lines=lines,
            )
            yield Example(one.text, setting, kind, batch, True)
    spans = {(one.start, one.end) for one in found}
    for start, end, kind in quotes:
        if (start, end) not in spans and end - start < 600 and "\n" not in message[start:end]:
            text = message[start:end].strip(" ,;")
            yield Example(text, Setting(lines=lines, asked=asked), kind, batch, False)


def _kind_of(one: Statement, quotes: list[tuple[int, int, str]]) -> str | None:
    """That of most of the sentence; where a part is worth remembering, that part's."""
    shared: dict[str, int] = {}
    for start, end, kind in quotes:
        length = min(end, one.end) - max(start, one.start)
        if length >= min(LEAST_SHARED, len(one.text) // 2):
            shared[kind] = shared.get(kind, 0) + length
    kept = [kind for kind in shared if kind in worth.KEPT]
    return max(kept or shared, key=lambda kind: shared[kind], default=None)


def varied(found: list[Example]) -> list[Example]:
    """Each as it is, without its capital and full stop, and alone in small letters."""
    plain = [replace(one, text=one.text[:1].swapcase() + one.text[1:].rstrip(".")) for one in found]
    small = [
        replace(one, text=one.text.rstrip(". ").lower(), setting=Setting(asked=one.setting.asked))
        for one in found
    ]
    return [one for one in (*found, *plain, *small) if one.text]


def matrix(found: list[Example]) -> csr_matrix:
    held = [pieces(one.text, one.setting) for one in found]
    ends = np.cumsum([0, *map(len, held)])
    buckets = np.fromiter((bucket for row in held for bucket in row), np.int64, ends[-1])
    values = np.fromiter((value for row in held for value in row.values()), np.float32, ends[-1])
    return csr_matrix((values, buckets, ends), shape=(len(found), BUCKETS))


def fitted(found: list[Example]) -> Model:
    """A multinomial logistic regression, by Adam over all rows at once; the same every time."""
    found = varied(found)
    rows, count = matrix(found), len(worth.KINDS)
    columns = rows.T.tocsr()
    wanted = np.eye(count, dtype=np.float32)[[worth.KINDS.index(one.kind) for one in found]]
    weights, bias = np.zeros((BUCKETS, count), np.float32), np.zeros(count, np.float32)
    means = [(np.zeros_like(values), np.zeros_like(values)) for values in (weights, bias)]
    for epoch in range(1, EPOCHS + 1):
        slope = (chances(rows, (weights, bias)) - wanted) / len(wanted)
        steps = (columns @ slope + DECAY * weights, slope.sum(axis=0))
        for values, step, (first, second) in zip((weights, bias), steps, means, strict=True):
            first += 0.1 * (step - first)
            second += 0.01 * (step**2 - second)
            lifted = np.sqrt(second / (1 - 0.99**epoch)) + 1e-8
            values -= RATE * (first / (1 - 0.9**epoch)) / lifted
    return weights, bias


def chances(rows: csr_matrix, model: Model) -> np.ndarray:
    scores = rows @ model[0] + model[1]
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def report(found: list[Example]) -> None:
    """What is kept, wrongly and rightly, of each file by what the others teach."""
    kinds: list[str] = []
    values: list[np.ndarray] = []
    for batch in sorted({one.batch for one in found}):
        held = [one for one in found if one.batch == batch and one.is_sentence]
        model = fitted([one for one in found if one.batch != batch])
        values.append(chances(matrix(held), model)[:, : len(worth.KEPT)].sum(axis=1))
        _line(batch, values[-1], [one.kind for one in held])
        kinds += [one.kind for one in held]
    chance = np.concatenate(values)
    _line("all", chance, kinds)
    for kind in worth.LEFT:
        of_kind = chance[np.array(kinds) == kind]
        print(f"  {kind}: {(of_kind >= worth.ALONE.enough).sum()} of {len(of_kind)} kept")


def _line(name: str, chance: np.ndarray, kinds: list[str]) -> None:
    wanted = np.isin(kinds, worth.KEPT)
    parts = []
    for least in (0.4, 0.5, 0.6, 0.7):
        kept = chance >= least
        parts.append(
            f"{least}: {(kept & wanted).sum() / wanted.sum():.1%} learned,"
            f" {(kept & ~wanted).sum() / max(1, kept.sum()):.1%} junk"
        )
    print(f"{name} ({len(wanted)}): " + "; ".join(parts), flush=True)


def write(model: Model) -> None:
    weights, bias = model
    scale = (np.abs(weights).max(axis=0) / STEPS).astype(np.float32)
    small = np.round(weights / scale).astype(np.int8)
    np.savez_compressed(worth.FILE, weights=small, scale=scale, bias=bias)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="measure, and write nothing")
    only_measured = parser.parse_args().check
    found = [one for path in sorted(FOLDER.glob("*.jsonl")) for one in examples(path)]
    if only_measured:
        report(found)
    else:
        write(fitted([one for one in found if one.batch not in CHOOSES]))


if __name__ == "__main__":
    main()
