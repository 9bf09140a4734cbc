"""What happened, in order: of a subject, of a day, a month or a year, or of both."""

from datetime import datetime, tzinfo

from kinmem.errors import InvalidInput
from kinmem.models import LIVE, Filters, Page, State
from kinmem.store.base import Store
from kinmem.text import folded
from kinmem.validation import checked_subject, checked_time

SHOWN = (*LIVE, State.ARCHIVED, State.SUPERSEDED)
"""What was so once is part of what happened; its valid_to says until when."""
MOST = 200


def timeline(
    store: Store,
    now: datetime,
    zone: tzinfo,
    *,
    subject: str | None = None,
    day: str | datetime | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Page:
    """One page of what is visible, by the time when it happened or was said, the earliest first.

    Of a subject is what has it, and what is about somebody or something called so. `day` is a date,
    a month (2026-05), a year, or yesterday; what was superseded since is there as well.
    """
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"limit {limit} is not between 1 and {MOST}")
    subject = checked_subject(subject)
    filters = Filters(
        subject=subject,
        about=() if subject is None else _names(store, subject),
        since=checked_time(day, "day", zone, now=now),
        until=checked_time(day, "day", zone, end=True, now=now),
        states=SHOWN,
    )
    return store.page(filters, "said", limit, cursor)


def _names(store: Store, subject: str) -> tuple[str, ...]:
    """By which an entity that may be called so is known."""
    found = {one.key.folded for one in store.graph.find([subject])}
    return tuple(sorted({folded(subject), *found}))
