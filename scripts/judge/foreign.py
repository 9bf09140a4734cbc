"""By which word pieces of the English model a text is not English: foreign.npy.

Logistic regression on the texts of training/, whole and in spans of a few words, so that every word
learns to tell by itself. Code counts as English: kinmem's own stands for it.
`python -m scripts.judge.foreign` holds out one batch after another and prints how many texts of
each language are told right.
"""

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from kinmem.llm.builtin import FOLDER as ENGLISH
from kinmem.llm.builtin import is_foreign
from kinmem.llm.model_files import open_tokenizer

ROOT = Path(__file__).parents[2]
TRAINING = ROOT / "training"
CODE = ("kinmem/store", "kinmem/llm", "kinmem/cli/install", "kinmem/hooks", "scripts", "benchmarks")
"""Folders without tables of words in other languages."""
LINES = 6
"""Of code, in one text."""
NO_TEXT = ("label", "kind", "lang")
PER_NAT = 20
"""Units of evidence."""
SHORTEST = 4
SPANS = 2
"""Of each text; of at most LONGEST words."""
LONGEST = 6
PRIOR = 0.6
"""Nats that an empty text is English by."""
OTHER_SCRIPT = 3.0
"""Nats of a piece with a letter that is not Latin, at least."""
MOST = 6.0
LATIN = "\u0250"
"""Letters from here on are not."""
DECAY = 1e-6
STEPS, RATE = 250, 0.1
FOLDS = 6
SHORT = 25
"""Characters up to which a text is counted among the short ones, too."""


@dataclass(frozen=True)
class Text:
    batch: str
    language: str
    text: str


def texts() -> list[Text]:
    """All that has one language; each once for a batch."""
    found: dict[Text, None] = {}
    for path in sorted(TRAINING.glob("*/*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if (language := row.get("lang", "")).isalpha():
                told = _strings([value for name, value in row.items() if name not in NO_TEXT])
                found |= dict.fromkeys(Text(path.stem, language, text) for text in told)
    return [*found, *_code()]


def _code() -> Iterator[Text]:
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            lines = path.read_text(encoding="utf-8").splitlines()
            for start in range(0, len(lines), LINES):
                text = "\n".join(lines[start : start + LINES])
                if text.isascii() and len(text) > SHORT:
                    yield Text(folder, "en", text)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        text = value.split(" (said by")[0].strip()
        if len(text) >= SHORTEST:
            yield text
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item["quote"] if isinstance(item, dict) else item)


def evidence(known: Sequence[Text], tokenizer: Tokenizer) -> np.ndarray:
    """What foreign.npy holds: for each word piece the log odds of other languages, in 8 bits."""
    chance = random.Random(2)
    spans = [(span, one.language) for one in known for span in _spans(one.text, chance)]
    read = [(one.text, one.language) for one in known] + spans
    silent = np.array([_is_silent(tokenizer.id_to_token(at)) for at in _all(tokenizer)])
    rows = [ids[~silent[ids]] for ids in _read([text for text, _ in read], tokenizer)]
    weights = _fitted(rows, np.array([language != "en" for _, language in read]), silent.size)
    for at in _all(tokenizer):
        if any(letter.isalpha() and letter >= LATIN for letter in tokenizer.id_to_token(at)):
            weights[at] = max(weights[at], OTHER_SCRIPT)
    weights[tokenizer.token_to_id("[UNK]")] = OTHER_SCRIPT
    rounded: np.ndarray = np.round(np.clip(weights, -MOST, MOST) * PER_NAT).astype(np.int8)
    return rounded


def _all(tokenizer: Tokenizer) -> range:
    return range(tokenizer.get_vocab_size())


def _is_silent(piece: str) -> bool:
    """Numbers and signs are in every language."""
    return piece.startswith("[") or piece.isascii() and not any(map(str.isalpha, piece))


def _spans(text: str, chance: random.Random) -> Iterator[str]:
    words = text.split()
    if len(words) > 2:
        for _ in range(SPANS):
            length = chance.randint(1, min(LONGEST, len(words) - 1))
            start = chance.randrange(len(words) - length + 1)
            yield " ".join(words[start : start + length])


def _read(given: Sequence[str], tokenizer: Tokenizer) -> list[np.ndarray]:
    encoded = tokenizer.encode_batch(list(given), add_special_tokens=False)
    return [np.array(one.ids, np.int64) for one in encoded]


def _fitted(rows: Sequence[np.ndarray], wanted: np.ndarray, pieces: int) -> np.ndarray:
    """Adam on all rows at once: the same every time."""
    flat, of_row = np.concatenate(rows), np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    weights, mean, spread = np.zeros(pieces), np.zeros(pieces), np.zeros(pieces)
    for step in range(1, STEPS + 1):
        odds = np.bincount(of_row, weights[flat], len(rows)) - PRIOR
        apart = (1 / (1 + np.exp(-np.clip(odds, -30, 30))) - wanted) / len(rows)
        slope = np.bincount(flat, apart[of_row], pieces) + DECAY * weights
        mean = 0.9 * mean + 0.1 * slope
        spread = 0.99 * spread + 0.01 * slope**2
        root = np.sqrt(spread / (1 - 0.99**step)) + 1e-10
        weights -= RATE * mean / (1 - 0.9**step) / root
    return weights


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    tokenizer, known = open_tokenizer(ENGLISH / "tokenizer.json"), texts()
    batches = sorted({one.batch for one in known})
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for fold in range(FOLDS):
        held = set(batches[fold::FOLDS])
        found = evidence([one for one in known if one.batch not in held], tokenizer)
        asked = [one for one in known if one.batch in held]
        for one, ids in zip(asked, _read([one.text for one in asked], tokenizer), strict=True):
            is_right = is_foreign(ids, found) == (one.language != "en")
            right["code" if one.batch in CODE else one.language].append(is_right)
            if len(one.text) < SHORT:
                right[f"{one.language}, short"].append(is_right)
    for name, all_of in sorted(right.items()):
        print(f"{name:10} {len(all_of):6} {np.mean(all_of):.2%}")


if __name__ == "__main__":
    main()
