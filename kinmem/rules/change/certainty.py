"""How sure it is that one statement has taken the place of another: clear, likely or neither.

What is clear ends the older statement. What is likely leaves both; the newer one ranks first, and
the review asks.
"""

from kinmem.rules.change import events
from kinmem.rules.change.restating import restated
from kinmem.rules.change.sides import (
    LONGEST,
    Side,
    among,
    both_may_be,
    clauses_of,
    is_cued,
    of_same_one,
    side_of,
)
from kinmem.rules.change.vetoes import happened

LONGEST_CLEAR = 12
"""Content words; a longer text tells of more than one thing."""
LIKELY = 0.6
"""The cosine from which two texts speak of one thing, if they share words as well."""
SHARED = 0.5
"""Of the known one's content words, how many the new one then has."""


def doubt(known: str, new: str) -> str | None:
    """What keeps it from being certain that the new one ends the known one; None: nothing."""
    if happened(known):
        return "what was done stays so, and may have been followed by this"
    if any(len(side_of(text).content) > LONGEST_CLEAR for text in (known, new)):
        return "one of them says much besides"
    return None


def likely(known: str, new: str, cosine: float) -> bool:
    """Whether a change is told of the same one, though not in a way that says what has ended.

    A sign of change; near in meaning; and it names what was said, the same kind of amount, or two
    words of what it is said of.
    """
    if cosine < LIKELY or max(len(known), len(new)) > LONGEST or happened(known):
        return False
    before, now = side_of(known), side_of(new)
    if before.amounts and before.amounts <= now.amounts:
        return False
    if max(len(before.content), len(now.content)) > LONGEST_CLEAR or not _tells_change(now):
        return False
    if not both_may_be(before, now) or not _of_one(before, now):
        return False
    shared = {word for word in before.content if among(word, now.words)}
    if not shared:
        return False
    is_said = is_cued(now) or restated(new).corrects
    if is_said and len(before.content) > 1 and _last(before) in now.words:
        return True
    enough = len(shared) >= SHARED * len(before.content)
    return enough and (len(shared) > 1 or _same_kind_of_amount(before, now))


def _tells_change(now: Side) -> bool:
    told = (*events.TURNED.values(), events.ENDING)
    return (
        is_cued(now) or restated(now.said).corrects or any(event.search(now.text) for event in told)
    )


def _of_one(before: Side, now: Side) -> bool:
    return any(of_same_one(before, clause, now) for clause in clauses_of(now.said))


def _last(side: Side) -> str:
    """What is said last is what is said of the rest."""
    return next((word for word in reversed(side.words) if word in side.content), "")


def _same_kind_of_amount(before: Side, now: Side) -> bool:
    ours, theirs = before.found, now.found
    units = ours.units & theirs.units
    return bool(units or ours.dates and theirs.dates or ours.numbers and theirs.numbers) and (
        before.amounts != now.amounts
    )
