"""What kinmem asks of a model, whoever provides it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

from kinmem.errors import ModelError
from kinmem.llm.pieces import Window
from kinmem.models import Entity, Vectors

if TYPE_CHECKING:  # 80 ms, and a hook asks no model
    from pydantic import BaseModel

    from kinmem.llm.vectors import Axis, Probe

Shape = TypeVar("Shape", bound="BaseModel")

Purpose = Literal["memory", "question"]
"""What a text is embedded for: some models put a question near its answers, not near its likes."""


NOISE, NEAR = 0.2, 0.85
"""Of the scale that recall compares questions with memories on: the built-in model's own."""


@dataclass(frozen=True)
class Calibration:
    """What similarity means to one embedder; 0.7 of one model is not 0.7 of another.

    The first three are of memories compared with memories, `unrelated` is of questions compared
    with memories: a model may embed the two differently.
    """

    noise: float
    """Cosine that 99 of 100 unrelated pairs stay under; below it nearness says nothing."""
    duplicate: float
    """Cosine from which two texts may be the same statement (their atoms must agree as well)."""
    near: float
    """Cosine from which two texts are worth comparing at all."""
    cluster: float = 0.85
    """Cosine from which memories may belong into one text; a model is asked whether they do."""
    measured: bool = True
    """Whether these numbers were measured for this model; else they are a careful guess."""
    unrelated: float = NOISE
    """Cosine that nine of ten questions stay under with memories about something else."""
    orders: "Axis | None" = field(default=None, compare=False, repr=False)
    """What tells orders from statements, if that was measured."""
    life: "Probe | None" = field(default=None, compare=False, repr=False)
    """What tells people's lives from projects, if that was learned (scripts/train_places.py)."""

    def scaled(self, cosine: float) -> float:
        """A question's cosine with a memory on the one scale: `unrelated` at NOISE, 1 at 1."""
        return NOISE + (1 - NOISE) * (cosine - self.unrelated) / (1 - self.unrelated)


class Embedder(Protocol):
    """Turns texts into unit vectors. One instance may be used by many threads."""

    name: str
    """Stored beside every vector it makes, e.g. "builtin/all-MiniLM-L6-v2-int8"."""
    calibration: Calibration

    @property
    def dimension(self) -> int:
        """Width of its vectors. Raises ModelError if it must ask the provider and cannot."""
        ...

    @property
    def ready(self) -> bool:
        """Whether embed answers without first loading something for a noticeable time."""
        ...

    def warm(self) -> None:
        """Load what embed needs, now; called on a background thread. Never raises."""
        ...

    def window(self, limit: int, overlap: int = 0) -> Window:
        """What of a text it reads at once, of at most `limit` characters; see pieces."""
        ...

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """Consecutive parts of a text, at most `limit` characters each, that the model reads whole.

        A part may repeat whole sentences of the one before, up to `overlap` characters.
        """
        ...

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """One row per text, in order: float32, unit length, finite. No texts: shape (0, dimension).

        `deadline` is a bound in seconds on the whole call, retries included.
        Raises ModelError if the model is missing, late, or returns anything else.
        """
        ...


class ChatModel(Protocol):
    """Answers questions in a given shape. One instance may be used by many threads."""

    name: str
    """As it is stored beside what it wrote, e.g. "ollama/llama3.1"."""

    def answer(self, prompt: str, shape: type[Shape], *, deadline: float | None = None) -> Shape:
        """The reply, validated; one that is not of that shape may be mended once.

        `deadline` is a bound in seconds on all of it, retries and mending included.
        Raises ModelError if the model is missing, late, or still answers anything else.
        """
        ...


class Reranker(Protocol):
    """Reads a question and texts together. One instance may be used by many threads."""

    name: str

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """How well each text answers the question, in order, 0 to 1.

        One that the model left out scores half of the worst of the others. `deadline`: see
        ChatModel.
        Raises ModelError if the model is missing, late, or scores none of them.
        """
        ...


class Relation(NamedTuple):
    """What a new statement is to a stored one: five chances that add up to 1."""

    same: float
    """It says the same in other words."""
    replaces: float
    """It is so now, and the stored one no longer."""
    contradicts: float
    """Both cannot be so, and nothing says which is the newer one."""
    adds: float
    """It is about the same, and both are so."""
    unrelated: float


class Answering(NamedTuple):
    """What a memory is to a question: three chances that add up to 1."""

    answers: float
    """It answers the question, or helps with the command."""
    about: float
    """It is about the same, and does not help."""
    unrelated: float


class Judge(Protocol):
    """Judges language. One instance may be used by many threads.

    All chances are 0 to 1 and calibrated: of the verdicts given with .8, eight in ten hold.
    `deadline`: seconds for the whole call, loading included. All raise ModelError if the judge
    cannot be loaded, or is late.
    """

    name: str

    @property
    def ready(self) -> bool:
        """Whether it answers without first loading something for a noticeable time."""
        ...

    def relations(
        self, stored: Sequence[str], new: str, *, deadline: float | None = None
    ) -> list[Relation]:
        """What `new`, said later, is to each of the stored statements, in order."""
        ...

    def answers(
        self, question: str, memories: Sequence[str], *, deadline: float | None = None
    ) -> list[Answering]:
        """What each memory is to the question or command, in order."""
        ...

    def kinds(
        self, sentence: str, around: str = "", *, deadline: float | None = None
    ) -> Mapping[str, float]:
        """The chance of each kind of talk (docs/judge.md) for a sentence of a message.

        `around`: what it stands in, as `asked | before | after` (learn/worth.py).
        """
        ...

    def commands(self, text: str, *, deadline: float | None = None) -> float:
        """The chance that a text wants to command the assistant that reads it."""
        ...

    def names(self, text: str, *, deadline: float | None = None) -> tuple[Entity, ...]:
        """Whom and what the first 2,000 characters of a text surely name, in order."""
        ...


@dataclass(frozen=True)
class ChatModels:
    """Who is asked for what; None: rules."""

    extraction: ChatModel | None = None
    compacting: ChatModel | None = None
    consolidation: ChatModel | None = None
    review: ChatModel | None = None
    summary: ChatModel | None = None
    rewrite: ChatModel | None = None
    multi_query: ChatModel | None = None
    hyde: ChatModel | None = None
    rerank: Reranker | None = None
    judge: Judge | None = None

    @property
    def expands(self) -> bool:
        """Whether anybody thinks of other wordings of a question."""
        return self.multi_query is not None or self.hyde is not None

    @property
    def reranks(self) -> bool:
        return self.rerank is not None


def warm(model: ChatModel | Reranker | Judge) -> None:
    """Load what it needs for its first answer, if that takes a noticeable time. Asks nobody."""
    load = getattr(model, "warm", None)
    if load is not None:
        load()


class NoEmbedder:
    """Implements Embedder and is never ready: words have to do where nobody waits."""

    name = "none"
    calibration = Calibration(noise=0.0, duplicate=1.0, near=1.0)
    ready = False

    @property
    def dimension(self) -> int:
        """Raises ModelError: it makes no vectors."""
        raise ModelError("there is no embedder here; words alone are searched")

    def warm(self) -> None:
        """Nothing to load."""

    def window(self, limit: int, overlap: int = 0) -> Window:
        return Window(limit, limit, len, overlap)

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        return [text]

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """Raises ModelError."""
        raise ModelError("there is no embedder here; words alone are searched")
