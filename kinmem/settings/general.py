"""Whose memory it is, where its times are, what is logged, how long the forgotten is kept."""

import os
import re
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cached_property
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kinmem.errors import InvalidInput
from kinmem.settings.declare import setting

KIN_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
# Windows opens a device instead of a file under these names, whatever the extension.
DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{d}{n}" for d in ("com", "lpt") for n in range(10)}
)


def kin_name(name: str) -> str:
    """The name, if a Kin may be called so. Raises InvalidInput; a name is also a file's name."""
    if not KIN_NAME.fullmatch(name) or name in DEVICES:
        raise InvalidInput(
            f"{name!r} cannot name a Kin: use 1-64 of a-z, 0-9, - and _, a letter or digit at both ends"
        )
    return name


def check_zone(name: str) -> None:
    """Raises InvalidInput for what names no time zone; an empty name is the system's."""
    try:
        if name:
            ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(
            f"no time zone is called {name!r}; use a name such as Europe/Berlin"
        ) from error


def system_zone() -> tzinfo:
    """The system's zone by name where it can be learned, so that summer time follows the date."""
    name = os.environ.get("TZ", "").removeprefix(":")
    try:
        if name:
            return ZoneInfo(name)
        target = os.path.realpath("/etc/localtime")
        return ZoneInfo(target.split("zoneinfo/", 1)[1])
    except (ZoneInfoNotFoundError, ValueError, OSError, IndexError):
        return UTC


@dataclass(frozen=True)
class GeneralSettings:
    kin: str = setting("KINMEM_KIN", "default", "Whose memory this process serves.", check=kin_name)
    tz: str = setting(
        "KINMEM_TZ",
        "",
        "Zone in which times without one are read and shown, e.g. Europe/Berlin; empty: the system's.",
        check=check_zone,
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = setting(
        "KINMEM_LOG_LEVEL",
        "WARNING",
        "How much is logged to stderr; INFO and above never hold contents.",
    )
    purge_days: int = setting(
        "KINMEM_PURGE_DAYS",
        90,
        "Days for which a forgotten memory can be restored.",
        ge=0,
        le=36500,
    )

    @cached_property
    def zone(self) -> tzinfo:
        """The zone of `tz`; the system's if none is named, UTC if the system has none."""
        if self.tz:
            return ZoneInfo(self.tz)
        return system_zone()
