"""Stage 11: help out when no hit is a confident answer.

Adds, as weak hits, what is far behind or below the noise; instructions that may apply to the
question; what has superseded a memory that would have answered; and last, memories that have faded
into the archive.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from kinmem.models import Answer, Filters, Found, Hit, Reasons, Scored, State
from kinmem.recall.confidence import WEAK, judge
from kinmem.recall.excerpt import as_it_was, excerpted, hits_of
from kinmem.recall.fuse import fuse
from kinmem.recall.search import Inquiry, search_as_asked
from kinmem.recall.superseded import heirs
from kinmem.recall.trim import own_instead, trim, without_copies
from kinmem.recall.weigh import MOST_INSTRUCTIONS, instructions_in, weigh
from kinmem.store.base import Store
from kinmem.text import language_of

# Fraction of the embedder's noise. If nothing is a confident answer, anything nearer than that is
# shown as weak. Of 72 questions about 25 notes each, four had their answers below the noise.
FAINT = 0.5
# How many superseded memories are followed to what holds now.
FORMERS = 3
# Confidence from which superseded memories need not be searched.
SURE = 0.6


class _Second(NamedTuple):
    """The result of a further search, judged on its own."""

    kept: list[Scored]
    confidences: list[float]
    abstained: bool


def fall_back(
    answer: Answer, inquiry: Inquiry, found: Found, kept: Sequence[Scored], wanted: Filters
) -> Answer:
    """Return the answer with whatever helps out. `wanted` holds the caller's own filters, without
    the time that the question names."""
    answer = _with_faint(answer, inquiry, found, kept)
    answer = _with_instructions(answer, inquiry, found)
    if not _is_sure(answer):
        answer = _by_superseded(answer, inquiry, found.former, wanted)
    if answer.abstained or not answer.hits:
        answer = _by_archived(answer, inquiry)
    return answer


def knows_something(store: Store) -> bool:
    """Return whether anything at all is stored."""
    return bool(store.page(Filters(), "newest", 1).memories)


def _is_sure(answer: Answer) -> bool:
    return any((hit.confidence or 0.0) >= SURE for hit in answer.hits)


def _with_faint(answer: Answer, inquiry: Inquiry, found: Found, kept: Sequence[Scored]) -> Answer:
    """Add weak hits that are far behind or below the noise.

    Not if the question has no meaning, or if the time that it asks for is answer enough. In other
    languages than English the embedder cannot tell whether a word has one.
    """
    settings, profile = inquiry.settings, inquiry.profile
    room = min(inquiry.limit - len(answer.hits), WEAK - sum(hit.weak for hit in answer.hits))
    noise = found.noise if found.scale is None else found.scale[0]
    was_read = any(one.reasons.rerank is not None for one in kept)
    if _is_sure(answer) or was_read or room <= 0 or not settings.abstain:
        return answer
    is_nonsense = found.noise > noise and language_of(inquiry.question.text) == "en"
    if found.by_time or is_nonsense:
        return answer
    scored = fuse(replace(found, noise=FAINT * noise, threshold=0.0), profile, settings)
    scored = weigh(scored, inquiry.question, profile, settings, inquiry.now)
    scored = without_copies(scored, inquiry.store.kin)
    known = {one.candidate.id for one in kept}
    others = [one for one in scored if one.candidate.id not in known][:room]
    others = inquiry.judging.read(others)
    hits = _as_weak(others, inquiry, found)
    if moment := inquiry.filters.as_of:
        words = inquiry.question.words
        hits = [as_it_was(hit, moment, words, inquiry.store) for hit in hits]
    return replace(answer, hits=[*answer.hits, *hits])


def _with_instructions(answer: Answer, inquiry: Inquiry, found: Found) -> Answer:
    """Add, as weak hits, instructions that may apply to the question though they share nothing else
    with it. If there is no room, they replace the last hits that hardly answer, in half of the
    places at most: such a hit is still about the question."""
    if not found.degrees or found.scale is None:
        return answer
    if found.by_time or found.noise > found.scale[0]:
        return answer
    formula, least = inquiry.profile.formula, inquiry.settings.abstain_below
    sure = instructions_in(found, formula)[:MOST_INSTRUCTIONS]
    wanted = {candidate.id for candidate in sure}
    hits = list(answer.hits)
    shown = {hit.memory.id for hit in hits}
    lacking = [
        Scored(candidate, 0.0, Reasons(standing_wish=0.0))
        for candidate in sure
        if candidate.id not in shown
    ]
    places = min(len(lacking), inquiry.limit // 2)
    for hit in reversed(answer.hits):
        if len(hits) + places <= inquiry.limit:
            break
        if hit.memory.id not in wanted and (hit.confidence or 0.0) < least:
            hits.remove(hit)
    weak = _as_weak(lacking[: inquiry.limit - len(hits)], inquiry, found)
    return replace(answer, hits=[*hits, *weak])


def _as_weak(scored: Sequence[Scored], inquiry: Inquiry, found: Found) -> list[Hit]:
    confidences, _, _ = judge(scored, inquiry.question, found, inquiry.settings)
    return [replace(hit, weak=True) for hit in hits_of(scored, confidences, inquiry.store)]


def _by_superseded(
    answer: Answer, inquiry: Inquiry, found: Found | None, wanted: Filters
) -> Answer:
    """If a superseded memory may answer, return what replaced it.

    "Am I single?" is answered by "we got married", because that superseded "I'm single". The
    replacement must fit `wanted`; the time that the question names applies to the superseded
    memory.
    """
    filters, store = inquiry.filters, inquiry.store
    if filters.was or filters.states is not None or found is None:
        return answer
    moment = filters.as_of or inquiry.now
    second = _judged(found, inquiry, FORMERS)
    if second is None or second.abstained:
        return answer
    best = max((hit.confidence for hit in answer.hits), default=0.0)
    judged = zip(second.kept, second.confidences, strict=True)
    surer = [(one, confidence) for one, confidence in judged if confidence > best]
    lines = {one.id: one for one in found.candidates}
    shown = {hit.memory.id: hit.memory for hit in answer.hits} if filters == wanted else {}
    first = heirs(surer, lines, shown, store, wanted, moment)
    ids = {heir.memory.id for heir in first}
    hits = [*first, *(hit for hit in answer.hits if hit.memory.id not in ids)]
    hits = own_instead(hits, store.kin)[: inquiry.limit]
    return replace(answer, hits=hits, abstained=all(hit.weak for hit in hits))


def _by_archived(answer: Answer, inquiry: Inquiry) -> Answer:
    """Answer from memories that have faded into the archive, but not from those that a person
    archived, who wants them kept and not recalled."""
    filters, store = inquiry.filters, inquiry.store
    if filters.include_archived or filters.states is not None or filters.as_of:
        return answer
    archived = replace(filters, was=None, states=(State.ARCHIVED,))
    inquiry = replace(inquiry, filters=archived)
    second = _judged(search_as_asked(inquiry, alone=True), inquiry, inquiry.limit)
    if second is None:
        return answer
    came_by = store.life.came_by([one.candidate.id for one in second.kept])
    faded = {id for id, (action, _) in came_by.items() if action == "faded"}
    hits = hits_of(second.kept, second.confidences, store)
    hits = [hit for hit in hits if hit.memory.id in faded]
    if second.abstained or not hits:
        return answer
    shown = excerpted(hits, inquiry.question.words, inquiry.settings.tokens)
    return replace(answer, hits=[*shown, *answer.hits][: inquiry.limit], abstained=False)


def _judged(found: Found, inquiry: Inquiry, limit: int) -> _Second | None:
    """Run stages 4, 7, 10 and 11; None if there is no candidate."""
    settings, profile = inquiry.settings, inquiry.profile
    if not found.candidates:
        return None
    scored = fuse(found, profile, settings)
    scored = weigh(scored, inquiry.question, profile, settings, inquiry.now)
    scored = without_copies(scored, inquiry.store.kin)
    kept = inquiry.judging.read(trim(scored, limit, settings))
    confidences, abstained, _ = judge(kept, inquiry.question, found, settings)
    return _Second(kept, confidences, abstained)
