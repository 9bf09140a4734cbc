"""Where a page of a listing ends, as text that a caller hands back."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from kinmem.errors import InvalidInput
from kinmem.store.base import Sort
from kinmem.store.sqlite.filters import SAID_AT

SORTS: Mapping[Sort, tuple[str, str]] = {
    "newest": ("m.id", "DESC"),  # uuid7: ids order as the times of storing do
    "oldest": ("m.id", "ASC"),
    "importance": ("coalesce(m.importance, 5)", "DESC"),
    "used": ("m.recalled_count", "DESC"),
    "said": (SAID_AT, "ASC"),
}
MOST_KEY = 2**63  # SQLite's integers end here


def cursor_of(sort: Sort, key: Any, id: str) -> str:
    """After the row with this key and id."""
    return base64.urlsafe_b64encode(json.dumps([sort, key, id]).encode()).decode().rstrip("=")


def position(cursor: str, sort: Sort) -> tuple[Any, str]:
    """Key and id of the row after which to go on. Raises InvalidInput."""
    try:
        made_for, key, id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, RecursionError):
        made_for, key, id = None, None, None
    fitting = (
        isinstance(key, str) and key.isascii()
        if sort in ("newest", "oldest", "said")
        else isinstance(key, int | float) and abs(key) < MOST_KEY
    )
    if made_for != sort or not fitting or not isinstance(id, str) or not id.isascii():
        raise InvalidInput(
            "cursor is none that an earlier page of just this listing gave; leave it out"
        )
    return key, id
