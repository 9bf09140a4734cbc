"""Reading a store in pages, for steps that look at every memory."""

from collections.abc import Iterator

from kinmem.models import LIVE, Filters, Memory
from kinmem.store.base import Store

PAGE = 200


def read_live(
    store: Store, most: int | None = None, filters: Filters | None = None
) -> Iterator[Memory]:
    """Live memories that are visible, newest first, at most so many; expired ones are left out,
    unless `filters` says otherwise."""
    wanted, cursor, read = filters or Filters(), None, 0
    while most is None or read < most:
        page = store.page(wanted, "newest", PAGE, cursor)
        yield from page.memories[: None if most is None else most - read]
        read += len(page.memories)
        cursor = page.next_cursor
        if cursor is None:
            return


ANY_LIVE = Filters(states=LIVE)
"""Expired ones as well."""
