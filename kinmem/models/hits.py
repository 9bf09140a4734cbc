"""What becomes of a question: candidates, the reasons of their scores, hits, the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kinmem.models.record import CONVERSATION, TURN, Memory, Scope, Vector


class Part(NamedTuple):
    """A position in a document."""

    number: int
    """Number of the chunk, from 1."""
    of: int
    """Number of chunks in the document."""
    place: str
    """For people: "Budget > Priorities, page 12"; empty if unknown."""
    title: str = ""
    """Title of the document."""


class Candidate(NamedTuple):
    """What scoring needs to know of a memory.

    Recall reads hundreds of them, so it is a bare row.
    """

    id: str
    content: str
    """For a document, the part that was found."""
    source_context: str | None
    category: str
    subject: str | None
    speaker: str | None
    kin: str
    scope: Scope
    state: str
    importance: float | None
    confidence: float
    trust: float
    evidence: float
    recalled_count: int
    said_at: str
    """Times are UTC in ISO 8601, all of the same width, so that they compare as text."""
    content_updated_at: str
    recalled_at: str | None
    place: str | None = None
    valid_to: str | None = None
    superseded_by: str | None = None
    part: Part | None = None
    """For a document, the part that was found."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the store receives it. The limits apply to own memories, and again to what
    others share."""

    words: Sequence[str]
    """Rows with any of these words match. They are plain data: no character is query syntax."""
    vector: Vector | None
    embedder: str
    """The embedder whose vectors are compared with `vector`."""
    nearest: int
    """Limit for candidates by meaning."""
    matching: int
    """Limit for candidates by words."""
    listed: int
    """How far down the word ranking to report ranks for candidates by meaning."""
    context: float = 0.3
    """Weight of a word in the source context; in content and subject it is 1."""
    all_words_first: bool = False
    """Whether rows in which all the words occur as prefixes displace rows with only some of
    them."""
    beginnings: bool = False
    """Whether the words are prefixes, of which a row must have all."""
    also: "Aside | None" = None
    """Memories that become candidates even if neither meaning nor words find them."""
    former: bool = False
    """Whether superseded memories are found as well, in a list of their own."""


@dataclass(frozen=True, slots=True)
class Aside:
    """Memories of one kind near a vector other than the question's; their vectors tell the kind."""

    vector: Vector
    most: int
    """How many of the nearest are examined in each scope."""
    degree: Callable[[Vector], float]
    """How far a memory with this vector is of the kind; 0 for not at all."""


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates for one question, and how they were found."""

    candidates: list[Candidate]
    cosines: dict[str, list[float]]
    """By memory id: the cosine of each chunk, in text order; for a document, of the part that was
    found. Memories without vectors have no entry."""
    nearest: list[str]
    """Memory ids by meaning, nearest first."""
    matches: dict[str, float]
    """BM25 score by memory id, best first."""
    noise: float = 0.0
    """Cosine up to which similarity means nothing."""
    by_time: bool = False
    """Whether all of it was said at the time asked for, which is enough at any distance."""
    threshold: float = 0.0
    """Cosine up to which meaning alone finds nothing, as set by the user."""
    scale: tuple[float, float] | None = None
    """Noise and near level of the cosines, if there are any and the embedder is calibrated. The
    cosines are then on the scale that all embedders share."""
    degraded: tuple[str, ...] = ()
    degrees: Mapping[str, float] = field(default_factory=dict)
    """By memory id: how far it is of the kind that Asked.also looks for, if at all."""
    former: "Found | None" = None
    """The same for superseded memories, if Asked.former is set."""


class Reasons(NamedTuple):
    """The parts of a score, in the order in which they are counted; None for a part that does not
    apply.

    The score is the sum of the parts that LABELS marks with +, times the product of those it marks
    with x; the others only inform. If `semantic` is set, it replaces meaning, words and expansion.
    """

    meaning: float | None = None
    """How close it is to the question in meaning."""
    words: float | None = None
    """How well it matches the question's words."""
    cosine: float | None = None
    """How close it is in meaning, shown when ranks are counted instead of similarity."""
    expansion: float | None = None
    """Added for matching another wording of the question."""
    neighbours: float | None = None
    """Added for its neighbours in the conversation."""
    answers: float | None = None
    """Added for the question asked right before it in the conversation."""
    standing_wish: float | None = None
    """It is a standing instruction that applies to the question."""
    evidence: float | None = None
    not_by_assistant: float | None = None
    named: float | None = None
    """It is said by or about the one person whom the question names."""
    then: float | None = None
    """It was said at the time that the question names."""
    semantic: float | None = None
    recency: float | None = None
    retention: float | None = None
    importance: float | None = None
    confidence: float | None = None
    worth: float | None = None
    decay: float | None = None
    times_retention: float | None = None
    times_importance: float | None = None
    use: float | None = None
    subject: float | None = None
    category: float | None = None
    times_recency: float | None = None
    stale: float | None = None
    elsewhere: float | None = None
    """It belongs to another project than the current one."""
    trust: float | None = None
    """It is what only a tool has said, or what another Kin shares and nobody has confirmed."""
    judge: float | None = None
    """The judge's chance, 0 to 1, that it answers the question."""
    unrelated: float | None = None
    """The judge's chance that it is about something else."""
    judged: float | None = None
    """Added for the judge's verdict."""
    times_likely: float | None = None
    """How likely it answers, as a factor; see confidence.likeliest_first."""
    times_rerank: float | None = None
    plus_rerank: float | None = None
    """The re-ranking model's score, added if there is no score to multiply."""
    rerank: float | None = None
    """The re-ranking model's mark, 0 to 1."""
    touches: float | None = None
    """The chance that it helps with a prompt that asks nothing. The next three fields are the
    evidence."""
    stands_out: float | None = None
    shares: float | None = None
    names: float | None = None

    @property
    def total(self) -> float:
        """The score that the parts add up to."""
        parts, factor = 0.0, 1.0
        for at in ADDED if self.semantic is None else ADDED_LINEARLY:
            parts += self[at] or 0.0
        for at in MULTIPLIED:
            value = self[at]
            if value is not None:
                factor *= value
        return parts * factor

    def labels(self) -> dict[str, float]:
        """Return the parts that apply, under the names shown to people."""
        found = {
            label: value for label, value in zip(LABELS, self, strict=True) if value is not None
        }
        if self.semantic is None:
            return found
        return {STOOD_FOR.get(label, label): value for label, value in found.items()}


# Names of the fields of Reasons, in their order.
LABELS = (
    *("+meaning", "+words", "cosine", "+expansion", "+neighbours", "+answers", "+standing wish"),
    *("+evidence", "+not by an assistant", "+named", "+then"),
    *("+semantic", "+recency", "+retention", "+importance", "+confidence"),
    *("xworth", "xdecay", "xretention", "ximportance", "xuse", "xsubject", "xcategory", "xrecency"),
    *(
        "xstale",
        "xelsewhere",
        "xtrust",
        "judge",
        "unrelated",
        "+judge",
        "xlikely",
        "xrerank",
        "+rerank",
        "rerank",
    ),
    *("touches", "stands out", "shares", "names"),
)
STOOD_FOR = {label: label[1:] for label in ("+meaning", "+words", "+expansion")}
ADDED = tuple(at for at, label in enumerate(LABELS) if label[0] == "+")
ADDED_LINEARLY = tuple(at for at in ADDED if LABELS[at] not in STOOD_FOR)
MULTIPLIED = tuple(at for at, label in enumerate(LABELS) if label[0] == "x")
# Label of a hit that the question did not find, and that is listed because it may supersede one
# that it did.
FETCHED = "newer"


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score and reasons so far."""

    candidate: Candidate
    score: float
    reasons: Reasons


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found for a question, with its score and the reasons for it."""

    memory: Memory
    score: float
    reasons: Reasons
    excerpt: str | None = None
    """The part to show if the whole text would be too long."""
    part: Part | None = None
    """Where the excerpt stands in its document."""
    confidence: float = 1.0
    """The chance, 0 to 1, that it answers the question; see docs/recall.md."""
    newer: str | None = None
    """Id of a newer memory that may have superseded it; set until a review settles the conflict."""
    weak: bool = False
    """Whether its confidence is below the bar: it is related to the question, but hardly answers
    it."""
    is_fetched: bool = False
    """Whether it is listed only because of another hit, so that its score means nothing."""

    @property
    def why(self) -> dict[str, float]:
        """The reasons under the names shown to people.

        Those beginning with + are added up, the sum is multiplied by those beginning with x, and
        the others only inform.
        """
        return {FETCHED: 1.0} if self.is_fetched else self.reasons.labels()

    @property
    def is_turn(self) -> bool:
        """Whether it is a turn of a conversation in the form of a memory."""
        return self.memory.source == CONVERSATION


@dataclass(frozen=True, slots=True)
class Answer:
    """What recall returns."""

    hits: list[Hit]
    """Best first; weak hits come after all others."""
    degraded: tuple[str, ...] = ()
    """What could not be used: embedding (no model), pending (some memories have no vector yet)."""
    abstained: bool = False
    """Whether memories exist but none is likely to answer; all hits, if any, are weak."""
    asked: str | None = None
    """The rewritten question, if a follow-up had to be completed from its conversation."""
    words: tuple[str, ...] = ()
    """The words that were searched for."""
    noise: float = 0.0
    """Cosine up to which similarity means nothing."""
    by_time: bool = False
    """Whether matching the time asked for is enough; see Found."""
    of_past: bool = False
    """Whether the question is about how things stood at a past time."""
    touched: tuple[Hit, ...] = ()
    """For a prompt: memories on its subject, even if none of them answers anything."""


def id_of_message(number: int) -> str:
    """Return the id by which a search finds the message with this number."""
    return f"{TURN}{number}"
