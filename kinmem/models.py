"""The nouns that several parts of kinmem share, with no behaviour beyond their fields."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
    """Shape (dimension,), float32, unit length."""
    Vectors: TypeAlias = NDArray[np.float32]
    """Shape (count, dimension), float32, each row of unit length."""
else:  # numpy takes 110 ms to import, and the server answers tools/list without it
    Vector = Vectors = Any

Progress: TypeAlias = Callable[[int, int, str], None]
"""Told of something long: done, total, what is being done."""

Scope = Literal["private", "shared"]
Category = Literal[
    "fact",
    "preference",
    "decision",
    "knowledge",
    "identity",
    "relationship",
    "event",
    "activity",
    "plan",
    "context",
    "ephemeral",
]
CATEGORIES: tuple[Category, ...] = get_args(Category)
OF_ITS_TIME: frozenset[Category] = frozenset({"event", "ephemeral"})
"""What is so each time anew; all else is so until something else is said."""
Channel = Literal["user", "explicit", "extraction", "consolidation", "import"]
Tier = Literal["hot", "warm", "archive"]
Curve = Literal["kin", "keyoku", "kore", "kinbot", "kybernesis"]
"""How memories fade; retention.py has the formulas."""


Mode = Literal[
    "relevance",
    "kinbot",
    "kore",
    "recent",
    "important",
    "historical",
    "comprehensive",
    "balanced",
]
"""The ranking profiles, as settings and recall's `mode` name them; recall/profiles.py has them."""

ROLES = frozenset({"user", "assistant", "tool", "system"})
"""What a speaker may be instead of somebody with a name."""
THE_USER = "the user"
"""The entity that whoever says "I" is, without a name."""


class State(StrEnum):
    """Where a memory stands in its life; only active and stale ones are recalled unasked."""

    ACTIVE = "active"
    STALE = "stale"
    ARCHIVED = "archived"
    DELETED = "deleted"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"


LIVE = (State.ACTIVE, State.STALE)


TOLD_AT = "told_at"
"""In metadata: when it was said, of what happened on an earlier day that its words name."""
CONVERSATION = "conversation"
"""Source of a hit that is no memory but something said; its id is that of a turn."""
TURN = "turn:"
"""How such ids begin; the number of the message follows."""
HELD_BACK = "held"
"""In ingest_metadata: how many chunks of a document are held back. Without it none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing remembered. Times are aware and in UTC. docs/life.md explains state,
    tier, importance and priority, docs/conversations.md place, docs/documents.md parts."""

    id: str
    kin: str
    """Owner and author."""
    scope: Scope
    content: str
    category: Category
    subject: str | None = None
    source_context: str | None = None
    """One or two sentences: where it was learned."""
    content_hash: str
    language: str | None = None

    importance: float | None = None
    """1 to 10; None until scored, and then read as 5."""
    confidence: float = 1.0
    evidence: float = 0.0
    """How much of an answer its text can hold, whatever the question (language/weight.py)."""
    pinned: bool = False
    priority: float | None = None
    """0 to 1, computed; None until it was."""
    set_priority: float | None = None
    """What a person has set as its explicit part; None: importance / 10."""

    speaker: str | None = None
    """Who said it: a name, or the role user, assistant or tool."""
    channel: Channel = "explicit"
    trust: float = 0.8
    client: str | None = None
    session: str | None = None
    turn_id: str | None = None
    model: str | None = None
    place: str | None = None
    """The project in which it holds, see places.py; None: everywhere."""

    occurred_at: datetime | None = None
    state: State = State.ACTIVE
    state_at: datetime | None = None
    """Since when; None: since it was created."""
    tier: Tier = "warm"
    tier_reason: str | None = None
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str | None = None

    recalled_count: int = 0
    recalled_at: datetime | None = None

    created_at: datetime
    content_updated_at: datetime
    scored_at: datetime | None = None
    deleted_at: datetime | None = None

    generation: int = 0
    manual_tags: tuple[str, ...] = ()
    auto_tags: tuple[str, ...] = ()

    title: str | None = None
    description: str | None = None
    source: str = "tool"
    source_ref: str | None = None
    status: Literal["pending", "ingested", "failed"] = "ingested"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    ingest_metadata: Mapping[str, Any] = field(default_factory=dict)
    tagged_at: datetime | None = None
    linked_at: datetime | None = None

    version: int = 1

    @property
    def tags(self) -> tuple[str, ...]:
        """Manual tags, then automatic ones that do not repeat them."""
        return self.manual_tags + tuple(
            tag for tag in self.auto_tags if tag not in self.manual_tags
        )

    @property
    def is_document(self) -> bool:
        """Whether its content is only how a longer text begins, which is read by its parts."""
        return "parts" in self.metadata

    @property
    def holds_back(self) -> bool:
        """Whether it is a document parts of which must not be recalled before it is released."""
        return HELD_BACK in self.ingest_metadata

    @property
    def turns(self) -> tuple[str, ...]:
        """The turns it was learned from, the main one first; none for what was told directly."""
        return tuple(self.metadata.get("turns", ())) or ((self.turn_id,) if self.turn_id else ())

    @property
    def said_at(self) -> datetime:
        """When it happened or was said; when it was stored, if that is not known."""
        return self.occurred_at or self.created_at

    @property
    def told_at(self) -> datetime:
        """When it was said; said_at, unless its words name an earlier day (learn/prepare.py)."""
        told = self.metadata.get(TOLD_AT)
        return datetime.fromisoformat(told) if told else self.said_at


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a memory's history."""

    seq: int
    at: datetime
    kin: str
    memory_id: str
    action: str
    """created, updated, moved, forgotten, restored, erased, superseded, merged, consolidated,
    compressed, recalibrated, pruned, purged, released, faded, revived, expired, undone, linked.
    """
    before: Mapping[str, Any]
    """The fields that changed, as they were; empty for created."""
    after: Mapping[str, Any]
    reason: str | None = None
    batch: str | None = None
    """What several writes belong to that are undone together: an import, a turn, a merge."""
    write: int = 0
    """Number of the write it is part of; a Kin's writes are numbered in their order."""
    reverts: tuple[int, ...] = ()
    """Of undone: the writes whose lines about this memory it takes back."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which memories may be found at all. None restricts nothing; Filters() finds the live ones."""

    category: Category | None = None
    subject: str | None = None
    """Compared without regard to case."""
    about: tuple[str, ...] = ()
    """Names of entities, as text.folded gives them: beside those of the subject, what is about one
    of these."""
    scope: Scope | None = None
    """private: own private ones; shared: everybody's shared ones."""
    tags: tuple[str, ...] = ()
    """All of them."""
    since: datetime | None = None
    until: datetime | None = None
    """Both compare said_at: since <= said_at < until."""
    as_of: datetime | None = None
    """What was valid at that moment, superseded ones included."""
    was: tuple[datetime | None, datetime | None] | None = None
    """What is so no longer as well, if it was at some time of this stretch; None: unbounded."""
    include_archived: bool = False
    pinned: bool = False
    """Only those."""
    states: tuple[State, ...] | None = None
    """Exactly these states, whatever else is said."""
    ids: tuple[str, ...] | None = None
    """Only among these."""
    places: tuple[str, ...] | None = None
    """Only what belongs to one of these projects."""
    here: tuple[str, ...] | None = None
    """The project at hand, under all its paths: what belongs to another ranks lower ..."""
    only_here: bool = False
    """... or, unless it only tells what happened, is left out."""


class Part(NamedTuple):
    """Where in a document something stands."""

    number: int
    """Of the chunk, from 1."""
    of: int
    """How many chunks there are."""
    place: str
    """For people: "Budget > Priorities, page 12"; empty if nobody can tell."""
    title: str = ""
    """Of the document."""


class Candidate(NamedTuple):
    """What scoring needs to know of a memory; read by the hundred, so it is a row and no more."""

    id: str
    content: str
    """Of a document the part that was found."""
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
    """Times are UTC in ISO 8601, of one width."""
    content_updated_at: str
    recalled_at: str | None
    place: str | None = None
    part: Part | None = None
    """Of a document: which part was found."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as a store takes it. The numbers hold for each scope, private and shared."""

    words: Sequence[str]
    """Rows with any of them match. Data: no character of them is query syntax."""
    vector: Vector | None
    embedder: str
    """Whose vectors are compared with `vector`."""
    nearest: int
    """Most candidates by meaning."""
    matching: int
    """Most candidates by words."""
    listed: int
    """How far down the word ranks are told, for candidates by meaning."""
    context: float = 0.3
    """Weight of a word in the source context, beside 1 in content and subject."""
    all_words_first: bool = False
    """Whether rows that have all the words, as beginnings of theirs, leave the others out."""
    also: Sequence[str] = ()
    """Ids of memories that are candidates whether or not meaning or words find them."""


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of one question and how they were found."""

    candidates: list[Candidate]
    cosines: dict[str, list[float]]
    """By id: of each chunk, in the order of the text; of a document the part's that was found. No
    key for memories without vectors."""
    nearest: list[str]
    """Ids by meaning, nearest first."""
    matches: dict[str, float]
    """By id: BM25, best first."""
    noise: float = 0.0
    """Cosine up to which nearness says nothing."""
    threshold: float = 0.0
    """Cosine up to which meaning alone finds nothing, as the user has set it."""
    scale: tuple[float, float] | None = None
    """Noise and near of the cosines, if the embedder was measured and there are any: then they are
    on the scale that all embedders share."""
    degraded: tuple[str, ...] = ()


class Living(NamedTuple):
    """What retention and tiers need to know of an own memory; read by the ten thousand."""

    id: str
    scope: Scope
    version: int
    category: str
    importance: float | None
    trust: float
    channel: str
    pinned: bool
    is_tagged: bool
    """By hand."""
    set_priority: float | None
    priority: float | None
    state: str
    state_at: datetime | None
    tier: Tier
    tier_reason: str | None
    recalled_count: int
    recalled_at: datetime | None
    created_at: datetime
    content_updated_at: datetime
    expires_at: datetime | None
    links: int = 0
    """With living own memories, and of a private one with what others share."""
    recent_links: int = 0
    """Those of the last week."""
    scored_at: datetime | None = None
    speaker: str | None = None


class Fate(NamedTuple):
    """A new state for an own memory that is still at that version."""

    memory: Living
    state: State
    action: str
    """What the history calls it: faded, revived or expired."""
    reason: str
    since: datetime | None = None
    """From when it holds; None: from now."""


class Place(NamedTuple):
    """Tier and priority that an own memory is to have."""

    memory: Living
    tier: Tier
    reason: str | None
    priority: float


class TierChange(NamedTuple):
    """One move of a memory from tier to tier."""

    at: datetime
    before: Tier
    after: Tier
    reason: str


class Reasons(NamedTuple):
    """What a score is made of, in the order in which it is counted; None where it does not apply.

    The score is the sum of what LABELS marks with +, times the product of what it marks with x; the
    rest informs. Where `semantic` is set, it stands for meaning, words and expansion.
    """

    meaning: float | None = None
    """How near it is to the question."""
    words: float | None = None
    """How well it matches word by word."""
    cosine: float | None = None
    """How near it is, where ranks are counted in place of nearness."""
    expansion: float | None = None
    """What another wording of the question adds."""
    neighbours: float | None = None
    """What stood next to it in a conversation adds."""
    answers: float | None = None
    """The question right before it adds."""
    standing_wish: float | None = None
    """It is an instruction that the question falls under."""
    evidence: float | None = None
    not_by_assistant: float | None = None
    named: float | None = None
    """It is said by or about the one person that the question names."""
    then: float | None = None
    """It was said at the time named."""
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
    """It belongs to another project than the one at hand."""
    judge: float | None = None
    """The chance, 0 to 1, that it answers, where the judge of language has read it."""
    unrelated: float | None = None
    """The chance that it is about something else."""
    judged: float | None = None
    """What the judge adds."""
    times_rerank: float | None = None
    plus_rerank: float | None = None
    """The score of a re-ranking model, where there was none to be multiplied."""
    rerank: float | None = None
    """The mark of that model, 0 to 1."""
    touches: float | None = None
    """The chance that it helps with a prompt that asks nothing, and what speaks for that."""
    stands_out: float | None = None
    shares: float | None = None
    names: float | None = None

    @property
    def total(self) -> float:
        """The score that they make."""
        parts, factor = 0.0, 1.0
        for at in ADDED if self.semantic is None else ADDED_LINEARLY:
            parts += self[at] or 0.0
        for at in MULTIPLIED:
            value = self[at]
            if value is not None:
                factor *= value
        return parts * factor

    def labels(self) -> dict[str, float]:
        """What applies, under the names that people are shown."""
        found = {
            label: value for label, value in zip(LABELS, self, strict=True) if value is not None
        }
        if self.semantic is None:
            return found
        return {STOOD_FOR.get(label, label): value for label, value in found.items()}


LABELS = (
    *("+meaning", "+words", "cosine", "+expansion", "+neighbours", "+answers", "+standing wish"),
    *("+evidence", "+not by an assistant", "+named", "+then"),
    *("+semantic", "+recency", "+retention", "+importance", "+confidence"),
    *("xworth", "xdecay", "xretention", "ximportance", "xuse", "xsubject", "xcategory", "xrecency"),
    *("xstale", "xelsewhere", "judge", "unrelated", "+judge", "xrerank", "+rerank", "rerank"),
    *("touches", "stands out", "shares", "names"),
)
"""Of Reasons, in their order."""
STOOD_FOR = {label: label[1:] for label in ("+meaning", "+words", "+expansion")}
ADDED = tuple(at for at, label in enumerate(LABELS) if label[0] == "+")
ADDED_LINEARLY = tuple(at for at in ADDED if LABELS[at] not in STOOD_FOR)
MULTIPLIED = tuple(at for at, label in enumerate(LABELS) if label[0] == "x")
FETCHED = "newer"
"""Label of a hit that the question did not find: because of it another may hold no longer."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its reasons so far."""

    candidate: Candidate
    score: float
    reasons: Reasons


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, with its score and the reasons for it."""

    memory: Memory
    score: float
    reasons: Reasons
    excerpt: str | None = None
    """The part to show where the whole would be too long."""
    part: Part | None = None
    """Where in its document the excerpt stands."""
    confidence: float = 1.0
    """How likely it is, 0 to 1, that it answers the question; see docs/recall.md."""
    newer: str | None = None
    """The id of a newer memory that may have taken its place, until a review has settled it."""
    weak: bool = False
    """Whether it is below the bar: it shares something with the question, and hardly answers it."""
    is_fetched: bool = False
    """Whether it is there for another's sake, so that its score says nothing."""

    @property
    def why(self) -> dict[str, float]:
        """The reasons by the names that people are shown: those beginning with + are added up, then
        the sum is multiplied by those beginning with x; the others inform."""
        return {FETCHED: 1.0} if self.is_fetched else self.reasons.labels()

    @property
    def is_turn(self) -> bool:
        """Whether it is no memory but something said in a conversation, in the form of one."""
        return self.memory.source == CONVERSATION


@dataclass(frozen=True, slots=True)
class Answer:
    """What recall returns."""

    hits: list[Hit]
    """Best first, the weak ones after the others."""
    degraded: tuple[str, ...] = ()
    """What could not be used: embedding (no model), pending (some memories have no vector yet)."""
    abstained: bool = False
    """Something is stored, and nothing of it is likely to answer: all hits, if any, are weak."""
    asked: str | None = None
    """What was searched for in place of the question, which only its conversation explains."""
    words: tuple[str, ...] = ()
    """What was searched for word by word."""
    noise: float = 0.0
    """Cosine up to which nearness says nothing; -1 where the time asked for is answer enough."""
    touched: tuple[Hit, ...] = ()
    """Of a prompt: what it touches, though it may not answer anything."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing."""

    memories: list[Memory]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of one thing that was to be memorized."""

    status: Literal[
        "created",
        "duplicate_of",
        "merged_into",
        "superseded",
        "conflict",
        "quarantined",
        "refused",
        "updated",
    ]
    """updated: the new version of a document is in place of the old one.
    superseded: stored, and others gave way to it; where it supersedes nothing it is itself what
    was so before. conflict: stored, and others contradict it."""
    id: str | None = None
    """Where it stands now: on duplicate_of and merged_into an older memory, None when refused."""
    reason: str | None = None
    """Why, for whatever is neither created nor a duplicate; of what was created, who else shares
    the same text, or that it reads as a question."""
    supersedes: tuple[str, ...] = ()
    """What is true no longer because of it."""
    conflicts: tuple[str, ...] = ()
    """What it contradicts; somebody has to decide."""
    category: Category | None = field(default=None, compare=False)
    """Of what was stored: as it was given, else as its words say."""
    importance: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What became of a memory that was to be forgotten."""

    id: str
    status: Literal["forgotten", "erased"]
    restorable_until: datetime | None = None


IssueKind = Literal["contradiction", "quarantined", "duplicate", "expired", "stale", "clutter"]


@dataclass(frozen=True, slots=True)
class Issue:
    """Something a review found worth a look; nothing is changed by finding it."""

    id: str
    """Stable while the memories are as they are; for applying or refusing it."""
    type: IssueKind
    memory_ids: tuple[str, ...]
    description: str
    suggestion: Literal["delete", "merge", "update", "keep", "release"]
    suggested_content: str | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """What was done about an issue that the caller named."""

    issue: str
    kept: str | None
    """The one memory that stays; None: the only one is gone, or all stay as they were."""
    changed: tuple[tuple[str, str], ...] = ()
    """Each memory that was changed, with superseded, deleted, updated or released."""
    batch: str | None = None
    """The name by which undo takes it back; None: no memory was changed."""


@dataclass(frozen=True, slots=True)
class Review:
    """What a review found, the clearest first."""

    issues: list[Issue]
    summary: str
    degraded: tuple[str, ...] = ()
    """review_model: the configured model could not be asked; what rules find is here."""
    settled: tuple[Settled, ...] = ()
    """What was applied or refused first; `issues` is what was found after that."""


EntityType = Literal["person", "organization", "location", "product", "concept", "event", "other"]


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something that memories are about."""

    name: str
    type: EntityType = "other"
    alias: str | None = None
    """Another name that the memory has for it as well."""


@dataclass(frozen=True, slots=True)
class Relation:
    """How one entity stands to another; both by name, in the direction in which it is stored."""

    source: str
    relation: str
    target: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Whom and what a text is about, and how they stand to each other."""

    entities: tuple[Entity, ...] = ()
    """The ends of all relations among them."""
    relations: tuple[Relation, ...] = ()
    origin: str = "rules"
    """Who read the relations out of the text: rules, or a model's name."""


ConflictMode = Literal["keep_existing", "use_new", "merge", "ask", "temporal"]
"""What becomes of two statements that cannot both be so: the settings' KINMEM_CONFLICT_MODE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a caller wants remembered, before it is checked. Times are text or aware datetimes."""

    content: str
    category: str | None = None
    """None: what its words say; fact, where nobody asks them."""
    subject: str | None = None
    importance: float | None = None
    scope: str = "private"
    source_context: str | None = None
    occurred_at: str | datetime | None = None
    """Of a turn when it was said; of anything else when it happened, if that is known."""
    tags: tuple[str, ...] = ()
    expires: str | datetime | None = None
    speaker: str | None = None
    channel: Channel = "explicit"
    client: str | None = None
    session: str | None = None
    place: str | None = None
    """The project in which it holds: a name, or a path; None: everywhere."""
    confidence: float = 1.0
    turns: tuple[str, ...] = ()
    """The turns it was learned from, the main one first; at most three."""
    model: str | None = None
    """Which model read it out of them; None: rules, or nobody had to."""
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    """As a model has read them; rules add what they find."""
    quarantine: str | None = None
    """Why it must not be recalled before somebody has looked at it."""
    updates: str | None = None
    """Id of the memory that it takes the place of, if that is one's own; a model said so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Where in a document a chunk stands."""

    start: int
    """In characters; a chunk may repeat the end of the one before."""
    heading: str = ""
    """The headings it stands under: "Budget > Priorities"."""
    page: int | None = None
    held: str = ""
    """Why it must not be recalled before somebody has released it; empty: it may."""

    def __str__(self) -> str:
        page = "" if self.page is None else f"page {self.page}"
        return ", ".join(filter(None, (self.heading, page)))


@dataclass(frozen=True, slots=True)
class Chunks:
    """The parts of one memory's content that are searched by meaning, in order."""

    texts: tuple[str, ...]
    vectors: Vectors | None = None
    """One row per text; None: pending."""
    embedder: str | None = None
    """Who made the vectors."""
    places: tuple[Passage, ...] = ()
    """Of a document: where each of the texts stands in it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A checked memory with its chunks; not stored yet."""

    memory: Memory
    chunks: Chunks
    knowledge: Knowledge | None = None
    """What was read out of its content; None: it is still to be read."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A chunk that has no vector of some embedder yet."""

    chunk: int
    """Key of the chunk in its file."""
    scope: Scope
    memory_id: str
    text: str
    fresh: bool
    """Whether its memory was stored without being compared with what is known by meaning."""


@dataclass(frozen=True, slots=True)
class Health:
    """What one file of a store says about itself; see doctor."""

    file: str
    """Below the home folder."""
    engine: str
    """Versions of the database and its extensions."""
    application: int
    version: int
    """Of the schema."""
    memories: int
    words: int
    """Memories in the word index; as many as there are."""
    chunks: int
    vectors: Mapping[str, int]
    """By embedder; with those pending as many as there are chunks."""
    pending: Mapping[str, int]
    damage: tuple[str, ...] = ()
    """What an integrity check found."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far an embedder's vectors reach."""

    embedder: str
    dimension: int
    done: int
    total: int
    of_documents: int = 0
    """Of the chunks that lack a vector those of documents."""

    @property
    def share(self) -> float:
        """Between 0 and 1; 1 where there is nothing to embed."""
        return self.done / self.total if self.total else 1.0
