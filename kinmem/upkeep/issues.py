"""Issues that a review finds, by rules or a model, to be applied or refused later.

A model may only name, suggest and word what is possible.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator

from kinmem.errors import InvalidInput
from kinmem.language import Pair, sentences, unproved
from kinmem.learn.occasion import in_turn
from kinmem.llm.base import ChatModel
from kinmem.llm.prompts import render, today
from kinmem.llm.relating import Relating
from kinmem.llm.reply import fitting
from kinmem.models import Issue, IssueKind, Memory, Progress
from kinmem.store.base import REVIEW, Decisions
from kinmem.text import clean, folded
from kinmem.validation import checked_content

Suggestion = Literal["delete", "merge", "update", "keep", "release"]


# Memories in one prompt.
TOGETHER = 40
# Most memories that the model sees, the newest: ten prompts, while the caller waits.
MOST_ASKED = 400
# Characters of a memory that the model sees.
SHOWN = 600
MOST_RELATED = 5
DESCRIPTION = 300
DESCRIPTION_BYTES = 8 * 1024

# The suggestions allowed for each kind; the first replaces any other suggestion of the model.
SUGGESTIONS: Mapping[IssueKind, tuple[Suggestion, ...]] = {
    "contradiction": ("update", "delete", "keep"),
    "duplicate": ("delete", "merge", "keep"),
    "stale": ("update", "delete", "keep"),
    "clutter": ("delete",),
}
NOT_PROVED = "none of them says all; apply leaves them, with keep one takes the others' place"
# Chance of a change from which a sentence goes together with the one likeliest to be changed.
GIVES_WAY = 0.5
PAIRS = {"contradiction", "duplicate"}
ALIAS = re.compile(r"\bm\d+\b")


class Finding(BaseModel):
    """One finding of the model."""

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
    finding: str = "",
    **details: str | int,
) -> Issue:
    """Return the issue with its id."""
    ids = tuple(memory.id for memory in memories)
    id = issue_id(kind, memories)
    return Issue(id, kind, ids, description, suggestion, content, finding, details)


def issue_id(kind: IssueKind, memories: Collection[Memory]) -> str:
    """Return ten hexadecimal digits that depend on the kind and on the memories and their
    versions."""
    versions = sorted(f"{memory.id}@{memory.version}" for memory in memories)
    return blake2b("\n".join([kind, *versions]).encode(), digest_size=5).hexdigest()


def remainder(
    memory: Memory, kept: Memory, relating: Relating, *, is_later: bool = False
) -> str | None:
    """Return, in its own words, what a memory says beyond what a memory that stays excludes: "I
    live in Leeds. I work as a nurse" beside "I quit the hospital". None if that is nothing.

    `is_later`: the memory that stays is the earlier of the two.
    """
    parts = [] if memory.is_document else sentences(memory.content)
    if len(parts) < 2:
        return None
    pairs = [(kept.content, part) if is_later else (part, kept.content) for part in parts]
    shares = [Pair(*pair).shares_words for pair in pairs]
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
    """Return the ids under which a refusal is stored. It is valid as long as the texts are
    unchanged; a new wording may be reviewed again."""
    return frozenset({kind, *(memory.wording for memory in memories)})


class Refused:
    """The issues that were refused."""

    def __init__(self, decisions: Decisions) -> None:
        self._known = decisions.refused(REVIEW)

    def has(self, issue: Issue, memories: Collection[Memory]) -> bool:
        """Return whether this issue was refused."""
        return refusal(issue.type, memories) in self._known


def findings_of(
    model: ChatModel,
    memories: Sequence[Memory],
    kin: str,
    now: datetime,
    progress: Progress | None = None,
) -> list[Issue]:
    """Return what the model finds among the newest 400, with those about one subject together.

    A finding that names an unknown memory or kind is dropped. Raises ModelError.
    """
    asked = sorted(memories[:MOST_ASKED], key=lambda m: (folded(m.subject or ""), m.said_at, m.id))
    issues: list[Issue] = []
    for start in range(0, len(asked), TOGETHER):
        part = asked[start : start + TOGETHER]
        aliases = {f"m{at}": memory for at, memory in enumerate(part, start=1)}
        lines = "\n".join(_line(alias, memory) for alias, memory in aliases.items())
        answer = model.answer(render("review", today=today(now), memories=lines), Findings)
        for finding in answer.findings:
            issues += _checked(finding, aliases, kin, now)
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


def _checked(
    finding: Finding, aliases: Mapping[str, Memory], kin: str, now: datetime
) -> Iterator[Issue]:
    """Yield the issues that a finding stands for; none if it names an unknown kind or memory."""
    kind = next((one for one in SUGGESTIONS if one == finding.type), None)
    named = dict.fromkeys(finding.memories)
    if kind is None or not named or not named.keys() <= aliases.keys():
        return
    memories = in_turn((aliases[name] for name in named), now)
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
        suggestion = "keep"  # only a hint: its new wording is unknown
    elif kind == "duplicate" and content is None:
        content = _saying_all(memories)
        suggestion = "delete" if content else "keep"
        said = said if content else f"{said} ({NOT_PROVED})"
    return issue_of(kind, memories, said, suggestion, content if suggestion != "keep" else None)


def _content(wording: str | None, kind: IssueKind, memories: Sequence[Memory]) -> str | None:
    """Return the suggested text if it adds nothing to what the memories say, otherwise None.

    A merge must keep everything that they say. Of a contradiction or a stale memory, parts may be
    given up.
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
    """Return the text of one that can stand for all, so that the others can go without loss."""
    texts = sorted((memory.content for memory in memories), key=len, reverse=True)
    return next((text for text in texts if not unproved(text, texts, ())), None)


def _description(text: str, aliases: Mapping[str, Memory]) -> str:
    """Return the description as one line, with ids in place of the aliases."""

    def id_of(found: re.Match[str]) -> str:
        return aliases[found[0]].id if found[0] in aliases else found[0]

    try:
        line = " ".join(clean(text, "description", DESCRIPTION_BYTES).split())
    except InvalidInput:
        return ""
    return ALIAS.sub(id_of, line[:DESCRIPTION])


def which_holds(
    pair: Sequence[Memory], description: str, relating: Relating, finding: str
) -> Issue:
    """Return a contradiction of two memories, the earlier first, with what remains of that one."""
    earlier, later = pair
    stays: dict[str, str] = {}
    if rest := remainder(earlier, later, relating):
        stays["stays"] = rest[:SHOWN]
        description += f' If the later one holds, this stays of the earlier: "{rest[:SHOWN]}"'
    return issue_of("contradiction", pair, description, "update", later.content, finding, **stays)
