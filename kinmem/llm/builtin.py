"""The models in the package, 8 bit, run on one thread: an embedder and a judge.

The embedder is two models with one vector space: all-MiniLM-L6-v2 reads English,
multilingual-e5-small everything else (see Languages). The judge is a small cross-encoder over one
text or two, in seven languages; one encoder has five heads (docs/judge.md).

Measured on one core of a Xeon with VNNI, onnxruntime 1.31, in ms per English text: 0.8 for 12
words, 3 for 60 word pieces, 6.3 for the longest. Other languages take two and a half times as long.
Each text, and each pair of the judge, is read alone (onnx.py says why).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from kinmem.errors import ModelError
from kinmem.language import Window, pieces
from kinmem.llm.base import NEAR, NOISE, Answering, Calibration, Purpose, Relation
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.model_files import Files, session_of
from kinmem.llm.naming import SURE, Found, entities, names_in
from kinmem.llm.onnx import FOLDER as E5
from kinmem.llm.onnx import REMEMBERED, OnnxEmbedder, OnnxModel, marked, reason, words_of
from kinmem.llm.vectors import Axis, Kernel, Probe, unit_rows
from kinmem.models import Entity, Vector, Vectors

# multilingual-e5-small puts a sentence and its translations side by side. A linear map from its
# space into that of all-MiniLM-L6-v2, fitted on English texts that both have read, carries the
# other languages over: a Spanish question is compared with German and English memories alike.
OPENINGS: dict[Purpose, str] = {"memory": "passage: ", "question": "query: "}
# The order of the maps in map.npy.
MAPS: tuple[Purpose, ...] = ("memory", "question")
# Positions of the multilingual network, in word pieces; more than the English model's longest part.
PLACES = 160
# Evidence, in 1/20 nat, from which a text counts as not English: odds of three to one.
FOREIGN = 34
# Least evidence per word piece. In BEAM, three of 2,913 long English texts with code in them have
# up to 1.3; of texts in other languages, 98 of 100 have 9 or more.
A_PIECE = 3


Made = TypeVar("Made")


@contextmanager
def _explained(told: str) -> Iterator[None]:
    """Raise ModelError for whatever fails in the block: tokenizers and onnxruntime have no common
    base for errors. `told` says what has failed, with %s for the reason."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(told % reason(error)) from error


class Languages:
    """The half of the embedder for other languages; loads 22 MB when first needed."""

    def __init__(self, folder: Path = E5) -> None:
        self._evidence = Once("loading words", lambda: np.load(folder / "foreign.npy"))
        self._parts = Once(f"loading the languages of {NAME}", lambda: _Parts(folder))

    @property
    def loaded(self) -> bool:
        return self._parts.made

    def is_foreign(self, ids: Sequence[int], time: Deadline) -> bool:
        """Return whether the text is not English; see the function. Raises ModelError."""
        return is_foreign(ids, self._loaded(self._evidence, time))

    def count(self, word: str) -> int:
        """Return the number of word pieces in a word. Raises ModelError."""
        return self._loaded(self._parts, Deadline(None)).words.count(word)

    def load(self, time: Deadline) -> None:
        """Load the models. Raises ModelError if they cannot be loaded, or not in time."""
        self._loaded(self._parts, time)

    def vector(self, text: str, purpose: Purpose) -> Vector:
        """Return the text's vector in the English space, not of unit length. Raises ModelError."""
        parts = self._loaded(self._parts, Deadline(None))
        with _explained(f"{NAME} gave no vector: %s"):
            return parts.vector(text, purpose)

    def _loaded(self, part: Once[Made], time: Deadline) -> Made:
        with _explained(f"{NAME} cannot be loaded (%s); {ADVICE}"):
            return part.get(time)


def is_foreign(ids: Sequence[int], evidence: np.ndarray) -> bool:
    """Return whether a text is not English, given its word pieces in the English model: adds up the
    log odds that foreign.npy holds for each."""
    total = int(evidence[ids].sum(dtype=np.int64))
    return total > max(FOREIGN, A_PIECE * len(ids))


class _Parts:
    def __init__(self, folder: Path) -> None:
        self.words = words_of(folder)
        self._session = session_of(folder / "embedder.onnx")
        maps = np.load(folder / "map.npy").astype(np.float32)
        self._maps = dict(zip(MAPS, maps, strict=True))

    def vector(self, text: str, purpose: Purpose) -> Vector:
        read = self.words.ids(OPENINGS[purpose] + text)[: PLACES - len(marked([]))]
        (made,) = self._session.run(["vector"], {"words": self.words.vectors(marked(read))})
        weights = self._maps[purpose]
        mapped: Vector = made @ weights[:-1] + weights[-1]
        return mapped


FOLDER = Path(__file__).parent / "minilm"
NAME = "builtin/all-MiniLM-L6-v2-e5-small-int8"
# Name stored beside vectors that were made before other languages had a model. Vectors of English
# texts are the same.
ENGLISH = "builtin/all-MiniLM-L6-v2-int8"
WIDTH = 384
# Word pieces of a text that are read; with the two special tokens, the 128 it was trained with.
WINDOW = 126
ADVICE = "reinstall kinmem with its dependencies, or name another model in MEMORY_EMBEDDING_MODEL"


class EnglishEmbedder(OnnxEmbedder):
    """Reads every text as English."""

    # noise: made-up words stay below 0.2 with any text; real questions that share no word with
    # their answer reach 0.25-0.35. duplicate: if the atoms agree, precision on SICK and STS-B is
    # the same from 0.85 up (1.00 and .98 on its halves); 0.95 would miss 39 % of harmless
    # rewordings, 0.90 misses 15 % (docs/benchmarks.md). These are English. For notes in de, fr, es,
    # it, pt, zh (in brackets: as read by the English model) nine of ten questions stay below .27
    # .26 .31 .29 .25 .35 (.42 .50 .54 .49 .50 .64) with unrelated notes, and 99 of 100 unrelated
    # pairs below .48 .50 .51 .55 .47 .59 (.53 .57 .60 .60 .59 .76). Of pairs that only add to each
    # other at most 5 % reach 0.9 (42 % in zh), of contradictions at most 12 %.
    calibration = Calibration(
        noise=NOISE,
        duplicate=0.9,
        near=NEAR,
        cluster=0.6,
        orders=Axis.read(FOLDER / "orders.npy"),
    )

    def __init__(self, model: OnnxModel) -> None:
        super().__init__(model, WIDTH)


class BuiltinEmbedder(EnglishEmbedder):
    """Implements Embedder without key, network or download. Needs about 100 MB for English."""

    calibration = replace(
        EnglishEmbedder.calibration,
        life=Probe.read(FOLDER / "life.npy"),
        once=Probe.read(FOLDER / "once.npy"),
        commands=Kernel(FOLDER / "commands.npz"),
        asks=Probe.read(FOLDER / "asks.npy"),
        replies=Probe.read(FOLDER / "replies.npy"),
    )

    def __init__(self, folder: Path = FOLDER, others: Path = E5) -> None:
        files = Files(folder / "model_int8.onnx", folder / "tokenizer.json", length=WINDOW + 2)
        super().__init__(OnnxModel(ENGLISH, lambda: files, ADVICE))
        self.name = NAME
        self.languages = Languages(others)
        self._remembered_foreign = lru_cache(REMEMBERED)(self.languages.vector)

    @property
    def english(self) -> EnglishEmbedder:
        """The English model alone, as it was before other languages had one."""
        return EnglishEmbedder(self._model)

    def counter(self, text: str) -> Callable[[str], int]:
        """Return what counts the word pieces of a word in the model that reads this text."""
        if self.languages.is_foreign(self._tokens(text), Deadline(None)):
            return self.languages.count
        return lambda word: len(self._tokens(word))

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """See Embedder. Parts of a foreign text fit both models, because the English one takes a
        Thai word of any length for one piece."""
        window = self.window(limit, overlap)
        try:
            if not self.languages.is_foreign(self._tokens(text), Deadline(None)):
                return pieces(text, window)
            self.languages.load(Deadline(None))
        except ModelError:
            return pieces(text, window)
        english, foreign = window.count, self.languages.count
        count = lru_cache(REMEMBERED)(lambda part: max(english(part), foreign(part)))
        return pieces(text, replace(window, count=count))

    def _embedded(self, texts: Sequence[str], purpose: Purpose, time: Deadline) -> Vectors:
        rows = []
        for text in texts:
            time.check(f"embedding {len(texts)} texts with {self.name}")
            if self.languages.is_foreign(self._tokens(text), time):
                self.languages.load(time)
                read = self._remembered_foreign if len(texts) == 1 else self.languages.vector
                rows.append(read(text, purpose))
            else:
                rows.append(self._remembered(text) if len(texts) == 1 else self._vector(text))
        return unit_rows(rows, len(texts), WIDTH, self.name)


# Word pieces of both texts, special tokens included; the length it was trained with.
MOST_PIECES = 112
ROOM = MOST_PIECES - 4  # without the marks of two texts
# Characters that are searched for names. What comes later is seldom what a text is about.
NAMED = 2000
# Verdicts that are cached: upkeep looks at the same pairs again.
REMEMBERED_PAIRS = 4096
# The name of the twelve layers' temperature, beside those of the heads.
DEEPER = "deeper"
# Share of the twelve layers in a verdict. At 10 % of 120 messages that only look like a change,
# 57 % of 120 changes told in passing are noticed, by the six layers alone 42 %, by the twelve alone
# 61 %; of the batches for validation, which are older, the twelve alone know 1 point less.
OF_DEEPER = 2 / 3
# Chance, by the six layers, that both texts are about one thing (same, replaces or contradicts)
# from which the twelve are asked: a third of the pairs that learning reads, and 93 % of changes. At
# .1 it would be 58 % of the pairs and every change.
ABOUT_ONE = 0.3
SAME_OR_CHANGED = frozenset({"same", "replaces", "contradicts"})
JUDGE_ADVICE = "reinstall kinmem with its dependencies, or set KINMEM_JUDGE=off"


class BuiltinJudge:
    """Implements Judge with the model in the package; needs about 75 MB."""

    name = "builtin/judge"

    def __init__(self, folder: Path = E5) -> None:
        self._parts = Once("loading the judge", lambda: _JudgeParts(folder))
        self._remembered = lru_cache(REMEMBERED_PAIRS)(self.chances)

    @property
    def ready(self) -> bool:
        """Whether it can answer without a noticeable load time first."""
        return self._parts.made

    def warm(self) -> None:
        """Load it. If that fails, the next call reports the reason."""
        with suppress(ModelError):
            self._loaded(Deadline(None))

    def relations(
        self, stored: Sequence[str], new: str, *, deadline: float | None = None
    ) -> list[Relation]:
        """See Judge."""
        pairs = [(text, new) for text in stored]
        return [Relation(**chances) for chances in self._each("relation", pairs, deadline)]

    def answers(
        self, question: str, memories: Sequence[str], *, deadline: float | None = None
    ) -> list[Answering]:
        """See Judge."""
        pairs = [(question, text) for text in memories]
        return [Answering(**chances) for chances in self._each("answers", pairs, deadline)]

    def kinds(
        self, sentence: str, around: str = "", *, deadline: float | None = None
    ) -> Mapping[str, float]:
        """See Judge."""
        return self._each("worth", [(sentence, around)], deadline)[0]

    def commands(self, text: str, *, deadline: float | None = None) -> float:
        """See Judge."""
        return self._each("commands", [(text, None)], deadline)[0]["commands"]

    def names(self, text: str, *, deadline: float | None = None) -> tuple[Entity, ...]:
        """See Judge."""
        return entities((part, found) for part, found in self.found(text, deadline))

    def found(
        self, text: str, deadline: float | None = None, sure: float = SURE
    ) -> Iterator[tuple[str, list[Found]]]:
        """Yield the parts in which a text is read, each with the names in it. Raises ModelError."""
        time = Deadline(deadline)
        parts = self._loaded(time)
        with _explained("the judge read no names: %s"):
            for part in parts.cut(text[:NAMED]):
                time.check("reading names")
                yield part, names_in(part, *parts.tags(part), sure)

    def _each(
        self, head: str, pairs: Sequence[tuple[str, str | None]], deadline: float | None
    ) -> list[dict[str, float]]:
        time = Deadline(deadline)
        self._loaded(time)
        found = []
        for first, second in pairs:
            time.check(f"judging {len(pairs)} pairs")
            found.append(self._remembered(head, first, second))
        return found

    def _loaded(self, time: Deadline) -> "_JudgeParts":
        with _explained(f"the judge cannot be loaded (%s); {JUDGE_ADVICE}"):
            return self._parts.get(time)

    def logits(self, head: str, first: str, second: str | None) -> np.ndarray:
        """Return what one network says before it is calibrated, float32, one per label; of
        relations DEEPER names the second network. Raises ModelError."""
        return self._loaded(Deadline(None)).logits(head, first, second)

    def chances(self, head: str, first: str, second: str | None) -> dict[str, float]:
        """Return the chance of each label of a head. Waits for the model. Raises ModelError."""
        parts = self._loaded(Deadline(None))
        with _explained("the judge gave no verdict: %s"):
            found = parts.chances(head, first, second)
        return dict(zip(parts.labels[head], found.tolist(), strict=True))


class _JudgeParts:
    """The loaded parts: words and networks.

    judge.onnx has six layers and every head, relations.onnx twelve and the one for relations; it is
    loaded for the first pair that may be about one thing.
    e5/judge.json names the labels of each head in order, the temperatures by which logits are
    divided, which were fitted on batches that training did not see, and the head for which the
    network's corrections of its last layers count.
    """

    def __init__(self, folder: Path) -> None:
        heads = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
        self.labels: Mapping[str, Sequence[str]] = heads["labels"]
        self._temperatures: Mapping[str, float] = heads["temperatures"]
        self._corrected: str = heads["corrected"]
        self._about_one = [
            at for at, label in enumerate(self.labels["relation"]) if label in SAME_OR_CHANGED
        ]
        self._words = words_of(folder)
        self._session = session_of(folder / "judge.onnx")
        self._deeper = Once(
            "loading the judge's twelve layers", lambda: session_of(folder / "relations.onnx")
        )

    def chances(self, head: str, first: str, second: str | None) -> np.ndarray:
        """Return the chance of each label of a head, float64.

        What may be about one thing is read by both networks; the log chances are then the mean of
        both, those of the twelve layers twice.
        """
        ids = self._read(first, second)
        found = _chances(self._run(head, ids) / self._temperatures[head])
        if head != "relation" or found[self._about_one].sum() < ABOUT_ONE:
            return found
        read = _chances(self._run(DEEPER, ids) / self._temperatures[DEEPER])
        return _chances(np.log(found) * (1 - OF_DEEPER) + np.log(read) * OF_DEEPER)

    def logits(self, head: str, first: str, second: str | None) -> np.ndarray:
        """Return one network's logits, float32, one per label. Of relations DEEPER names the
        second network."""
        logits: np.ndarray = self._run(head, self._read(first, second))
        return logits

    def tags(self, text: str) -> tuple[list[tuple[int, int]], Any]:
        """Return where each piece stands, and the logits of its tags."""
        ids, places = self._words.placed(text)
        return [(0, 0), *places[:ROOM], (0, 0)], self._run("names", marked(ids[:ROOM]))

    def cut(self, text: str) -> list[str]:
        """Cut the text into parts that are read whole."""
        return pieces(text, Window(len(text), ROOM, self._words.count))

    def _run(self, output: str, ids: Sequence[int]) -> Any:
        inputs = {"words": self._words.vectors(ids)}
        if output == DEEPER:
            return self._deeper.get(Deadline(None)).run(["relation"], inputs)[0]
        inputs["corrected"] = np.array(output == self._corrected, np.float32)
        return self._session.run([output], inputs)[0]

    def _read(self, first: str, second: str | None) -> list[int]:
        """Return the pieces of one text or two. If two are too long together, the longer one is
        cut."""
        one = self._words.ids(first)
        if second is None:
            return marked(one[:ROOM])
        two = self._words.ids(second)
        one = one[: max(ROOM // 2, ROOM - len(two))]
        return marked(one, two[: ROOM - len(one)])


def _chances(logits: np.ndarray) -> np.ndarray:
    odds = np.exp((logits - logits.max()).astype(np.float64))
    chances: np.ndarray = odds / odds.sum()
    return chances
