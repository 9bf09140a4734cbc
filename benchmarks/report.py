"""Tables for people, and the same as JSON."""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

Cell = str | float | int | None
Row = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """What one benchmark found."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]
    note: str = ""
    """What was measured, in a sentence."""

    def __str__(self) -> str:
        lines = [f"### {self.title}", ""]
        if self.note:
            lines += [self.note, ""]
        lines += [_line(self.columns), _line(["---"] * len(self.columns))]
        lines += [_line([_shown(cell) for cell in row]) for row in self.rows]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Target:
    """A number that was promised, and whether this run kept it."""

    what: str
    measured: float
    bound: float
    at_most: bool = True

    @property
    def met(self) -> bool:
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound


def percent(found: Iterable[object]) -> float:
    """How many of them are true or hold something, in hundredths; 0 of none."""
    right = [bool(one) for one in found]
    return round(100 * sum(right) / max(1, len(right)), 1)


def targets_table(targets: Sequence[Target]) -> Table:
    """All targets of a run, side by side."""
    rows = [
        (
            target.what,
            round(target.measured, 3),
            f"{'at most' if target.at_most else 'at least'} {target.bound:g}",
            "yes" if target.met else "**no**",
        )
        for target in targets
    ]
    return Table("Targets", ("what", "measured", "target", "met"), rows)


def as_json(tables: Sequence[Table], targets: Sequence[Target]) -> Mapping[str, Any]:
    """Everything that was printed."""
    return {
        "machine": machine(),
        "tables": [asdict(table) for table in tables],
        "targets": [asdict(target) | {"met": target.met} for target in targets],
    }


def machine() -> str:
    """Where and when: numbers in seconds mean nothing without it."""
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("apsw", "numpy", "onnxruntime", "mcp")
    )
    return (
        f"{date.today().isoformat()}, {_processor()}, {os.cpu_count()} cores, load"
        f" {os.getloadavg()[0]:.1f}, Python {platform.python_version()}, {packages}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:,.2f}".rstrip("0").rstrip(".")
    return f"{cell:,}" if isinstance(cell, int) else cell
