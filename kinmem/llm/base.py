"""The interfaces that kinmem needs of a model, whoever provides it; and the chunks of a text, of
which each gets a vector."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

from kinmem.errors import ModelError
from kinmem.language import Window
from kinmem.models import Chunks, Entity, Vectors
from kinmem.text import in_first_person

if TYPE_CHECKING:  # importing pydantic takes 80 ms, and a hook asks no model
    from pydantic import BaseModel

    from kinmem.llm.vectors import Axis, Kernel, Probe


Shape = TypeVar("Shape", bound="BaseModel")

# What a text is embedded for. Some models place a question near its answers, not near similar
# questions.
Purpose = Literal["memory", "question"]

# The scale on which recall compares questions with memories: that of the built-in embedder.
NOISE, NEAR = 0.2, 0.85


@dataclass(frozen=True)
class Calibration:
    """What cosines mean for one embedder: 0.7 of one model is not 0.7 of another.

    `noise`, `duplicate` and `near` hold for memories compared with memories, `unrelated` for
    questions compared with memories: a model may embed the two differently.
    """

    noise: float
    """Cosine that 99 of 100 unrelated pairs stay below; a cosine below it means nothing."""
    duplicate: float
    """Cosine from which two texts may be the same statement (their atoms must agree as well)."""
    near: float
    """Cosine from which two texts are worth comparing."""
    cluster: float = 0.85
    """Cosine from which memories may belong into one text. A model is then asked whether they
    do."""
    measured: bool = True
    """Whether the numbers were measured for this model rather than being a careful guess."""
    unrelated: float = NOISE
    """Cosine that nine of ten questions stay below with memories about something else."""
    orders: "Axis | None" = field(default=None, compare=False, repr=False)
    """What tells orders from statements, if that was measured."""
    life: "Probe | None" = field(default=None, compare=False, repr=False)
    """What tells people's lives from projects, if that was learned (scripts/train_places.py)."""
    once: "Probe | None" = field(default=None, compare=False, repr=False)
    """What tells a day to come from one of every week, if that was learned
    (scripts/train_days.py)."""
    commands: "Kernel | None" = field(default=None, compare=False, repr=False)
    """What tells texts that command an assistant, if learned (scripts/train_commands.py)."""
    asks: "Probe | None" = field(default=None, compare=False, repr=False)
    """What tells questions, as people type them, from statements, if that was learned
    (scripts/train_replies.py)."""
    replies: "Probe | None" = field(default=None, compare=False, repr=False)
    """What tells replies that answer, by the vectors of reply and question in one row, if that was
    learned (likewise)."""

    def scaled(self, cosine: float) -> float:
        """Convert the cosine of a question and a memory to the shared scale, linearly: `unrelated`
        becomes NOISE, and 1 stays 1."""
        return NOISE + (1 - NOISE) * (cosine - self.unrelated) / (1 - self.unrelated)


class Embedder(Protocol):
    """Turns texts into unit vectors. One instance may be used by many threads."""

    name: str
    """Stored beside every vector, e.g. "builtin/all-MiniLM-L6-v2-int8"."""
    calibration: Calibration

    @property
    def dimension(self) -> int:
        """The width of the vectors.

        Raises ModelError if it must ask the provider for it and cannot.
        """
        ...

    @property
    def ready(self) -> bool:
        """Whether embed can answer without a noticeable load time first."""
        ...

    def warm(self) -> None:
        """Load what embed needs. Called on a background thread. Never raises."""
        ...

    def window(self, limit: int, overlap: int = 0) -> Window:
        """Return how much of a text the model reads at once, up to `limit` characters; see
        pieces."""
        ...

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        """Cut a text into consecutive parts of at most `limit` characters that the model reads
        whole.

        A part may repeat whole sentences of the previous one, up to `overlap` characters.
        """
        ...

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """Return one row per text, in order: float32, unit length, finite. For no texts: shape (0,
        dimension).

        `deadline` limits the whole call, retries included, in seconds.
        Raises ModelError if the model is missing, late, or returns anything else.
        """
        ...


class ChatModel(Protocol):
    """Answers prompts in a given shape. One instance may be used by many threads."""

    name: str
    """Stored beside what the model wrote, e.g. "ollama/llama3.1"."""

    def answer(self, prompt: str, shape: type[Shape], *, deadline: float | None = None) -> Shape:
        """Return the validated reply. A reply of the wrong shape may be corrected once.

        `deadline` limits the whole call, retries and correction included, in seconds. Raises
        ModelError if the model is missing, late, or its corrected reply still has the wrong shape.
        """
        ...


class Reranker(Protocol):
    """Scores texts by reading each together with the question.

    One instance may be used by many threads.
    """

    name: str

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """Return how well each text answers the question, in order, 0 to 1.

        A text that the model left out gets half of the lowest score. For `deadline`, see ChatModel.
        Raises ModelError if the model is missing, late, or scores none of the texts.
        """
        ...


class Relation(NamedTuple):
    """How a new statement relates to a stored one: five chances that add up to 1."""

    same: float
    """Both say the same, perhaps in other words."""
    replaces: float
    """The new one holds now, and the stored one no longer."""
    contradicts: float
    """They cannot both hold, and nothing says which is newer."""
    adds: float
    """They are about the same thing, and both hold."""
    unrelated: float


class Answering(NamedTuple):
    """How a memory relates to a question: three chances that add up to 1."""

    answers: float
    """It answers the question, or helps with the command."""
    about: float
    """It is about the same thing, but does not help."""
    unrelated: float


class Judge(Protocol):
    """Judges language. One instance may be used by many threads.

    Chances are between 0 and 1 and calibrated: of the verdicts given with 0.8, eight in ten are
    right. `deadline` is in seconds for the whole call, loading included. Every method raises
    ModelError if the judge cannot be loaded or is late.
    """

    name: str

    @property
    def ready(self) -> bool:
        """Whether it can answer without a noticeable load time first."""
        ...

    def relations(
        self, stored: Sequence[str], new: str, *, deadline: float | None = None
    ) -> list[Relation]:
        """Return how `new`, which was said later, relates to each stored statement, in order."""
        ...

    def answers(
        self, question: str, memories: Sequence[str], *, deadline: float | None = None
    ) -> list[Answering]:
        """Return how each memory relates to the question or command, in order."""
        ...

    def kinds(
        self, sentence: str, around: str = "", *, deadline: float | None = None
    ) -> Mapping[str, float]:
        """Return the chance of each kind of talk (docs/judge.md) for a sentence of a message.

        `around` is the sentence's context, written as `asked | before | after`
        (learn/worth_keeping.py).
        """
        ...

    def commands(self, text: str, *, deadline: float | None = None) -> float:
        """Return the chance that a text tries to give commands to the assistant that reads it."""
        ...

    def names(self, text: str, *, deadline: float | None = None) -> tuple[Entity, ...]:
        """Return the entities that the first 2,000 characters of a text name with certainty, in
        order."""
        ...


@dataclass(frozen=True)
class ChatModels:
    """The models by purpose; None: rules do the work."""

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
        """Whether a model proposes other wordings of a question."""
        return self.multi_query is not None or self.hyde is not None

    @property
    def reranks(self) -> bool:
        return self.rerank is not None


def warm(model: ChatModel | Reranker | Judge) -> None:
    """Load what the model needs for its first answer, if that takes a noticeable time.

    Asks no provider.
    """
    load = getattr(model, "warm", None)
    if load is not None:
        load()


logger = logging.getLogger(__name__)

# Kybernesis' chunk sizes for chat, in characters: parts of up to 800 that repeat up to 80.
SIZE = 800
OVERLAP = 80
# Every window in use holds this much Latin text, so that counting word pieces (40 µs) is
# unnecessary.
SURELY_READ = 250

# Chunks that are embedded before their memory is stored. A memory of several is compared by its
# words alone, so nobody waits for their vectors: 64 KiB without spaces are over 300, each 20 ms.
MOST_AT_ONCE = 16


def chunks_of(content: str, embedder: Embedder) -> tuple[str, ...]:
    """Return the parts of a text that get a vector each, in order.

    A short text is its own only part.
    """
    if is_surely_one(content):
        return (content,)
    return tuple(embedder.pieces(content, SIZE, OVERLAP))


def is_surely_one(content: str) -> bool:
    """Return whether the text is its own only part with any embedder."""
    return len(content) <= SURELY_READ and content.isascii()


def embedded(chunks: Chunks, embedder: Embedder) -> Chunks:
    """Return the chunks with vectors, or without if the embedder is not ready or they are many: the
    worker adds them later."""
    if not embedder.ready or len(chunks.texts) > MOST_AT_ONCE:
        return chunks
    try:
        vectors = embedder.embed([in_first_person(text) for text in chunks.texts])
    except ModelError as error:
        logger.warning("stored without vectors for now: %s", error)
        return chunks
    return Chunks(chunks.texts, vectors, embedder.name)
