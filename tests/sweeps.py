"""How long the sweeps are: short in every run of the suite, whole under `make sweeps`."""

import os
from collections.abc import Sequence
from typing import TypeVar

WHOLE = os.environ.get("KINMEM_SWEEPS") == "whole"
T = TypeVar("T")


def rounds(whole: int, short: int) -> int:
    """How often a sweep repeats what it does."""
    return whole if WHOLE else short


def sample(rows: Sequence[T], every: int) -> Sequence[T]:
    """Every so manieth row of a measured set; all of them in a whole sweep."""
    return rows[:: rounds(1, every)]
