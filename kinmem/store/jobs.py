"""What kinmem asks of a database about jobs, and about what somebody has or has yet to decide."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

from kinmem.models import LIVE, Memory
from kinmem.turns import Conflict, Run

if TYPE_CHECKING:
    from kinmem.store.base import Store


class Jobs(Protocol):
    """Which jobs run for a Kin, how far they have come, and reports of those done."""

    def mark(self, name: str) -> int:
        """How far a step has come; 0: nowhere yet. See Index.changed_since."""
        ...

    def set_mark(self, name: str, value: int) -> None:
        """Note how far it has come."""
        ...

    def lease(self, job: str, holder: str, seconds: float) -> bool:
        """Take or renew a lease; False while another holder's has not run out.

        A holder named pid@host/... whose process has ended on this host counts as run out.
        """
        ...

    def holder(self, job: str) -> str | None:
        """Who holds a lease that has not run out, as it was named."""
        ...

    def release(self, job: str, holder: str) -> None:
        """Give it back; nothing if it is somebody else's."""
        ...

    def record(self, run: Run) -> int:
        """Keep a report; the oldest beyond 1,000 go."""
        ...

    def runs(self, limit: int = 20, kind: str | None = None) -> list[Run]:
        """Reports, the latest first."""
        ...


class Decisions(Protocol):
    """Which memories contradict each other, and which proposals were refused."""

    def conflicts(self, *, all: bool = False) -> list[Conflict]:
        """The open ones, or all, the latest first."""
        ...

    def close_conflict(self, id: int, status: str) -> None:
        """Note how it was resolved; unknown ids are ignored."""
        ...

    def refuse(self, kind: str, ids: Collection[str]) -> None:
        """Remember that somebody, or a model, does not want this done to these memories."""
        ...

    def refused(self, kind: str) -> frozenset[frozenset[str]]:
        """Every set of ids that was refused for this kind of step."""
        ...


def newer_of(store: "Store", ids: Collection[str]) -> dict[str, Memory]:
    """By id of a memory the latest live one that may have taken its place, in an open conflict.

    None where the user keeps what exists (KINMEM_CONFLICT_MODE), or the conflict was settled.
    """
    open_ones = [
        one
        for one in store.decisions.conflicts()
        if one.older in ids and one.mode != "keep_existing"
    ]
    found = store.memories({one.newer for one in open_ones}) if open_ones else {}
    newer: dict[str, Memory] = {}
    for one in open_ones:
        memory = found.get(one.newer)
        if memory is None or memory.state not in LIVE:
            continue
        known = newer.get(one.older)
        if known is None or (known.said_at, known.id) < (memory.said_at, memory.id):
            newer[one.older] = memory
    return newer
