"""The first page: how much is remembered, how it grows, whether all is well, and what waits."""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from kinmem.models import Review
from kinmem.service import Stats
from kinmem.web.drawings import HEIGHT, WIDTH, Line, line, rounded_up
from kinmem.web.view import KEPT, Answer, Asked, Shown, View
from kinmem.web.views import review_queue

LATEST = 6


class Waiting(NamedTuple):
    """Something that a person has to decide."""

    what: str
    """`waits.<what>` of the catalogue says it."""
    many: int
    to: str


class Growth(NamedTuple):
    """How the memory has grown since its first day."""

    drawn: Line
    first: date
    last: date
    total: int


def show(asked: Asked) -> Answer:
    stats = KEPT.of(asked.service, "stats", asked.service.stats)
    growth = KEPT.of(asked.service, "growth", asked.service.growth)
    states = stats.counts["state"]
    live = states.get("active", 0) + states.get("stale", 0)
    review, is_looking = review_queue.REVIEWS.glance(asked.service, live)
    return Shown(
        "overview.html",
        {
            "stats": stats,
            "live": live,
            "growth": _growth(growth, asked.now.date()),
            "waiting": _waiting(stats, review),
            "is_looking": is_looking,
            "latest": asked.service.list_memories(limit=LATEST).memories,
            "categories": _ranked(stats.counts["category"]),
            "box": (WIDTH, HEIGHT),
        },
    )


def _growth(days: Mapping[str, int], today: date) -> Growth | None:
    """Return the sum by day, as far back as anything goes."""
    if not days:
        return None
    total = 0
    pairs: list[tuple[int, int]] = []
    for day, count in days.items():
        at = date.fromisoformat(day).toordinal()
        if total and pairs[-1][0] < at - 1:
            pairs.append((at - 1, total))
        total += count
        pairs.append((at, total))
    first = pairs[0][0]
    last = max(today.toordinal(), pairs[-1][0])
    steps = [(first - 1.0, 0.0), *((float(at), float(sum_)) for at, sum_ in pairs)]
    drawn = line([*steps, (float(last), float(total))], rounded_up(total))
    return Growth(drawn, date.fromordinal(first), date.fromordinal(last), total)


def _waiting(stats: Stats, review: Review | None) -> list[Waiting]:
    """Return what waits for a person, as far as a review has looked for it: it finds more
    contradictions than were noticed when they were told."""
    issues = Counter(issue.type for issue in review.issues) if review else Counter()
    conflicts = max(stats.conversations["conflicts"], issues["contradiction"])
    found = [
        Waiting("conflicts", conflicts, "/review"),
        Waiting("duplicates", issues["duplicate"], "/review"),
        Waiting("quarantined", stats.counts["state"].get("quarantined", 0), "/review"),
        Waiting("parked", stats.conversations["parked"], "/review"),
    ]
    return [one for one in found if one.many]


def _ranked(counts: Mapping[str, int]) -> list[tuple[str, int, float]]:
    """Return each name with its count and its share of the greatest, the greatest first."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(name, count, count / ranked[0][1]) for name, count in ranked]


VIEW = View("overview", "/", show)
