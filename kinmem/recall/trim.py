"""Stage 7: cut the list to the hits that are worth showing."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from kinmem.language import Wording, normalised
from kinmem.models import OF_ITS_TIME, Candidate, Hit, Memory, Scored
from kinmem.settings import RecallSettings
from kinmem.text import folded

# A hit that scores less than this fraction of the one before it ends the list.
CLIFF = 0.5

Said = tuple[str, ...]


def trim(scored: Sequence[Scored], limit: int, settings: RecallSettings) -> list[Scored]:
    """Return the leading hits, best first, `limit` at most.

    With adaptive_k they end where a score falls below adaptive_k_min_score_ratio of the best, or
    below half of the one before it. Evenly spaced scores above that all stay. A best score of 0 or
    less leaves nothing.
    """
    leading = list(scored[:limit])
    if not leading or leading[0].score <= 0:
        return []
    if not settings.adaptive_k:
        return leading
    floor = leading[0].score * settings.adaptive_k_min_score_ratio
    kept = list(takewhile(lambda one: one.score >= floor, leading))
    for at in range(1, len(kept)):
        if kept[at].score < CLIFF * kept[at - 1].score:
            return kept[:at]
    return kept


def without_copies(scored: Sequence[Scored], kin: str) -> list[Scored]:
    """Keep each statement once if several Kins share it: the Kin's own, otherwise the best of the
    others.

    What people say about themselves, and what happened on different days, are different statements.
    """
    if all(one.candidate.kin == kin for one in scored):
        return list(scored)
    own = {_statement(one.candidate) for one in scored if one.candidate.kin == kin}
    kept, seen = [], set[Said]()
    for one in scored:
        said = _statement(one.candidate)
        if one.candidate.kin != kin:
            if said in own or said in seen:
                continue
            seen.add(said)
        kept.append(one)
    return kept


def everywhere_instead(hits: Sequence[Hit]) -> list[Hit]:
    """Drop memories of a project if the same statement of the same speaker holds everywhere."""

    def said(memory: Memory) -> tuple[str | None, ...]:
        return memory.kin, memory.content_hash, memory.speaker, memory.subject

    free = {said(hit.memory) for hit in hits if hit.memory.place is None}
    return [hit for hit in hits if hit.memory.place is None or said(hit.memory) not in free]


def own_instead(hits: Sequence[Hit], kin: str) -> list[Hit]:
    """Do the same as without_copies for hits of several searches: the Kin's own copy takes the
    place of a better one."""
    own: dict[Said, Memory] = {}
    for hit in hits:
        if hit.memory.kin == kin:
            own.setdefault(_statement(hit.memory), hit.memory)
    kept: dict[str | Said, Hit] = {}
    for hit in hits:
        said = None if hit.memory.kin == kin else _statement(hit.memory)
        memory = hit.memory if said is None else own.get(said)
        if memory is not None:
            kept.setdefault(memory.id, replace(hit, memory=memory))
        elif said is not None:
            kept.setdefault(said, hit)
    return list(kept.values())


def _statement(candidate: Candidate | Memory) -> Said:
    """Return a key that two candidates share if they say the same about the same subject."""
    text = normalised(candidate.content)
    about_self = Wording(text).begins_with_speaker
    return (
        text,
        folded(candidate.subject or ""),
        candidate.kin if about_self else "",
        str(candidate.said_at)[:10] if candidate.category in OF_ITS_TIME else "",
    )
