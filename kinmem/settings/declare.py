"""How a setting is declared: its variable, default, one sentence and bounds, in one place.

Sections are dataclasses rather than models of pydantic, which takes longer to load than all else
that a hook without a server does: what is at its default needs no check.
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
    """A field of a section: the environment variable that sets it, and what it is for.

    `bounds` are pydantic's: ge, gt, le. `check` raises InvalidInput for a text that will not do.
    """
    declared = {"variable": variable, "description": description, "check": check, "bounds": bounds}
    return field(default=default, metadata=declared)


@dataclass(frozen=True)
class Knob:
    """One setting as declared, for tables and checks."""

    section: str
    name: str
    kind: Any
    """Its type."""
    default: Any
    variable: str
    description: str
    check: Callable[[str], object] | None
    bounds: Mapping[str, float]


def knobs_of(settings: type) -> Iterator[Knob]:
    """The settings in those fields that are sections, in the order of declaration."""
    for section in fields(settings):
        if is_dataclass(section.type):
            for one in fields(section.type):
                yield Knob(section.name, one.name, one.type, one.default, **one.metadata)
