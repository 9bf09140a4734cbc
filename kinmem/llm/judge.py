"""The built-in judge: a small cross-encoder over one text or two, in seven languages.

One encoder has five heads (docs/judge.md). Pairs are judged one at a time, since an 8-bit model
scales its activations by everything in a batch (onnx.py).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Answering, Relation, Window
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.naming import SURE, Found, entities, names_in
from kinmem.llm.onnx import FOLDER as FOLDER
from kinmem.llm.onnx import reason, session_of, words_of
from kinmem.llm.prompts import pieces
from kinmem.models import Entity

if TYPE_CHECKING:
    from tokenizers import Encoding

NAME = "builtin/judge"
# Word pieces of both texts, special tokens included; the length it was trained with.
MOST_PIECES = 112
MARKS_OF_TWO = 4
# Characters that are searched for names. What comes later is seldom what a text is about.
NAMED = 2000
# Verdicts that are cached: upkeep looks at the same pairs again.
REMEMBERED = 4096
ADVICE = "reinstall kinmem with its dependencies, or set KINMEM_JUDGE=off"


class BuiltinJudge:
    """Implements Judge with the model in the package; needs about 75 MB."""

    name = NAME

    def __init__(self, folder: Path = FOLDER) -> None:
        self._parts = Once("loading the judge", lambda: _Parts(folder))
        self._remembered = lru_cache(REMEMBERED)(self.chances)

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
        return [
            Relation(**chances)
            for chances in self._each("relation", [(text, new) for text in stored], deadline)
        ]

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
        try:
            for part in parts.cut(text[:NAMED]):
                time.check("reading names")
                yield part, names_in(part, *parts.tags(part), sure)
        except ModelError:
            raise
        except Exception as error:  # as below
            raise ModelError(f"the judge read no names: {reason(error)}") from error

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

    def _loaded(self, time: Deadline) -> "_Parts":
        try:
            return self._parts.get(time)
        except ModelError:
            raise
        except Exception as error:  # tokenizers and onnxruntime have no common base for errors
            raise ModelError(f"the judge cannot be loaded ({reason(error)}); {ADVICE}") from error

    def chances(self, head: str, first: str, second: str | None) -> dict[str, float]:
        """Return the chance of each label of a head. Waits for the model. Raises ModelError."""
        parts = self._loaded(Deadline(None))
        try:
            logits = parts.run(head, first, second)
        except Exception as error:  # as above
            raise ModelError(f"the judge gave no verdict: {reason(error)}") from error
        scaled = logits / parts.temperatures[head]
        odds = np.exp(scaled - scaled.max())
        return dict(zip(parts.labels[head], (odds / odds.sum()).tolist(), strict=True))


class _Parts:
    """The loaded parts: tokenizer, word matrix and network.

    e5/judge.json names the labels of each head in order, and the temperature by which its logits
    are divided, which was fitted on batches that training did not see.
    """

    def __init__(self, folder: Path) -> None:
        heads = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
        self.labels: Mapping[str, Sequence[str]] = heads["labels"]
        self.temperatures: Mapping[str, float] = heads["temperatures"]
        self._words = words_of(folder)
        self._tokenizer = self._words.tokenizer
        self._session = session_of(folder / "judge.onnx")

    def run(self, head: str, first: str, second: str | None) -> Any:
        """Return the logits of a head, float32, one per label."""
        return self._run(head, self._read(first, second).ids)

    def tags(self, text: str) -> tuple[list[tuple[int, int]], Any]:
        """Return where each piece stands, and the logits of its tags."""
        read = self._read(text, None)
        return read.offsets, self._run("names", read.ids)

    def cut(self, text: str) -> list[str]:
        """Cut the text into parts that are read whole."""
        return pieces(text, Window(len(text), MOST_PIECES - MARKS_OF_TWO, self._count))

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _run(self, output: str, ids: Sequence[int]) -> Any:
        return self._session.run([output], {"words": self._words.vectors(ids)})[0]

    def _read(self, first: str, second: str | None) -> "Encoding":
        """Encode one text or two. If two texts together are too long, the longer one is cut."""
        one = self._tokenizer.encode(first, add_special_tokens=False)
        if second is None:
            one.truncate(MOST_PIECES - MARKS_OF_TWO)
            return self._tokenizer.post_process(one, None, True)
        two = self._tokenizer.encode(second, add_special_tokens=False)
        room = MOST_PIECES - MARKS_OF_TWO
        half = room // 2
        one.truncate(max(half, room - len(two.ids)))
        two.truncate(room - len(one.ids))
        return self._tokenizer.post_process(one, two, True)
