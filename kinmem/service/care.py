"""Service: maintenance of the memory: restore, undo, sleep, and background work."""

from collections.abc import Iterable

from kinmem.learn.prepare import changed_fields
from kinmem.models import (
    LIVE,
    Memory,
    Progress,
)
from kinmem.models.turns import Run
from kinmem.service.components import Parts
from kinmem.service.views import MOST_LISTED
from kinmem.text import storable
from kinmem.undo.undo import Undone
from kinmem.upkeep.steps import chosen
from kinmem.upkeep.summarize_memories import summarize_these
from kinmem.validation import checked_count


class Care(Parts):
    """Restoring, undoing, and the work that is otherwise done in the background."""

    def restore(self, memory_id: str) -> Memory:
        """Bring back one of the Kin's own memories that is forgotten, archived or superseded."""
        memory = self.store.get(memory_id)
        if memory.state in LIVE:
            return self.store.update(memory_id, {})
        zone = self.settings.general.zone
        back = changed_fields({"archived": False}, memory, self.clock(), zone)
        self.store.update(memory_id, back, action="restored")
        return self._renewed(memory_id)

    def undo(
        self,
        what: int | str | None = None,
        *,
        last: int = 1,
        cascade: bool = False,
        dry_run: bool = False,
    ) -> Undone:
        """Take back a write by its number, a batch by its name, the last change of a memory by its
        id, or the `last` deliberate changes. See kinmem.undo.undo.Undo."""
        self._background.await_ready()
        what = storable(what) if isinstance(what, str) else what
        undone = self._undo(what, last=last, cascade=cascade, dry_run=dry_run)
        if undone.batch:
            self._told_anew(undone.became)
            self.store.life.renew(undone.became)
            self._background.wake()
        return undone

    def sleep(
        self,
        steps: Iterable[str] = (),
        *,
        dry_run: bool = False,
        compress: bool | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Do the background work now, all steps or those named (upkeep/steps), and return what was
        done.

        A dry run counts what would be done and changes nothing. `compress` merges without a model.
        """
        names = chosen(steps)
        self._background.await_ready()
        if not dry_run:
            self.store.flush_use()
        return self._cycle.sleep(
            names,
            dry_run=dry_run,
            compress=compress,
            stopping=lambda: self._background.closing,
            progress=progress,
        )

    def sleep_if_due(self) -> Run | None:
        """Learn what waits, and finish the sleep cycle if one is due."""
        self._background.await_ready()
        return self._cycle.sleep_if_due(lambda: self._background.closing)

    def runs(self, limit: int = 20) -> list[Run]:
        """Return the reports of background work, the latest first."""
        return self.store.jobs.runs(checked_count(limit, "limit", 1, MOST_LISTED))

    def summarize(self, ids: Iterable[str] = (), progress: Progress | None = None) -> int:
        """Make new summaries of these memories of the Kin, or of all that lack one if none is
        named. Returns how many were made."""
        model = self._summary_model
        waiting = list(ids) or self.store.summaries.due(None)
        made = 0
        for done, id in enumerate(waiting):
            if progress:
                progress(done, len(waiting), "summaries")
            made += summarize_these(self.store, [id], model)
        return made

    def reembed(self, progress: Progress | None = None) -> int:
        """Make the missing vectors of the configured embedder now, and return how many were made.

        Raises ModelError if the embedder fails. What was done stays done; another call continues.
        """
        return self._indexing.all(progress)

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until the background work is done: vectors made, duplicates among them settled.

        Returns False if it is not done after `timeout` seconds, or cannot be (the embedder fails).
        """
        return self._background.settle(timeout)
