"""Undoes writes, as planned in plan.py, in transactions that can be undone in turn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain
from typing import Any, Literal

from kinmem.clock import Clock
from kinmem.documents.cut import chunked_again
from kinmem.errors import InvalidInput
from kinmem.learn.apply import retried
from kinmem.llm.base import Embedder, Judge, chunks_of, embedded
from kinmem.llm.naming import Naming, reread
from kinmem.models import LIVE, Chunks, Event, Memory, State
from kinmem.models.reports import answered
from kinmem.models.turns import Batch, Change
from kinmem.store.base import Store
from kinmem.store.history import batch_name, components
from kinmem.store.records import IMPORTED
from kinmem.undo.plan import AUTOMATIC, SETTLING, Plan, Planner, in_force, is_automatic

# Actions of time and use after which a memory is recalled less or not at all.
PUTS_AWAY = frozenset({"faded", "pruned", "expired"})
OF_UPKEEP = AUTOMATIC | {"consolidated", "compressed"}
PAGE = 50
# How conflicts end when their memories are changed.
CLOSED = ("kept_newer", "kept_older", "merged", "undone")

Became = Literal["gone", "back", "changed", "asked", "kept"]


@dataclass(frozen=True, slots=True)
class Undone:
    """What was undone, or would be."""

    writes: tuple[int, ...]
    """The writes, the latest first."""
    became: Mapping[str, Became]
    """By id: in the bin (gone), in use again (back), or changed; not changed, but a review asks
    about it again (asked), or no longer (kept)."""
    lost: tuple[str, ...]
    """Memories that were erased since; they cannot come back."""
    batch: str | None
    """The name by which this can be undone in turn; None: nothing was done."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """By id: what the memory says then."""
    messages: int = 0
    """Rows of conversations that came with an import, and are deleted. Importing again brings them
    back."""


class Undo:
    """Undoes writes of one Kin, as far back as forgotten memories are kept."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        window: timedelta,
        clock: Clock,
        judge: Judge | None,
        compare: Callable[[Memory, str], None],
    ) -> None:
        """`compare` is given each memory that has got another text, and the former text; see
        Learn.corrected."""
        self._store = store
        self._embedder = embedder
        self._naming = Naming(judge)
        self._planner = Planner(store, window, clock)
        self._compare = compare

    def __call__(
        self,
        what: int | str | None,
        *,
        last: int = 1,
        cascade: bool = False,
        dry_run: bool = False,
        releases: bool = True,
    ) -> Undone:
        """Undo a write by its number, a batch by its name, or the latest write to a memory by its
        id; None: the last `last` deliberate changes to memories that still exist.

        Raises LaterChange if a later change would be lost, unless `cascade` undoes it too;
        InvalidInput if a memory would leave quarantine without `releases`.
        """
        if last < 1:
            raise InvalidInput(f"last {last} is below 1; 1 takes back the last thing that was done")
        if messages := self._only_messages(what, dry_run=dry_run):
            return Undone((), {}, (), None, messages=messages)
        lines = self._meant(what, last)

        def done() -> Undone:
            plan = self._planner(lines, cascade=cascade)
            if not releases:
                _refuse_release(plan)
            batch = None if dry_run else self._carried_out(plan)
            became = {id: _became(id, plan) for id in plan.reverts}
            messages = self._withdrawn(plan, lines, dry_run=dry_run)
            texts = {id: _text(plan.memories[id], plan.fields.get(id, {})) for id in plan.reverts}
            return Undone(plan.writes, became, plan.lost, batch, texts, messages)

        return done() if dry_run else retried(done)

    def _only_messages(self, what: int | str | None, *, dry_run: bool) -> int:
        """Delete the conversations of an import that brought no memories, or whose memories are
        undone already; returns how many rows."""
        if not isinstance(what, str) or self._is_in_force(self._store.past.batch(what)):
            return 0
        return self._store.transfer.withdraw(what, dry_run=dry_run)

    def _is_in_force(self, lines: Sequence[Event]) -> bool:
        """Return whether any of these lines is not undone."""
        about = self._planner.about({line.memory_id for line in lines})
        kept = {(id, line.write) for id, of in about.items() for line in of}
        return any((line.memory_id, line.write) in kept for line in lines)

    def _withdrawn(self, plan: Plan, lines: Sequence[Event], *, dry_run: bool) -> int:
        """Delete the conversations of imports that are undone as a whole; returns how many rows."""
        names = {line.batch for line in lines if line.action == IMPORTED and line.batch}
        return sum(
            self._store.transfer.withdraw(name, dry_run=dry_run)
            for name in names
            if {line.memory_id for line in self._store.past.batch(name)}
            <= {*plan.reverts, *plan.lost}
        )

    def _meant(self, what: int | str | None, last: int) -> list[Event]:
        past = self._store.past
        if what is None:
            lines = self._latest(last)
            return self._merged_since(lines) or lines
        if isinstance(what, int):
            lines = past.write(what)
        else:
            lines = past.batch(what) or self._latest_of(what)
        if not lines:
            raise InvalidInput(
                f"there is no write, batch or memory {what!r} to undo; history shows them",
                "nothing_to_undo",
            )
        return lines

    def _latest_of(self, id: str) -> list[Event]:
        """Return what the latest write did to a memory and to those related to it. A write of
        upkeep counts only if it has put the memory away."""
        lines = [line for line in in_force(self._store.past.about([id])) if not line.reverts]
        mine = [line for line in lines if not is_automatic(line)] or lines
        states = [line for line in lines if "state" in line.after]
        if not mine:
            return []
        latest = mine[-1].write
        if states and states[-1].action in PUTS_AWAY:
            latest = max(latest, states[-1].write)
        return components(self._store.past.write(latest), [id])

    def _latest(self, count: int) -> list[Event]:
        """Return the lines of the last `count` changes; each is a batch, or a write without one."""
        changes: dict[str | int, list[Event]] = {}
        for line in self._purposeful():
            name = line.batch or line.write
            if name not in changes and len(changes) == count:
                break
            changes.setdefault(name, []).append(line)
        if not changes:
            done = {line.memory_id for line in self._store.past.writes(1)}
            why = (
                ": what was erased cannot come back"
                if done - self._planner.own(done).keys()
                else ""
            )
            raise InvalidInput(f"there is nothing to undo{why}")
        return [line for lines in changes.values() for line in lines]

    def _merged_since(self, lines: Sequence[Event]) -> list[Event]:
        """Return the latest merge by upkeep that followed these lines; it must be undone first, as
        a whole."""
        newest = max(line.write for line in lines)
        about = self._planner.about({line.memory_id for line in lines})
        later = {line.write for of in about.values() for line in of if line.write > newest}
        writes = (self._store.past.write(write) for write in sorted(later, reverse=True))
        return next((write for write in writes if any(map(_is_merging, write))), [])

    def _purposeful(self) -> Iterator[Event]:
        """Yield lines in force that were not written by upkeep or undo, the latest first; none of
        memories that are gone."""
        before = None
        while lines := self._store.past.writes(PAGE, before=before):
            before = lines[-1].write
            there = self._planner.own({line.memory_id for line in lines})
            kept = {
                (line.memory_id, line.write)
                for about in self._planner.about(there).values()
                for line in about
            }
            upkeep = {line.write for line in lines if _is_of_upkeep(line)}
            for line in lines:
                is_meant = line.write not in upkeep and not line.reverts
                if is_meant and (line.memory_id, line.write) in kept:
                    yield line

    # carrying out the plan

    def _carried_out(self, plan: Plan) -> str:
        """Carry out the plan in one transaction, then one more for each memory whose links
        change."""
        batch = batch_name("undo")
        changes = [
            self._change(id, fields, plan)
            for id, fields in plan.fields.items()
            if fields or id not in plan.links
        ]
        settled = self._settled(plan)
        if changes or settled:
            self._store.apply(Batch(changes=changes, settled=settled, name=batch))
        for id, links in plan.links.items():
            self._store.links.restore(id, links, batch=batch, reverts=plan.reverts[id])
        for memory in self._store.memories([one.id for one in changes if one.chunks]).values():
            self._compare(memory, plan.memories[memory.id].content)
        return batch

    def _change(self, id: str, fields: Mapping[str, Any], plan: Plan) -> Change:
        memory = plan.memories[id]
        numbers = ", ".join(map(str, plan.reverts[id]))
        says_otherwise = "content" in fields or "content_hash" in fields
        return Change(
            id,
            fields,
            "undone",
            f"undo of {numbers}",
            memory.version,
            self._chunks(memory, fields) if says_otherwise else None,
            plan.reverts[id],
            reread(memory, fields, self._naming),
            plan.refused[id],
            plan.asked_again[id],
        )

    def _chunks(self, memory: Memory, fields: Mapping[str, Any]) -> Chunks:
        """Return the chunks of the restored text, with vectors unless the embedder is
        unavailable."""
        new = replace(memory, **fields)
        if new.is_document:
            text = self._store.documents.text(memory.id, new.content_hash)
            return chunked_again(text, new, self._embedder)
        texts = chunks_of(new.content, self._embedder)
        return embedded(Chunks(texts), self._embedder)

    def _settled(self, plan: Plan) -> dict[int, str]:
        """Reopen conflicts that were settled by what is undone, and close those of memories that
        go."""
        states = {id: fields["state"] for id, fields in plan.fields.items() if "state" in fields}
        refused = list(chain.from_iterable(plan.refused.values()))
        asked = list(chain.from_iterable(plan.asked_again.values()))
        if not (states or refused or asked):
            return {}
        conflicts = self._store.decisions.conflicts(all=True)
        settled: dict[int, str] = {**answered(conflicts, refused, asked)}
        for conflict in conflicts:
            became = [states[id] for id in (conflict.newer, conflict.older) if id in states]
            if conflict.status == "open" and State.DELETED in became:
                settled[conflict.id] = "undone"
            elif conflict.status in CLOSED and set(LIVE).intersection(became):
                settled[conflict.id] = "open"
        return settled


def _refuse_release(plan: Plan) -> None:
    """Raise InvalidInput if what is held back would no longer be, even if only in the bin, from
    where it could be restored, or if no review would ask about it any more."""
    for id, fields in plan.fields.items():
        now, then = plan.memories[id], replace(plan.memories[id], **fields)
        is_left = any("quarantined" in refusal for refusal in plan.refused[id])
        if (
            is_left
            or (now.is_held and not then.is_held)
            or (now.holds_back and not then.holds_back)
        ):
            raise InvalidInput(
                f"memory {id} is held back, and this would release it or let no review ask about"
                " it, which only a person may do: kinmem undo. Tell your user",
                "held_back",
            )


def _is_merging(line: Event) -> bool:
    return line.action in OF_UPKEEP - AUTOMATIC


def _is_of_upkeep(line: Event) -> bool:
    return line.action in OF_UPKEEP or (line.batch or "").startswith(SETTLING)


def _text(memory: Memory, fields: Mapping[str, Any]) -> str:
    return str(fields.get("content", memory.content))


def _became(id: str, plan: Plan) -> Became:
    memory, fields = plan.memories[id], plan.fields.get(id, {})
    if not fields and (plan.asked_again[id] or plan.refused[id]):
        return "asked" if plan.asked_again[id] else "kept"
    if fields.get("state") == State.DELETED:
        return "gone"
    return "back" if fields.get("state") in LIVE and memory.state not in LIVE else "changed"
