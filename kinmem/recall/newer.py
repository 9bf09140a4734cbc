"""Stage 6d: of two memories of which only one may hold, the newer one stands first."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from kinmem.models import FETCHED, Answer, Filters, Hit, Memory
from kinmem.store.base import Store
from kinmem.store.doubts import newer_of


def newer_first(answer: Answer, store: Store, filters: Filters, limit: int) -> Answer:
    """The answer with each doubtful hit marked and behind the newer one, which is fetched if it
    fits the filters. As things stood at a moment, nothing is doubted."""
    told = answer.hits
    if not told or filters.as_of is not None:
        return answer
    newer = newer_of(store, {hit.memory.id for hit in told})
    if not newer:
        return answer
    absent = {one.id for one in newer.values()} - {hit.memory.id for hit in told}
    fitting = _fitting(store, filters, absent)
    marked = [
        replace(hit, newer=newer[hit.memory.id].id) if hit.memory.id in newer else hit
        for hit in told
    ]
    ordered = _ordered(
        marked, {id: one for id, one in newer.items() if one.id not in absent - fitting}
    )
    found = {one.id for one in newer.values()} - absent
    return replace(answer, hits=_cut(ordered, found, max(limit, 1)))


def _cut(hits: list[Hit], found: Collection[str], limit: int) -> list[Hit]:
    """As many as are wanted: what was fetched takes no place from what answered and is marked, nor
    from the newer ones that were found."""
    over = max(len(hits) - limit, 0)
    spare = [at for at, hit in enumerate(hits) if not hit.newer and hit.memory.id not in found]
    dropped = set(spare[-over:] if over else ())
    return [hit for at, hit in enumerate(hits) if at not in dropped][:limit]


def _fitting(store: Store, filters: Filters, ids: Collection[str]) -> set[str]:
    if not ids:
        return set()
    asked = replace(filters, ids=tuple(ids))
    return {memory.id for memory in store.page(asked, "newest", len(ids)).memories}


def _ordered(hits: Sequence[Hit], newer: dict[str, Memory]) -> list[Hit]:
    """Each newer one just before the first that it makes doubtful, or where it stood.

    One that was fetched has no score, since the question did not find it; that it answers is as
    likely as that the other does."""
    by_id = {hit.memory.id: hit for hit in hits}
    ordered: dict[str, Hit] = {}

    def add(hit: Hit, before: frozenset[str]) -> None:
        id = hit.memory.id
        other = newer.get(id)
        if other is not None and other.id not in ordered and other.id not in before:
            first = by_id.get(other.id) or replace(
                hit,
                memory=other,
                score=0.0,
                why={FETCHED: 1.0},
                excerpt=None,
                part=None,
                newer=None,
            )
            add(replace(first, weak=first.weak and hit.weak), before | {id})
        ordered.setdefault(id, hit)

    for hit in hits:
        add(hit, frozenset())
    return list(ordered.values())
