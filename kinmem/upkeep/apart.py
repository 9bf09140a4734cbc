"""Which memories are never to become one: a model or a rule refused it, or somebody undid it."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cached_property
from itertools import combinations

from kinmem.errors import MemoryNotFound
from kinmem.store.base import Store

Pair = frozenset[str]
HISTORY = 1000
"""Lines of one memory; recalibration adds one every ten days."""


class Apart:
    """The pairs that one step keeps apart."""

    def __init__(self, store: Store, step: str, *also: str) -> None:
        """`also`: other steps whose refusals count."""
        self._store = store
        self._step = step
        self._steps = (step, *also)
        self._lines: dict[str, frozenset[str]] = {}

    def refuse(self, ids: Collection[str]) -> None:
        """Never propose these together again."""
        self._store.journal.refuse(self._step, ids)
        self._refused.update(_pairs(ids))

    def leave(self, ids: Collection[str]) -> None:
        """Do not propose these together in this run."""
        self._refused.update(_pairs(ids))

    def __contains__(self, pair: Pair) -> bool:
        """Whether both were in something refused, or one memory has superseded both at some time:
        that they are live says that it was undone."""
        return pair in self._refused or bool(frozenset.intersection(*map(self._line, pair)))

    @cached_property
    def _refused(self) -> set[Pair]:
        refused = map(self._store.journal.refused, self._steps)
        return {pair for sets in refused for ids in sets for pair in _pairs(ids)}

    def _line(self, id: str) -> frozenset[str]:
        """The memory, and whatever has superseded it, or that, at any time."""
        if id not in self._lines:
            line, waiting = {id}, [id]
            while waiting:
                heirs = self._heirs(waiting.pop()) - line
                line |= heirs
                waiting += heirs
            self._lines[id] = frozenset(line)
        return self._lines[id]

    def _heirs(self, id: str) -> set[str]:
        with suppress(MemoryNotFound):  # erased: nothing is known of it
            events = self._store.history(id, HISTORY)
            return {heir for event in events if (heir := event.after.get("superseded_by"))}
        return set()


def _pairs(ids: Iterable[str]) -> Iterable[Pair]:
    return map(frozenset, combinations(ids, 2))
