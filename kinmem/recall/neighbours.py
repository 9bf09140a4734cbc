"""Stage 4: what stands next to a good candidate in the same conversation gains from it.

Turns that answer each other are often worded for each other: the question holds the words, the
answer the facts. Two memories are neighbours if one's beginning is quoted in the other's source
context, on the same day.
"""

from collections.abc import Iterator, Sequence

from kinmem.models import ROLES, Candidate, Scored
from kinmem.recall.formula import Formula

# Only these many of the best give and take: what is far behind would not come up by it. A hundred
# lose half a point of nDCG on BEAM.
COMPARED = 200
QUOTED = 200
NEVER = "\0"  # stands in no text


def lift(scored: Sequence[Scored], formula: Formula) -> list[Scored]:
    """Add 0.2 x the score of the better neighbour, and 0.15 x that of a question right before."""
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
            why = {**one.why, "+neighbours": formula.neighbours * gain}
            if previous and _asks(previous) and one.candidate.speaker not in ROLES:
                why["+answers"] = formula.answers * base[previous.id]
            one = Scored(one.candidate, one.score + sum(why.values()) - sum(one.why.values()), why)
        lifted.append(one)
    return lifted


def _adjacent(candidates: Sequence[Candidate]) -> Iterator[tuple[str, Candidate]]:
    """(id, the turn right before it) for candidates whose source context quotes that turn."""
    days: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda one: one.id):
        days.setdefault(candidate.said_at[:10], []).append(candidate)
    for day in days.values():
        if len(day) > 1 and any(one.source_context for one in day):
            yield from _in_order(day)


def _in_order(day: Sequence[Candidate]) -> Iterator[tuple[str, Candidate]]:
    """The youngest that is quoted, and that no other follows; oldest first."""
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
    """As it stands in a context: from the start of a word, and to the end of one if it is whole."""
    return f" {_plain(content[:QUOTED])}" + (" " if len(content) <= QUOTED else "")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _asks(candidate: Candidate) -> bool:
    return candidate.content.rstrip().endswith("?")
