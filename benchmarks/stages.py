"""What each stage of a recall costs: its functions are wrapped where the pipeline finds them."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import kinmem.recall.pipeline as pipeline
import kinmem.store.sql.hybrid_search as sqlite_search
from kinmem.service import Service
from kinmem.store.sqlite.nearest_chunks import NearestChunks

PLACES: dict[str, tuple[Any, str]] = {
    "understand": (pipeline, "understand"),
    "nearest": (sqlite_search, "_near"),
    "candidates": (sqlite_search, "_read"),
    "cosines": (NearestChunks, "cosines"),
    "fuse": (pipeline, "fuse"),
    "lift": (pipeline, "lift"),
    "weigh": (pipeline, "weigh"),
    "trim": (pipeline, "trim"),
    "shown": (pipeline, "shown"),
}
FROM_STORE = ("names", "memories")
STAGES = (*PLACES, *FROM_STORE)
"""In the order of the pipeline; `memories` reads the hits' rows."""


class Times:
    """Seconds of processor time spent in each stage, question by question."""

    def __init__(self) -> None:
        self._questions: list[dict[str, float]] = []

    def begin(self) -> None:
        """A question follows."""
        self._questions.append(defaultdict(float))

    def add(self, stage: str, seconds: float) -> None:
        """Part of the present question."""
        self._questions[-1][stage] += seconds

    def of(self, stage: str) -> list[float]:
        """One number for each question."""
        return [question.get(stage, 0.0) for question in self._questions]


@contextmanager
def timed_stages(service: Service) -> Iterator[Times]:
    """Times the stages of this service's recalls until the block ends."""
    times = Times()
    places = PLACES | {name: (service.store, name) for name in FROM_STORE}
    plain = [(stage, *place, getattr(*place)) for stage, place in places.items()]
    for stage, place, name, function in plain:
        setattr(place, name, _timing(stage, function, times))
    try:
        yield times
    finally:
        for _, place, name, function in plain:
            setattr(place, name, function)


def _timing(name: str, function: Callable[..., Any], times: Times) -> Callable[..., Any]:
    def timed(*args: Any, **named: Any) -> Any:
        started = time.thread_time()
        try:
            return function(*args, **named)
        finally:
            times.add(name, time.thread_time() - started)

    return timed
