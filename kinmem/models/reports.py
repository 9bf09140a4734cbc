"""What kinmem reports: pages, outcomes of changes, reviews, the state of files and vectors."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from kinmem.models.record import LIVE, Category, Memory
from kinmem.models.turns import Conflict, ConflictStatus


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
class ErasedFromBackups:
    """How far an erasure has come in the backups of a home."""

    rewritten: tuple[str, ...] = ()
    """Paths of the backups that had it and have it no more."""
    later: int = 0
    """Number of backups in the home that are looked at later, by the next sleep cycle."""
    unreached: tuple[str, ...] = ()
    """Paths of backups that are encrypted, elsewhere or damaged, and may still have it."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The outcome of forgetting one memory."""

    id: str
    status: Literal["forgotten", "erased"]
    restorable_until: datetime | None = None
    backups: ErasedFromBackups = ErasedFromBackups()
    still_said_by: tuple[str, ...] = ()
    """Ids of memories that stay in use and say nearly the same, or are in conflict with it."""


IssueKind = Literal["contradiction", "quarantined", "duplicate", "expired", "stale", "clutter"]
Suggestion = Literal["delete", "merge", "update", "keep", "release"]


# What applying an issue does, by its suggestion, or by its type and suggestion.
APPLIED: Mapping[str | tuple[str, str], str] = {
    "delete": "it goes into the bin",
    ("duplicate", "delete"): "what is superfluous goes into the bin",
    "merge": "one memory with the suggested text stands for all",
    "update": "the memory gets the suggested text",
    "keep": "everything stays as it is, and this is not asked again",
    "release": "it is in use again",
    ("contradiction", "update"): "the later memory stays; the earlier one is ended, all of it, and"
    " only answers questions about the past. Can be undone",
    ("contradiction", "delete"): "the later memory stays; the earlier one is ended, all of it, and"
    " only answers questions about the past. Can be undone",
    ("contradiction", "keep"): "both stay, neither is in doubt, and this is not asked again",
}
UNWRITTEN = "nothing, since nobody knows the new text: write it with update_memory"
CUT = "the later memory stays; the earlier one keeps only what it says besides. Can be undone"
REFUSED = {
    True: "all stay as they are, none is in doubt, and this is not asked again",
    False: "it stays as it is, and this is not asked again",
}
KEPT = "the memory that keep names stays; the other one is ended, all of it"


@dataclass(frozen=True, slots=True)
class Issue:
    """Something that a review found worth a look. Finding it changes nothing."""

    id: str
    """Names the issue when it is applied or refused; stable as long as what a review
    looks at does not change, and the same again once a change is undone."""
    type: IssueKind
    memory_ids: tuple[str, ...]
    description: str
    suggestion: Suggestion
    suggested_content: str | None = None
    finding: str = ""
    """What a rule found, as a code, for who says it in another language; empty for a model's
    words."""
    details: Mapping[str, str | int] = field(default_factory=dict)
    """What the description names beside the memories: a word, a count, a date."""

    @property
    def answers(self) -> Mapping[str, str]:
        """What each answer to it does, by how the tools name the answer."""
        several = len(self.memory_ids) > 1
        done = APPLIED.get((self.type, self.suggestion)) or APPLIED[self.suggestion]
        if self.type == "contradiction" and "stays" in self.details:
            done = CUT
        elif self.suggestion == "update" and self.suggested_content is None:
            done = UNWRITTEN
        answers = {"apply": done, "refuse": REFUSED[several]}
        if several and self.type == "contradiction":
            answers["apply with keep"] = KEPT
        return answers

    def staying(self, memories: Iterable[Memory]) -> Memory | None:
        """Return the memory that stays as it is if a contradiction is settled as suggested; None if
        the suggestion is another text."""
        return next((one for one in memories if one.content == self.suggested_content), None)


@dataclass(frozen=True, slots=True)
class Settled:
    """What was done about an issue that the caller applied or refused."""

    issue: str
    kept: str | None
    """The one memory that stays; None if the only one is gone, or if all stay as they were."""
    changed: tuple[tuple[str, str], ...] = ()
    """Each changed memory, with superseded, deleted, updated or released."""
    batch: str | None = None
    """The name under which undo takes it back; None if nothing was done."""


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
    damaged: tuple["Damaged", ...] = ()
    """Rows that are not as they were written."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A row, or something made from rows, that is damaged and left out."""

    file: str
    table: str
    key: str | None
    """Which row; None: the table as a whole."""
    problem: str

    @property
    def told(self) -> str:
        what = f"{self.table} {self.key}" if self.key else self.table
        return f"{what} in {self.file}: {self.problem}"


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


def issue_of(
    kind: IssueKind,
    memories: Sequence[Memory],
    description: str,
    suggestion: Suggestion,
    content: str | None = None,
    finding: str = "",
    **details: str | int,
) -> Issue:
    """Return the issue with its id."""
    ids = tuple(memory.id for memory in memories)
    id = issue_id(kind, memories)
    return Issue(id, kind, ids, description, suggestion, content, finding, details)


def issue_id(kind: IssueKind, memories: Collection[Memory]) -> str:
    """Return ten hexadecimal digits that depend on the kind and on all of the memories that a
    review looks at. So the issue has the same id again once a change was undone."""
    seen = sorted(
        f"{memory.wording} {memory.state in LIVE or memory.state} {memory.content_hash}"
        f" {memory.said_at} {memory.holds_since} {memory.expires_at} {memory.pinned}"
        for memory in memories
    )
    return blake2b("\n".join([kind, *seen]).encode(), digest_size=5).hexdigest()


def refusal(kind: IssueKind, memories: Collection[Memory]) -> frozenset[str]:
    """Return the ids under which a refusal is stored. It is valid as long as the texts are
    unchanged; a new wording may be reviewed again."""
    return frozenset({kind, *(memory.wording for memory in memories)})


LEFT = "kept"
"""The action of a refusal. It changes no memory, so it is not lost when the memory goes."""


def memories_of(refusal: Collection[str]) -> frozenset[str]:
    """Return the ids of the memories that a stored refusal is about."""
    return frozenset(one.partition("@")[0] for one in refusal if "@" in one)


def answered(
    conflicts: Iterable[Conflict],
    refused: Iterable[Collection[str]],
    asked_again: Iterable[Collection[str]] = (),
) -> dict[int, ConflictStatus]:
    """Return what becomes of conflicts, by their ids, when reviews are not to ask about the two
    memories any more: both are kept; and when that is taken back: it is open again."""
    left, asked = set(map(memories_of, refused)), set(map(memories_of, asked_again))
    became: dict[int, ConflictStatus] = {}
    for conflict in conflicts:
        if conflict.status in ("kept_both", "edited") and conflict.ends in asked:
            became[conflict.id] = "open"
        elif conflict.status == "open" and conflict.ends in left:
            became[conflict.id] = "kept_both"
    return became


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of one database file."""

    schema: int
    memories: int
    turns: int
    problems: tuple[str, ...]
    """Damage that was found, in a few words each; empty if the file is sound."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One memory as a file of the home has it now, and as a backup has it."""

    now: str | None
    """The beginning of its text; None: it is not there."""
    then: str | None
    fields: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Other fields that differ, each as it is now and as it was then."""


@dataclass(frozen=True, slots=True)
class FileChanges:
    """What a restore would do to one file: ids of memories, and numbers of messages."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    turns_added: int = 0
    turns_removed: int = 0
    differences: Mapping[str, Difference] = field(default_factory=dict)
    """Of all these memories, by id."""

    @property
    def is_empty(self) -> bool:
        counts = self.turns_added + self.turns_removed
        return not (self.added or self.removed or self.changed or counts)


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of a damaged file."""

    before: int
    """Memories in it."""
    after: int
    brought: tuple[str, ...]
    """What was brought back, and from where, in a few words each."""
    lost: tuple[str, ...]
    """What nothing else holds."""


Earlier = Callable[[], Iterator[tuple[str, Path]]]
"""Yields copies of a file from backups, each with the backup's name, the latest first."""
