"""What each stage of a recall costs: its functions are wrapped where the pipeline finds them."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import kinmem.recall.pipeline as pipeline
from kinmem.service import Service

FROM_STORE = ("names", "is_filled", "nearest", "matching", "cosines", "candidates", "memories")
FROM_PIPELINE = ("understand", "fuse", "lift", "weigh", "trim", "excerpted")
STAGES = (
    *("understand", "names", "is_filled", "nearest", "matching", "cosines", "candidates"),
    *("fuse", "lift", "weigh", "trim", "memories", "excerpted"),
)
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
    places = [(pipeline, name) for name in FROM_PIPELINE]
    places += [(service.store, name) for name in FROM_STORE]
    plain = [(place, name, getattr(place, name)) for place, name in places]
    for place, name, function in plain:
        setattr(place, name, _timing(name, function, times))
    try:
        yield times
    finally:
        for place, name, function in plain:
            setattr(place, name, function)


def _timing(name: str, function: Callable[..., Any], times: Times) -> Callable[..., Any]:
    def timed(*args: Any, **named: Any) -> Any:
        started = time.thread_time()
        try:
            return function(*args, **named)
        finally:
            times.add(name, time.thread_time() - started)

    return timed
