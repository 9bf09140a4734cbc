"""kinmem's own judge of language: a small cross-encoder over one text or two, in seven languages.

One encoder with five heads (docs/judge.md). Each pair is judged alone, since an 8-bit model scales
its activations by all that is in a batch (embed_onnx.py).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinmem.errors import ModelError
from kinmem.llm.base import Answering, Relation
from kinmem.llm.deadline import Deadline, Once
from kinmem.llm.naming import SURE, Found, entities, names_in
from kinmem.llm.onnx import reason, session_of
from kinmem.llm.pieces import Window, pieces
from kinmem.llm.words import FOLDER as FOLDER
from kinmem.llm.words import words_of
from kinmem.models import Entity

if TYPE_CHECKING:
    from tokenizers import Encoding

NAME = "builtin/judge"
MOST_PIECES = 112
"""Word pieces of both texts with their marks; it was trained with as many."""
MARKS_OF_TWO = 4
NAMED = 2000
"""Characters in which names are looked for; what comes later is seldom what a text is about."""
REMEMBERED = 4096
"""Verdicts that are kept; upkeep looks at the same pairs again."""
ADVICE = "reinstall kinmem with its dependencies, or set KINMEM_JUDGE=off"


class BuiltinJudge:
    """Implements Judge with the model that comes with kinmem; needs about 75 MB."""

    name = NAME

    def __init__(self, folder: Path = FOLDER) -> None:
        self._parts = Once("loading the judge", lambda: _Parts(folder))
        self._remembered = lru_cache(REMEMBERED)(self.chances)

    @property
    def ready(self) -> bool:
        """Whether it answers without first loading something for a noticeable time."""
        return self._parts.made

    def warm(self) -> None:
        """Load it, now. What is wrong with it is told by whoever asks it."""
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
        """The parts of a text that are read at once, and the names in each. Raises ModelError."""
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
        except Exception as error:  # neither tokenizers nor onnxruntime has a base of its errors
            raise ModelError(f"the judge cannot be loaded ({reason(error)}); {ADVICE}") from error

    def chances(self, head: str, first: str, second: str | None) -> dict[str, float]:
        """The chance of each label of a head. Waits for the model. Raises ModelError."""
        parts = self._loaded(Deadline(None))
        try:
            logits = parts.run(head, first, second)
        except Exception as error:  # as above
            raise ModelError(f"the judge gave no verdict: {reason(error)}") from error
        scaled = logits / parts.temperatures[head]
        odds = np.exp(scaled - scaled.max())
        return dict(zip(parts.labels[head], (odds / odds.sum()).tolist(), strict=True))


class _Parts:
    """What is loaded: the tokenizer, the matrix of words and the network.

    e5/judge.json names for each head its labels in order, and the temperature that its logits are
    divided by, which was fitted on batches that training did not see.
    """

    def __init__(self, folder: Path) -> None:
        told = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
        self.labels: Mapping[str, Sequence[str]] = told["labels"]
        self.temperatures: Mapping[str, float] = told["temperatures"]
        self._words = words_of(folder)
        self._tokenizer = self._words.tokenizer
        self._session = session_of(folder / "judge.onnx")

    def run(self, head: str, first: str, second: str | None) -> Any:
        """Logits of a head, float32, one for each of its labels."""
        return self._run(head, self._read(first, second).ids)

    def tags(self, text: str) -> tuple[list[tuple[int, int]], Any]:
        """Of each piece where it stands and the logits of its tags."""
        read = self._read(text, None)
        return read.offsets, self._run("names", read.ids)

    def cut(self, text: str) -> list[str]:
        """Into parts that are read whole."""
        return pieces(text, Window(len(text), MOST_PIECES - MARKS_OF_TWO, self._count))

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _run(self, output: str, ids: Sequence[int]) -> Any:
        return self._session.run([output], {"words": self._words.vectors(ids)})[0]

    def _read(self, first: str, second: str | None) -> "Encoding":
        """Of two texts that are too long together the longer one is cut."""
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
