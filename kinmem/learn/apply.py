"""Stage 5 of learning: what a verdict does to the memories, as parts of one batch."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar, assert_never

from kinmem.errors import MemoryNotFound, VersionConflict
from kinmem.language import content_hash, evidence, periods
from kinmem.learn.occasion import begins
from kinmem.learn.reconcile import Flag, Keep, Merge, Outdated, Replace, Skip, Verdict
from kinmem.llm.naming import Naming, reread
from kinmem.models import Chunks, ConflictMode, Memory, State, Stored
from kinmem.models.turns import Change, Conflict, Repetition

MOST_TURNS = 3
TRIES = 3
"""How often it is decided anew because somebody changed a memory meanwhile."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Deeds:
    """What is to be done because of one new memory."""

    told: Stored
    memory: Memory | None
    """The new one as it is to stand; None: it is not to be stored."""
    changes: tuple[Change, ...] = ()
    """Of those that were there."""
    conflicts: tuple[Conflict, ...] = ()
    repeated: tuple[Repetition, ...] = ()
    """Where the new one was said, if a known one says it."""


def deeds(
    verdict: Verdict, new: Memory, chunks: Chunks | None, mode: ConflictMode, naming: Naming
) -> Deeds:
    """What a verdict about `new` asks for. `chunks` are those of a merged text."""
    match verdict:
        case Keep():
            return Deeds(Stored("created", new.id), new)
        case Skip(known):
            again = Repetition.of(new, known.id)
            return Deeds(Stored("duplicate_of", known.id), None, repeated=again)
        case Merge(known, content, reason):
            change = _merged(known, new, content, chunks, reason, naming)
            again = Repetition.of(new, known.id)
            return Deeds(Stored("merged_into", known.id, reason), None, (change,), (), again)
        case Replace(outdated, _, reason):
            ids = tuple(memory.id for memory in outdated)
            changes = tuple(_superseded(memory, new, reason) for memory in outdated)
            return Deeds(Stored("superseded", new.id, reason, supersedes=ids), new, changes)
        case Outdated(by, _, reason, before):
            told = f"{reason}; {by.id} is what holds now"
            changes = tuple(_superseded(memory, new, reason) for memory in before)
            return Deeds(
                Stored("superseded", new.id, told), replace(new, **ended(new, by)), changes
            )
        case Flag(against, kind, reason):
            conflicts = tuple(
                Conflict(new.id, known.id, kind, mode, reason)
                if begins(new) >= begins(known)
                else Conflict(known.id, new.id, kind, mode, reason)
                for known in against
            )
            ids = tuple(memory.id for memory in against)
            return Deeds(Stored("conflict", new.id, reason, conflicts=ids), new, (), conflicts)
        case _:
            assert_never(verdict)


def decided(decide_and_apply: Callable[[], Result]) -> Result:
    """Its result; it is called again where a memory that it decided about was changed meanwhile."""
    for _ in range(TRIES - 1):
        with suppress(VersionConflict, MemoryNotFound):
            return decide_and_apply()
    return decide_and_apply()


def ended(memory: Memory, by: Memory) -> dict[str, Any]:
    """Fields of what was so until `by` began, or for no time if that began earlier."""
    began = begins(by) if by.valid_to is None else min(begins(by), by.valid_to)
    until = max(begins(memory), began)
    return {"state": State.SUPERSEDED, "superseded_by": by.id, "valid_to": until}


def absorbed(new: Memory, known: Memory, reason: str) -> Change:
    """A stored memory that `known` makes superfluous gives way to it."""
    gone = {
        "state": State.SUPERSEDED,
        "superseded_by": known.id,
        "valid_to": begins(new),  # as_of finds the known one, which says the same
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
        "evidence": evidence(content, known.speaker),
        "importance": _greater(known.importance, new.importance),
        "subject": known.subject or new.subject,
        "source_context": known.source_context or new.source_context,
        "manual_tags": tuple(dict.fromkeys((*known.manual_tags, *new.manual_tags))),
        "metadata": _both_turns(known, new),
    }
    if periods(content) and begins(new) < begins(known):
        fields["valid_from"] = begins(new)
    fields = {name: value for name, value in fields.items() if value != getattr(known, name)}
    read = reread(known, fields, naming)
    return Change(known.id, fields, "updated", reason, known.version, chunks, knowledge=read)


def _greater(a: float | None, b: float | None) -> float | None:
    return max((value for value in (a, b) if value is not None), default=None)


def _both_turns(known: Memory, new: Memory) -> Mapping[str, Any]:
    """A memory names turns of its own session alone; others are noted as repetitions."""
    if new.session != known.session:
        return known.metadata
    turns = tuple(dict.fromkeys((*known.turns, *new.turns)))[:MOST_TURNS]
    return {**known.metadata, "turns": list(turns)} if len(turns) > 1 else known.metadata
