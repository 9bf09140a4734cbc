"""Plans an undo: writes that belong together are undone together, and no later change is lost
without consent."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from kinmem.clock import Clock
from kinmem.errors import InvalidInput, LaterChange, MemoryNotFound
from kinmem.models import LIVE, Chunks, Draft, Event, Memory, State
from kinmem.models.reports import LEFT
from kinmem.store.base import Store
from kinmem.store.history import COMPUTED, ERASED, REFUSALS, components, heirs
from kinmem.store.records import IMPORTED

# Actions of time, use and upkeep. They are undone along with what they were applied to, without
# asking.
AUTOMATIC = frozenset(
    {"recalibrated", "pruned", "purged", "faded", "revived", "expired", "everywhere"}
)
# Actions after which a memory is here that was not before.
BRINGING = frozenset({"created", IMPORTED})
# How the names of batches begin that compare memories stored without a vector. They are a
# consequence of the storing.
SETTLING = "settle "

# What one write did to one memory: the memory's id and the number of the write.
Key = tuple[str, int]
# As in Decisions.refuse.
Refusal = Sequence[str]


@dataclass(frozen=True, slots=True)
class Plan:
    """The fields to set, by id, and the writes that this reverts."""

    writes: tuple[int, ...]
    fields: dict[str, dict[str, Any]]
    links: dict[str, Sequence[Mapping[str, Any]]]
    memories: Mapping[str, Memory]
    reverts: Mapping[str, tuple[int, ...]]
    lost: tuple[str, ...]
    asked_again: Mapping[str, Sequence[Refusal]]
    """By memory, the refusals of review issues that are taken back."""
    refused: Mapping[str, Sequence[Refusal]]
    """By memory, those that are in force again, since what had taken them back is undone."""


class Planner:
    """Finds everything that must be undone together, among one Kin's memories."""

    def __init__(self, store: Store, window: timedelta, clock: Clock) -> None:
        self._store = store
        self._window = window
        self._clock = clock

    def __call__(self, meant: Sequence[Event], *, cascade: bool) -> Plan:
        """Return the changes after which these history lines, and all that follows from them, are
        undone.

        Raises LaterChange if a later change would be lost, unless `cascade` undoes it too;
        InvalidInput if nothing can be undone.
        """
        chosen = {(line.memory_id, line.write) for line in meant}
        while True:
            about = self.about({id for id, _ in chosen})
            kept = {(id, line.write) for id, lines in about.items() for line in lines}
            if not chosen & kept:
                raise InvalidInput(
                    f"{_named(meant)} is undone already; undo the undoing to redo it",
                    "undone_already",
                )
            chosen &= kept
            taken = {
                id: [line for line in lines if (id, line.write) in chosen]
                for id, lines in about.items()
            }
            taken = {id: lines for id, lines in taken.items() if lines}
            memories = self.own(taken)
            follow, later = self._after(taken, about, memories)
            if not follow and later and not cascade:
                raise _later(meant, later)
            more = self._with_all(follow or later) - chosen
            if not more:
                return self._plan(taken, memories)
            chosen |= more

    def about(self, ids: Collection[str]) -> dict[str, list[Event]]:
        """Return by id the lines about these memories that are in force, in order."""
        lines: dict[str, list[Event]] = defaultdict(list)
        for line in self._store.past.about(ids):
            lines[line.memory_id].append(line)
        return {id: in_force(of) for id, of in lines.items()}

    def own(self, ids: Collection[str]) -> dict[str, Memory]:
        memories = self._store.memories(ids)
        return {id: memory for id, memory in memories.items() if memory.kin == self._store.kin}

    def _with_all(self, lines: Iterable[Event]) -> set[Key]:
        """Return what the same writes did to related memories."""
        return {
            (line.memory_id, line.write)
            for event in lines
            for line in components(self._store.past.write(event.write), [event.memory_id])
        }

    def _after(
        self,
        taken: Mapping[str, Sequence[Event]],
        about: Mapping[str, Sequence[Event]],
        memories: Mapping[str, Memory],
    ) -> tuple[list[Event], list[Event]]:
        """Return the lines that follow from what is undone and go with it, then those that depend
        on it or change the same fields, which would be lost."""
        later = [
            line
            for id, lines in taken.items()
            if id in memories
            for line in _on_top(lines, about[id], memories[id])
        ]
        born = [id for id, lines in taken.items() if id in memories and lines[0].action in BRINGING]
        later += self._superseded_by(born, taken)
        later += self._unexplained(taken, about, memories, {line.memory_id for line in later})
        if not later:
            later = self._said_again(taken, memories)
        follow = [line for line in later if (line.batch or "").startswith(SETTLING)]
        return follow, [line for line in later if line not in follow]

    def _superseded_by(
        self, born: Sequence[str], taken: Mapping[str, Sequence[Event]]
    ) -> list[Event]:
        """Return the lines with which other memories were superseded by those that are to go."""
        gave_way = self.about(self._store.past.superseded_by(born)) if born else {}
        return [
            line
            for id, lines in gave_way.items()
            for line in lines
            if set(heirs(line)) & set(born)
            and line not in taken.get(id, ())
            and not line.reverts
            and not _came_along(line, taken.get(id, ()))
        ]

    def _unexplained(
        self,
        taken: Mapping[str, Sequence[Event]],
        about: Mapping[str, Sequence[Event]],
        memories: Mapping[str, Memory],
        known: Collection[str],
    ) -> list[Event]:
        """If a memory is not as the last of its lines left it, return the line that has changed
        it."""
        changed = []
        for id, lines in taken.items():
            if id not in memories or id in known or lines[0].action in BRINGING:
                continue
            left: dict[str, Any] = {}
            for line in lines:
                left |= line.after
            stored = self._store.past.stored(memories[id], left.keys() & set(Memory.__slots__))
            differs = {name for name, value in stored.items() if left[name] != value} - COMPUTED
            after = [line for line in about[id] if line.write > lines[-1].write]
            by_time = {name for line in after if is_automatic(line) for name in line.after}
            if any(map(_lets_last, after)):
                by_time.add("expires_at")
            if differs - by_time:
                changed += [line for line in after if differs & line.after.keys()][-1:]
        return changed

    def _said_again(
        self, taken: Mapping[str, Sequence[Event]], memories: Mapping[str, Memory]
    ) -> list[Event]:
        """Return the lines with which other memories came to state what one of these would state
        again."""
        again = []
        for id, memory in memories.items():
            fields = self._fields(taken[id], memory)
            new = replace(memory, **fields)
            was = memory.state in LIVE and new.content_hash == memory.content_hash
            if new.state in LIVE and not was:
                again.append(new)
        stated = self._store.same_statements([Draft(memory, Chunks(())) for memory in again])
        others = self.about({id for id in stated if id and id not in taken})
        return [
            line
            for memory, other in zip(again, stated, strict=True)
            for line in others.get(other or "", ())
            if _is_since(line, taken[memory.id][-1].write)
            and {"content_hash", "state"} & line.after.keys()
        ]

    def _plan(self, taken: Mapping[str, Sequence[Event]], memories: Mapping[str, Memory]) -> Plan:
        oldest = min(line.at for lines in taken.values() for line in lines)
        if oldest < self._clock() - self._window:
            days = self._window.days
            told = f"it was done more than {days} days ago (KINMEM_PURGE_DAYS)"
            raise InvalidInput(told, "done_long_ago", days=days)
        lost = sorted(id for id in taken if id not in memories)
        if not memories:
            raise InvalidInput(
                f"what was erased cannot come back: {', '.join(lost)}; name another write",
                "erased",
            )
        fields = {id: self._fields(taken[id], memory) for id, memory in memories.items()}
        for id, values in fields.items():
            if lost_of := [name for name, value in values.items() if _is_blanked(value)]:
                raise _forgotten(taken[id], f"the {' and '.join(lost_of)}")
            self._check_text(taken[id], memories[id], values)
        writes = {line.write for lines in taken.values() for line in lines}
        return Plan(
            tuple(sorted(writes, reverse=True)),
            fields,
            {id: links for id in memories if (links := _links(taken[id])) is not None},
            memories,
            {id: tuple(sorted({line.write for line in taken[id]})) for id in memories},
            tuple(lost),
            {id: _refusals(line.after for line in taken[id]) for id in memories},
            {id: _refusals(line.before for line in taken[id]) for id in memories},
        )

    def _check_text(
        self, lines: Sequence[Event], memory: Memory, fields: Mapping[str, Any]
    ) -> None:
        """Raise InvalidInput if the earlier text of a document was erased."""
        new = replace(memory, **fields)
        if new.is_document and new.content_hash != memory.content_hash:
            try:
                self._store.documents.text(memory.id, new.content_hash)
            except MemoryNotFound:
                raise _forgotten(lines, "the text") from None

    def _fields(self, lines: Sequence[Event], memory: Memory) -> dict[str, Any]:
        """Return the fields to set so that these lines are undone."""
        if lines[0].action in BRINGING:
            gone = {"state": State.DELETED, "deleted_at": self._clock()}
            return {} if memory.state == State.DELETED else gone
        before: dict[str, Any] = {}
        for line in reversed(lines):
            before |= line.before
        fields = self._store.past.fields(before)
        if lines[-1].action == "expired":
            fields["expires_at"] = None  # otherwise recall would leave out the restored memory
        if fields.get("state") == State.DELETED and fields.get("deleted_at"):
            # It was put into the bin just now, so the next purge must not erase it.
            oldest = self._clock() - self._window
            fields["deleted_at"] = max(fields["deleted_at"], oldest)
        return {name: value for name, value in fields.items() if getattr(memory, name) != value}


def in_force(lines: Sequence[Event]) -> list[Event]:
    """Return those of a memory's lines that were not reverted, in order."""
    gone: set[int] = set()
    kept: list[Event] = []
    for line in reversed(lines):
        if line.write not in gone:
            gone.update(line.reverts)
            kept.append(line)
    return kept[::-1]


def _came_along(line: Event, taken: Sequence[Event]) -> bool:
    """Return whether the line was part of the memory when an import that is undone brought it."""
    return bool(taken) and taken[0].action == IMPORTED and line.write < taken[0].write


def is_automatic(line: Event) -> bool:
    """Return whether nobody has done it on purpose: a refusal that settles follows from an edit."""
    settles = (line.batch or "").startswith(SETTLING)
    return line.action in AUTOMATIC or (line.action == LEFT and settles)


def _on_top(taken: Sequence[Event], all: Sequence[Event], memory: Memory) -> list[Event]:
    """Return later lines about the same fields of a memory, or about any field of one that is to
    go."""
    if taken[0].action in BRINGING and memory.state == State.DELETED:
        return []  # it is in the bin already
    touched = {name for line in taken for name in (*line.before, *line.after)} - COMPUTED
    touched -= {REFUSALS}  # each is about an issue of its own
    return [
        line
        for line in all
        if line.write > taken[0].write
        and line not in taken
        and not line.reverts
        and not is_automatic(line)
        and line.action != LEFT
        and (taken[0].action in BRINGING or touched & {*line.before, *line.after})
    ]


def _is_since(line: Event, write: int) -> bool:
    """Return whether it changed something after that write; merely reverting later writes does not
    count."""
    return line.write > write and not (line.reverts and min(line.reverts) > write)


def _lets_last(line: Event) -> bool:
    """Return whether it is the undo of an expiry, which also clears expires_at; see
    Planner._fields."""
    return bool(line.reverts) and "state" in line.after and line.after.get("expires_at", 0) is None


def _forgotten(lines: Sequence[Event], what: str) -> InvalidInput:
    return InvalidInput(
        f"what was erased cannot come back: {what} of {lines[0].memory_id} before"
        f" {_named(lines)} named what is forgotten; name another write",
        "erased",
    )


def _is_blanked(value: object) -> bool:
    """Return whether the value contains the mark that forget --about leaves."""
    if isinstance(value, str):
        return ERASED in value
    if isinstance(value, Mapping):
        return any(map(_is_blanked, (*value.keys(), *value.values())))
    return isinstance(value, list | tuple) and any(map(_is_blanked, value))


def _links(lines: Sequence[Event]) -> Sequence[Mapping[str, Any]] | None:
    """Return the manual links that a memory had before these lines; None if they are not about
    links."""
    links = [line.before["links"] for line in lines if "links" in line.before]
    return links[0] if links and lines[0].action not in BRINGING else None


def _refusals(said: Iterable[Mapping[str, Any]]) -> list[Refusal]:
    return [refusal for fields in said for refusal in fields.get(REFUSALS, ())]


def _named(lines: Sequence[Event]) -> str:
    numbers = sorted({line.write for line in lines})
    return f"write {', '.join(map(str, numbers))}"


def _later(meant: Sequence[Event], later: Sequence[Event]) -> LaterChange:
    lines = [
        f"{line.write} ({line.action} {line.memory_id} at {line.at:%Y-%m-%d %H:%M})"
        for line in sorted(later, key=lambda line: line.write)
    ]
    return LaterChange(_named(meant), list(dict.fromkeys(lines)))
