"""Charts: the points of lines and bars, which templates draw as SVG. Nothing here is styled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

WIDTH, HEIGHT = 720, 180


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line from left to right, in a box of WIDTH x HEIGHT whose y grows downwards."""

    points: Sequence[Point]
    top: float
    """The value at the upper edge."""

    @property
    def path(self) -> str:
        """As the d of a path."""
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)

    @property
    def area(self) -> str:
        """The same, closed along the lower edge."""
        first, last = self.points[0], self.points[-1]
        return f"{self.path}L{last.x:.1f} {HEIGHT}L{first.x:.1f} {HEIGHT}Z"


def line(pairs: Sequence[tuple[float, float]], top: float) -> Line:
    """Return the line through these pairs of x and value, at least one, in the order of x."""
    first, last = pairs[0][0], pairs[-1][0]
    span, high = (last - first) or 1.0, top or 1.0
    points = [Point((x - first) / span * WIDTH, HEIGHT * (1 - value / high)) for x, value in pairs]
    if len(points) == 1:
        points = [points[0], Point(WIDTH, points[0].y)]
    return Line(points, top)


def rounded_up(value: float) -> int:
    """Return a round number that is not below the value: 1, 2 or 5 times a power of ten."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor >= value:
                return step * factor
        step *= 10
