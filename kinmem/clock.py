"""What time it is. Everything that reads the time takes a Clock, so that tests can move it."""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)


def moment(when: datetime, zone: tzinfo) -> str:
    """ISO 8601 to the second, with the zone's offset: as every program is told."""
    return when.astimezone(zone).isoformat(timespec="seconds")
