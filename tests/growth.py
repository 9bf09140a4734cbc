"""Whether work grows with the length of its input only: a ratio of processor times in one run."""

import gc
from collections.abc import Callable
from time import thread_time

from tests.sweeps import rounds

TIMES_LONGER = 8
LEEWAY = 3  # what is linear takes 8 times as long, what is quadratic 64 times
LEAST_SECONDS = 0.002  # below this a clock measures itself


def assert_linear(work: Callable[[int], object], longest: int, *, power: int = 1) -> None:
    """Time grows with the length of the input, or with the given power of it.

    `work(n)` is given `longest` units, and an eighth of them; in the short run of the suite an
    eighth of both.

    Each length runs twice, by one unit apart so that no cache answers, and the faster one counts.
    Eight units go first, which compiles patterns. The collector of garbage waits until the end; it
    does not run before either, which takes .6 s where a process has run many tests.
    """
    longest //= rounds(1, 8)
    work(min(longest, 8))
    gc.disable()
    try:
        short, long = (_seconds(work, length) for length in (longest // TIMES_LONGER, longest))
    finally:
        gc.enable()
    assert long <= LEEWAY * TIMES_LONGER**power * max(short, LEAST_SECONDS), (
        f"{TIMES_LONGER} times the length took {long / max(short, LEAST_SECONDS):.0f} times as long"
    )


def _seconds(work: Callable[[int], object], length: int) -> float:
    taken = []
    for units in (length, length - 1):
        began = thread_time()
        work(units)
        taken.append(thread_time() - began)
    return min(taken)
