"""What a review finds, named so that it can be applied or refused later."""

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Literal

from kinmem.models import Issue, IssueKind, Memory
from kinmem.store.journal import Journal

Suggestion = Literal["delete", "merge", "update", "keep", "release"]

STEP = "review"


def issue_of(
    kind: IssueKind,
    memories: Sequence[Memory],
    description: str,
    suggestion: Suggestion,
    content: str | None = None,
) -> Issue:
    """The issue with its id."""
    ids = tuple(memory.id for memory in memories)
    return Issue(issue_id(kind, memories), kind, ids, description, suggestion, content)


def issue_id(kind: IssueKind, memories: Collection[Memory]) -> str:
    """Ten hexadecimal digits of the kind and of which memories it is about, at which versions."""
    versions = sorted(f"{memory.id}@{memory.version}" for memory in memories)
    return blake2b("\n".join([kind, *versions]).encode(), digest_size=5).hexdigest()


def refusal(kind: IssueKind, memories: Collection[Memory]) -> frozenset[str]:
    """Under which ids the journal remembers that an issue was refused: as long as the texts stand.

    Scoring and use raise no version here, and new wording may be looked at again.
    """
    texts = {f"{memory.id}@{memory.content_updated_at.isoformat()}" for memory in memories}
    return frozenset({kind, *texts})


class Refused:
    """The issues that nobody wants to see again."""

    def __init__(self, journal: Journal) -> None:
        self._known = journal.refused(STEP)

    def has(self, issue: Issue, memories: Collection[Memory]) -> bool:
        """Whether this issue was refused."""
        return refusal(issue.type, memories) in self._known
