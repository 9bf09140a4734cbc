"""How a step goes through the memories: what is new since its last run, part by part.

The journal keeps how far it has come, so that nothing is read where nothing is new.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import tzinfo
from typing import Literal

from kinmem.llm.base import Embedder
from kinmem.models import Scope
from kinmem.store.base import Store
from kinmem.upkeep.apart import Apart
from kinmem.upkeep.groups import Group, Groups

Outcome = Literal["merged", "known", "changed", "refused", "aborted", "failed"]

MOST_READ = 5000
"""Changes of one scope in one run; 1.4 s with the built-in embedder. Each is read once."""
TOGETHER = 200
SCOPES: tuple[Scope, ...] = ("private", "shared")


class Fresh:
    """The groups in which a memory is new, got a vector or came back since the last run of a step
    with this embedder and similarity.

    Of one part of the memories after the other, the closest first. A part that was gone through to
    its end is not looked at again, unless something in it has failed.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        similarity: float,
        step: str,
        zone: tzinfo,
        *also: str,
    ) -> None:
        """`also`: other steps whose refusals count."""
        self._apart = Apart(store, step, *also)
        self._groups = Groups(store, embedder, similarity, self._apart, zone)
        self._journal = store.journal
        self._marks = {scope: f"{step} {embedder.name} {similarity} {scope}" for scope in SCOPES}
        self._changes = {
            scope: store.changed_since(self._journal.mark(mark), scope, MOST_READ)
            for scope, mark in self._marks.items()
        }
        self._read, self._left = 0, sum(map(len, self._changes.values()))
        self._is_held = False
        self.outcomes: Counter[Outcome] = Counter()

    @property
    def counts(self) -> Counter[str]:
        """The outcomes; read: changes looked at; left: those that the next run begins with."""
        return Counter[str](self.outcomes) + Counter(read=self._read, left=self._left)

    def settled(self, group: Group, outcome: Outcome) -> None:
        """What became of a group, before the next one is asked for.

        One that was changed meanwhile, or failed, comes again in the next run; one that was not
        merged for any other reason never does.
        """
        self.outcomes[outcome] += 1
        if outcome in ("changed", "failed"):
            self._is_held = True
        elif outcome != "merged":
            self._apart.refuse(group.ids)

    def __iter__(self) -> Iterator[Group]:
        for scope, changes in self._changes.items():
            self._is_held = False
            for start in range(0, len(changes), TOGETHER):
                part = changes[start : start + TOGETHER]
                self._read += len(part)
                yield from self._in({id for _, id in part}, scope)
                if not self._is_held:
                    self._journal.set_mark(self._marks[scope], part[-1][0])
                    self._left -= len(part)

    def _in(self, ids: Collection[str], scope: Scope) -> Iterator[Group]:
        """All groups; again where one was full, since what it was about is settled now."""
        over = True
        while over and not self._is_held:
            found = self._groups.of(ids, scope)
            yield from found.groups
            over = bool(found.over)
