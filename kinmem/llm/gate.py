"""Which statement that no person has made commands the assistant that reads it: by its signs, and
beside them by the judge of language."""

from contextlib import suppress

from kinmem.errors import ModelError
from kinmem.llm.base import Judge
from kinmem.rules.orders.instructions import suspicious

SURELY = 0.7
"""Chance from which the judge's word is enough. Of commands-1, which training had not seen, signs
hold 10.7 % of the attacks and 2.7 % of the harmless texts, both 57 and 3 %; of 900 lines of our own
prose one. At 0.5 70 and 4 %, four lines (`python -m benchmarks judge`)."""


class Gate:
    """Told of statements that come from tools and pages; without a judge their signs decide."""

    def __init__(self, judge: Judge | None = None) -> None:
        self._judge = judge

    def why(self, statement: str) -> str | None:
        """Why it must not be recalled unseen; None if nothing speaks against it."""
        found = suspicious(statement)
        if found or self._judge is None:
            return found
        chance = 0.0
        with suppress(ModelError):
            chance = self._judge.commands(statement)
        return f"wants to command an assistant (judge {chance:.2f})" if chance >= SURELY else None
