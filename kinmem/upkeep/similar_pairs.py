"""Compares memories that are near each other: what a review finds of two, each pair once."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, combinations

from kinmem.language import Kinship, Ladder, Pair
from kinmem.learn.occasion import (
    in_turn,
    may_be_one,
    of_one,
    of_two_days,
    same_occasion,
    worded_otherwise,
)
from kinmem.llm.base import Embedder
from kinmem.llm.relating import ALIKE, Relating, weighed
from kinmem.models import Filters, Issue, Memory, Progress
from kinmem.models.places import compare_places
from kinmem.store.base import Store
from kinmem.upkeep.issues import issue_of, which_holds

# Pairs that the judge reads, 3 ms each.
MOST_JUDGED = 600
UNJUDGING = Relating(None)
COMPARED = 6  # the memory itself, and as many as learning compares
TOGETHER = 50


def pairs(
    memories: Sequence[Memory],
    store: Store,
    embedder: Embedder,
    duplicate: float | None,
    progress: Progress | None,
    relating: Relating,
    now: datetime,
) -> Iterator[Issue]:
    """Yield issues between two memories; each pair once."""
    known = {memory.id: memory for memory in memories}
    level = embedder.calibration
    ladder = Ladder.calibrated(level.noise, level.near, level.duplicate, duplicate)
    nears = dict(_near(memories, store, embedder, progress))
    close = (
        (one, other, cosine)
        for one, near in nears.items()
        for other, cosine in near.items()
        if cosine >= ladder.related
    )
    seen = set()
    for one, other, cosine in chain(_of_same_text(memories), close):
        pair = tuple(sorted((one, other)))
        if one != other and other in known and pair not in seen:
            seen.add(pair)
            first, second = (known[id] for id in pair)
            is_elsewhere = compare_places(first.place, second.place) == "other"
            if store.kin in (first.kin, second.kin) and not is_elsewhere:
                asked = relating if len(seen) <= MOST_JUDGED else UNJUDGING
                nearest = {id: max(nears.get(id, {}).values(), default=cosine) for id in pair}
                further = {
                    id: max(0.0, level.scaled(best) - level.scaled(cosine))
                    for id, best in nearest.items()
                }
                yield from _between(first, second, cosine, ladder, asked, now, further)


def _of_same_text(memories: Sequence[Memory]) -> Iterator[tuple[str, str, float]]:
    """Yield the ids of two memories with the same text, and the cosine of that."""
    same: dict[str, list[str]] = {}
    for memory in memories:
        same.setdefault(memory.content_hash, []).append(memory.id)
    yield from ((one, other, 1.0) for ids in same.values() for one, other in combinations(ids, 2))


def _near(
    memories: Sequence[Memory], store: Store, embedder: Embedder, progress: Progress | None
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the id of each memory that has a vector, with the cosines of its nearest others."""
    for start in range(0, len(memories), TOGETHER):
        ids = [memory.id for memory in memories[start : start + TOGETHER]]
        vectors = store.index.first_vectors(embedder.name, ids)
        nearest = store.index.nearest_each(
            list(vectors.values()), embedder.name, COMPARED, Filters()
        )
        for id, near in zip(vectors, nearest, strict=True):
            yield id, {other: cosine for other, cosine in near if other != id}
        if progress:
            progress(start + len(ids), len(memories), "comparing memories")


def _between(
    one: Memory,
    other: Memory,
    cosine: float,
    ladder: Ladder,
    relating: Relating,
    now: datetime,
    further: Mapping[str, float],
) -> Iterator[Issue]:
    """`further`: by the id of each, see Judged."""
    pair = (one, other)
    kinship = Pair(one.content, other.content).kinship(cosine, ladder)
    same = kinship in (Kinship.SAME_TEXT, Kinship.DUPLICATE)
    whole = max(pair, key=lambda memory: len(memory.content)).content
    if same and same_occasion(one, other):
        yield issue_of("duplicate", pair, "say the same", "delete", whole, "same")
    elif kinship is Kinship.CONTAINED and same_occasion(one, other):
        said = "one says all that the other does"
        content = one.content if Pair(one.content, other.content).known_says_all else other.content
        yield issue_of("duplicate", pair, said, "delete", content, "contained")
    else:
        may_exclude = of_one(one, other) or worded_otherwise(one, other)
        earlier, later = in_turn(pair, now)
        clashes = (
            list(_contradiction(earlier, later, cosine, ladder, relating, further[later.id]))
            if may_exclude
            else []
        )
        yield from clashes or _alike(pair, cosine, ladder, same, relating)


def _alike(
    pair: tuple[Memory, Memory], cosine: float, ladder: Ladder, same: bool, relating: Relating
) -> Iterator[Issue]:
    """Yield paraphrases, and statements of which one continues the other; a person decides."""
    earlier, later = sorted(pair, key=lambda memory: (memory.said_at, memory.id))
    if not may_be_one(earlier, later) or earlier.expires_at != later.expires_at:
        return
    part, whole = sorted((earlier.content, later.content), key=len)
    if same:
        said = "say the same, of times that may be one"
        yield issue_of("duplicate", pair, said, "merge", whole, "same_times")
    elif (likeness := max(relating.same(part, whole), relating.same(whole, part))) >= ALIKE:
        said = f"judged to say the same in other words ({likeness:.2f})"
        yield issue_of("duplicate", pair, said, "merge", whole, "judged_same")
    elif cosine >= ladder.alike and Pair(part, whole).goes_on:
        said = "one says more of the same"
        yield issue_of("duplicate", pair, said, "merge", whole, "says_more")


def _contradiction(
    earlier: Memory,
    later: Memory,
    cosine: float,
    ladder: Ladder,
    relating: Relating,
    further: float,
) -> Iterator[Issue]:
    texts = earlier.content, later.content
    if of_two_days(earlier, later):
        return
    found = Pair(*texts).clash(cosine, ladder)
    if (relation := relating.of(*texts)) is not None:
        found = weighed(found, relation, *texts, relating.of_one_kind(*texts), further)
    if found is not None:
        said = "cannot both be so now; the later one may have replaced the earlier"
        finding = "replaced" if found.clear else "unsure"
        if not found.clear:
            said = f"may not both be so ({found.reason}); which one holds?"
        yield which_holds((earlier, later), said, relating, finding)
