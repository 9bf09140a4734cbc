"""How a setting is declared: its variable, default, one sentence and bounds, in one place.

Sections are dataclasses rather than pydantic models, because pydantic takes longer to load than
everything else that a hook without a server needs. Defaults need no check.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any


def setting(
    variable: str,
    default: Any,
    description: str,
    *,
    check: Callable[[str], object] | None = None,
    **bounds: float,
) -> Any:
    """Declare a field of a section: the environment variable that sets it, and what it is for.

    `bounds` are pydantic's: ge, gt, le. `check` raises InvalidInput for a text that is not valid.
    """
    declared = {"variable": variable, "description": description, "check": check, "bounds": bounds}
    return field(default=default, metadata=declared)


@dataclass(frozen=True)
class Knob:
    """One declared setting, for tables and checks."""

    section: str
    name: str
    kind: Any
    """The type of its value."""
    default: Any
    variable: str
    description: str
    check: Callable[[str], object] | None
    bounds: Mapping[str, float]


def knobs_of(settings: type) -> Iterator[Knob]:
    """Yield the settings of all sections in order of declaration.

    Fields that are not sections are skipped.
    """
    for section in fields(settings):
        if is_dataclass(section.type):
            for item in fields(section.type):
                yield Knob(section.name, item.name, item.type, item.default, **item.metadata)
