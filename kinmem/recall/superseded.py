"""Stage 9: order superseded memories, and memories in conflict, relative to what replaced them.

If the question is about a past time, what held then comes first (former_first, stage 9). Of two
memories in an open conflict, of which only one can hold, the newer comes first if the question
found both, else right behind the older (newer_first), if the conflict is likely enough; that runs
after stage 12, in pipeline.py, since a review may settle a conflict while the answer is cached.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from kinmem.models import Answer, Candidate, Filters, Hit, Memory, Reasons, Scored, State
from kinmem.models.turns import Conflict
from kinmem.store.base import Store
from kinmem.store.memory import fitting_ids, newer_of
from kinmem.text import words as text_words

# Chance of a conflict from which the newer memory comes first, and from which it is fetched, in
# place of a hit, where the question did not find it. A less likely conflict only marks the older.
# Of one conversation of LoCoMo, whose messages are in 158 conflicts that are none, recall@10 is
# 83.8 instead of 82.3 and nDCG@10 64.2 instead of 63.0.
LIKELY, FETCHED = 0.5, 0.8
# Most replacements that are followed. There should be no circle, but a damaged file may have one.
MOST = 50
# In a question about the past, a superseded memory is a likelier answer than a current one, which
# stays before it only if its confidence is this many times higher.
LIKELIER = 4.0


def former_first(
    told: Sequence[Hit], until: Collection[str] = (), *, asked: bool = False
) -> list[Hit]:
    """Order each chain of superseded memories so that none comes before what it replaced, the
    latest superseded one first. Weak hits stay behind, as they are.

    A whole chain moves to the place of its best hit. What was merged into another hit is left out,
    since that one says it. Without superseded memories the order is unchanged. `asked`: the
    question is about a past time, and chains come before hits that are hardly more confident.
    `until`: words of what superseded the answer: where did I work before Ericsson?
    """
    hits, weak = [hit for hit in told if not hit.weak], [hit for hit in told if hit.weak]
    heirs = {
        hit.memory.id: hit.memory.superseded_by
        for hit in hits
        if hit.memory.state is State.SUPERSEDED
    }
    if not heirs:
        return [*hits, *weak]
    made = {hit.memory.id for hit in hits if hit.memory.generation > 0}
    kept = [hit for hit in hits if heirs.get(hit.memory.id) not in made]
    lines = {hit.memory.id: _line(hit.memory.id, heirs) for hit in kept}
    best: dict[str, int] = {}
    if asked:
        kept = sorted(kept, key=lambda hit: -_sureness(hit, lines, heirs))
    for rank, hit in enumerate(kept):
        best.setdefault(lines[hit.memory.id][-1], rank)
    named = {hit.memory.id for hit in kept if until and _has(hit, until)}
    last = {id for id, heir in heirs.items() if heir in named and id not in named}
    return [*sorted(kept, key=lambda hit: _place(hit, lines[hit.memory.id], best, last)), *weak]


def _sureness(
    hit: Hit, lines: Mapping[str, Sequence[str]], heirs: Mapping[str, str | None]
) -> float:
    ends = {lines[id][-1] for id in heirs}
    is_of_line = lines[hit.memory.id][-1] in ends or hit.memory.valid_to is not None
    return (hit.confidence or 0.0) * (LIKELIER if is_of_line else 1.0)


def _has(hit: Hit, words: Collection[str]) -> bool:
    return set(words) <= set(text_words(hit.memory.content))


def heirs(
    formers: Sequence[tuple[Scored, float]],
    lines: Mapping[str, Candidate],
    shown: Mapping[str, Memory],
    store: Store,
    filters: Filters,
    moment: datetime,
) -> list[Hit]:
    """Return the memories that hold at that moment in place of `formers` and fit the filters, each
    once, with the confidence of the memory that it replaces.

    `lines` holds superseded memories by id. `shown` holds memories that are known to fit.
    """
    ends = {one.candidate.id: _end(one.candidate, lines, moment) for one, _ in formers}
    others = {end for end in ends.values() if end} - shown.keys()
    standing = {**shown, **_standing(others, store, filters, moment)}
    found: dict[str, Hit] = {}
    for one, confidence in formers:
        heir = standing.get(ends[one.candidate.id] or "")
        if heir is not None:
            part = one.candidate.part
            hit = Hit(heir, one.score, one.reasons, None, part, confidence)
            found.setdefault(heir.id, hit)
    return list(found.values())


def _standing(
    ids: Collection[str], store: Store, filters: Filters, moment: datetime
) -> dict[str, Memory]:
    """Return by id the memory, or what had replaced it by then, if that fits the filters."""
    found: dict[str, Memory] = {}
    ends = {id: id for id in ids}
    for _ in range(MOST):
        if not ends:
            break
        asked = replace(filters, as_of=moment, ids=tuple(set(ends.values())))
        fitting = {one.id: one for one in store.page(asked, "newest", MOST).memories}
        found |= {id: fitting[end] for id, end in ends.items() if end in fitting}
        left = {id: end for id, end in ends.items() if id not in found}
        gone = store.memories(set(left.values())) if left else {}
        ends = {
            id: heir
            for id, end in left.items()
            if end in gone and (heir := _heir_of_ended(gone[end], moment))
        }
    return found


def _end(former: Candidate, lines: Mapping[str, Candidate], moment: datetime) -> str | None:
    """Return the first of its chain that was not superseded by then, as far as the chain is
    known."""
    id: str | None = former.id
    for _ in range(MOST):
        known = lines.get(id or "")
        if known is None or not known.valid_to or datetime.fromisoformat(known.valid_to) > moment:
            break
        id = known.superseded_by
    return id


def _heir_of_ended(memory: Memory, moment: datetime) -> str | None:
    """Return what replaced the memory; None if it had not ended by then and fails the filters for
    another reason."""
    has_ended = memory.valid_to is not None and memory.valid_to <= moment
    return memory.superseded_by if has_ended else None


def _place(
    hit: Hit, line: Sequence[str], best: Mapping[str, int], asked_for: Collection[str]
) -> tuple[int, bool, int]:
    """Return the sort key: the current memory comes after all that it replaced, what is asked for
    first."""
    is_last = hit.memory.state is not State.SUPERSEDED
    return best[line[-1]], hit.memory.id not in asked_for, MOST if is_last else len(line)


def _line(id: str, heirs: Mapping[str, str | None]) -> list[str]:
    line = [id]
    while (heir := heirs.get(line[-1])) is not None and len(line) < MOST:
        line.append(heir)
    return line


def newer_first(answer: Answer, store: Store, filters: Filters, limit: int) -> Answer:
    """Mark each disputed hit and, where the conflict is likely, put the newer memory beside it (see
    _ordered), which is fetched if it fits the filters and is likely enough. Answers about a given
    moment are left alone."""
    told = answer.hits
    if not told or filters.as_of is not None:
        return answer
    conflicts, ids = store.decisions.conflicts(), {hit.memory.id for hit in told}
    newer = newer_of(store, conflicts, ids) if conflicts else {}
    if not newer:
        return answer
    likely = _at_least(LIKELY, newer, conflicts)
    absent = {one.id for one in likely.values()} - ids
    fetched = {one.id for one in _at_least(FETCHED, likely, conflicts).values()}
    fitting = fitting_ids(store, filters, absent & fetched)
    marked = [
        replace(hit, newer=newer[hit.memory.id].id) if hit.memory.id in newer else hit
        for hit in told
    ]
    ordered = _ordered(
        marked, {id: one for id, one in likely.items() if one.id not in absent - fitting}
    )
    found = {one.id for one in newer.values()} & ids
    return replace(answer, hits=_cut(ordered, found, max(limit, 1)))


def _at_least(
    chance: float, newer: Mapping[str, Memory], conflicts: Sequence[Conflict]
) -> dict[str, Memory]:
    """Return those of `newer`, by the id of the older, whose conflict is as likely as that, or told
    by the form of the texts."""
    pairs = {
        (one.older, one.newer) for one in conflicts if one.chance is None or one.chance >= chance
    }
    return {id: one for id, one in newer.items() if (id, one.id) in pairs}


def _cut(hits: list[Hit], found: Collection[str], limit: int) -> list[Hit]:
    """Cut to the limit: fetched memories take no place from hits that are marked, nor from newer
    memories that were found by themselves."""
    over = max(len(hits) - limit, 0)
    spare = [at for at, hit in enumerate(hits) if not hit.newer and hit.memory.id not in found]
    dropped = set(spare[-over:] if over else ())
    return [hit for at, hit in enumerate(hits) if at not in dropped][:limit]


def _ordered(hits: Sequence[Hit], newer: dict[str, Memory]) -> list[Hit]:
    """Put each newer memory right before the first hit that it disputes, or leave it if it is
    already before. One that the question did not find comes right behind the hit: it may be about
    something else, or only seem to dispute it."""
    by_id = {hit.memory.id: hit for hit in hits}
    ordered: dict[str, Hit] = {}

    def add(hit: Hit, before: frozenset[str]) -> None:
        id = hit.memory.id
        other = newer.get(id)
        is_due = other is not None and other.id not in ordered and other.id not in before
        if other is not None and is_due and other.id in by_id:
            first = by_id[other.id]
            add(replace(first, weak=first.weak and hit.weak), before | {id})
        ordered.setdefault(id, hit)
        if other is not None and is_due and other.id not in by_id:
            add(_fetched(other, hit), before | {id})

    for hit in hits:
        add(hit, frozenset())
    return list(ordered.values())


def _fetched(memory: Memory, disputed: Hit) -> Hit:
    """Return the newer memory as a hit without a score, as likely as the one that it disputes."""
    return replace(
        disputed,
        memory=memory,
        score=0.0,
        reasons=Reasons(),
        excerpt=None,
        part=None,
        newer=None,
        is_fetched=True,
    )
