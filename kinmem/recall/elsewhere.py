"""Stage 5b: what belongs to another project stands behind what belongs to the one at hand."""

from collections.abc import Sequence

from kinmem.models import Scored
from kinmem.recall.weigh import total

ELSEWHERE = 0.85
"""As far as what is nearly equal is told apart; what answers clearly better still comes first."""


def lowered(scored: Sequence[Scored], here: Sequence[str] | None) -> list[Scored]:
    """Best first, with the factor in the reasons; as they were where nobody knows the project."""
    if here is None:
        return list(scored)
    found = []
    for one in scored:
        place = one.candidate.place
        if place is not None and place not in here:
            why = {**one.why, "xelsewhere": ELSEWHERE}
            one = Scored(one.candidate, total(why), why)
        found.append(one)
    return sorted(found, key=lambda one: (-one.score, one.candidate.id))
