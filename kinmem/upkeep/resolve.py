"""What a review found is done as it suggests, or never shown again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kinmem.errors import InvalidInput, MemoryNotFound, ModelError, VersionConflict
from kinmem.llm.base import Embedder
from kinmem.models import Chunks, Issue, Memory, Scope, State
from kinmem.rules.border import checked_content
from kinmem.rules.evidence import evidence
from kinmem.rules.proof import unproved
from kinmem.rules.similarity import content_hash
from kinmem.store.base import Store
from kinmem.turns import Batch, Change
from kinmem.upkeep.issues import STEP, issue_id, refusal
from kinmem.upkeep.merge import LONGEST

OVERLAP = 80
SUPERSEDING = {"contradiction", "duplicate"}


@dataclass(frozen=True, slots=True)
class Resolved:
    """What became of an issue."""

    kept: str | None
    """The memory that stays; None: there was one, and it is gone."""
    changed: tuple[str, ...]
    """Rewritten, superseded, released or put into the bin."""


def apply_issue(
    store: Store, embedder: Embedder, issue: Issue, now: datetime, keep: str | None = None
) -> Resolved:
    """Do what the issue suggests; all of it can be taken back.

    contradiction: the later memory, or `keep`, supersedes the others, and their conflict is closed.
    duplicate: the superfluous ones go into the bin; with merge they are superseded by one that says
    it all. expired, clutter, stale: into the bin, or rewritten as suggested; `keep` leaves it and
    refuses the issue. quarantined: into the bin; `keep` releases it.
    Raises InvalidInput if something was changed since the review, if what would have to change is
    not one's own, and if there is nothing to rewrite it to.
    """
    memories = _present(store, issue)
    if keep is not None and keep not in issue.memory_ids:
        known = ", ".join(issue.memory_ids)
        raise InvalidInput(f"issue {issue.id} is not about {keep!r}; keep one of {known}")
    with _unchanged(issue):
        if issue.type in SUPERSEDING and issue.suggestion != "keep":
            return _between(store, embedder, issue, memories, keep, now)
        (memory,) = memories if len(memories) == 1 else (memories[-1],)
        if issue.type == "quarantined":
            is_free = keep is not None or issue.suggestion == "release"
            return _release(store, memory) if is_free else _discard(store, [memory], now, None)
        if keep is not None or issue.suggestion == "keep":
            refuse_issue(store, issue)
            return Resolved(memory.id, ())
        if issue.suggestion == "update":
            return _rewrite(store, embedder, memory, issue)
        return _discard(store, [memory], now, None)


def refuse_issue(store: Store, issue: Issue) -> None:
    """Never show it again while the texts stand; an open conflict is closed: both are kept."""
    memories = store.memories(issue.memory_ids)
    store.journal.refuse(STEP, refusal(issue.type, list(memories.values())))
    for conflict in store.journal.conflicts():
        if {conflict.newer, conflict.older} == set(issue.memory_ids):
            store.journal.close_conflict(conflict.id, "kept_both")


def _present(store: Store, issue: Issue) -> list[Memory]:
    """The memories it is about, in its order, if they are as the review saw them."""
    found = store.memories(issue.memory_ids)
    memories = [found[id] for id in issue.memory_ids if id in found]
    if len(memories) < len(issue.memory_ids) or issue_id(issue.type, memories) != issue.id:
        raise _changed(issue)
    return memories


@contextmanager
def _unchanged(issue: Issue) -> Iterator[None]:
    try:
        yield
    except (VersionConflict, MemoryNotFound) as error:
        raise _changed(issue) from error


def _changed(issue: Issue) -> InvalidInput:
    return InvalidInput(
        f"the memories of issue {issue.id} were changed since the review; review again"
    )


def _between(
    store: Store,
    embedder: Embedder,
    issue: Issue,
    memories: Sequence[Memory],
    keep: str | None,
    now: datetime,
) -> Resolved:
    kept = _kept(store, issue, memories, keep)
    others = [memory for memory in memories if memory.id != kept.id]
    _own(store, others)
    rewritten: tuple[str, ...] = ()
    text = issue.suggested_content
    is_new = text is not None and text not in {memory.content for memory in memories}
    if text is not None and is_new and (issue.suggestion == "merge" or keep is None):
        if issue.suggestion == "merge":
            _prove(text, memories)
        _own(store, [kept])
        kept = _with_text(store, embedder, kept, text, issue)
        rewritten = (kept.id,)
    if issue.type == "duplicate" and issue.suggestion == "delete":
        done = _discard(store, others, now, kept.id)
    else:
        done = _supersede(store, others, kept, now, issue)
    _close_conflicts(store, memories, kept)
    return Resolved(kept.id, (*rewritten, *done.changed))


def _kept(store: Store, issue: Issue, memories: Sequence[Memory], keep: str | None) -> Memory:
    """The one named; of a contradiction the later; of duplicates the one that says it all.

    Of equals somebody else's, which cannot be changed, then a shared one, which more can see.
    """
    if keep is not None:
        return next(memory for memory in memories if memory.id == keep)
    if issue.type == "contradiction":
        return max(memories, key=lambda memory: (memory.said_at, memory.id))

    def standing(memory: Memory) -> tuple[bool, bool, bool, str]:
        says_all = memory.content == issue.suggested_content
        return says_all, memory.kin != store.kin, memory.scope == "shared", memory.id

    if issue.suggestion == "merge":
        mine = [memory for memory in memories if memory.kin == store.kin]
        return max(mine or memories, key=standing)
    return max(memories, key=standing)


def _own(store: Store, memories: Sequence[Memory]) -> None:
    for memory in memories:
        if memory.kin != store.kin:
            raise InvalidInput(
                f"memory {memory.id} belongs to {memory.kin}, who alone may change it;"
                " keep that one, or refuse the issue"
            )


def _prove(text: str, memories: Sequence[Memory]) -> None:
    problems = unproved(text, [memory.content for memory in memories], ())
    if problems:
        raise InvalidInput(f"the suggested text does not stand for all: {'; '.join(problems)}")


def _rewrite(store: Store, embedder: Embedder, memory: Memory, issue: Issue) -> Resolved:
    if issue.suggested_content is None:
        raise InvalidInput(
            f"nobody knows what memory {memory.id} should say now; write it with update_memory,"
            " forget it, or refuse the issue"
        )
    _own(store, [memory])
    _with_text(store, embedder, memory, issue.suggested_content, issue)
    return Resolved(memory.id, (memory.id,))


def _with_text(store: Store, embedder: Embedder, memory: Memory, text: str, issue: Issue) -> Memory:
    content = checked_content(text)
    fields = {
        "content": content,
        "content_hash": content_hash(content),
        "evidence": evidence(content, memory.speaker),
    }
    return store.update(
        memory.id,
        fields,
        chunks=_chunks(content, embedder),
        if_version=memory.version,
        reason=f"review: {issue.description}",
    )


def _chunks(content: str, embedder: Embedder) -> Chunks:
    """With vectors; without, where the embedder is not there: the worker fills them in."""
    texts = tuple(embedder.pieces(content, LONGEST, OVERLAP))
    try:
        if embedder.ready:
            return Chunks(texts, embedder.embed(texts), embedder.name)
    except ModelError:
        pass
    return Chunks(texts)


def _supersede(
    store: Store, memories: Sequence[Memory], kept: Memory, now: datetime, issue: Issue
) -> Resolved:
    """What gives way was so until the other was said, if that is the later one."""
    changes = []
    for memory in memories:
        ended = kept.said_at if kept.said_at > memory.said_at else now
        fields = {"state": State.SUPERSEDED, "superseded_by": kept.id, "valid_to": ended}
        changes.append((memory, fields))
    return _apply(store, changes, "superseded", f"review: {issue.description}", kept.id)


def _discard(store: Store, memories: Sequence[Memory], now: datetime, kept: str | None) -> Resolved:
    _own(store, memories)
    fields = {"state": State.DELETED, "deleted_at": now}
    changes = [(memory, fields) for memory in memories]
    return _apply(store, changes, "forgotten", "review", kept)


def _release(store: Store, memory: Memory) -> Resolved:
    _own(store, [memory])
    return _apply(store, [(memory, {"state": State.ACTIVE})], "released", "review", memory.id)


def _apply(
    store: Store,
    changes: Sequence[tuple[Memory, dict[str, Any]]],
    action: str,
    reason: str,
    kept: str | None,
) -> Resolved:
    scopes: tuple[Scope, ...] = ("private", "shared")
    for scope in scopes:
        mine = [
            Change(memory.id, fields, action, reason, memory.version)
            for memory, fields in changes
            if memory.scope == scope
        ]
        if mine:
            store.apply(Batch(scope=scope, changes=mine, name=f"review {mine[0].id}"))
    return Resolved(kept, tuple(memory.id for memory, _ in changes))


def _close_conflicts(store: Store, memories: Sequence[Memory], kept: Memory) -> None:
    ids = {memory.id for memory in memories}
    for conflict in store.journal.conflicts():
        if {conflict.newer, conflict.older} <= ids:
            status = "kept_newer" if conflict.newer == kept.id else "kept_older"
            store.journal.close_conflict(conflict.id, status)
