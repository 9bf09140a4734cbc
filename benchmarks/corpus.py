"""Made-up memories in any number: words as frequent as in real language, vectors in clusters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORDS = 20_000
WORDS_A_TEXT = 30
STOP_WORDS = ("the", "a", "of", "and", "to", "in", "was", "it")
CONTENT_WORDS_A_QUESTION = 4
"""The median of LoCoMo's questions, names left out."""
WIDTH = 384
A_CLUSTER = 50
"""Memories about the same thing."""
SPREAD = 0.9
"""Length of what sets a vector apart from its cluster's centre, of length 1: within a cluster the
cosine is then about 0.55, as among turns of one conversation."""
A_SESSION = 20
"""Turns between two people on one day."""
STARTED = date(2020, 1, 1)
PEOPLE = (
    *("Ana", "Bela", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hana", "Ivo", "Jorge"),
    *("Kaya", "Luca", "Mina", "Nils", "Olga", "Pavel", "Rosa", "Samir", "Tilda", "Uma"),
)
SYLLABLES = [
    a + b for a in "bcdfghjklmnprstvz" for b in ("a", "e", "i", "o", "u", "ai", "or", "en")
]

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Corpus:
    """Memories as memorize takes them, questions, and the vector of every text among them."""

    notes: list[Mapping[str, Any]]
    questions: list[str]
    vectors: Rows
    """Those of the notes, then those of the questions."""


def made(count: int, questions: int, *, conversation: bool = False) -> Corpus:
    """`conversation` adds what turns of real talk have: speaker, date, and the neighbours' text."""
    chance = np.random.default_rng(count)
    texts = _texts(chance, count)
    notes: list[Mapping[str, Any]] = [{"content": text} for text in texts]
    if conversation:
        notes = [_turn(texts, at) for at in range(count)]
    asked = chance.choice(count, questions, replace=False)
    vectors = _vectors(chance, count)
    about = _unit(vectors[asked] + _noise(chance, questions))
    return Corpus(
        notes, [_question(chance, texts[at]) for at in asked], np.vstack([vectors, about])
    )


def _vocabulary() -> list[str]:
    """Short words first, since frequent words are short."""
    found = list(SYLLABLES)
    for word in found:
        if len(found) >= WORDS:
            return found[:WORDS]
        found += [word + syllable for syllable in SYLLABLES]
    return found


def _texts(chance: np.random.Generator, count: int) -> list[str]:
    """Zipf's law: the n-th word is 1/n as frequent as the first. A quarter are stop words."""
    words = np.array([*STOP_WORDS, *_vocabulary()])
    weights = 1 / np.arange(1, len(words) + 1)
    drawn = chance.choice(len(words), (count, WORDS_A_TEXT), p=weights / weights.sum())
    return [f"{' '.join(row).capitalize()} {number}." for number, row in enumerate(words[drawn])]


def _turn(texts: Sequence[str], at: int) -> Mapping[str, Any]:
    session = at // A_SESSION
    neighbours = [
        texts[other][:200]
        for other in (at - 1, at + 1)
        if other // A_SESSION == session and other < len(texts)
    ]
    return {
        "content": texts[at],
        "speaker": PEOPLE[(2 * session + at % 2) % len(PEOPLE)],
        "occurred_at": (STARTED + timedelta(days=session % 2000)).isoformat(),
        "source_context": "\n".join(neighbours),
    }


def _question(chance: np.random.Generator, text: str) -> str:
    """A few words of a text, the frequent ones as often as they stand in it."""
    words = sorted(set(text.lower().split()[:-1]) - set(STOP_WORDS))
    size = min(CONTENT_WORDS_A_QUESTION, len(words))
    return f"What was it about {' '.join(chance.choice(words, size, replace=False))}?"


def _vectors(chance: np.random.Generator, count: int) -> Rows:
    centres = _unit(chance.standard_normal((max(1, count // A_CLUSTER), WIDTH)))
    return _unit(centres[chance.integers(len(centres), size=count)] + _noise(chance, count))


def _noise(chance: np.random.Generator, count: int) -> Rows:
    return SPREAD * _unit(chance.standard_normal((count, WIDTH)))


def _unit(rows: NDArray[Any]) -> Rows:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
