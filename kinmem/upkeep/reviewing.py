"""Runs reviews and settles their issues.

An issue keeps its id from one call to the next, and is settled as it suggests or never shown again.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from kinmem.clock import Clock
from kinmem.documents.document import released
from kinmem.errors import InvalidInput, MemoryNotFound, VersionConflict
from kinmem.language import Weight, content_hash, unproved
from kinmem.llm.base import ChatModel, Embedder, Judge, chunks_of, embedded
from kinmem.llm.relating import Relating
from kinmem.models import Chunks, Filters, Issue, Memory, Progress, Review, Settled, State
from kinmem.models.reports import LEFT, answered, issue_id, refusal
from kinmem.models.turns import Batch, Change
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.upkeep.candidates import remainder
from kinmem.upkeep.review import review
from kinmem.validation import checked_content

# Why a memory was left alone. It stands in the history of both memories of an issue, so it quotes
# neither: the words of one must not outlast its erasure in the history of the other.
REFUSED = "review: stays as it is"
# Issues kept in memory: a model that is asked again may not find them again.
REMEMBERED = 200


class Reviewer:
    """Reviews one Kin's memory, and settles what a review has found."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        model: ChatModel | None,
        settings: Settings,
        clock: Clock,
        judge: Judge | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._model = model
        self._judge = judge
        self._duplicate = settings.learn.duplicate_similarity
        self._clock = clock
        self._zone = settings.general.zone
        self._issues: OrderedDict[str, Issue] = OrderedDict()

    def __call__(
        self,
        filters: Filters,
        *,
        apply: Sequence[str] = (),
        refuse: Sequence[str] = (),
        keep: str | None = None,
        releases: bool = True,
        progress: Progress | None = None,
    ) -> Review:
        """Settle or refuse the named issues, then return what a review finds; see settle."""
        settled = self.settle(apply=apply, refuse=refuse, keep=keep, releases=releases)
        # The model was asked when these issues were found; asking again would only cost.
        model = None if settled else self._model
        return replace(self._found(filters, model, progress), settled=settled)

    def settle(
        self,
        *,
        apply: Sequence[str] = (),
        refuse: Sequence[str] = (),
        keep: str | None = None,
        releases: bool = True,
    ) -> tuple[Settled, ...]:
        """Settle or refuse the named issues, without looking for others.

        Without `releases` nothing leaves quarantine. Raises InvalidInput for an unknown id, and if
        an issue cannot be settled any more; the issues named before it are settled by then.
        """
        if keep is not None and len(apply) != 1:
            raise InvalidInput("keep names the memory that stays of one issue: apply just that one")
        settled = [
            apply_issue(
                self._store,
                self._embedder,
                self._known(id),
                self._clock(),
                keep,
                relating=Relating(self._judge),
                releases=releases,
            )
            for id in apply
        ]
        refused = [self._known(id) for id in refuse]
        if not releases and any(issue.type == "quarantined" for issue in refused):
            raise InvalidInput(
                "what is held back stays in the review until a person has looked at it: kinmem"
                " review --refuse",
                "held_back",
            )
        return (*settled, *(refuse_issue(self._store, issue) for issue in refused))

    def _found(
        self, filters: Filters, model: ChatModel | None, progress: Progress | None
    ) -> Review:
        reviewed = review(
            self._store,
            self._embedder,
            filters,
            self._clock().astimezone(self._zone),
            progress,
            model=model,
            duplicate=self._duplicate,
            judge=self._judge,
        )
        for issue in reviewed.issues:
            self._issues[issue.id] = issue
            self._issues.move_to_end(issue.id)
        while len(self._issues) > REMEMBERED:
            self._issues.popitem(last=False)
        return reviewed

    def _known(self, id: str) -> Issue:
        if id not in self._issues:
            self._found(Filters(), None, None)  # it may be of an earlier process
        if id not in self._issues:
            told = f"no issue has the id {id!r} now; review again, things have changed"
            raise InvalidInput(told, "reviewed_before")
        return self._issues[id]


SUPERSEDING = {"contradiction", "duplicate"}
# Names for actions of the history; the others keep the name they have there.
BECAME = {"forgotten": "deleted"}


def apply_issue(
    store: Store,
    embedder: Embedder,
    issue: Issue,
    now: datetime,
    keep: str | None = None,
    *,
    relating: Relating,
    releases: bool = True,
) -> Settled:
    """Do what the issue suggests, in one transaction that can be undone.

    contradiction: the memory that is suggested, the later one unless a model says otherwise, or
    `keep`, supersedes the others, and their conflict is closed; sentences that say something else
    stay. duplicate: superfluous memories go into the bin; with merge, they are superseded by one
    that says everything, or by `keep`. expired, clutter, stale: into the bin, or rewritten as
    suggested; `keep` leaves the memory and refuses the issue. quarantined: into the bin, but a
    document that holds back some chunks stays as it is; `keep` releases it.

    Raises InvalidInput if a memory was changed since the review, if it would have to change but
    belongs to another Kin, and if there is no text to rewrite it to.
    """
    memories = _present(store, issue)
    if keep is not None and keep not in issue.memory_ids:
        known = ", ".join(issue.memory_ids)
        raise InvalidInput(f"issue {issue.id} is not about {keep!r}; keep one of {known}")
    if issue.type in SUPERSEDING and (keep is not None or issue.suggestion != "keep"):
        return _between(store, embedder, issue, memories, keep, now, relating)
    memory = memories[-1]
    is_to_stay = issue.suggestion == "keep"
    if is_to_stay and keep is None or issue.type != "quarantined" and (keep or is_to_stay):
        return refuse_issue(store, issue)
    _own(store, [memory])
    if keep is not None or issue.suggestion == "release":
        if not releases:
            raise InvalidInput(
                f"memory {memory.id} reads like an order to an assistant, and only a person may"
                f" release it: kinmem review --apply {issue.id} --keep {memory.id}",
                "held_back",
            )
        return _done(store, issue, [_released(memory, store.documents.text(memory.id))], memory)
    if issue.suggestion == "update":
        rewritten = _rewritten(memory, issue, issue.suggested_content, embedder)
        return _done(store, issue, [rewritten], memory)
    return _done(store, issue, [_discarded(memory, now)], None)


def refuse_issue(store: Store, issue: Issue) -> Settled:
    """Never show the issue again while the texts are unchanged, in one transaction that can be
    undone; an open conflict is closed, and both memories are kept."""
    memories = store.memories(issue.memory_ids)
    refused = (refusal(issue.type, list(memories.values())),)
    deeds = [
        Change(memory.id, {}, LEFT, REFUSED, refused=refused)
        for memory in memories.values()
        if memory.kin == store.kin
    ]
    if not deeds:
        raise _changed(issue)
    closed = answered(store.decisions.conflicts(), refused)
    name = f"review {issue.id}"
    store.apply(Batch(changes=deeds, settled=closed, name=name))
    return Settled(issue.id, next(iter(memories)) if len(memories) == 1 else None, batch=name)


def _present(store: Store, issue: Issue) -> list[Memory]:
    """Return its memories, in its order. Raises InvalidInput if they have changed since the
    review."""
    known = store.memories(issue.memory_ids)
    memories = [known[id] for id in issue.memory_ids if id in known]
    if len(memories) < len(issue.memory_ids) or issue_id(issue.type, memories) != issue.id:
        raise _changed(issue)
    return memories


def _changed(issue: Issue) -> InvalidInput:
    return InvalidInput(
        f"the memories of issue {issue.id} were changed since the review; review again",
        "reviewed_before",
    )


def _between(
    store: Store,
    embedder: Embedder,
    issue: Issue,
    memories: Sequence[Memory],
    keep: str | None,
    now: datetime,
    relating: Relating,
) -> Settled:
    kept = _kept(store, issue, memories, keep)
    others = [memory for memory in memories if memory.id != kept.id]
    _own(store, others)
    deeds = []
    text = issue.suggested_content
    is_new = text is not None and text not in {memory.content for memory in memories}
    if text is not None and is_new and (issue.suggestion == "merge" or keep is None):
        if issue.suggestion == "merge":
            _prove(text, memories)
        _own(store, [kept])
        deeds.append(_rewritten(kept, issue, issue.suggested_content, embedder))
    for memory in others:
        if issue.type == "duplicate" and issue.suggestion == "delete":
            deeds.append(_discarded(memory, now))
        elif rest := _rest(issue, memory, kept, relating):
            deeds.append(_rewritten(memory, issue, rest, embedder))
        else:
            deeds.append(_superseded(memory, kept, issue, now))
    return _done(store, issue, deeds, kept)


def _rest(issue: Issue, memory: Memory, kept: Memory, relating: Relating) -> str | None:
    """Return what stays of a memory that another contradicts; the issue names the earlier first."""
    if issue.type != "contradiction":
        return None
    place = issue.memory_ids.index
    return remainder(memory, kept, relating, is_later=place(memory.id) > place(kept.id))


def _kept(store: Store, issue: Issue, memories: Sequence[Memory], keep: str | None) -> Memory:
    """Return the memory named by `keep`; of a contradiction the one that is suggested, else the
    later one; of duplicates the one that says everything.

    On a tie another Kin's, which cannot be changed, then a shared one, which more Kins see.
    """
    if keep is not None:
        return next(memory for memory in memories if memory.id == keep)
    if issue.type == "contradiction":
        return issue.staying(memories) or memories[-1]

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
                " keep that one, or refuse the issue",
                "of_another_kin",
                kin=memory.kin,
            )


def _prove(text: str, memories: Sequence[Memory]) -> None:
    problems = unproved(text, [memory.content for memory in memories], ())
    if problems:
        raise InvalidInput(f"the suggested text does not stand for all: {'; '.join(problems)}")


def _rewritten(memory: Memory, issue: Issue, text: str | None, embedder: Embedder) -> Change:
    if text is None:
        raise InvalidInput(
            f"nobody knows what memory {memory.id} should say now; write it with update_memory,"
            " forget it, or refuse the issue",
            "nothing_suggested",
        )
    content = checked_content(text)
    fields = {
        "content": content,
        "content_hash": content_hash(content),
        "evidence": Weight(content).evidence(memory.speaker),
    }
    chunks = embedded(Chunks(chunks_of(content, embedder)), embedder)
    return _deed(memory, fields, "updated", f"review: {issue.description}", chunks)


def _superseded(memory: Memory, kept: Memory, issue: Issue, now: datetime) -> Change:
    ended = kept.holds_since if kept.holds_since > memory.holds_since else now
    fields = {"state": State.SUPERSEDED, "superseded_by": kept.id, "valid_to": ended}
    return _deed(memory, fields, "superseded", f"review: {issue.description}")


def _discarded(memory: Memory, now: datetime) -> Change:
    return _deed(memory, {"state": State.DELETED, "deleted_at": now}, "forgotten", "review")


def _released(memory: Memory, text: str) -> Change:
    return _deed(memory, released(memory, text), "released", "review")


def _deed(
    memory: Memory,
    fields: Mapping[str, Any],
    action: str,
    reason: str,
    chunks: Chunks | None = None,
) -> Change:
    return Change(memory.id, fields, action, reason, memory.version, chunks)


def _done(store: Store, issue: Issue, deeds: Sequence[Change], kept: Memory | None) -> Settled:
    """Apply the changes in one transaction, which also closes the conflict between the memories."""
    closed, name = _closed(store, issue, kept), f"review {issue.id}"
    if deeds or closed:
        try:
            store.apply(Batch(changes=deeds, settled=closed, name=name))
        except (VersionConflict, MemoryNotFound) as error:
            raise _changed(issue) from error
    became = tuple((change.id, BECAME.get(change.action, change.action)) for change in deeds)
    return Settled(issue.id, kept.id if kept else None, became, name if became else None)


def _closed(store: Store, issue: Issue, kept: Memory | None) -> dict[int, str]:
    """Return the open conflicts that this settles, and how."""
    if kept is None or len(issue.memory_ids) < 2:
        return {}
    return {
        conflict.id: "kept_newer" if conflict.newer == kept.id else "kept_older"
        for conflict in store.decisions.conflicts()
        if {conflict.newer, conflict.older} <= set(issue.memory_ids)
    }
