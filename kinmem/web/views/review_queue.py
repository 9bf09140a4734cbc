"""The review queue: what a person has to decide, each decision one click, which can be undone."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from weakref import WeakKeyDictionary

from starlette.responses import Response

from kinmem.http.lanes import Unhurried
from kinmem.models import Issue, Memory, Progress, Review
from kinmem.service import Service
from kinmem.web.render import address
from kinmem.web.view import Answer, Asked, Done, Notice, Shown, View

PATH, AWAITED = "/review", "awaited"
MOST = 50
# Seconds that a page waits for a review; and if an older one can be shown meanwhile.
PATIENCE, PATIENCE_AGAIN = 2.0, 0.25
# Memories up to which a review, a second of work, is begun for a glance at it.
MOST_UNASKED = 2000


@dataclass(frozen=True, slots=True)
class Decision:
    """An issue with its memories."""

    issue: Issue
    memories: Sequence[Memory]

    @property
    def takes(self) -> str:
        """What a session needs to decide it: only the owner releases what is held back."""
        return "admin" if self.issue.type == "quarantined" else "write"

    @property
    def is_choice(self) -> bool:
        """Whether one of several memories stays."""
        return len(self.memories) > 1 and self.issue.suggestion != "delete" and not self.is_left

    @property
    def is_left(self) -> bool:
        """Whether leaving it is all that is suggested: both of a contradiction stay, since one
        click must lose nothing; parts that are held back stay so."""
        stays = self.issue.type in ("contradiction", "quarantined")
        return stays and self.issue.suggestion == "keep"

    @property
    def is_rewritten(self) -> bool:
        """Whether the suggested text is none of the memories'."""
        text = self.issue.suggested_content
        return bool(text) and text not in {memory.content for memory in self.memories}


class Reviews:
    """The latest review of each memory: one of ten thousand takes many seconds, and goes on while
    the page shows the one before it."""

    def __init__(self) -> None:
        self._running: WeakKeyDictionary[Service, tuple[tuple[int, ...], Unhurried[Review]]] = (
            WeakKeyDictionary()
        )
        self._done: WeakKeyDictionary[Service, tuple[tuple[int, ...], Review]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def glance(self, service: Service, live: int) -> tuple[Review | None, bool]:
        """Return the same without waiting. With many memories, or a model that is asked for each
        review, only somebody who opens the review begins one."""
        model = service.settings.model.review or service.settings.model.default
        if live > MOST_UNASKED or model not in (None, "off"):
            with self._lock:
                return self._done.get(service, (None, None))[1], False
        return self.latest(service, patience=0.0)

    def latest(self, service: Service, patience: float | None = None) -> tuple[Review | None, bool]:
        """Return the latest review, if there is any yet, and whether a newer one is under way."""
        if patience is None:
            patience = PATIENCE_AGAIN if service in self._done else PATIENCE
        ends_at = time.monotonic() + patience
        while True:
            revision = service.store.revision
            with self._lock:
                at, known = self._done.get(service, (None, None))
                if at == revision:
                    return known, False
                if service not in self._running:
                    work = Unhurried(partial(_reviewed, service))
                    self._running[service] = revision, work
                begun, work = self._running[service]
            found = self._finished(service, begun, work, ends_at)
            if found is None or begun == revision:
                return found or known, found is None

    def _finished(
        self, service: Service, begun: tuple[int, ...], work: Unhurried[Review], ends_at: float
    ) -> Review | None:
        """Return what the work has found by then, and keep it; None if it goes on."""
        try:
            found = work.within(max(0.0, ends_at - time.monotonic()), lambda *_: None)
        except BaseException:
            with self._lock:
                self._running.pop(service, None)
            raise
        if found is not None:
            with self._lock:
                self._running.pop(service, None)
                self._done[service] = begun, found
        return found

    def drop(self, service: Service, issue: str) -> None:
        """Leave an issue out that has just been decided; the next review follows anyway."""
        with self._lock:
            if found := self._done.get(service):
                revision, review = found
                left = [one for one in review.issues if one.id != issue]
                self._done[service] = revision, replace(review, issues=left)


def _reviewed(service: Service, progress: Progress) -> Review:
    return service.review_memories(progress=progress)


REVIEWS = Reviews()


def show(asked: Asked) -> Answer:
    review, is_running = REVIEWS.latest(asked.service)
    if is_running and asked.given(AWAITED):
        return Response(status_code=204)  # the page stays as it is, and asks again
    if review is None:
        return Shown("waiting.html", {"awaited": address(PATH, **{AWAITED: 1})})
    issues = review.issues[:MOST]
    known = asked.service.store.memories({id for issue in issues for id in issue.memory_ids})
    return Shown(
        "review.html",
        {
            "decisions": [_decision(issue, known) for issue in issues],
            "total": len(review.issues),
            "is_running": is_running,
            "awaited": address(PATH, **{AWAITED: 1}),
            "is_degraded": bool(review.degraded),
            "parked": asked.service.parked()[:MOST],
        },
    )


def _decision(issue: Issue, known: Mapping[str, Memory]) -> Decision:
    return Decision(issue, [known[id] for id in issue.memory_ids if id in known])


def settle(asked: Asked) -> Answer:
    """Do what was decided about one issue; releasing what is held back takes the scope admin."""
    is_refused = asked.given("what") == "refuse"
    issue = asked.given("issue") or ""
    settled = asked.service.decide(
        issue,
        refuse=is_refused,
        keep=asked.given("keep"),
        releases=asked.may("admin"),
    )
    REVIEWS.drop(asked.service, issue)
    done = "did.refused" if is_refused else "did.settled"
    return Done(PATH, Notice(done, undo=(settled.batch,) if settled.batch else ()))


def retry(asked: Asked) -> Answer:
    """Try again to learn from what was given up."""
    many = asked.service.retry()
    return Done(PATH, Notice("review.retried", many))


VIEW = View(
    "review",
    PATH,
    show,
    is_certain=True,
    actions={f"{PATH}/settle": settle, f"{PATH}/retry": retry},
    group="decide",
)
