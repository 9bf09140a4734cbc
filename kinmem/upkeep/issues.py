"""What a review finds: issues that can be applied or refused later, a model's among them.

A model may name, suggest and word only what can be so.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator

from kinmem.errors import InvalidInput
from kinmem.language import unproved
from kinmem.llm.base import ChatModel
from kinmem.llm.prompts import render, today
from kinmem.llm.relating import Relating, shares_words
from kinmem.llm.reply import fitting
from kinmem.models import Issue, IssueKind, Memory, Progress
from kinmem.sentences import sentences
from kinmem.store.upkeep import Decisions
from kinmem.text import clean, folded
from kinmem.validation import checked_content

Suggestion = Literal["delete", "merge", "update", "keep", "release"]

STEP = "review"

TOGETHER = 40
"""Memories in one question."""
MOST_ASKED = 400
"""Newest first: ten questions, and the caller waits."""
SHOWN = 600
"""Characters of a memory that the model is shown."""
MOST_RELATED = 5
DESCRIPTION = 300
DESCRIPTION_BYTES = 8 * 1024

SUGGESTIONS: Mapping[IssueKind, tuple[Suggestion, ...]] = {
    "contradiction": ("update", "delete", "keep"),
    "duplicate": ("delete", "merge", "keep"),
    "stale": ("update", "delete", "keep"),
    "clutter": ("delete",),
}
"""What may be suggested; the first where the model suggests anything else."""
NOT_PROVED = "none of them says all; apply leaves them, with keep one takes the others' place"
GIVES_WAY = 0.5
"""Chance of a change from which on a sentence goes with the one that is most likely to."""
PAIRS = {"contradiction", "duplicate"}
ALIAS = re.compile(r"\bm\d+\b")


class Finding(BaseModel):
    """One thing that the model finds."""

    type: str
    memories: list[str]
    """Aliases."""
    description: str = ""
    suggestion: str = ""
    content: str | None = None


class Findings(BaseModel):
    """A model's answer."""

    findings: Annotated[list[Finding], BeforeValidator(fitting(Finding))] = []


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


def remainder(memory: Memory, kept: Memory, relating: Relating) -> str | None:
    """What a memory says besides what another one that stays excludes, in its own words: "I live in
    Leeds. I work as a nurse" beside "I quit the hospital". None if that is nothing."""
    parts = [] if memory.is_document else sentences(memory.content)
    if len(parts) < 2:
        return None
    is_later = (memory.said_at, memory.id) > (kept.said_at, kept.id)
    pairs = [(kept.content, part) if is_later else (part, kept.content) for part in parts]
    shares = [shares_words(*pair) for pair in pairs]
    if None in (relations := relating(pairs)):
        goes = shares if any(shares) else [True] * len(parts)
    else:
        chances = [one.replaces + one.contradicts for one in relations if one is not None]
        most = max(chances)
        goes = [
            chance == most or (chance >= GIVES_WAY and shared)
            for chance, shared in zip(chances, shares, strict=True)
        ]
    rest = "".join(part for part, is_gone in zip(parts, goes, strict=True) if not is_gone)
    return rest.strip() or None


def refusal(kind: IssueKind, memories: Collection[Memory]) -> frozenset[str]:
    """Under which ids it is remembered that an issue was refused: as long as the texts stand.

    Scoring and use raise no version here, and new wording may be looked at again.
    """
    texts = {f"{memory.id}@{memory.content_updated_at.isoformat()}" for memory in memories}
    return frozenset({kind, *texts})


class Refused:
    """The issues that nobody wants to see again."""

    def __init__(self, decisions: Decisions) -> None:
        self._known = decisions.refused(STEP)

    def has(self, issue: Issue, memories: Collection[Memory]) -> bool:
        """Whether this issue was refused."""
        return refusal(issue.type, memories) in self._known


def findings_of(
    model: ChatModel,
    memories: Sequence[Memory],
    kin: str,
    now: datetime,
    progress: Progress | None = None,
) -> list[Issue]:
    """What the model finds among the newest 400, those about one subject together.

    What it names wrongly is left out. Raises ModelError.
    """
    asked = sorted(memories[:MOST_ASKED], key=lambda m: (folded(m.subject or ""), m.said_at, m.id))
    issues: list[Issue] = []
    for start in range(0, len(asked), TOGETHER):
        part = asked[start : start + TOGETHER]
        aliases = {f"m{at}": memory for at, memory in enumerate(part, start=1)}
        lines = "\n".join(_line(alias, memory) for alias, memory in aliases.items())
        answer = model.answer(render("review", today=today(now), memories=lines), Findings)
        for finding in answer.findings:
            issues += _checked(finding, aliases, kin)
        if progress:
            progress(start + len(part), len(asked), "asking the model")
    return issues


def _line(alias: str, memory: Memory) -> str:
    told = {
        "id": alias,
        "category": memory.category,
        "subject": memory.subject,
        "speaker": memory.speaker,
        "at": memory.said_at.date().isoformat(),
        "text": memory.content[:SHOWN],
    }
    return json.dumps(told, ensure_ascii=False)


def _checked(finding: Finding, aliases: Mapping[str, Memory], kin: str) -> Iterator[Issue]:
    """The issues that a finding stands for; none if it names no kind, or a memory there is not."""
    kind = next((one for one in SUGGESTIONS if one == finding.type), None)
    named = dict.fromkeys(finding.memories)
    if kind is None or not named or not named.keys() <= aliases.keys():
        return
    memories = sorted((aliases[name] for name in named), key=lambda m: (m.said_at, m.id))
    said = _description(finding.description, aliases) or f"{kind}, says the model"
    if kind not in PAIRS:
        for memory in memories:
            if memory.kin == kin and not memory.pinned:
                yield _issue(kind, [memory], said, finding if len(memories) == 1 else None)
    elif 2 <= len(memories) <= MOST_RELATED and any(one.kin == kin for one in memories):
        yield _issue(kind, memories, said, finding)


def _issue(
    kind: IssueKind, memories: Sequence[Memory], said: str, finding: Finding | None
) -> Issue:
    allowed = SUGGESTIONS[kind]
    wanted = finding.suggestion if finding else ""
    suggestion = next((one for one in allowed if one == wanted), allowed[0])
    content = _content(finding.content if finding else None, kind, memories)
    if kind == "contradiction" and content is None:
        content = memories[-1].content
    elif kind == "stale" and suggestion == "update" and content is None:
        suggestion = "keep"  # a hint: nobody knows what it should say
    elif kind == "duplicate" and content is None:
        content = _saying_all(memories)
        suggestion = "delete" if content else "keep"
        said = said if content else f"{said} ({NOT_PROVED})"
    return issue_of(kind, memories, said, suggestion, content if suggestion != "keep" else None)


def _content(wording: str | None, kind: IssueKind, memories: Sequence[Memory]) -> str | None:
    """The suggested text if it brings nothing that the memories do not say; else None.

    A merge must keep all they say. Of a contradiction or a stale memory a part may be given up.
    """
    if not wording or not wording.strip():
        return None
    try:
        content = checked_content(wording)
    except InvalidInput:
        return None
    sources = [memory.content for memory in memories]
    given_up = () if kind == "duplicate" else sources
    return None if unproved(content, sources, given_up) else content


def _saying_all(memories: Sequence[Memory]) -> str | None:
    """The text of one that may stand for all: the others can go, and nothing is lost."""
    texts = sorted((memory.content for memory in memories), key=len, reverse=True)
    return next((text for text in texts if not unproved(text, texts, ())), None)


def _description(text: str, aliases: Mapping[str, Memory]) -> str:
    """One line, with the ids that the aliases stand for."""

    def id_of(found: re.Match[str]) -> str:
        return aliases[found[0]].id if found[0] in aliases else found[0]

    try:
        line = " ".join(clean(text, "description", DESCRIPTION_BYTES).split())
    except InvalidInput:
        return ""
    return ALIAS.sub(id_of, line[:DESCRIPTION])
