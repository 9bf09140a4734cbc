"""How memories fade, and when that changes their state."""

from dataclasses import dataclass
from typing import Literal

from kinmem.models import Curve
from kinmem.settings.declare import setting

Prune = Literal["off", "kinbot", "kybernesis"]
"""What goes into the bin by itself of what nobody told."""


@dataclass(frozen=True)
class LifeSettings:
    curve: Curve = setting(
        "KINMEM_RETENTION_CURVE", "kin", "How memories fade; docs/life.md shows each curve."
    )
    stale_below: float = setting(
        "KINMEM_STALE_BELOW",
        0.3,
        "Retention below which a memory is stale and ranks lower; 0: none becomes so.",
        ge=0,
        le=1,
    )
    archive_below: float = setting(
        "KINMEM_ARCHIVE_BELOW",
        0.1,
        "Retention below which it is archived; 0: none is for its retention.",
        ge=0,
        le=1,
    )
    archive_stale_days: int = setting(
        "KINMEM_ARCHIVE_STALE_DAYS",
        30,
        "Days after which what is stale is archived; 0: it stays stale.",
        ge=0,
        le=36500,
    )
    delete_below: float = setting(
        "KINMEM_DELETE_BELOW",
        0.01,
        "Retention below which KINMEM_PRUNE=kybernesis empties the archive into the bin; 0: never.",
        ge=0,
        le=1,
    )
    prune: Prune = setting(
        "KINMEM_PRUNE",
        "off",
        "What upkeep erases of what no person told: nothing, or as a seed does; docs/life.md.",
    )
