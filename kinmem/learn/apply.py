"""Stage 6 of learning: what verdicts do to the memories, gathered as the changes of one batch."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar, assert_never

from kinmem.errors import MemoryNotFound, VersionConflict
from kinmem.language import Periods, Weight, content_hash
from kinmem.learn.drafting import Candidate
from kinmem.learn.reconcile import (
    Doubt,
    Flag,
    Keep,
    Merge,
    Neighbour,
    Outdated,
    Replace,
    Skip,
    Verdict,
)
from kinmem.llm.naming import Naming, reread
from kinmem.models import LIVE, Chunks, ConflictMode, Draft, Memory, State, Stored, Vector
from kinmem.models.turns import Batch, Change, Conflict, Repetition

# Turns that a memory names.
MOST_TURNS = 3
# Tries to decide and apply, since another process may change a memory in between.
TRIES = 3

Result = TypeVar("Result")


@dataclass(frozen=True)
class Effects:
    """What has to be done because of one verdict."""

    outcome: Stored
    memory: Memory | None
    """The new memory as it is to be stored; None if it is not to be stored."""
    changes: tuple[Change, ...] = ()
    """Changes of stored memories."""
    conflicts: tuple[Conflict, ...] = ()
    repeated: tuple[Repetition, ...] = ()
    """Where the new one was said, if a stored one says the same."""


def effects_of(
    verdict: Verdict, new: Memory, chunks: Chunks | None, mode: ConflictMode, naming: Naming
) -> Effects:
    """Return what a verdict about `new` asks for. `chunks` are those of a merged text."""
    match verdict:
        case Keep():
            return Effects(Stored("created", new.id), new)
        case Skip(known):
            again = Repetition.of(new, known.id)
            return Effects(Stored("duplicate_of", known.id), None, repeated=again)
        case Merge(known, content, reason):
            change = _merged(known, new, content, chunks, reason, naming)
            again = Repetition.of(new, known.id)
            return Effects(Stored("merged_into", known.id, reason), None, (change,), (), again)
        case Replace(outdated, _, reason):
            ids = tuple(memory.id for memory in outdated)
            changes = tuple(_superseded(memory, new, reason) for memory in outdated)
            return Effects(Stored("superseded", new.id, reason, supersedes=ids), new, changes)
        case Outdated(by, _, reason, before):
            past = f"{reason}; {by.id} is what holds now"
            changes = tuple(_superseded(memory, new, reason) for memory in before)
            return Effects(
                Stored("superseded", new.id, past), replace(new, **ended(new, by)), changes
            )
        case Flag(doubts):
            conflicts = tuple(
                Conflict(
                    *_newer_first(new, doubt), doubt.kind, mode, doubt.reason, chance=doubt.chance
                )
                for doubt in doubts
            )
            ids = tuple(doubt.known.id for doubt in doubts)
            reason = doubts[0].reason
            return Effects(Stored("conflict", new.id, reason, conflicts=ids), new, (), conflicts)
        case _:
            assert_never(verdict)


def _newer_first(new: Memory, doubt: Doubt) -> tuple[str, str]:
    known = doubt.known.id
    return (known, new.id) if doubt.is_later else (new.id, known)


def retried(decide_and_apply: Callable[[], Result]) -> Result:
    """Return its result. It is called again if a memory that it decided about was changed in the
    meantime."""
    for _ in range(TRIES - 1):
        with suppress(VersionConflict, MemoryNotFound):
            return decide_and_apply()
    return decide_and_apply()


def ended(memory: Memory, by: Memory) -> dict[str, Any]:
    """Return the fields of a memory that held until `by` began, or never if that began earlier."""
    began = by.holds_since if by.valid_to is None else min(by.holds_since, by.valid_to)
    until = max(memory.holds_since, began)
    return {"state": State.SUPERSEDED, "superseded_by": by.id, "valid_to": until}


def absorbed(new: Memory, known: Memory, reason: str) -> Change:
    """Return the change of a stored memory that `known` makes superfluous."""
    gone = {
        "state": State.SUPERSEDED,
        "superseded_by": known.id,
        "valid_to": new.holds_since,  # as_of finds `known`, which says the same
    }
    return Change(new.id, gone, "superseded", f"{reason} as {known.id}", new.version)


def _superseded(outdated: Memory, by: Memory, reason: str) -> Change:
    fields = ended(outdated, by)
    return Change(outdated.id, fields, "superseded", f"{reason}: {by.id}", outdated.version)


def _merged(
    known: Memory, new: Memory, content: str, chunks: Chunks | None, reason: str, naming: Naming
) -> Change:
    fields: dict[str, Any] = {
        "content": content,
        "content_hash": content_hash(content),
        "evidence": Weight(content).evidence(known.speaker),
        "importance": _greater(known.importance, new.importance),
        "subject": known.subject or new.subject,
        "source_context": known.source_context or new.source_context,
        "manual_tags": tuple(dict.fromkeys((*known.manual_tags, *new.manual_tags))),
        "metadata": _both_turns(known, new),
    }
    if Periods.of(content) and new.holds_since < known.holds_since:
        fields["valid_from"] = new.holds_since
    fields = {name: value for name, value in fields.items() if value != getattr(known, name)}
    read = reread(known, fields, naming)
    return Change(known.id, fields, "updated", reason, known.version, chunks, knowledge=read)


def _greater(a: float | None, b: float | None) -> float | None:
    return max((value for value in (a, b) if value is not None), default=None)


def _both_turns(known: Memory, new: Memory) -> Mapping[str, Any]:
    """Add the new one's turns, if they are of the same session; others are noted as repetitions."""
    if new.session != known.session:
        return known.metadata
    turns = tuple(dict.fromkeys((*known.turns, *new.turns)))[:MOST_TURNS]
    return {**known.metadata, "turns": list(turns)} if len(turns) > 1 else known.metadata


def changes_of_stored(
    verdict: Verdict, memory: Memory, chunks: Chunks | None, mode: ConflictMode, naming: Naming
) -> Batch | None:
    """Return what a verdict about a memory that is stored already asks for; None if nothing."""
    if isinstance(verdict, Keep):
        return None
    effects = effects_of(verdict, memory, chunks, mode, naming)
    changes = list(effects.changes)
    match verdict:
        case Skip(known):
            changes.append(absorbed(memory, known, "says the same"))
        case Merge(known):
            changes.append(absorbed(memory, known, "is told by the same text"))
        case Outdated(by):
            reason = f"outdated by {by.id}"
            fields = ended(memory, by)
            changes.append(Change(memory.id, fields, "superseded", reason, memory.version))
    return Batch(
        changes=changes,
        conflicts=effects.conflicts,
        repeated=effects.repeated,
        name=f"settle {memory.id}",
    )


class Changes:
    """What the notes of one call or turn do to the memories, collected note by note."""

    def __init__(self, mode: ConflictMode, naming: Naming) -> None:
        self._mode: ConflictMode = mode
        self._naming = naming
        self._drafts: dict[str, Draft] = {}
        self._changes: dict[str, Change] = {}
        self._merged: dict[str, Memory] = {}
        """Stored memories as they will be after a merge."""
        self._held: dict[str, str] = {}
        """Memories put into quarantine: hash of the content -> id."""
        self._conflicts: list[Conflict] = []
        self._repeated: list[Repetition] = []
        self.ended: set[str] = set()
        """Ids of the stored memories that no longer hold."""

    def neighbours(self, stored: Sequence[Neighbour], vectors: Sequence[Vector]) -> list[Neighbour]:
        """Return the stored neighbours as these changes leave them, and the new memories among
        them."""
        near = [
            (self._merged.get(memory.id, memory), cosine)
            for memory, cosine in stored
            if memory.id not in self.ended
        ]
        for draft in self._drafts.values():
            own = draft.chunks.vectors
            if own is not None and len(own) == 1 and vectors and draft.memory.state in LIVE:
                near.append((draft.memory, max(float(own[0] @ vector) for vector in vectors)))
        return sorted(near, key=lambda neighbour: -neighbour[1])

    def add(self, candidate: Candidate, verdict: Verdict, chunks: Chunks | None = None) -> Stored:
        """Add what a verdict about a note asks for. `chunks` are those of a merged text."""
        memory, draft = candidate.memory, candidate.draft
        effects = effects_of(verdict, memory, chunks, self._mode, self._naming)
        for change in effects.changes:
            self._change(change)
        if isinstance(verdict, Merge):
            self._merged[verdict.known.id] = replace(verdict.known, **effects.changes[0].fields)
        if effects.memory is not None:
            self._drafts[memory.id] = replace(draft, memory=effects.memory)
        self._conflicts += effects.conflicts
        self._repeated += effects.repeated
        return effects.outcome

    def hold(self, candidate: Candidate, quarantined: Mapping[str, str]) -> Stored:
        """Keep a note out of use. Once is enough, however often a page is read."""
        memory = candidate.memory
        known = {**quarantined, **self._held}.get(memory.content_hash)
        if known is not None:
            return self.repeat(candidate, known)
        self._held[memory.content_hash] = memory.id
        self._drafts[memory.id] = candidate.draft
        return Stored("quarantined", memory.id)

    def repeat(self, candidate: Candidate, known: str, reason: str | None = None) -> Stored:
        """Note that a statement is stored already."""
        self._repeated += Repetition.of(candidate.memory, known)
        return Stored("duplicate_of", known, reason)

    def _change(self, change: Change) -> None:
        """Add to what is to be changed in a memory, which may itself be new."""
        fields: dict[str, Any] = dict(change.fields)
        if change.id in self._drafts:
            draft = self._drafts[change.id]
            self._drafts[change.id] = replace(
                draft,
                memory=replace(draft.memory, **fields),
                chunks=change.chunks or draft.chunks,
                knowledge=change.knowledge or draft.knowledge,
            )
            return
        earlier = self._changes.get(change.id)
        if earlier is not None:
            change = replace(
                change,
                fields={**earlier.fields, **fields},
                version=earlier.version,
                chunks=change.chunks or earlier.chunks,
                knowledge=change.knowledge or earlier.knowledge,
            )
        self._changes[change.id] = change
        if fields.get("state") == State.SUPERSEDED:
            self.ended.add(change.id)

    def batch(
        self, repeated: Sequence[Repetition], learned: Sequence[int], name: str | None
    ) -> Batch:
        """Return all of it. `learned` are the messages that nothing more is learned from."""
        return Batch(
            drafts=list(self._drafts.values()),
            changes=list(self._changes.values()),
            conflicts=self._conflicts,
            learned=learned,
            repeated=[*self._repeated, *repeated],
            name=name,
        )

    def stored_as(self, ids: Sequence[str], outcomes: Sequence[Stored]) -> list[Stored]:
        """Return the outcomes, given the ids under which the drafts of the batch are stored: in the
        meantime another process may have stored the same statement."""
        stored = dict(zip(self._drafts, ids, strict=True))
        return [
            outcome
            if outcome.id is None or stored.get(outcome.id, outcome.id) == outcome.id
            else Stored("duplicate_of", stored[outcome.id])
            for outcome in outcomes
        ]
