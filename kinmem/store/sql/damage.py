"""What of a file cannot be read: left out of answers, counted, and named once each in the log.

A row is damaged if its driver or its reader cannot decode it, or if it is not what was written: see
`sums` of the engine. The words and the vectors are made from the memories; damage to them costs
nothing but what they would have found, until they are made anew.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from kinmem.errors import StoreError
from kinmem.models import Damaged

logger = logging.getLogger(__name__)
Row = tuple[Any, ...]
One = TypeVar("One")
Given = ParamSpec("Given")
Done = TypeVar("Done")

DERIVED = ("words", "turn_words", "vectors")
"""Tables that can be made anew from others; vectors: those of every embedder."""


class DamagedRow(ValueError):
    """A row that is not as it was written."""


def again(write: Callable[Given, Done]) -> Callable[Given, Done]:
    """Repeat a write once whose transaction was undone because words or vectors were damaged: they
    are made anew by then."""

    @wraps(write)
    def repeated(*given: Given.args, **named: Given.kwargs) -> Done:
        try:
            return write(*given, **named)
        except StoreError as error:
            if error.code != "storage_mended":
                raise
            return write(*given, **named)

    return repeated


class Damage:
    """What has been found in one file since it was opened. Any thread may call any method."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._found: dict[tuple[str, str], Damaged] = {}

    def note(self, table: str, key: object, problem: str) -> None:
        """Remember a row, or a table as a whole if `key` is None."""
        one = Damaged(self._file, table, None if key is None else str(key), problem)
        with self._lock:
            known = self._found.setdefault((table, str(key)), one)
        if known is one:
            logger.warning("damaged and left out: %s; kinmem doctor says what to do", one.told)

    @property
    def derived(self) -> list[str]:
        """Which of DERIVED are damaged."""
        return [table for table in DERIVED if (table, "None") in self._found]

    def mended(self, table: str) -> None:
        """Forget what was found in a table, after it was made anew."""
        with self._lock:
            self._found = {key: one for key, one in self._found.items() if key[0] != table}

    def __iter__(self) -> Iterator[Damaged]:
        with self._lock:
            return iter(list(self._found.values()))

    def __len__(self) -> int:
        return len(self._found)


def readable(
    rows: Iterable[Row], convert: Callable[[Row], One], table: str, damage: Damage
) -> list[One]:
    """Convert rows that begin with their key, and leave out those for which `convert` raises what
    damaged values raise."""
    found = []
    for row in rows:
        try:
            found.append(convert(row))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            damage.note(table, row[0], f"it cannot be read: {error}")
    return found


def filled(
    rows: Callable[[int, int], list[Row]],
    convert: Callable[[list[Row]], list[One]],
    behind: int,
    limit: int,
    damage: Damage,
) -> list[One]:
    """Return as many as are asked for, or all that follow: damaged rows, which `rows` or `convert`
    leaves out, end nothing. `rows` returns as many behind a number; rows begin with theirs."""
    found: list[One] = []
    while (wanted := limit - len(found)) > 0:
        some = rows(behind, wanted)
        found += convert(some)
        if not some or (len(some) < wanted and not len(damage)):
            break
        behind = some[-1][0]
    return found
