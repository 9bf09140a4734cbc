"""Which statement that no person has made commands the assistant that reads it: by its signs, and
beside them by the judge of language."""

from contextlib import suppress

from kinmem.errors import ModelError
from kinmem.llm.base import Judge
from kinmem.rules.orders.instructions import suspicious

SURELY = 0.95
"""Chance from which the judge's word is enough. Of the attacks in training/commands, commands-1,
17 % are held with it, 10.7 % by signs alone; of its harmless texts, of 600 memories and of 1,000
sentences of READMEs and docstrings none more. Whole documents and outputs of tools are left to the
signs: of ordinary prose it would hold 1.6 %."""


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
