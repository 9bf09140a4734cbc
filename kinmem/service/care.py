"""Service: the work that is otherwise done in the background."""

from collections.abc import Iterable

from kinmem.models import Progress
from kinmem.models.turns import Run
from kinmem.service.components import Components
from kinmem.store.base import Store
from kinmem.upkeep.steps import chosen
from kinmem.validation import MOST_LISTED, checked_count


class Care:
    """Sleep, summaries and vectors on request, and the reports of what was done."""

    def __init__(self, store: Store, components: Components) -> None:
        self._store = store
        self._cycle = components.cycle
        self._indexing = components.indexing
        self._renewal = components.renewal
        self._background = components.background

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
            self._store.flush_use()
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
        return self._store.jobs.runs(checked_count(limit, "limit", 1, MOST_LISTED))

    def summarize(self, ids: Iterable[str] = (), progress: Progress | None = None) -> int:
        """Make new summaries of these memories of the Kin, or of all that lack one if none is
        named. Returns how many were made."""
        return self._renewal.of_summaries(ids, progress)

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
