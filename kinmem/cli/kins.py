"""The Kins under one home folder. Only its owner, at the command line, sees more than one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kinmem.errors import KinmemError
from kinmem.settings import KIN_NAME

if TYPE_CHECKING:
    from pathlib import Path

    from kinmem.settings import Settings


def kin_names(home: "Path") -> list[str]:
    """Who has a file, by name."""
    return sorted(
        file.stem for file in (home / "kins").glob("*.db") if KIN_NAME.fullmatch(file.stem)
    )


def kins_under(settings: "Settings") -> Iterator[dict[str, Any]]:
    """Each Kin with what it holds, or with the reason why its file cannot be opened."""
    from kinmem.wiring import open_service

    for name in kin_names(settings.home):
        general = replace(settings.general, kin=name)
        try:
            with open_service(replace(settings, general=general)) as service:
                counts = service.store.counts()
                own = counts["kin"].get(name, 0)
                yield {"kin": name, "memories": own, "current": name == settings.general.kin}
        except KinmemError as error:
            yield {
                "kin": name,
                "error": f"{error.code}: {error}",
                "current": name == settings.general.kin,
            }
