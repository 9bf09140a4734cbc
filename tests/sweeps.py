"""How long the sweeps are: short in every run of the suite, whole under `make sweeps`."""

import os

WHOLE = os.environ.get("KINMEM_SWEEPS") == "whole"


def rounds(whole: int, short: int) -> int:
    """How often a sweep repeats what it does."""
    return whole if WHOLE else short
