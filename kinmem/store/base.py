"""All that kinmem asks of a database. The contract test in tests/store/contract.py defines it.

What is asked stands in small protocols, by whom it concerns; ask for the narrowest.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from kinmem.models import Health
from kinmem.store.graph import Graph, Links
from kinmem.store.history import Forgetting, Past
from kinmem.store.index import Index
from kinmem.store.memory import Documents, Memories, Summaries
from kinmem.store.sessions import ShownNotes, Snapshots, Transcript, Turns
from kinmem.store.upkeep import Decisions, Jobs, Life, Rounds


class Store(Memories, Protocol):
    """The memories of one Kin, and everything else that is kept for it.

    Every method, of this and of what hangs on it, may be called from any thread. Each write is one
    durable transaction together with its history line; when it returns, kill -9 and power loss do
    not undo it. Any method may raise StoreError, `storage_busy` after five seconds of waiting for
    another process.
    """

    @property
    def index(self) -> Index:
        """Memories, found by words and by meaning."""
        ...

    @property
    def documents(self) -> Documents:
        """The texts of documents."""
        ...

    @property
    def summaries(self) -> Summaries:
        """What memories say in short."""
        ...

    @property
    def life(self) -> Life:
        """How this Kin's memories stand: retention, states, tiers."""
        ...

    @property
    def rounds(self) -> Rounds:
        """Which memories are due to be tagged and linked."""
        ...

    @property
    def links(self) -> Links:
        """How memories hang together."""
        ...

    @property
    def graph(self) -> Graph:
        """Entities and how they stand to each other."""
        ...

    @property
    def turns(self) -> Turns:
        """What was said in sessions."""
        ...

    @property
    def snapshots(self) -> Snapshots:
        """What stands for it in short."""
        ...

    @property
    def shown(self) -> ShownNotes:
        """What sessions were shown of the memory."""
        ...

    @property
    def transcript(self) -> Transcript:
        """What was said, searched."""
        ...

    @property
    def jobs(self) -> Jobs:
        """What runs for this Kin, and has run."""
        ...

    @property
    def decisions(self) -> Decisions:
        """What contradicts each other, and what was refused."""
        ...

    @property
    def past(self) -> Past:
        """What this Kin has done to its memories."""
        ...

    @property
    def forgetting(self) -> Forgetting:
        """What is held of a name, and how it goes."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """What this thread reads meanwhile belongs together: whether anything has changed is looked
        up once, unless it changes something itself."""
        ...

    def health(self) -> list[Health]:
        """Every file, examined. Takes as long as reading them."""
        ...

    def keep_house(self, is_over: Callable[[], bool], dry_run: bool = False) -> Mapping[str, int]:
        """Keep the files in order until `is_over`; what was done, by name. Changes no memory."""
        ...

    def close(self) -> None:
        """Write what is buffered and let go of the files. A second call does nothing."""
        ...
