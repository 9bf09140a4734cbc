"""Finds memories that deserve a second look, by rules and a model. Changes nothing;
upkeep/reviewing.py does. A model may only name, suggest and word what is possible.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from kinmem.clock import age_in_words
from kinmem.errors import InvalidInput, ModelError
from kinmem.language import Pair, unproved
from kinmem.learn.occasion import in_turn
from kinmem.llm.base import ChatModel, Embedder, Judge
from kinmem.llm.prompts import render, today
from kinmem.llm.relating import Relating
from kinmem.llm.reply import fitting
from kinmem.models import (
    HELD_BACK,
    LIVE,
    QUARANTINE,
    Filters,
    Issue,
    IssueKind,
    Memory,
    Progress,
    Review,
    State,
)
from kinmem.models.reports import Suggestion, issue_of, refusal
from kinmem.models.retention import Fading, retention
from kinmem.store.base import REVIEW, Decisions, Store
from kinmem.text import clean, count_content_words, folded
from kinmem.upkeep.candidates import SAYS_MORE, SHOWN, pairs, which_holds
from kinmem.validation import checked_content

# More would keep the caller waiting for minutes; the summary says so if the limit was reached.
MOST_READ = 5000
MOST_ISSUES = 100
# In this order: what misleads most comes first. With each kind, the words for one and for several.
KINDS: dict[IssueKind, tuple[str, str]] = {
    "contradiction": ("contradiction", "contradictions"),
    "quarantined": ("held back", "held back"),
    "duplicate": ("duplicate", "duplicates"),
    "expired": ("expired", "expired"),
    "stale": ("stale", "stale"),
    "clutter": ("that says too little", "that say too little"),
}
ORDER = list(KINDS)
FADED = 0.3
SPOKEN_OF_AS_COMING = re.compile(
    r"\b(tonight|tomorrow|next (?:week|month|year)|this (?:week|month|evening|afternoon|weekend)"
    r"|morgen|nächste[nr]? (?:Woche|Monat|Jahr)|demain|mañana|domani|amanhã)\b",
    re.IGNORECASE,
)
COMING_WITHIN = timedelta(days=45)
SAYS_LITTLE = 1  # content words
PAGE = 200


class Refused:
    """The issues that were refused."""

    def __init__(self, decisions: Decisions) -> None:
        self._known = decisions.refused(REVIEW)

    def has(self, issue: Issue, memories: Collection[Memory]) -> bool:
        """Return whether this issue was refused."""
        return refusal(issue.type, memories) in self._known


def review(
    store: Store,
    embedder: Embedder,
    filters: Filters,
    now: datetime,
    progress: Progress | None,
    *,
    model: ChatModel | None = None,
    duplicate: float | None = None,
    judge: Judge | None = None,
) -> Review:
    """Find contradictions, then quarantined, duplicate, expired, stale and cluttering memories.

    Every issue has at least one memory that this Kin may change. Open conflicts in the store come
    first, then what rules find, then what only the model finds; refused issues never come again.
    Pairs are found by the vector index; memories without a vector are compared by their text alone.
    `duplicate` is the cosine of duplicates, if not the one the embedder is calibrated for. The
    `judge` reads the first of them (see candidates.py). If the model fails, the summary says so,
    and only rules are used.
    """
    wanted = Filters(subject=filters.subject, scope=filters.scope, states=LIVE)
    read = list(read_live(store, MOST_READ, wanted))
    memories = [memory for memory in read if not memory.is_document]
    held = [memory for memory in read if memory.holds_back]
    held += read_live(store, MOST_READ, replace(wanted, states=(State.QUARANTINED,)))
    known = {memory.id: memory for memory in [*memories, *held]}
    relating = Relating(judge)
    issues = list(_open_conflicts(store, filters, known, relating))
    issues += [_quarantined(memory) for memory in held if memory.kin == store.kin]
    issues += [issue for memory in memories for issue in _alone(memory, store.kin, now)]
    issues += pairs(memories, store, embedder, duplicate, progress, relating, now)
    issues_of_model, failure = _asked(model, memories, store.kin, now, progress)
    issues += issues_of_model
    kept = list(_new(issues, known, Refused(store.decisions)))
    kept.sort(key=lambda issue: ORDER.index(issue.type))
    summary = _summary(len(memories) + len(held), kept, model is not None, failure)
    return Review(kept[:MOST_ISSUES], summary, ("review_model",) if failure else ())


def _asked(
    model: ChatModel | None,
    memories: Sequence[Memory],
    kin: str,
    now: datetime,
    progress: Progress | None,
) -> tuple[list[Issue], str | None]:
    """Return what the model finds, if there is one, and why it failed, if it did."""
    if model is None:
        return [], None
    try:
        return findings_of(model, memories, kin, now, progress), None
    except ModelError as error:
        return [], str(error)


def _new(issues: Iterable[Issue], known: Mapping[str, Memory], refused: Refused) -> Iterator[Issue]:
    """Yield each issue once; a pair in conflict is not reported as a duplicate as well."""
    seen = set()
    for issue in issues:
        about = frozenset(issue.memory_ids)
        if _crosses(issue, known):
            continue
        if about not in seen and not refused.has(issue, [known[id] for id in about]):
            seen.add(about)
            yield issue


def _crosses(issue: Issue, known: Mapping[str, Memory]) -> bool:
    """Return whether one Kin's memory would stand for another's; its owner may change it at any
    time."""
    return issue.type == "duplicate" and len({known[id].kin for id in issue.memory_ids}) > 1


def _open_conflicts(
    store: Store, filters: Filters, known: dict[str, Memory], relating: Relating
) -> Iterator[Issue]:
    """Yield the conflicts whose memories are both still live, and add these to `known`."""
    conflicts = store.decisions.conflicts()
    memories = store.memories(
        {id for conflict in conflicts for id in (conflict.older, conflict.newer)}
    )
    for conflict in conflicts:
        pair = [memories[id] for id in (conflict.older, conflict.newer) if id in memories]
        if len(pair) == 2 and all(memory.state in LIVE for memory in pair) and _fits(pair, filters):
            known |= {memory.id: memory for memory in pair}
            yield which_holds(pair, relating, conflict.reason, conflict.chance)


def _fits(pair: Sequence[Memory], filters: Filters) -> bool:
    return any(
        (filters.scope in (None, memory.scope))
        and (filters.subject is None or folded(filters.subject) == folded(memory.subject or ""))
        for memory in pair
    )


def _quarantined(memory: Memory) -> Issue:
    if memory.state in LIVE:
        parts = memory.ingest_metadata[HELD_BACK]
        description = (
            f"{parts} chunks of it read like instructions to a model and are never recalled;"
        )
        description += " apply leaves them so and never asks again, keep releases them"
        if parts == 1:
            description = (
                "one chunk of it reads like an instruction to a model and is never recalled;"
            )
            description += " apply leaves it so and never asks again, keep releases it"
        return issue_of("quarantined", [memory], description, "keep", finding="chunks", count=parts)
    why = memory.metadata.get(QUARANTINE) or "it reads like an instruction to a model"
    description = f"held back and never recalled: {why}; apply deletes it, keep releases it"
    return issue_of("quarantined", [memory], description, "delete", finding="held")


def _alone(memory: Memory, kin: str, now: datetime) -> Iterator[Issue]:
    """Yield what is wrong with a memory by itself: the first rule that applies."""
    if memory.kin != kin or memory.pinned:
        return
    age = age_in_words(memory.said_at, now)
    if memory.expires_at and memory.expires_at <= now:
        expired = f"expired {age_in_words(memory.expires_at, now)}"
        yield issue_of(
            "expired",
            [memory],
            expired,
            "delete",
            finding="expired",
            day=memory.expires_at.date().isoformat(),
        )
    elif (
        coming := SPOKEN_OF_AS_COMING.search(memory.content)
    ) and now - memory.said_at > COMING_WITHIN:
        description = (
            f'says "{coming.group()}", but was said {age}; write the date, or what came of it'
        )
        word = coming.group()
        yield issue_of("stale", [memory], description, "update", finding="coming", word=word)
    elif _left(memory, now) < FADED:
        description = f"from {age} and faded; is it still so?"
        yield issue_of("stale", [memory], description, "update", finding="faded")
    elif count_content_words(memory.content) <= SAYS_LITTLE and memory.subject is None:
        said = "says too little to help anyone later"
        yield issue_of("clutter", [memory], said, "delete", finding="says_little")


def _left(memory: Memory, now: datetime) -> float:
    last = max(filter(None, (memory.recalled_at, memory.content_updated_at)))
    idle = (now - last).total_seconds() / 86400
    return retention(Fading(memory.category, memory.importance, memory.recalled_count, idle), "kin")


def _summary(read: int, issues: Sequence[Issue], asked: bool, failure: str | None) -> str:
    if not read:
        return "No memories to review."
    counts = [(kind, sum(issue.type == kind for issue in issues)) for kind in ORDER]
    found = ", ".join(f"{n} {KINDS[kind][n > 1]}" for kind, n in counts if n) or "nothing to mend"
    text = f"{read:,} {'memory' if read == 1 else 'memories'} read: {found}."
    if failure:
        text += f" The model that was asked as well has failed ({failure}); rules answered alone."
    elif asked and read > MOST_ASKED:
        text += f" The model was shown the newest {MOST_ASKED} only."
    if len(issues) > MOST_ISSUES:
        text += f" The first {MOST_ISSUES} are listed; review again after mending them."
    if read >= MOST_READ:
        text += f" Only the newest {MOST_READ:,} were read; name a subject to review older ones."
    return text


def read_live(
    store: Store, most: int | None = None, filters: Filters | None = None
) -> Iterator[Memory]:
    """Yield visible live memories, newest first, `most` at most. Expired ones are left out unless
    `filters` includes them."""
    wanted, cursor, read = filters or Filters(), None, 0
    while most is None or read < most:
        page = store.page(wanted, "newest", PAGE, cursor)
        yield from page.memories[: None if most is None else most - read]
        read += len(page.memories)
        cursor = page.next_cursor
        if cursor is None:
            return


# Memories in one prompt.
TOGETHER = 40
# Most memories that the model sees, the newest: ten prompts, while the caller waits.
MOST_ASKED = 400
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
        if any(Pair(one.content, content).known_says_more for one in memories[:-1]):
            said, suggestion = f"{said} ({SAYS_MORE})", "keep"
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
