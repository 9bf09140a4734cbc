"""Finds memories that deserve a second look. Changes nothing; upkeep/reviewing.py does."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kinmem.clock import age_in_words
from kinmem.errors import ModelError
from kinmem.llm.base import ChatModel, Embedder, Judge
from kinmem.llm.relating import Relating
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
from kinmem.models.retention import Fading, retention
from kinmem.store.base import Store
from kinmem.text import count_content_words, folded
from kinmem.upkeep.candidates import pairs
from kinmem.upkeep.issues import MOST_ASKED, Refused, findings_of, issue_of, which_holds

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
            description = f"{_told_once(conflict.reason)}; which one holds?"
            yield which_holds(pair, description, relating, "conflict")


def _told_once(reason: str) -> str:
    """That they contradict each other, and why, where the reason does not begin with it."""
    verdict = "cannot both be so"
    return reason if reason.startswith(verdict) else f"{verdict} ({reason})"


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
