"""Which statement that no person has made commands the assistant that reads it: by its signs and by
the judge of language, of which neither is believed alone where the other sees nothing at all."""

from kinmem.errors import ModelError
from kinmem.llm.base import Judge
from kinmem.rules.orders.instructions import suspicious

SURELY = 0.5
"""Chance from which the judge's word is enough."""
CONFIRMS = 0.3
"""Chance below which a sign is none: a text about orders is worded like one."""
# Of commands-1, which training had not seen, 50.7 % of the attacks are held with both and 1.0 % of
# the harmless texts; by signs alone 10.7 and 2.7 %. Of 900 lines of our own prose 1.3 %.
# `python -m benchmarks judge` prints both by other bars.
CERTAIN = frozenset({"holds hidden characters", "is hidden in markup"})
"""Signs that need nobody's word: no prose has them."""


class Gate:
    """Told of statements that come from tools and pages; without a judge their signs decide."""

    def __init__(self, judge: Judge | None = None) -> None:
        self._judge = judge

    def why(self, statement: str) -> str | None:
        """Why it must not be recalled unseen; None if nothing speaks against it."""
        found = suspicious(statement)
        if self._judge is None or found in CERTAIN:
            return found
        try:
            chance = self._judge.commands(statement)
        except ModelError:
            return found
        return told(found, chance)


def told(found: str | None, chance: float, surely: float = SURELY) -> str | None:
    """The same of a text with that sign, and that chance by the judge."""
    if found in CERTAIN or (found is not None and chance >= CONFIRMS):
        return found
    return f"wants to command an assistant (judge {chance:.2f})" if chance >= surely else None
