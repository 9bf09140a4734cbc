"""The data types that several parts of kinmem share, without behaviour beyond their fields."""

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
else:  # importing numpy takes 110 ms, and the server answers tools/list without it
    Vector = Vectors = Any

# A callback for long work, called with the count done, the total, and what is being done.
Progress: TypeAlias = Callable[[int, int, str], None]

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
# The forgetting curves. life/retention.py has their formulas.
Curve = Literal["kin", "keyoku", "kore", "kinbot", "kybernesis"]


# The ranking profiles by the names that settings and recall's `mode` use; see recall/profiles.py.
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

# Roles that stand in for a speaker's name.
ROLES = frozenset({"user", "assistant", "tool", "system"})
# The entity that "I" refers to when the speaker's name is not known.
THE_USER = "the user"


class State(StrEnum):
    """Where a memory stands in its life.

    Unless asked otherwise, recall finds active and stale ones only.
    """

    ACTIVE = "active"
    STALE = "stale"
    ARCHIVED = "archived"
    DELETED = "deleted"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"


LIVE = (State.ACTIVE, State.STALE)


# Key in metadata: when an event was told, if its words place it on an earlier day.
TOLD_AT = "told_at"
# Source of a hit that is a turn of a conversation rather than a memory; its id is a turn's.
CONVERSATION = "conversation"
# Prefix of a turn's id; the number of the message follows.
TURN = "turn:"
# Key in ingest_metadata: how many chunks of a document are held back. Absent if none is.
HELD_BACK = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory. Times are aware and in UTC.

    docs/life.md explains state, tier, importance and priority, docs/conversations.md explains
    place, and docs/documents.md explains parts.
    """

    id: str
    kin: str
    """The owner and author."""
    scope: Scope
    content: str
    category: Category
    subject: str | None = None
    source_context: str | None = None
    """One or two sentences that say where it was learned."""
    content_hash: str
    language: str | None = None

    importance: float | None = None
    """1 to 10; None until scored, which is read as 5."""
    confidence: float = 1.0
    evidence: float = 0.0
    """How much of an answer its text can hold, whatever the question (language/weight.py)."""
    pinned: bool = False
    priority: float | None = None
    """0 to 1; None until computed."""
    set_priority: float | None = None
    """The explicit part of the priority as a person has set it; None stands for importance / 10."""

    speaker: str | None = None
    """Who said it: a name, or the role user, assistant or tool."""
    channel: Channel = "explicit"
    trust: float = 0.8
    client: str | None = None
    session: str | None = None
    turn_id: str | None = None
    model: str | None = None
    place: str | None = None
    """The project in which it holds (see models/places.py); None: everywhere."""

    occurred_at: datetime | None = None
    state: State = State.ACTIVE
    state_at: datetime | None = None
    """Since when it has been in this state; None: since it was created."""
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
        """Whether `content` is only the beginning of a longer text that is stored in parts."""
        return "parts" in self.metadata

    @property
    def holds_back(self) -> bool:
        """Whether it is a document with parts that may not be recalled before they are released."""
        return HELD_BACK in self.ingest_metadata

    @property
    def turns(self) -> tuple[str, ...]:
        """The turns it was learned from, the main one first; empty for a memory stored directly."""
        return tuple(self.metadata.get("turns", ())) or ((self.turn_id,) if self.turn_id else ())

    @property
    def said_at(self) -> datetime:
        """When it happened or was said; if that is unknown, when it was stored."""
        return self.occurred_at or self.created_at

    @property
    def told_at(self) -> datetime:
        """When it was said.

        Differs from said_at only if its words name an earlier day (learn/prepare.py).
        """
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
    """The old values of the fields that changed; empty for created."""
    after: Mapping[str, Any]
    reason: str | None = None
    batch: str | None = None
    """Name of a group of writes that are undone together: an import, a turn, a merge."""
    write: int = 0
    """Number of the write it belongs to. A Kin's writes are numbered in their order."""
    reverts: tuple[int, ...] = ()
    """For undone: the writes whose lines about this memory it takes back."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which memories may be found.

    None does not restrict; Filters() finds all active and stale ones.
    """

    category: Category | None = None
    subject: str | None = None
    """Compared case-insensitively."""
    about: tuple[str, ...] = ()
    """Names of entities, folded by text.folded. Finds memories about one of them in addition to
    those of the subject."""
    scope: Scope | None = None
    """private: the Kin's own private memories; shared: everybody's shared ones."""
    tags: tuple[str, ...] = ()
    """A memory needs all of them."""
    since: datetime | None = None
    until: datetime | None = None
    """`since` and `until` compare said_at: since <= said_at < until."""
    as_of: datetime | None = None
    """Find what was valid at that moment, superseded memories included."""
    was: tuple[datetime | None, datetime | None] | None = None
    """Also find what is no longer valid but was at some time in this stretch. A bound of None is
    open."""
    include_archived: bool = False
    pinned: bool = False
    """Find pinned memories only."""
    states: tuple[State, ...] | None = None
    """Find exactly these states, whatever the other fields say."""
    ids: tuple[str, ...] | None = None
    """Find only these memories."""
    places: tuple[str, ...] | None = None
    """Find only what belongs to one of these projects."""
    here: tuple[str, ...] | None = None
    """The current project under all its paths: memories of other projects rank lower ..."""
    only_here: bool = False
    """... or, unless they only tell what happened, are left out."""


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


class Living(NamedTuple):
    """What retention and tiers need to know of one of the Kin's own memories.

    Upkeep reads tens of thousands of them.
    """

    id: str
    scope: Scope
    version: int
    category: str
    importance: float | None
    trust: float
    channel: str
    pinned: bool
    is_tagged: bool
    """Whether a person has tagged it."""
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
    """Number of links with the Kin's own live memories and, for a private memory, with memories
    that others share."""
    recent_links: int = 0
    """Number of those links made in the last week."""
    scored_at: datetime | None = None
    speaker: str | None = None


class Fate(NamedTuple):
    """A new state for one of the Kin's own memories, applied if it is still at that version."""

    memory: Living
    state: State
    action: str
    """Name of the change in the history: faded, revived or expired."""
    reason: str
    since: datetime | None = None
    """When the state begins to hold; None: now."""


class Place(NamedTuple):
    """The new tier and priority for one of the Kin's own memories."""

    memory: Living
    tier: Tier
    reason: str | None
    priority: float


class TierChange(NamedTuple):
    """One move of a memory between tiers."""

    at: datetime
    before: Tier
    after: Tier
    reason: str


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
    judge: float | None = None
    """The judge's chance, 0 to 1, that it answers the question."""
    unrelated: float | None = None
    """The judge's chance that it is about something else."""
    judged: float | None = None
    """Added for the judge's verdict."""
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
    *("xstale", "xelsewhere", "judge", "unrelated", "+judge", "xrerank", "+rerank", "rerank"),
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
    touched: tuple[Hit, ...] = ()
    """For a prompt: memories on its subject, even if none of them answers anything."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing."""

    memories: list[Memory]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """The outcome of storing one memory."""

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
    """updated: the new version of a document replaced the old one. superseded: it was stored and
    replaced others, or, if `supersedes` is empty, it was stored as a past state of affairs.
    conflict: it was stored, and others contradict it."""
    id: str | None = None
    """Where the statement is stored: for duplicate_of and merged_into an older memory; None if
    refused."""
    reason: str | None = None
    """Why it is neither created nor a duplicate. For created: who else shares the same text, or
    that it reads like a question."""
    supersedes: tuple[str, ...] = ()
    """The memories that no longer hold because of it."""
    conflicts: tuple[str, ...] = ()
    """The memories that it contradicts; a person has to decide."""
    category: Category | None = field(default=None, compare=False)
    """The stored category: the one given, else the one its words suggest."""
    importance: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The outcome of forgetting one memory."""

    id: str
    status: Literal["forgotten", "erased"]
    restorable_until: datetime | None = None


IssueKind = Literal["contradiction", "quarantined", "duplicate", "expired", "stale", "clutter"]


@dataclass(frozen=True, slots=True)
class Issue:
    """Something that a review found worth a look. Finding it changes nothing."""

    id: str
    """Names the issue when it is applied or refused; stable as long as the memories do not
    change."""
    type: IssueKind
    memory_ids: tuple[str, ...]
    description: str
    suggestion: Literal["delete", "merge", "update", "keep", "release"]
    suggested_content: str | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """What was done about an issue that the caller applied or refused."""

    issue: str
    kept: str | None
    """The one memory that stays; None if the only one is gone, or if all stay as they were."""
    changed: tuple[tuple[str, str], ...] = ()
    """Each changed memory, with superseded, deleted, updated or released."""
    batch: str | None = None
    """The name under which undo takes it back; None if no memory was changed."""


@dataclass(frozen=True, slots=True)
class Review:
    """What a review found, the clearest issues first."""

    issues: list[Issue]
    summary: str
    degraded: tuple[str, ...] = ()
    """review_model: the configured model could not be asked, and these are the issues that rules
    find."""
    settled: tuple[Settled, ...] = ()
    """The issues that were applied or refused first; `issues` lists what was found after that."""


EntityType = Literal["person", "organization", "location", "product", "concept", "event", "other"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A person or thing that memories are about."""

    name: str
    type: EntityType = "other"
    alias: str | None = None
    """Another name that the memory uses for it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """How one entity relates to another. Both are given by name, in the stored direction."""

    source: str
    relation: str
    target: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The entities that a text is about, and their relations."""

    entities: tuple[Entity, ...] = ()
    """Includes both ends of every relation."""
    relations: tuple[Relation, ...] = ()
    origin: str = "rules"
    """What extracted the relations: rules, or a model's name."""


# What happens to two statements that cannot both hold; the values of KINMEM_CONFLICT_MODE.
ConflictMode = Literal["keep_existing", "use_new", "merge", "ask", "temporal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What a caller wants remembered, not checked yet. Times are text or aware datetimes."""

    content: str
    category: str | None = None
    """None: derived from the words, or fact if they do not say."""
    subject: str | None = None
    importance: float | None = None
    scope: str = "private"
    source_context: str | None = None
    occurred_at: str | datetime | None = None
    """For a turn, when it was said; for anything else, when it happened, if known."""
    tags: tuple[str, ...] = ()
    expires: str | datetime | None = None
    speaker: str | None = None
    channel: Channel = "explicit"
    client: str | None = None
    session: str | None = None
    place: str | None = None
    """The project in which it holds, as a name or a path; None: everywhere."""
    confidence: float = 1.0
    turns: tuple[str, ...] = ()
    """The turns it was learned from, the main one first; at most three."""
    model: str | None = None
    """The model that extracted it; None: rules did, or it was stored directly."""
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    """As a model has extracted them; rules add those they find."""
    quarantine: str | None = None
    """Why it may not be recalled before somebody has reviewed it."""
    updates: str | None = None
    """Id of the memory that it replaces according to a model; ignored unless the Kin owns that
    memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The position of a chunk in its document."""

    start: int
    """In characters. A chunk may repeat the end of the previous one."""
    heading: str = ""
    """The headings above it: "Budget > Priorities"."""
    page: int | None = None
    held: str = ""
    """Why it may not be recalled before somebody has released it; empty: it may be recalled."""

    def __str__(self) -> str:
        page = "" if self.page is None else f"page {self.page}"
        return ", ".join(filter(None, (self.heading, page)))


@dataclass(frozen=True, slots=True)
class Chunks:
    """The parts of one memory's content that are embedded, in order."""

    texts: tuple[str, ...]
    vectors: Vectors | None = None
    """One row per text; None while they are pending."""
    embedder: str | None = None
    """The embedder that made the vectors."""
    places: tuple[Passage, ...] = ()
    """For a document, the position of each text."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A checked memory with its chunks, not stored yet."""

    memory: Memory
    chunks: Chunks
    knowledge: Knowledge | None = None
    """What was extracted from its content; None: not extracted yet."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A chunk that has no vector of a given embedder yet."""

    chunk: int
    """Key of the chunk in its file."""
    is_own: bool
    """Whether its memory is in the Kin's own file; else it is what another Kin shares."""
    memory_id: str
    text: str
    fresh: bool
    """Whether its memory was stored without being compared by meaning with the memories that
    exist."""


@dataclass(frozen=True, slots=True)
class Health:
    """What `doctor` reads of one database file."""

    file: str
    """Path below the home folder."""
    engine: str
    """Versions of the database library and its extensions."""
    application: int
    version: int
    """Version of the schema."""
    memories: int
    words: int
    """Memories in the word index; should equal `memories`."""
    chunks: int
    vectors: Mapping[str, int]
    """Count by embedder; together with those pending it should equal `chunks`."""
    pending: Mapping[str, int]
    damage: tuple[str, ...] = ()
    """What an integrity check found."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many chunks have a vector of one embedder."""

    embedder: str
    dimension: int
    done: int
    total: int
    of_documents: int = 0
    """How many of the chunks without a vector belong to documents."""

    @property
    def share(self) -> float:
        """The share of chunks that have a vector, 0 to 1; 1 if there is nothing to embed."""
        return self.done / self.total if self.total else 1.0
