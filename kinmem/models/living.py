"""What retention and tiers read of a memory, and what they decide."""

from datetime import datetime
from typing import NamedTuple

from kinmem.models.record import Scope, State, Tier


class Living(NamedTuple):
    """What retention and tiers need to know of one of the Kin's own memories.

    Upkeep reads tens of thousands of them.
    """

    id: str
    scope: Scope
    version: int
    category: str
    importance: float | None
    trust: float
    channel: str
    pinned: bool
    is_tagged: bool
    """Whether a person has tagged it."""
    set_priority: float | None
    priority: float | None
    state: str
    state_at: datetime | None
    tier: Tier
    tier_reason: str | None
    recalled_count: int
    recalled_at: datetime | None
    created_at: datetime
    content_updated_at: datetime
    expires_at: datetime | None
    links: int = 0
    """Number of links with the Kin's own live memories and, for a private memory, with memories
    that others share."""
    recent_links: int = 0
    """Number of those links made in the last week."""
    scored_at: datetime | None = None
    speaker: str | None = None


class Fate(NamedTuple):
    """A new state for one of the Kin's own memories, applied if it is still at that version."""

    memory: Living
    state: State
    action: str
    """Name of the change in the history: faded, revived or expired."""
    reason: str
    since: datetime | None = None
    """When the state begins to hold; None: now."""


class Place(NamedTuple):
    """The new tier and priority for one of the Kin's own memories."""

    memory: Living
    tier: Tier
    reason: str | None
    priority: float


class TierChange(NamedTuple):
    """One move of a memory between tiers."""

    at: datetime
    before: Tier
    after: Tier
    reason: str
