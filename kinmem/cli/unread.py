"""Variables that are set and change nothing."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinmem.settings import Settings


def without_effect(settings: "Settings") -> list[str]:
    """Those the active ranking profile, or this version, does not read."""
    from kinmem.recall.profiles import reads
    from kinmem.settings import unread

    return unread(settings, reads(settings.recall.profile, settings.recall.fusion))
