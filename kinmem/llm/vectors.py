"""Checks of vectors, what is learned over them (an axis, a regression, a kernel), and what the
cosines of a model mean.

sqlite-vec accepts NaN, infinity and zero without an error, so each vector is checked here.

Orders ("always show the unit") lie on one side of an axis and statements on the other, whatever
they are about and, with a multilingual model, whatever their language. Of 30 unseen instructions
and 120 statements that share their words, the built-in embedder ranks a pair correctly in 96 of 100
cases, multilingual-e5-small in 99.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from kinmem.errors import ModelError
from kinmem.llm.base import Calibration
from kinmem.models import Vector, Vectors

SMALLEST_NORM = 1e-6
SCALE = 127
"""Of numbers from -1 to 1 in 8 bits."""
BLOCK = 1024
"""Rows in 8 bits that are widened at once."""

ORDERS = (
    "Always reply in Spanish.",
    "Never use bullet points when you answer me.",
    "When I ask about music, include the year of release.",
    "If I mention my car, remind me of the insurance.",
    "Use metric units.",
    "Keep your answers under a hundred words.",
    "For hotel suggestions, only list ones with parking.",
    "Don't show me recipes with pork.",
    "Whenever you write an email for me, keep it formal.",
    "Give examples in Python.",
    "Explain things as if I were a beginner.",
    "Please cite a source for every claim.",
    "Ask before you change any file.",
    "Suggest only places that are open on Sundays.",
    "Before you run a command, tell me what it does.",
    "Round amounts to whole dollars.",
    "Answer in one sentence.",
    "Write code without comments.",
    "No emojis.",
    "Only suggest films that suit children.",
    "Tell me the time in both zones when we plan a call.",
    "Convert miles into kilometres.",
    "Don't forget to mention allergens in recipes.",
    "For anything about my health, remind me to see a doctor.",
    "Call me Captain.",
    "Translate quotations.",
    "Offer a cheaper alternative with every purchase.",
    "Leave out adjectives in my drafts.",
    "Check the spelling before you send something.",
    "Give me the pros and cons when I have to decide.",
    "Mention opening hours with restaurants.",
    "Be honest when my ideas are bad.",
)
# The first half is about the subjects of the orders, so that nothing else tells the two apart.
STATEMENTS = (
    "I speak Spanish at home.",
    "My list of bullet points was too long.",
    "The concert hall was built in 1962.",
    "My car is a blue Volvo.",
    "The tank holds forty litres.",
    "My answer was a hundred words long.",
    "We stayed in a hotel with parking.",
    "My brother doesn't eat pork.",
    "I wrote a formal email to the bank.",
    "The scripts are written in Python.",
    "I am a beginner at chess.",
    "The article had no source for its claim.",
    "The file was changed on Tuesday.",
    "The bakery is open on Sundays.",
    "The command failed on the server.",
    "The bill was rounded to whole dollars.",
    "I bake bread every weekend.",
    "I take the bus to school.",
    "Swimming is my favourite sport.",
    "I tell my sister about my day.",
    "We grow roses behind the house.",
    "My grandmother lives in Turin.",
    "I get headaches from red wine.",
    "My idea for the holidays is a cycling tour.",
    "Thursday is the day for the laundry.",
    "The office has a new coffee machine.",
    "I was on a boat last summer.",
    "The children need new shoes.",
    "I want to learn the guitar.",
    "My plan is to sell the house.",
    "I spend my evenings with old films.",
    "The recipe is from my aunt.",
)


@dataclass(frozen=True)
class Axis:
    """The direction that tells orders from statements for one embedder."""

    direction: Vector
    low: float
    """Position along it below which three of four statements lie."""
    high: float
    """Position along it above which half of the orders lie."""

    def degree(self, vector: Vector) -> float:
        """Return how much the vector is an order, 0 to 1."""
        share = (float(vector @ self.direction) - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))

    def towards(self, vector: Vector, share: float) -> Vector:
        """Return the vector moved by `share` of the direction towards the orders, of unit
        length."""
        moved: Vector = vector + share * self.direction
        return (moved / np.linalg.norm(moved)).astype(np.float32)

    @classmethod
    def between(cls, orders: Vectors, statements: Vectors) -> Self:
        """Measure the axis from an embedder's vectors of ORDERS and STATEMENTS."""
        direction = orders.mean(axis=0) - statements.mean(axis=0)
        direction /= np.linalg.norm(direction)
        low = float(np.quantile(statements @ direction, 0.75))
        return cls(direction, low, high=float(np.median(orders @ direction)))

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read what `write` has written."""
        *direction, low, high = np.load(file)
        return cls(np.array(direction, np.float32), float(low), float(high))

    def write(self, file: Path) -> None:
        """Write the direction and both positions as one row."""
        np.save(file, np.array([*self.direction, self.low, self.high], np.float32))


@dataclass(frozen=True)
class Probe:
    """A logistic regression over an embedder's vectors: how likely something is of a text, or of
    several."""

    weights: Vector
    bias: float

    def chance(self, *vectors: Vector) -> float:
        """0 to 1. What was learned of several vectors takes them in the same order."""
        return float(1 / (1 + np.exp(-(np.concatenate(vectors) @ self.weights + self.bias))))

    @classmethod
    def read(cls, file: Path) -> Self:
        """As `write` has left it."""
        *weights, bias = np.load(file)
        return cls(np.array(weights, np.float32), float(bias))

    def write(self, file: Path) -> None:
        """The weights and the bias, as one row."""
        np.save(file, np.array([*self.weights, self.bias], np.float32))


class Kernel:
    """Examples by an embedder, and how much each speaks for something: what is nearest decides.

    Kernel ridge regression with a Gaussian kernel (Hastie, Tibshirani, Friedman: The Elements of
    Statistical Learning, 5.8): the score of a text is the sum of the examples' weights, each times
    exp(-WIDTH |x - example|²). About 1 for what is among examples, -1 for what is among the others,
    0 far from both.
    """

    WIDTH = 0.75

    def __init__(self, file: Path) -> None:
        """What `write` has left in the file, read when it is first asked."""
        self._file = file

    def score(self, vector: Vector) -> float:
        """Of a vector of unit length. Raises ModelError if the file is not what `write` left."""
        examples, weights = self._read
        scaled = vector / SCALE
        blocks = range(0, len(examples), BLOCK)
        cosines = [examples[at : at + BLOCK].astype(np.float32) @ scaled for at in blocks]
        return float(self.nearness(np.concatenate(cosines)) @ weights)

    @cached_property
    def _read(self) -> tuple["np.ndarray[Any, np.dtype[np.int8]]", Vector]:
        try:
            with self._file.open("rb") as file, np.load(file) as kept:
                return kept["examples"], kept["weights"]
        except (OSError, EOFError, ValueError, KeyError, BadZipFile, zlib.error) as error:
            raise ModelError(
                f"the examples in {self._file} cannot be read ({error}); reinstall kinmem"
            ) from error

    @classmethod
    def nearness(cls, cosines: "np.ndarray[Any, np.dtype[Any]]") -> Any:
        """The kernel of vectors of unit length, by their cosines."""
        return np.exp(2 * cls.WIDTH * (cosines - 1))

    @classmethod
    def write(cls, file: Path, vectors: Vectors, holds: Vector, decay: float) -> None:
        """Learn from vectors of unit length and 1 or -1 for each; `decay` keeps weights small.

        Examples are kept in 8 bits, and the weights are those that fit them so.
        """
        examples = np.round(vectors * SCALE).astype(np.int8)
        rows = examples.astype(np.float64) / SCALE
        weights = np.linalg.solve(cls.nearness(rows @ rows.T) + decay * np.eye(len(rows)), holds)
        np.savez_compressed(file, examples=examples, weights=weights.astype(np.float32))


def unit_rows(rows: object, count: int, width: int | None, model: str) -> Vectors:
    """Return the rows as float32, each scaled to length 1. A `width` of None accepts any.

    Raises ModelError, naming the model, unless they are `count` rows of `width` finite numbers,
    none of them all zeros.
    """
    found = _numbers(rows)
    if found is None or found.ndim != 2:
        raise _fault(model, "something else than rows of numbers")
    if len(found) != count:
        raise _fault(model, f"{len(found)} vectors for {count} texts")
    if found.shape[1] != (width or found.shape[1]) or not found.shape[1]:
        wanted = f" instead of {width}" if width else ""
        raise _fault(model, f"vectors of {found.shape[1]} numbers{wanted}")
    with np.errstate(over="ignore", invalid="ignore"):  # squares may overflow
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise _fault(model, "numbers that are infinite, too large, or not numbers")
    if (lengths <= SMALLEST_NORM).any():
        raise _fault(model, "a vector of zeros")
    return np.asarray(found / lengths, dtype=np.float32)


def _numbers(rows: object) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None":
    try:
        found = np.asarray(rows)
    except ValueError:  # rows of different widths
        return None
    return found.astype(np.float64) if found.dtype.kind in "iuf" else None


def _fault(model: str, what: str) -> ModelError:
    return ModelError(f"the embedding model {model} gave {what}; nothing of it was stored")


# Texts of which no two share a subject, to measure how close a model places unrelated texts.
UNRELATED = (
    "The dishwasher was repaired in March.",
    "Ana is allergic to peanuts.",
    "Der Zug nach Wien fährt um acht.",
    "The deployment runs on three servers.",
    "Mi hermana vive en Sevilla.",
    "We planted tomatoes behind the shed.",
    "Le chat dort sur le canapé.",
    "The invoice is due at the end of June.",
    "Tom practises the cello every evening.",
    "A storm took the roof off the barn.",
    "Il museo è chiuso il lunedì.",
    "Her favourite colour is dark green.",
    "The exam covers chapters four to nine.",
    "O cão precisa de uma vacina.",
    "They argued about the price of the boat.",
    "My password manager syncs badly.",
)
# As far above the noise, in proportion, as the built-in embedder's thresholds.
NEAR_ABOVE_NOISE, DUPLICATE_ABOVE_NOISE = 0.8125, 0.875
# Noise from which a model cannot tell texts apart, so that nothing can be measured.
BLIND = 0.98
UNMEASURED = Calibration(noise=0.5, duplicate=0.95, near=0.85, measured=False)


def calibrated(memories: Vectors, questions: Vectors) -> Calibration:
    """Calibrate a model by its vectors of texts without a common subject, embedded both as memories
    and as questions.

    noise: nine of ten pairs stay below it. The noise level of the built-in embedder, which was
    chosen for the best recall, is the same by this measure (0.18; it counts texts in seven
    languages, which look alike to an English model).
    """
    noise = _noise([float(a @ b) for a, b in combinations(memories, 2)])
    asked = questions @ memories.T
    unrelated = _noise(asked[~np.eye(len(asked), dtype=bool)])
    if noise >= BLIND or unrelated >= BLIND:
        return UNMEASURED
    return Calibration(
        noise,
        duplicate=noise + DUPLICATE_ABOVE_NOISE * (1 - noise),
        near=noise + NEAR_ABOVE_NOISE * (1 - noise),
        unrelated=unrelated,
    )


def _noise(cosines: "Sequence[float] | NDArray[np.float32]") -> float:
    return max(0.0, float(np.quantile(cosines, 0.9)))
