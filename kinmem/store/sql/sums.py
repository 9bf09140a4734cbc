"""Sums by which damage is noticed: of each memory, each of its parts, each message; and the seals
that chain the lines of the history.

The database computes them itself, in triggers (migration 8), so that no way of writing can forget
them. They are no protection from somebody who can write the file and knows how: nothing in them is
secret.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from operator import itemgetter
from secrets import token_bytes
from typing import Any

from kinmem.models import Memory

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


FUNCTIONS: Mapping[str, Callable[..., bytes]] = {
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
