"""Why a memory was found, readable at a glance: the parts of its score as bars, then the sum."""

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

WIDTH = 20
EIGHTHS = " ▏▎▍▌▋▊▉"

MEANINGS = {
    "meaning": "how near the meanings are",
    "words": "words they share",
    "neighbours": "near a match in the talk",
    "answers": "answers a question that fits",
    "evidence": "tells more than it asks",
    "not by an assistant": "the user said it, or it was noted",
    "named": "said by or about the one named",
    "then": "said at the time named",
    "judge": "how surely it answers, as read",
    "standing wish": "a lasting wish of the user",
    "semantic": "how relevant it is",
    "recency": "how lately it was used",
    "retention": "how little it has faded",
    "importance": "how important it is",
    "confidence": "how sure it is",
}


def explanation(why: Mapping[str, float], score: float, best: float) -> Group:
    """A line for each part that was added, then how the parts make the score.

    The whole width of a bar is the best score of the answer. See models.Why: parts are added, their
    sum is multiplied by the factors; the rest informs.
    """
    grid = Table.grid(padding=(0, 1))
    parts = {name[1:]: value for name, value in why.items() if name.startswith("+")}
    for name, value in parts.items():
        drawn = Text(bar(value, best).ljust(WIDTH), style="green")
        meant = Text(MEANINGS.get(name, ""), style="dim")
        grid.add_row(Text(name), drawn, Text(f"{value:.3f}"), meant)
    lines: list[RenderableType] = [grid, Text(" ".join(_sum(why, parts, score)), style="bold")]
    noted = [f"{name} {value:.3f}" for name, value in why.items() if name[0] not in "+x"]
    if noted:
        lines.append(Text("besides: " + ", ".join(noted), style="dim"))
    return Group(*lines)


def bar(value: float, best: float) -> str:
    """A bar of up to WIDTH cells; the whole width is the best score."""
    if best <= 0 or value <= 0:
        return ""
    eighths = max(1, round(min(value / best, 1.0) * WIDTH * 8))
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def _sum(why: Mapping[str, float], parts: Mapping[str, float], score: float) -> Iterator[str]:
    added = " + ".join(f"{value:.3f}" for value in parts.values())
    factors = [
        f"× {name[1:]} {value:.3f}"
        for name, value in why.items()
        if name.startswith("x") and f"{value:.3f}" != "1.000"
    ]
    yield f"({added})" if factors and len(parts) > 1 else added
    yield from factors
    yield f"= {score:.3f}"
