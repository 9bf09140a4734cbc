"""Stage 3: combine what was found by meaning and by words into one list, scored by relevance
alone."""

import math
from collections.abc import Iterator, Sequence

from kinmem.models import ROLES, Candidate, Found, Reasons, Scored
from kinmem.recall.profiles import Formula, Profile
from kinmem.settings import RecallSettings

NOWHERE = [0.0]
DEFAULT = Formula()
# Only this many of the best candidates raise their neighbours or are raised, since others would not
# come up by it. With 100, nDCG on BEAM falls by half a point.
COMPARED = 200
QUOTED = 200
NEVER = "\0"  # occurs in no text


def fuse(found: Found, profile: Profile, settings: RecallSettings) -> list[Scored]:
    """Return one entry per candidate found by words or by meaning, in no particular order.

    score: cosine + 0.3 x BM25 / the best BM25. rrf: the sum over both lists of boost / (k + rank +
    1), rank from 0. A candidate counts as found by meaning if its cosine is above both noise and
    threshold. The setting decides between the two formulas, or else the profile.
    """
    fusion = settings.fusion or profile.fusion
    return list(
        _by_score(found, profile.formula) if fusion == "score" else _by_rank(found, settings)
    )


def meaning(cosines: list[float], formula: Formula = DEFAULT) -> float:
    """Return how near a memory with these parts is to the question: at most the best part's
    cosine."""
    if len(cosines) == 1:
        return cosines[0]
    first = formula.first_part
    whole = first * cosines[0] + (1 - first) * max(cosines)
    return whole - formula.per_ln_parts * math.log(len(cosines))


def _by_score(found: Found, formula: Formula) -> Iterator[Scored]:
    best = max(found.matches.values(), default=0.0)
    least = max(found.noise, found.threshold)
    for candidate in found.candidates:
        cosines = found.cosines.get(candidate.id, NOWHERE)
        match = found.matches.get(candidate.id)
        if match is None and max(cosines) <= least:
            continue
        score = meaning(cosines, formula)
        if candidate.part:
            score -= formula.per_ln_parts * math.log(candidate.part.of)
        score = max(score, 0.0)
        by_words = formula.words * match / best if match is not None and best > 0 else None
        yield Scored(candidate, score + (by_words or 0.0), Reasons(score, by_words))


def _by_rank(found: Found, settings: RecallSettings) -> Iterator[Scored]:
    least = max(found.noise, found.threshold)
    near = [id for id in found.nearest if max(found.cosines.get(id, NOWHERE)) > least]
    by_meaning = {id: 1 / (settings.rrf_k + rank + 1) for rank, id in enumerate(near)}
    by_words = {
        id: settings.fts_boost / (settings.rrf_k + rank + 1)
        for rank, id in enumerate(found.matches)
    }
    for candidate in found.candidates:
        by_rank, match = by_meaning.get(candidate.id), by_words.get(candidate.id)
        if by_rank is None and match is None:
            continue
        cosines = found.cosines.get(candidate.id)
        reasons = Reasons(by_rank, match, cosine=None if cosines is None else max(cosines))
        yield Scored(candidate, (by_rank or 0.0) + (match or 0.0), reasons)


def lift(scored: Sequence[Scored], formula: Formula) -> list[Scored]:
    """Raise the neighbours of a good candidate in the same conversation: by 0.2 x the better
    neighbour's score, and by 0.15 x the score of a question right before it.

    Turns are often worded for each other: the question has the words, the answer the facts. Two
    memories are neighbours if they are of the same day and the source context of one quotes the
    beginning of the other.
    """
    leading = sorted(scored, key=lambda one: -one.score)[:COMPARED]
    base = {one.candidate.id: one.score for one in leading}
    before = dict(_adjacent([one.candidate for one in leading]))
    after = {earlier.id: later_id for later_id, earlier in before.items()}
    lifted = []
    for one in scored:
        id = one.candidate.id
        previous = before.get(id)
        gain = max(base[previous.id] if previous else 0.0, base.get(after.get(id, ""), 0.0))
        if gain > 0:
            beside, answers = formula.neighbours * gain, None
            if previous and _asks(previous) and one.candidate.speaker not in ROLES:
                answers = formula.answers * base[previous.id]
            reasons = one.reasons._replace(neighbours=beside, answers=answers)
            one = Scored(one.candidate, one.score + beside + (answers or 0.0), reasons)
        lifted.append(one)
    return lifted


def _adjacent(candidates: Sequence[Candidate]) -> Iterator[tuple[str, Candidate]]:
    """Yield (id, the turn right before it) for candidates whose source context quotes that turn."""
    days: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda one: one.id):
        days.setdefault(candidate.said_at[:10], []).append(candidate)
    for day in days.values():
        if len(day) > 1 and any(one.source_context for one in day):
            yield from _in_order(day)


def _in_order(day: Sequence[Candidate]) -> Iterator[tuple[str, Candidate]]:
    """Pair each candidate, oldest first, with the latest turn that it quotes and that no other
    follows."""
    beginnings = [_beginning(candidate.content) for candidate in day]
    for at, candidate in enumerate(day):
        if at == 0 or candidate.source_context is None:
            continue
        context = f" {_plain(candidate.source_context)} "
        for earlier in range(at - 1, -1, -1):
            if beginnings[earlier] in context:
                beginnings[earlier] = NEVER
                yield candidate.id, day[earlier]
                break


def _beginning(content: str) -> str:
    """Return the beginning as it appears in a context: from the start of a word, and, if the
    content is quoted whole, to the end of one."""
    return f" {_plain(content[:QUOTED])}" + (" " if len(content) <= QUOTED else "")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _asks(candidate: Candidate) -> bool:
    return candidate.content.rstrip().endswith("?")
