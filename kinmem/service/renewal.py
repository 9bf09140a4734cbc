"""What has to follow at once when a memory was changed: its priority, tags and summary."""

from collections.abc import Iterable

from kinmem.clock import Clock
from kinmem.llm.base import ChatModel
from kinmem.models import Memory, Progress
from kinmem.store.base import Store
from kinmem.store.memory import SHORT
from kinmem.upkeep.summarize_memories import summarize_these
from kinmem.upkeep.tag import tag_these

# Characters. Summarising a longer text by rules takes over 5 ms.
AT_ONCE = 4000


class Renewal:
    """Computes again what depends on a memory's fields and text."""

    def __init__(self, store: Store, clock: Clock, summary_model: ChatModel | None) -> None:
        self._store = store
        self._clock = clock
        self._summary_model = summary_model

    def of_rank(self, memory_id: str) -> Memory:
        """Return the memory with its priority recomputed after a change, and its tier if that must
        not wait."""
        self._store.life.renew([memory_id])
        return self._store.get(memory_id)

    def of_texts(self, ids: Iterable[str], *, tags: bool = True) -> None:
        """Tag and summarise changed texts again, as far as that takes no noticeable time; upkeep
        does the rest. Without `tags` if sleep had given none yet."""
        memories = self._store.memories(list(ids)).values()
        rewritten = [
            memory
            for memory in memories
            if memory.kin == self._store.kin and memory.tagged_at is None
        ]
        if tags:
            tag_these(self._store, rewritten, self._clock)
        if self._summary_model is None:
            long = [memory.id for memory in rewritten if SHORT < len(memory.content) <= AT_ONCE]
            summarize_these(self._store, long, None)

    def of_new_document(self, memory_id: str) -> None:
        """Summarise a stored document now if no model is to do it."""
        if self._summary_model is None:
            summarize_these(self._store, [memory_id], None)

    def of_summaries(self, ids: Iterable[str], progress: Progress | None) -> int:
        """See Service.summarize."""
        waiting = list(ids) or self._store.summaries.due(None)
        made = 0
        for done, id in enumerate(waiting):
            if progress:
                progress(done, len(waiting), "summaries")
            made += summarize_these(self._store, [id], self._summary_model)
        return made
