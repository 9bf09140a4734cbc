"""Whether what is said now tells that something known is so no longer, whatever its wording.

clash.py lays two texts side by side and finds the one place where they differ. People tell a change
in other words as well: "I'm single", "we got married"; "Hugo drives a Volvo", "Hugo sold the
Volvo"; "the rent is 900", "they raised the rent to 950". Here both are read for what they tell of
whom; where no rule finds that they exclude each other, both stay. `python -m benchmarks now` says
how often that is right.
"""

from collections.abc import Callable

from kinmem.rules.change import words as signs
from kinmem.rules.change.events import SWITCHING
from kinmem.rules.change.exchanged import other_contact, other_of_kind, promoted
from kinmem.rules.change.holders import handed_over, other_holder
from kinmem.rules.change.kinds import EMPLOYER, kinds_in, names_of
from kinmem.rules.change.outlived import (
    ended,
    gained,
    instead,
    no_longer,
    other_state,
    so_again,
    states_of,
)
from kinmem.rules.change.revalued import (
    older,
    other_amount,
    other_aspect,
    other_entry,
    other_value,
    renewed,
    switched,
    turned_into,
)
from kinmem.rules.change.sides import (
    LONGEST,
    Side,
    both_may_be,
    clauses_of,
    is_cued,
    of_same_one,
    side_of,
)
from kinmem.rules.change.states import OF_PERSONS


def changed(known: str, new: str) -> str | None:
    """Why the known statement is so no longer, now that the new one is said; None: it may be so.

    Never raises.
    """
    if max(len(known), len(new)) > LONGEST or "?" in known + new:
        return None
    before, now = side_of(known), side_of(new)
    if not both_may_be(before, now):
        return None
    for rule in RULES:
        for clause in clauses_of(new):
            if signs.ALSO.search(clause.text) or not of_same_one(before, clause, now):
                continue
            if reason := rule(before, clause, now):
                return reason
    return None


def telling(text: str) -> frozenset[str]:
    """Words in which others may tell the same: of a bond single, married; of a home live, moved.

    Empty where the text tells nothing of which somebody has one. With those that tell of whom.
    """
    if len(text) > LONGEST:
        return frozenset()
    side = side_of(text)
    aspects = [name for name, aspect in signs.ASPECTS.items() if aspect.search(side.text)]
    told = [*aspects, *OF_PERSONS & states_of(side).keys()]
    sought = frozenset[str]().union(*(signs.SOUGHT.get(name, frozenset()) for name in told))
    kinds = kinds_in(text) if is_cued(side) or SWITCHING.search(side.text) else {}
    sought = sought.union(*(names_of(kind) for kind in kinds if kind != EMPLOYER))
    return sought | set(side.head) if sought else frozenset()


RULES: tuple[Callable[[Side, Side, Side], str | None], ...] = (
    other_state,
    other_entry,
    other_contact,
    other_of_kind,
    promoted,
    renewed,
    ended,
    gained,
    so_again,
    switched,
    no_longer,
    instead,
    older,
    other_amount,
    turned_into,
    other_holder,
    handed_over,
    other_aspect,
    other_value,
)
