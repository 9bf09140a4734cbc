"""The service: everything kinmem does for one Kin, for tools, command line and Python alike."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from kinmem.backup.backups import Backups
from kinmem.clock import Clock, utc_now
from kinmem.learn.drafting import settle_places
from kinmem.llm.base import ChatModels, Embedder
from kinmem.service.components import Ground, components
from kinmem.service.conversations import Care, Conversations
from kinmem.service.memories import Memories
from kinmem.service.storing import Storing
from kinmem.service.transfers import Transfers
from kinmem.service.views import ChangesView, Stats, Views
from kinmem.settings import Settings
from kinmem.store.base import Store

__all__ = ["Service", "Stats"]

NO_MODELS = ChatModels()


class Service:
    """One Kin's memory. Every method may be called from any thread.

    Times are aware datetimes or ISO 8601 text, read in KINMEM_TZ. All methods raise InvalidInput
    for arguments that are not valid, and StoreError if the database operation fails. Opened by
    kinmem.open or wiring; close it, or use it in a with statement.

    Its methods are those of seven groups, listed in `_know`, `_work` and `_carry`. Each is written
    once, in its group, with its signature and docstring.
    """

    def __init__(
        self,
        store: Store,
        embedders: Sequence[Embedder],
        settings: Settings,
        *,
        models: ChatModels = NO_MODELS,
        clock: Clock = utc_now,
        patience: float | None = None,
        resident: bool = True,
        backups: Backups | None = None,
    ) -> None:
        """`embedders` are the configured one, then those that answer while its vectors are being
        made.

        `patience` limits the seconds that a call waits for the embedder to load; None: no limit.
        Without `resident` no model is loaded and no background work is done, and words alone are
        searched. `backups` are those of the home that the store is in.
        """
        self.store = store
        self.settings = settings
        self.clock = clock
        self.backups = backups
        ground = Ground(store, embedders, settings, models, clock, backups)
        self.components = components(ground, patience, resident=resident)
        self.documents = self.components.documents
        storing = Storing(ground, self.components)
        self._know(Memories(ground, self.components), storing, Views(ground), ChangesView(ground))
        self._work(Conversations(store, self.components), Care(store, self.components))
        self._carry(Transfers(ground, self.components, storing))
        settle_places(store)
        self.components.background.start()

    def _know(
        self, memories: Memories, storing: Storing, views: Views, changes: ChangesView
    ) -> None:
        """Offer what concerns memories."""
        self.recall = memories.recall
        self.similar = memories.similar
        self.left_out = memories.left_out
        self.list_memories = memories.list_memories
        self.review_memories = memories.review_memories
        self.decide = memories.decide
        self.forget = memories.forget
        self.forget_about = memories.forget_about
        self.scrub = memories.scrub
        self.confirm = memories.confirm
        self.mute = memories.mute
        self.unmute = memories.unmute
        self.muted = memories.muted
        self.restore = memories.restore
        self.undo = memories.undo

        self.share = storing.share
        self.is_shared = storing.is_shared
        self.memorize = storing.memorize
        self.is_done = storing.is_done
        self.memorize_many = storing.memorize_many
        self.add_document = storing.add_document
        self.add = storing.add
        self.update_memory = storing.update_memory

        self.get = views.get
        self.text = views.text
        self.chunk = views.chunk
        self.vitals = views.vitals
        self.forecast = views.forecast
        self.newer = views.newer
        self.links = views.links
        self.timeline = views.timeline
        self.explore = views.explore
        self.entity_names = views.entity_names
        self.graph = views.graph
        self.history = views.history
        self.as_of = views.as_of
        self.subjects = views.subjects
        self.growth = views.growth
        self.days = views.days
        self.stats = views.stats
        self.changes = changes.changes

    def _work(self, conversations: Conversations, care: Care) -> None:
        """Offer what concerns conversations and the work done in the background."""
        self.observe = conversations.observe
        self.record_turn = conversations.record_turn
        self.opening = conversations.opening
        self.compacted = conversations.compacted
        self.context = conversations.context
        self.sessions = conversations.sessions
        self.turns = conversations.turns
        self.became = conversations.became
        self.parked = conversations.parked
        self.retry = conversations.retry

        self.sleep = care.sleep
        self.sleep_if_due = care.sleep_if_due
        self.runs = care.runs
        self.summarize = care.summarize
        self.reembed = care.reembed
        self.settle = care.settle

    def _carry(self, transfers: Transfers) -> None:
        """Offer what takes memories out of kinmem, and brings them back."""
        self.export = transfers.export
        self.import_ = transfers.import_
        self.export_pages = transfers.export_pages
        self.import_pages = transfers.import_pages

    @property
    def kin(self) -> str:
        """The Kin whose memory this is."""
        return self.store.kin

    @property
    def here(self) -> str | None:
        """The project of the current call, else the one that this process was started in, if any;
        see models/places.py."""
        return self.components.current_place.here

    @here.setter
    def here(self, place: str | None) -> None:
        self.components.current_place.here = place

    @property
    def root(self) -> str | None:
        """The project that the client has named, which is then `here` as well.

        Messages belong to it unless they name another.
        """
        return self.components.current_place.root

    @root.setter
    def root(self, place: str | None) -> None:
        self.components.current_place.root = place

    @property
    def is_at_rest(self) -> bool:
        """Whether no background work is being done, and no call that may take long."""
        return self.components.background.outcome is not None and not self.components.long_calls

    def stop(self) -> None:
        """End background work after the part that it is at, without waiting for that."""
        self.components.background.stop()

    def close(self) -> None:
        """Stop background work and close the files. Pending work continues at the next opening."""
        self.components.background.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
