"""How a step that merges goes through the memories: what is new since its last run, part by part.

Its progress is stored, so that nothing is read when nothing is new.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from hashlib import sha256
from typing import Literal

from kinmem.llm.base import Embedder
from kinmem.models import Scope
from kinmem.store.base import Store
from kinmem.upkeep.groups import LARGEST, Apart, Found, Group, Groups

Outcome = Literal["merged", "known", "changed", "refused", "aborted", "failed"]

# Most changes of one scope that one run reads; 1.4 s with the built-in embedder. Each is read once.
MOST_READ = 5000
TOGETHER = 200
# Failures after which a group with the same texts is left out.
MOST_FAILURES = 3
SCOPES: tuple[Scope, ...] = ("private", "shared")


class Candidates:
    """The groups with a memory that is new, got a vector or came back since the last run of this
    step with this embedder and similarity.

    They come from one part of the memories after the other, the closest first. A part that was
    finished is not read again, unless something in it has failed.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        similarity: float,
        step: str,
        zone: tzinfo,
        *also: str,
        may_be_one: Callable[[str, str], bool] = lambda a, b: True,
    ) -> None:
        """`also` names other steps whose refusals count. For `may_be_one`, see Groups."""
        self._apart = Apart(store, step, *also)
        self._groups = Groups(store, embedder, similarity, self._apart, zone, may_be_one)
        self._jobs = store.jobs
        self._step = step
        self._marks = {scope: f"{step} {embedder.name} {similarity} {scope}" for scope in SCOPES}
        self._changes = {
            scope: store.index.changed_since(self._jobs.mark(mark), scope, MOST_READ)
            for scope, mark in self._marks.items()
        }
        self._read, self._left = 0, sum(map(len, self._changes.values()))
        self._is_held = False
        self.outcomes: Counter[Outcome] = Counter()

    @contextmanager
    def counted(self, counts: Counter[str]) -> Iterator[None]:
        """When the block ends, even with an error, add to `counts` the outcomes; `read`, the
        changes examined; and `left`, those that the next run begins with."""
        try:
            yield
        finally:
            counts.update(Counter[str](self.outcomes) + Counter(read=self._read, left=self._left))

    def settled(self, group: Group, outcome: Outcome) -> None:
        """Record what became of a group, before the next one is requested.

        A group that was changed in the meantime is offered again in the next run; one that was not
        merged for any other reason never is.
        """
        self.outcomes[outcome] += 1
        if outcome == "changed":
            self._is_held = True
        elif outcome != "merged":
            self._apart.refuse(group.ids)
        if outcome == "aborted":
            for memory in group.memories:
                name = self._aborts(memory.content_hash)
                self._jobs.set_mark(name, self._jobs.mark(name) + 1)

    def _aborts(self, content_hash: str) -> str:
        """Return the name of the counter of how often a text was kept apart."""
        return f"{self._step} aborts {content_hash}"

    def failed(self, group: Group, *, is_to_blame: bool) -> None:
        """Record that a group could not be decided; it is offered again in the next run. A group
        that was itself to blame MOST_FAILURES times is left out until one of its memories is
        changed."""
        self.outcomes["failed"] += 1
        failures = self._jobs.mark(self._failures(group)) + is_to_blame
        if is_to_blame:
            self._jobs.set_mark(self._failures(group), failures)
        if failures < MOST_FAILURES:
            self._is_held = True
        else:
            self._apart.leave(group.ids)

    def _failures(self, group: Group) -> str:
        """Return the name of the failure counter for exactly these texts."""
        texts = "".join(f"{memory.id} {memory.content_hash} " for memory in group.memories)
        return f"{self._step} failures {sha256(texts.encode()).hexdigest()}"

    def waiting(self) -> int:
        """Count the groups that there are now, without recording that they were read."""
        return sum(
            len(self._groups.of({id for _, id in part}, scope).groups)
            for scope, changes in self._changes.items()
            for part in _parts(changes)
        )

    def __iter__(self) -> Iterator[Group]:
        for scope, changes in self._changes.items():
            self._is_held = False
            for part in _parts(changes):
                self._read += len(part)
                yield from self._in({id for _, id in part}, scope)
                if not self._is_held:
                    self._jobs.set_mark(self._marks[scope], part[-1][0])
                    self._left -= len(part)

    def _in(self, ids: Collection[str], scope: Scope) -> Iterator[Group]:
        """Yield all groups but those left out. Searches again if a group was full or left out,
        since its memories are settled by then."""
        over = True
        while over and not self._is_held:
            searched = self._groups.of(ids, scope)
            hopeless = [group for group in searched.groups if self._has_failed_often(group)]
            for group in hopeless:
                self._apart.leave(group.ids)
            for group in searched.groups:
                if group in hopeless:
                    continue
                if self._is_apart(group, searched):
                    self._apart.leave(group.ids)
                else:
                    yield group
            over = bool(searched.over or hopeless)

    def _is_apart(self, group: Group, searched: Found) -> bool:
        """Return whether groups with these texts, or with those close to them, were kept apart
        twice."""
        hashes = {text for id in group.ids for text in searched.beside.get(id, ())}
        return sum(self._jobs.mark(self._aborts(text)) for text in hashes) > LARGEST

    def _has_failed_often(self, group: Group) -> bool:
        return self._jobs.mark(self._failures(group)) >= MOST_FAILURES


def _parts(changes: Sequence[tuple[int, str]]) -> Iterator[Sequence[tuple[int, str]]]:
    for start in range(0, len(changes), TOGETHER):
        yield changes[start : start + TOGETHER]
