"""What in a memory is worth a second look, found without a model. Changes nothing."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from kinmem.llm.base import Embedder
from kinmem.models import LIVE, Filters, Issue, IssueKind, Memory, Review
from kinmem.retention import Fading, retention
from kinmem.rules.similarity import Kinship, Ladder, compare, contains
from kinmem.rules.when import age_in_words
from kinmem.store.base import Store
from kinmem.text import content_words

# More would keep the caller waiting for minutes; the summary says so when it matters.
MOST_READ = 5000
MOST_ISSUES = 100
PAGE = 200
COMPARED = 5
# The order in which issues are told: what misleads first.
ORDER: tuple[IssueKind, ...] = ("contradiction", "duplicate", "expired", "stale", "clutter")

FADED = 0.3
SPOKEN_OF_AS_COMING = re.compile(
    r"\b(tonight|tomorrow|next (?:week|month|year)|this (?:week|month|evening|afternoon|weekend)"
    r"|morgen|nächste[nr]? (?:Woche|Monat|Jahr)|demain|mañana|domani|amanhã)\b",
    re.IGNORECASE,
)
COMING_WITHIN = timedelta(days=45)
SAYS_LITTLE = 1  # content words

Progress = Callable[[int, int, str], None]


def review(
    store: Store, embedder: Embedder, filters: Filters, now: datetime, progress: Progress | None
) -> Review:
    """Contradictions, duplicates, expired, stale and cluttering memories, in that order.

    Only what this Kin may change is complained about; of a pair at least one. Pairs are found by
    the vector index: memories that have no vector yet are compared by their text alone.
    """
    memories = _read(store, filters)
    issues = [issue for memory in memories for issue in _alone(memory, store.kin, now)]
    issues += _pairs(memories, store, embedder, progress)
    issues.sort(key=lambda issue: ORDER.index(issue.type))
    return Review(issues[:MOST_ISSUES], _summary(len(memories), issues))


def _read(store: Store, filters: Filters) -> list[Memory]:
    """Live ones, expired included, newest first."""
    wanted = Filters(subject=filters.subject, scope=filters.scope, states=LIVE)
    memories: list[Memory] = []
    cursor = None
    while len(memories) < MOST_READ:
        page = store.page(wanted, "newest", PAGE, cursor)
        memories += page.memories
        cursor = page.next_cursor
        if cursor is None:
            break
    return memories


def _alone(memory: Memory, kin: str, now: datetime) -> Iterator[Issue]:
    """What is wrong with one memory by itself, the first that applies."""
    if memory.kin != kin or memory.pinned:
        return
    age = age_in_words(memory.said_at, now)
    if memory.expires_at and memory.expires_at <= now:
        yield Issue(
            "expired", (memory.id,), f"expired {age_in_words(memory.expires_at, now)}", "delete"
        )
    elif (
        coming := SPOKEN_OF_AS_COMING.search(memory.content)
    ) and now - memory.said_at > COMING_WITHIN:
        said = f'says "{coming.group()}", but was said {age}; write the date, or what came of it'
        yield Issue("stale", (memory.id,), said, "update")
    elif _left(memory, now) < FADED:
        yield Issue("stale", (memory.id,), f"from {age} and faded; is it still so?", "update")
    elif len(content_words(memory.content)) <= SAYS_LITTLE and memory.subject is None:
        yield Issue("clutter", (memory.id,), "says too little to help anyone later", "delete")


def _left(memory: Memory, now: datetime) -> float:
    last = max(filter(None, (memory.recalled_at, memory.content_updated_at)))
    idle = (now - last).total_seconds() / 86400
    return retention(Fading(memory.category, memory.importance, memory.recalled_count, idle), "kin")


def _pairs(
    memories: Sequence[Memory], store: Store, embedder: Embedder, progress: Progress | None
) -> Iterator[Issue]:
    """Issues between two memories; each pair once."""
    known = {memory.id: memory for memory in memories}
    calibration = embedder.calibration
    ladder = Ladder(duplicate=calibration.duplicate, near=calibration.near)
    seen = set()
    for at, (id, near) in enumerate(_neighbours(memories, store, embedder, ladder), start=1):
        for other, cosine in near:
            pair = tuple(sorted((id, other)))
            if other in known and pair not in seen and id != other:
                seen.add(pair)
                older, newer = (known[one] for one in pair)
                if store.kin in (older.kin, newer.kin):
                    yield from _between(older, newer, cosine, ladder, store.kin)
        if progress and (at % 50 == 0 or at == len(memories)):
            progress(at, len(memories), "comparing memories")


def _neighbours(
    memories: Sequence[Memory], store: Store, embedder: Embedder, ladder: Ladder
) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """Per memory the ids and cosines of those close enough to be compared."""
    same: dict[str, list[str]] = {}
    for memory in memories:
        same.setdefault(memory.content_hash, []).append(memory.id)
    vectors = store.first_vectors(embedder.name, [memory.id for memory in memories])
    for memory in memories:
        near = [(id, 1.0) for id in same[memory.content_hash] if id != memory.id]
        vector = vectors.get(memory.id)
        if vector is not None:
            nearest = store.nearest(vector, embedder.name, COMPARED, Filters())
            near += [(id, cosine) for id, cosine in nearest if cosine >= ladder.related]
        yield memory.id, near


def _between(
    older: Memory, newer: Memory, cosine: float, ladder: Ladder, kin: str
) -> Iterator[Issue]:
    ids = (older.id, newer.id)
    match compare(older.content, newer.content, cosine, ladder):
        case Kinship.SAME_TEXT | Kinship.DUPLICATE if _same_occasion(older, newer):
            yield Issue("duplicate", ids, "say the same", "delete", _richer(older, newer).content)
        case Kinship.CONTAINED if _same_occasion(older, newer):
            richer = older if contains(older.content, newer.content) else newer
            yield Issue(
                "duplicate", ids, "one says all that the other does", "delete", richer.content
            )
        case Kinship.CONTRADICTS if _same_subject(older, newer):
            said = "cannot both be so now; the later one may have replaced the earlier"
            yield Issue("contradiction", ids, said, "update", newer.content)


def _same_occasion(a: Memory, b: Memory) -> bool:
    return a.occurred_at == b.occurred_at and _same_subject(a, b)


def _same_subject(a: Memory, b: Memory) -> bool:
    return a.subject is None or b.subject is None or a.subject.casefold() == b.subject.casefold()


def _richer(a: Memory, b: Memory) -> Memory:
    return b if len(b.content) > len(a.content) else a


def _summary(read: int, issues: Sequence[Issue]) -> str:
    if not read:
        return "No memories to review."
    counts = [(kind, sum(issue.type == kind for issue in issues)) for kind in ORDER]
    found = ", ".join(f"{count} {kind}" for kind, count in counts if count) or "nothing to mend"
    text = f"{read} memories read: {found}."
    if len(issues) > MOST_ISSUES:
        text += f" The first {MOST_ISSUES} are listed; review again after mending them."
    if read >= MOST_READ:
        text += f" Only the newest {MOST_READ} were read; name a subject to review older ones."
    return text
