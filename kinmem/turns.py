"""The nouns of a conversation: what was said, shown, summarised, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict

from kinmem.models import Chunks, Draft, Knowledge, Memory, Note, Scope

Role = Literal["user", "assistant", "tool", "system"]
"""user: a person, whatever their name. system: a client's own summary of what it has dropped."""
SPEAKING: Mapping[str, Role] = {"assistant": "assistant", "tool": "tool"}
"""Speakers that are no person."""
Happening = Literal["prompt", "answer", "tool", "summary"]
"""What observe is told of."""
ROLE_OF: Mapping[Happening, Role] = {
    "prompt": "user",
    "answer": "assistant",
    "tool": "tool",
    "summary": "system",
}


class Circumstances(TypedDict, total=False):
    """What may be known of something said, besides its words."""

    speaker: str | None
    """A person's name."""
    at: str | datetime | None
    """When; None: now."""
    tool: str | None
    part: str
    """The call's id, of what a tool said."""
    client: str | None
    place: str | None
    """The folder the session works in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One thing said. A turn is what a person says and everything until they speak again.

    Stored once for each (session, turn, role, part); nothing secret or private is in `text`.
    """

    id: int = 0
    """In the order of storing, from 1; 0: not stored yet."""
    session: str
    turn: str
    """What the client calls the turn: its prompt id."""
    role: Role
    part: str = ""
    """Tells several of one role in one turn apart: a tool call's id."""
    text: str
    speaker: str | None = None
    """A person's name; None: the role says it."""
    tool: str | None = None
    """Which tool's output it is."""
    spill: str | None = None
    """File below the home folder that held the whole output, of which `text` is the preview."""
    client: str | None = None
    place: str | None = None
    """The folder the session works in."""
    said_at: datetime

    learned_at: datetime | None = None
    tries: int = 0
    """How often learning from it has failed."""
    due_at: datetime | None = None
    """Not to be tried again before; None: now, or never if it is parked."""
    parked: bool = False
    """Given up until somebody asks for it; see Turns.retry."""
    problem: str | None = None
    """Why the last try failed."""
    snapshot: int | None = None
    """The summary that stands for it."""

    @property
    def who(self) -> str:
        """The speaker's name, else the role."""
        return self.speaker or self.role


CLIENT = "client"
"""Author of the summaries that clients make when they compact their context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A summary that stands for the oldest turns of a session, or is a client's own."""

    id: int = 0
    session: str
    summary: str
    model: str
    """Who wrote it: a model's name, extractive, or CLIENT."""
    first: int
    last: int
    """Ids of the messages it reaches from and to."""
    seen: int = 0
    """Id of the session's latest message when it was made."""
    turns: int
    """How many it stands for; a client's stands beside them."""
    depth: int = 0
    """0: made from turns; above: from summaries."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation, as far as it has been observed."""

    name: str
    client: str | None
    place: str | None
    first_at: datetime
    last_at: datetime
    turns: int
    messages: int


@dataclass(frozen=True, slots=True)
class Shown:
    """What a session has been told of the memory since its context was last compacted."""

    texts: tuple[str, ...] = ()
    """Blocks as they were shown, in order."""
    memories: Mapping[str, int] = field(default_factory=dict)
    """Ids of the memories in them, with the version that was shown."""


@dataclass(frozen=True, slots=True)
class Change:
    """Fields of a memory that are to be set, as Store.update does it."""

    id: str
    fields: Mapping[str, Any]
    action: str
    reason: str | None = None
    version: int | None = None
    """Only if it is at this version; None: whatever it is at."""
    chunks: Chunks | None = None
    """Must come with new content."""
    reverts: Sequence[int] = ()
    """Writes whose lines about this memory it takes back."""
    knowledge: Knowledge | None = None
    """What was read out of new content; None: it is still to be read."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that cannot both be so now."""

    newer: str
    older: str
    kind: Literal["contradiction", "update", "temporal", "partial"]
    mode: str
    """The conflict mode in force when it was found."""
    reason: str
    status: Literal["open", "kept_newer", "kept_older", "merged", "kept_both", "undone"] = "open"
    at: datetime | None = None
    id: int = 0


@dataclass(frozen=True, slots=True)
class Repetition:
    """Turns that say what a memory holds which was not learned from them."""

    memory: str
    """Its id."""
    session: str
    turns: tuple[str, ...]
    role: Role
    """Of who repeats it."""

    @classmethod
    def of(cls, new: Memory | Note, known: str) -> "tuple[Repetition, ...]":
        """What was found says what that memory says; none for what no turn tells."""
        if new.session is None or not new.turns:
            return ()
        return (cls(known, new.session, new.turns, SPEAKING.get(new.speaker or "", "user")),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Everything that one step of learning or upkeep does to the memories of one scope."""

    scope: Scope = "private"
    drafts: Sequence[Draft] = ()
    changes: Sequence[Change] = ()
    conflicts: Sequence[Conflict] = ()
    parents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Id of a draft -> ids of the memories it was made from."""
    settled: Mapping[int, str] = field(default_factory=dict)
    """Id of a conflict -> how it was resolved, as Decisions.close_conflict."""
    learned: Sequence[int] = ()
    """Messages that nothing more is to be learned from."""
    repeated: Sequence[Repetition] = ()
    """What turns say that is known already: they are forgotten with it."""
    name: str | None = None
    """Groups the history lines, so that they can be undone together."""


RunKind = Literal["cycle", "sleep", "dry"]
"""After turns and in pauses; the steps of the sleep cycle; or those counted only, not recorded."""
PARTS_OF_LEARN = ("reduce.", "summarise.", "extract.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A report of work that nobody waited for."""

    id: int = 0
    kind: RunKind
    started_at: datetime
    finished_at: datetime
    counts: Mapping[str, int]
    """What each step did, by step.what: extract.created, consolidate.merged."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """How long each step took."""
    problems: tuple[str, ...] = ()
    """Steps that failed, and why. The others were done."""

    @property
    def is_dry(self) -> bool:
        """Whether it only counted what would be done."""
        return self.kind == "dry"

    def counted(self, step: str) -> Mapping[str, int]:
        """What one step did, by what it counts; the parts of `learn` count under their names."""
        found = {
            name.removeprefix(f"{step}."): count
            for name, count in self.counts.items()
            if name.startswith(f"{step}.")
        }
        if step == "learn":
            found |= {n: count for n, count in self.counts.items() if n.startswith(PARTS_OF_LEARN)}
        return found


@dataclass(frozen=True, slots=True)
class Observed:
    """What became of something said."""

    status: Literal["stored", "known", "ignored"]
    turn: str = ""
    """The turn it belongs to: the caller's name for it, or the one it was given."""
    notes: str = ""
    """What the memory has to say to a prompt, ready to be put beside it; empty: nothing."""
    reason: str = ""
    """Why it was ignored."""
