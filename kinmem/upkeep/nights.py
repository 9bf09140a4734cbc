"""When the sleep cycle is due: once in so many minutes, whichever process does it."""

from datetime import timedelta

from kinmem.clock import Clock
from kinmem.store.journal import Journal
from kinmem.upkeep.steps import NAMES, StepName

MARK = "sleep"


class Nights:
    """Which steps of the present night are left.

    A night is named by the second it began. Each step notes in the journal the night it was last
    done in, so that whoever comes after one that was killed goes on with what is left of it.
    """

    def __init__(self, journal: Journal, minutes: int, clock: Clock) -> None:
        """`minutes` from one night to the next; 0: there is none."""
        self._journal = journal
        self._length = timedelta(minutes=minutes)
        self._clock = clock

    def left(self) -> list[StepName]:
        """The steps to be done now; a new night begins when the last is over.

        One that began in the future was begun by a wrong clock, and is over.
        """
        if not self._length:
            return []
        began = self._journal.mark(MARK)
        if not 0 <= self._now - began < self._length.total_seconds():
            return list(NAMES)
        return [name for name in NAMES if self._journal.mark(_mark(name)) != began]

    def begin(self) -> None:
        """A night begins now: all steps are left of it."""
        self._journal.set_mark(MARK, self._now)

    def done(self, step: StepName) -> None:
        """It was done in the present night, well or badly."""
        self._journal.set_mark(_mark(step), self._journal.mark(MARK))

    @property
    def _now(self) -> int:
        return int(self._clock().timestamp())


def _mark(step: StepName) -> str:
    return f"{MARK} {step}"
