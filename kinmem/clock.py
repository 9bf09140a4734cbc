"""The current time. Everything that reads it takes a Clock, so that tests can move it."""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current time as an aware datetime in UTC."""
    return datetime.now(UTC)


def moment(when: datetime, zone: tzinfo) -> str:
    """Format a time as ISO 8601 to the second with the zone's offset, the form given to
    programs."""
    return when.astimezone(zone).isoformat(timespec="seconds")
