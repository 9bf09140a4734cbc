"""Filters as SQL over `memories m`."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kinmem.models import LIVE, Filters, State
from kinmem.store.sqlite.rows import time_text

# Somebody else's shared memory is seen by all unless its author has put it away. `left` is null or
# lists what has been moved to the other file and is here still (moves.py).
VISIBLE = (
    "(m.kin = :kin OR (m.scope = 'shared' AND m.state NOT IN ('deleted', 'quarantined')))"
    " AND (:left IS NULL OR m.id NOT IN (SELECT value FROM json_each(:left)))"
)
LIVE_STATES = ", ".join(f"'{state}'" for state in LIVE)
IS_LIVE = f"m.state IN ({LIVE_STATES})"
SAID_AT = "coalesce(m.occurred_at, m.created_at)"
VALID_FROM = f"coalesce(m.valid_from, {SAID_AT})"


View = Mapping[str, str | None]
"""Who looks at a file: what VISIBLE binds."""


@dataclass(frozen=True)
class Allowed:
    """What may be found: a condition on `memories m`, and what it binds."""

    condition: str
    bound: Mapping[str, Any]
    plain: bool
    """Whether it allows nearly every live row, and no other."""
    live: bool
    """Whether it allows live rows only."""


def conditions(filters: Filters, view: View, now: datetime) -> tuple[str, dict[str, Any]]:
    """The text of a WHERE clause, and its bindings. No filters: visible, live, not expired."""
    parts = [VISIBLE]
    bound: dict[str, Any] = {**view, "now": time_text(now)}
    _life(filters, parts, bound)
    if filters.category:
        parts.append("m.category = :category")
        bound["category"] = filters.category
    if filters.subject:
        parts.append("m.subject = :subject COLLATE ANYCASE")
        bound["subject"] = filters.subject
    if filters.scope:
        parts.append("m.scope = :scope")
        bound["scope"] = filters.scope
    if filters.pinned:
        parts.append("m.pinned")
    if filters.since:
        parts.append(f"{SAID_AT} >= :since")
        bound["since"] = time_text(filters.since)
    if filters.until:
        parts.append(f"{SAID_AT} < :until")
        bound["until"] = time_text(filters.until)
    for n, tag in enumerate(filters.tags):
        parts.append(
            f"(EXISTS (SELECT 1 FROM json_each(m.manual_tags) WHERE value = :tag{n})"
            f" OR EXISTS (SELECT 1 FROM json_each(m.auto_tags) WHERE value = :tag{n}))"
        )
        bound[f"tag{n}"] = tag
    return " AND ".join(parts), bound


def _life(filters: Filters, parts: list[str], bound: dict[str, Any]) -> None:
    """Which stages of life count, and which times of validity."""
    if filters.states is not None:
        states: tuple[State, ...] = filters.states
    else:
        states = LIVE + ((State.ARCHIVED,) if filters.include_archived else ())
        if filters.as_of:
            states += (State.SUPERSEDED,)
            parts += [
                f"{VALID_FROM} <= :as_of",
                "(m.valid_to IS NULL OR m.valid_to > :as_of)",
                "(m.expires_at IS NULL OR m.expires_at > :as_of)",
            ]
            bound["as_of"] = time_text(filters.as_of)
        elif not filters.include_archived:
            parts.append("(m.expires_at IS NULL OR m.expires_at > :now)")
    named = ", ".join(f"'{state}'" for state in states)
    parts.append(f"m.state IN ({named})")
