"""The data types of conversations: messages, sessions, summaries, and what was made of them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict

from kinmem.models.draft import Chunks, Draft, Knowledge, Note
from kinmem.models.record import Memory

# user is a person, whatever their name; system is a client's own summary of what it has dropped.
Role = Literal["user", "assistant", "tool", "system"]
# Speakers that are not people.
SPEAKING: Mapping[str, Role] = {"assistant": "assistant", "tool": "tool"}
# What clients report to observe.
Happening = Literal["prompt", "answer", "tool", "summary"]
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
    """One message of a turn: a turn is what a person says and everything until they speak again.

    Stored once for each (session, turn, role, part). `text` holds no secrets and nothing private.
    """

    id: int = 0
    """Numbered from 1 in the order of storing; 0: not stored yet."""
    session: str
    turn: str
    """The client's name for the turn: its prompt id."""
    role: Role
    part: str = ""
    """Tells several messages of one role in one turn apart: a tool call's id."""
    text: str
    speaker: str | None = None
    """A person's name; None: known by the role only."""
    tool: str | None = None
    """The tool that produced the output."""
    spill: str | None = None
    """File below the home folder that held the whole output, of which `text` is a preview."""
    client: str | None = None
    place: str | None = None
    """The folder that the session works in."""
    said_at: datetime

    learned_at: datetime | None = None
    tries: int = 0
    """How often learning from it has failed."""
    due_at: datetime | None = None
    """When to try next; None: now, or never if it is parked."""
    parked: bool = False
    """Given up until somebody asks for another try; see Turns.retry."""
    problem: str | None = None
    """Why the last try failed."""
    snapshot: int | None = None
    """Id of the summary that replaces it."""

    @property
    def who(self) -> str:
        """The speaker's name, else the role."""
        return self.speaker or self.role


# Author of the summaries that clients make when they compact their context.
CLIENT = "client"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A summary that replaces the oldest turns of a session, or a client's own summary."""

    id: int = 0
    session: str
    summary: str
    model: str
    """Who wrote it: a model's name, extractive, or CLIENT."""
    first: int
    last: int
    """`first` and `last` are the ids of the messages at either end of what it covers."""
    seen: int = 0
    """Id of the session's latest message when the summary was made."""
    turns: int
    """How many turns it replaces. A client's summary replaces none."""
    depth: int = 0
    """0: made from turns; above 0: made from summaries."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation, as far as kinmem has observed it."""

    name: str
    client: str | None
    place: str | None
    first_at: datetime
    last_at: datetime
    turns: int
    messages: int
    began: str = ""
    """The beginning of what a person first said in it; of its first message if nobody did."""
    speaker: str | None = None
    """Who said that; None: not known by name."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The memories that a session has been given since its context was last compacted."""

    texts: tuple[str, ...] = ()
    """The blocks of notes that were shown, in order."""
    memories: Mapping[str, int] = field(default_factory=dict)
    """Ids of the memories in them, each with the version that was shown."""


@dataclass(frozen=True, slots=True)
class Change:
    """Fields to set on a memory, in the terms of Store.update."""

    id: str
    fields: Mapping[str, Any]
    action: str
    reason: str | None = None
    version: int | None = None
    """Apply it only to this version; None: to any."""
    chunks: Chunks | None = None
    """Required with new content."""
    reverts: Sequence[int] = ()
    """Writes whose lines about this memory the change takes back."""
    knowledge: Knowledge | None = None
    """What was extracted from new content; None: not extracted yet."""
    refused: Sequence[Collection[str]] = ()
    """Refusals of review issues about this memory, as in Decisions.refuse. The history line keeps
    them, so that an undo finds what to ask again."""
    asked_again: Sequence[Collection[str]] = ()
    """Such refusals that are taken back."""


# How the reason of a conflict names the chance that the judge gives (llm/relating.py).
CHANCE = re.compile(r"\((\d\.\d\d)\)")


def chance_in(reason: str) -> float | None:
    """Return the chance that a reason names: of exports from before Conflict.chance, too."""
    found = CHANCE.search(reason)
    return None if found is None else float(found[1])


ConflictStatus = Literal[
    "open", "kept_newer", "kept_older", "merged", "kept_both", "undone", "edited"
]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that cannot both hold now."""

    newer: str
    older: str
    kind: Literal["contradiction", "update", "temporal", "partial"]
    mode: str
    """The conflict mode in force when it was found."""
    reason: str
    status: ConflictStatus = "open"
    """edited: the older one was given another text since, and so has the last word."""
    at: datetime | None = None
    id: int = 0
    chance: float | None = None
    """How likely it is that they cannot both hold, as the judge has found; None if the form of the
    texts tells it."""

    @property
    def ends(self) -> frozenset[str]:
        return frozenset((self.newer, self.older))

    def other(self, id: str) -> str:
        """Return the memory that is not `id`."""
        return self.newer if self.older == id else self.older


@dataclass(frozen=True, slots=True)
class Repetition:
    """Turns that repeat what a memory already holds, without it having been learned from them."""

    memory: str
    """The memory's id."""
    session: str
    turns: tuple[str, ...]
    role: Role
    """Role of the speaker who repeats it."""

    @classmethod
    def of(cls, new: Memory | Note, known: str) -> "tuple[Repetition, ...]":
        """Return that the turns of `new` repeat the memory `known`; nothing if `new` comes from no
        turn."""
        if new.session is None or not new.turns:
            return ()
        return (cls(known, new.session, new.turns, SPEAKING.get(new.speaker or "", "user")),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """All changes that one step of learning or upkeep makes to a Kin's memories."""

    drafts: Sequence[Draft] = ()
    changes: Sequence[Change] = ()
    conflicts: Sequence[Conflict] = ()
    parents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Id of a draft -> ids of the memories it was made from."""
    settled: Mapping[int, str] = field(default_factory=dict)
    """Id of a conflict -> how it was resolved, as in Decisions.close_conflict."""
    learned: Sequence[int] = ()
    """Ids of messages that are done with: nothing more will be learned from them."""
    repeated: Sequence[Repetition] = ()
    """Turns that repeat a known memory, so that forgetting it forgets them as well."""
    name: str | None = None
    """Groups the history lines so that they can be undone together."""


# cycle: after turns and in pauses. sleep: the steps of the sleep cycle. dry: those steps counted,
# with nothing changed or recorded.
RunKind = Literal["cycle", "sleep", "dry"]
PARTS_OF_LEARN = ("reduce.", "summarise.", "extract.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The report of one run of background work."""

    id: int = 0
    kind: RunKind
    started_at: datetime
    finished_at: datetime
    counts: Mapping[str, int]
    """What each step did, keyed step.what: extract.created, consolidate.merged."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds per step."""
    problems: tuple[str, ...] = ()
    """Steps that failed, and why. The other steps were done."""

    @property
    def is_dry(self) -> bool:
        """Whether it only counted what would be done."""
        return self.kind == "dry"

    def counted(self, step: str) -> Mapping[str, int]:
        """Return what one step did, by what it counts.

        The parts of `learn` keep their full names.
        """
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
    """The outcome of observing one message."""

    status: Literal["stored", "known", "ignored"]
    turn: str = ""
    """The turn it belongs to: the caller's name for it, or the one that kinmem gave it."""
    notes: str = ""
    """Notes for a prompt, ready to be added to it; empty if there is nothing to say."""
    reason: str = ""
    """Why the message was ignored."""
