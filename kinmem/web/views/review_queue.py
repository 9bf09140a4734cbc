"""The review queue: what a person has to decide, each decision one click, which can be undone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinmem.models import Issue, Memory
from kinmem.web.view import Answer, Asked, Done, Notice, Shown, View

PATH = "/review"
MOST = 50


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
        return len(self.memories) > 1 and self.issue.suggestion != "delete"

    @property
    def is_rewritten(self) -> bool:
        """Whether the suggested text is none of the memories'."""
        text = self.issue.suggested_content
        return bool(text) and text not in {memory.content for memory in self.memories}


def show(asked: Asked) -> Answer:
    review = asked.service.review_memories()
    issues = review.issues[:MOST]
    known = asked.service.store.memories({id for issue in issues for id in issue.memory_ids})
    return Shown(
        "review.html",
        {
            "decisions": [_decision(issue, known) for issue in issues],
            "total": len(review.issues),
            "is_degraded": bool(review.degraded),
            "parked": asked.service.parked()[:MOST],
        },
    )


def _decision(issue: Issue, known: Mapping[str, Memory]) -> Decision:
    return Decision(issue, [known[id] for id in issue.memory_ids if id in known])


def settle(asked: Asked) -> Answer:
    """Do what was decided about one issue; releasing what is held back takes the scope admin."""
    id, keep, what = asked.given("issue") or "", asked.given("keep"), asked.given("what")
    releases = asked.may("admin")
    if what == "refuse":
        asked.service.review_memories(refuse=[id], releases=releases)
        return Done(PATH, Notice("did.refused"))
    done = asked.service.review_memories(apply=[id], keep=keep, releases=releases)
    batches = tuple(one.batch for one in done.settled if one.batch)
    return Done(PATH, Notice("did.settled", undo=batches))


def retry(asked: Asked) -> Answer:
    """Try again to learn from what was given up."""
    return Done(PATH, Notice("review.retried", {"n": asked.service.retry()}))


VIEW = View(
    "review",
    PATH,
    show,
    actions={f"{PATH}/settle": settle, f"{PATH}/retry": retry},
    group="decide",
)
