"""Why a memory was found, readable at a glance: the parts of its score as bars, then the sum."""

from collections.abc import Iterator, Mapping

from rich.table import Table
from rich.text import Text

WIDTH = 24
EIGHTHS = " ▏▎▍▌▋▊▉"


def explanation(why: Mapping[str, float], score: float, best: float) -> Table:
    """One line per part that was added, as long as its share of the best score; then how they make the score.

    See models.Why: parts are added, their sum is multiplied by the factors; the rest informs.
    """
    grid = Table.grid(padding=(0, 1))
    parts = {name[1:]: value for name, value in why.items() if name.startswith("+")}
    for name, value in parts.items():
        grid.add_row(Text(name), Text(bar(value, best), style="green"), Text(f"{value:+.3f}"))
    total = Table.grid()
    total.add_row(grid)
    total.add_row(Text(" ".join(_sum(why, parts, score)), style="bold"))
    noted = [f"{name} {value:.3f}" for name, value in why.items() if name[0] not in "+x"]
    if noted:
        total.add_row(Text("noted: " + ", ".join(noted), style="dim"))
    return total


def bar(value: float, best: float) -> str:
    """A bar of up to WIDTH cells; the whole width is the best score."""
    if best <= 0 or value <= 0:
        return ""
    eighths = round(min(value / best, 1.0) * WIDTH * 8)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip() or EIGHTHS[1]


def _sum(why: Mapping[str, float], parts: Mapping[str, float], score: float) -> Iterator[str]:
    factors = {name[1:]: value for name, value in why.items() if name.startswith("x")}
    if factors:
        yield f"{sum(parts.values()):.3f}"
        for name, value in factors.items():
            yield f"× {name} {value:.3f}"
    yield f"= {score:.3f}"
