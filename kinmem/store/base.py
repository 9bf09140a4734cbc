"""The interface of the database. The contract test in tests/store/contract.py defines it.

It consists of small protocols, one for each purpose; ask for the narrowest.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from kinmem.models import LIVE, Health, Memory
from kinmem.store.graph import Graph, Links
from kinmem.store.history import Forgetting, Past
from kinmem.store.memory import Documents, Memories, Summaries
from kinmem.store.records import Transfer
from kinmem.store.sessions import Index, ShownNotes, Snapshots, Transcript, Turns
from kinmem.store.upkeep import Decisions, Jobs, Life, Rounds


class Store(Memories, Protocol):
    """The memories of one Kin, and everything else that is stored for it.

    Every method, here and in the properties below, may be called from any thread. Each write is one
    durable transaction together with its history line: once it has returned, neither kill -9 nor
    power loss undoes it. Any method may raise StoreError, `storage_busy` after waiting five seconds
    for another process.
    """

    @property
    def index(self) -> Index:
        """Search of memories by words and by meaning."""
        ...

    @property
    def documents(self) -> Documents:
        """The texts of documents."""
        ...

    @property
    def summaries(self) -> Summaries:
        """Summaries of memories."""
        ...

    @property
    def life(self) -> Life:
        """The life cycle of this Kin's memories: retention, states, tiers."""
        ...

    @property
    def rounds(self) -> Rounds:
        """Which memories are due to be tagged and linked."""
        ...

    @property
    def links(self) -> Links:
        """Links between memories."""
        ...

    @property
    def graph(self) -> Graph:
        """Entities and their relations."""
        ...

    @property
    def turns(self) -> Turns:
        """What was said in sessions."""
        ...

    @property
    def snapshots(self) -> Snapshots:
        """Summaries that stand for turns."""
        ...

    @property
    def shown(self) -> ShownNotes:
        """What sessions were shown of the memory."""
        ...

    @property
    def transcript(self) -> Transcript:
        """Search of what was said."""
        ...

    @property
    def jobs(self) -> Jobs:
        """Jobs that run or have run for this Kin."""
        ...

    @property
    def decisions(self) -> Decisions:
        """Conflicts between memories, and refused proposals."""
        ...

    @property
    def past(self) -> Past:
        """What this Kin has done to its memories."""
        ...

    @property
    def forgetting(self) -> Forgetting:
        """Finds everything about a name, and removes it."""
        ...

    @property
    def transfer(self) -> Transfer:
        """Everything as records, for export and import."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """Group the reads of this thread: whether anything has changed is checked only once, unless
        the thread itself changes something."""
        ...

    def health(self) -> list[Health]:
        """Examine every file. Takes as long as reading them."""
        ...

    def keep_house(self, is_over: Callable[[], bool], dry_run: bool = False) -> Mapping[str, int]:
        """Keep the files in order until `is_over` returns True; returns what was done, by name.
        Changes no memory."""
        ...

    def close(self) -> None:
        """Write what is buffered and release the files. A second call does nothing."""
        ...


def newer_of(store: Store, ids: Collection[str]) -> dict[str, Memory]:
    """Return by id of a memory the latest live one that may have superseded it, in an open
    conflict.

    No entry if the user keeps what exists (KINMEM_CONFLICT_MODE), or if the conflict was settled.
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
