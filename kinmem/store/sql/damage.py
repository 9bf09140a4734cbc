"""Damage: the sums by which it is noticed, and what of a file cannot be read.

A row is damaged if its driver or its reader cannot decode it, or if it is not what was written. It
is left out of answers, counted, and named once in the log. The words and the vectors are made from
the memories; damage to them costs nothing but what they would have found, until they are made anew.

There is a sum of each memory, each of its parts, each message, of what is made from them (vectors,
links, summaries and the like), and a seal that chains the lines of the history. The database
computes them itself, in triggers (migrations 8 and 11), so that no way of writing can forget them;
only the sum of a vector is stored by whoever stores the vector. They are no protection from
somebody who can write the file and knows how: nothing in them is secret.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from hashlib import blake2b
from operator import itemgetter
from secrets import token_bytes
from typing import Any, ParamSpec, TypeVar

from kinmem.errors import StoreError
from kinmem.models import Damaged, Memory

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


WIDTH = 16
REWRITTEN = b"\x01"
BY_ENGINE = b"\x00"
"""In place of a sum, where the engine checks its pages itself."""

UNSUMMED = frozenset(
    {
        "priority",
        "tier",
        "tier_reason",
        "recalled_count",
        "recalled_at",
        "scored_at",
        "status",
        "tagged_at",
        "linked_at",
    }
)
"""Fields of a memory that only rank it or say how far upkeep has come: written often, and worth
little."""
SUMMED: Mapping[str, tuple[str, ...]] = {
    "memories": tuple(
        name for name in Memory.__dataclass_fields__ if name not in UNSUMMED
    ),
    "chunks": ("memory", "position", "text", "metadata"),
    "turns": (
        "session", "turn", "role", "part", "text", "speaker", "tool", "spill", "client", "place",
        "said_at",
    ),
    "links": (
        "source", "target", "relation", "kin", "weight", "confidence", "evidence", "verified_at",
        "origin", "created_at",
    ),
    "entities": ("name", "type", "metadata", "folded"),
    "relations": (
        "memory", "source", "relation", "target", "chunk", "origin", "confidence", "verified_at",
    ),
    "summaries": ("memory", "chunk", "scope", "text", "model", "tokens", "created_at", "tier"),
    "snapshots": (
        "session", "summary", "model", "first", "last", "seen", "turns", "depth", "created_at",
    ),
    "turn_vectors": ("embedder", "chunk", "embedding"),
    "tier_changes": ("memory_id", "from_tier", "to_tier", "reason", "at"),
}  # fmt: skip
"""The columns in each table's sum, in their order. A script that adds one writes all sums anew."""
LINE = (
    "at", "kin", "memory_id", "action", "before", "after", "reason", "batch", "write", "reverts",
)  # fmt: skip
"""The columns of a history line that its seal covers."""


def row_sum(*values: Any) -> bytes:
    """Return the sum of a row's values: numbers, None, and texts as they are or in UTF-8."""
    plain = tuple([value.encode() if type(value) is str else value for value in values])
    return blake2b(repr(plain).encode(), digest_size=WIDTH).digest()


def seal(previous: bytes | None, *line: Any) -> bytes:
    """Return the seal of a new history line after one with the link `previous`: a salt, the sum of
    the salted line, and the line's own link, which covers all lines before it.

    The salt goes when the line is erased: then nobody can guess what it said and try.
    """
    salt = token_bytes(WIDTH)
    sum = row_sum(salt, *line)
    return salt + sum + row_sum(previous or b"", sum)


def rewrite(seal: bytes, *line: Any) -> bytes:
    """Return the seal of a line that was rewritten, as erasing does. Its link stays."""
    salt = token_bytes(WIDTH)
    return salt + row_sum(salt, *line) + link_of(seal) + REWRITTEN


def link_of(seal: bytes) -> bytes:
    return seal[2 * WIDTH : 3 * WIDTH]


SUM_FUNCTIONS: Mapping[str, Callable[..., bytes]] = {
    "kinmem_sum": row_sum,
    "kinmem_seal": seal,
    "kinmem_rewrite": rewrite,
}
"""By the names under which the database calls them."""


def broken_links(
    lines: Iterable[tuple[int, bytes | None, Sequence[Any]]], erased: Mapping[int, bytes]
) -> Iterator[tuple[int, str]]:
    """Yield (number, what is wrong) of history lines, given as (number, seal, values). `erased` has
    the link of the last of each stretch of lines that are gone, by its number."""
    gone = [(number, link, None) for number, link in erased.items()]
    previous = b""
    for number, sealed, values in sorted([*lines, *gone], key=itemgetter(0)):
        if values is None:
            previous = sealed or b""
            continue
        if sealed is None or len(sealed) < 3 * WIDTH:
            yield number, "it has no seal"
            continue
        salt, sum = sealed[:WIDTH], sealed[WIDTH : 2 * WIDTH]
        if row_sum(salt, *values) != sum:
            yield number, "it is not as it was written"
        if sealed[3 * WIDTH :] != REWRITTEN and row_sum(previous, sum) != link_of(sealed):
            yield number, "what came before it was changed, or is missing"
        previous = link_of(sealed)
