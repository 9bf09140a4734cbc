"""Reviews and what is done about them: issues are known by id from one call to the next."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from kinmem.clock import Clock
from kinmem.errors import InvalidInput
from kinmem.llm.base import ChatModel, Embedder, Judge
from kinmem.models import Filters, Issue, Progress, Review
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.upkeep.resolve import apply_issue, refuse_issue
from kinmem.upkeep.review import review

REMEMBERED = 200
"""Issues: what a model finds cannot be found again by asking it again."""


class Reviewer:
    """Reviews one Kin's memory, and settles what a review has found."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        model: ChatModel | None,
        settings: Settings,
        clock: Clock,
        judge: Judge | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._model = model
        self._judge = judge
        self._duplicate = settings.learn.duplicate_similarity
        self._clock = clock
        self._zone = settings.general.zone
        self._issues: OrderedDict[str, Issue] = OrderedDict()

    def __call__(
        self,
        filters: Filters,
        *,
        apply: Sequence[str] = (),
        refuse: Sequence[str] = (),
        keep: str | None = None,
        progress: Progress | None = None,
    ) -> Review:
        """What is found now, after the named issues were settled or refused.

        Raises InvalidInput for an unknown id, and where an issue cannot be settled any more; those
        named before it are settled then.
        """
        if keep is not None and len(apply) != 1:
            raise InvalidInput("keep names the memory that stays of one issue: apply just that one")
        settled = [
            apply_issue(self._store, self._embedder, self._known(id), self._clock(), keep)
            for id in apply
        ]
        settled += [refuse_issue(self._store, self._known(id)) for id in refuse]
        # The model has been asked when these issues were found; asking again would only cost.
        model = None if settled else self._model
        return replace(self._found(filters, model, progress), settled=tuple(settled))

    def _found(
        self, filters: Filters, model: ChatModel | None, progress: Progress | None
    ) -> Review:
        found = review(
            self._store,
            self._embedder,
            filters,
            self._clock().astimezone(self._zone),
            progress,
            model=model,
            duplicate=self._duplicate,
            judge=self._judge,
        )
        for issue in found.issues:
            self._issues[issue.id] = issue
            self._issues.move_to_end(issue.id)
        while len(self._issues) > REMEMBERED:
            self._issues.popitem(last=False)
        return found

    def _known(self, id: str) -> Issue:
        if id not in self._issues:
            self._found(Filters(), None, None)  # of an earlier process
        if id not in self._issues:
            raise InvalidInput(f"no issue has the id {id!r} now; review again, things have changed")
        return self._issues[id]
