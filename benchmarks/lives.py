"""How often a review asks rightly: weeks of talk in which little of what was said before changes.

A life is what one person tells her assistants, in the order of time, each line with the earlier
lines that it makes untrue. `python -m benchmarks lives FOLDER`.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.baselines import Remembering
from benchmarks.kins import fresh_kin
from benchmarks.now import IN_MEMORY
from benchmarks.report import Row, Table, Target
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import LIVE, Filters, Memory
from kinmem.service import Service

FOLDER = Path(__file__).parents[1] / "training" / "lives"
SHORT = 40
"""Lines of the short run."""
SECONDS = 60.0
"""In which one line is learned at most."""
MORNING = "T08:00:00+00:00"
BETWEEN = timedelta(minutes=3)


@dataclass(frozen=True)
class Line:
    """What became of one line."""

    told: Mapping[str, Any]
    stored: Mapping[str, int]
    """The contents that it added, and its number."""
    doubted: frozenset[int]
    """The earlier lines whose memories a review asks about because of it."""
    ended: frozenset[int]
    asked: int = 0
    """Contradictions that a review lists; counted after the last line."""

    @property
    def changes(self) -> frozenset[int]:
        return frozenset(self.told["changes"])


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """All lives of the folder."""
    folder = Path(os.environ.get("KINMEM_BENCH_LIVES", FOLDER))
    embedder = Remembering(BuiltinEmbedder())
    rows = []
    for file in sorted(folder.glob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        rows.append(_row(file.stem, list(lived(lines[: SHORT if short else None], embedder))))
    return [Table("Lives", COLUMNS, rows, NOTE)], []


def lived(lines: Sequence[Mapping[str, Any]], embedder: Remembering) -> Iterator[Line]:
    """What becomes of each line, all told to one Kin."""
    now = datetime.fromisoformat(lines[0]["day"] + MORNING).astimezone(UTC)
    told: dict[str, int] = {}
    with fresh_kin(embedder, lambda: now, IN_MEMORY) as kin:
        for line in lines:
            now = max(datetime.fromisoformat(line["day"] + MORNING), now + BETWEEN)
            became = _told(kin, line, told)
            told |= became.stored
            yield became
        asked = sum(issue.type == "contradiction" for issue in kin.review_memories().issues)
        yield Line({"changes": []}, {}, frozenset(), frozenset(), asked)


def _told(kin: Service, line: Mapping[str, Any], told: Mapping[str, int]) -> Line:
    before = {memory.id: memory.content for memory in _live(kin)}
    asked = _doubts(kin)
    number, session = str(line["n"]), line["day"] + line["place"]
    place = {"place": f"/{line['place']}"} if line["place"] else {}
    kin.observe("prompt", session, number, line["text"], **place)
    kin.observe("answer", session, number, "Noted.")
    if not kin.settle(SECONDS):
        raise SystemExit(f"was not learned: {line['text']}")
    live = {memory.id: memory.content for memory in _live(kin)}
    doubted = {older for _, older in _doubts(kin) - asked}
    return Line(
        line,
        {content: line["n"] for id, content in live.items() if id not in before},
        frozenset(told[before[id]] for id in doubted & before.keys() if before[id] in told),
        frozenset(told[before[id]] for id in before.keys() - live.keys() if before[id] in told),
    )


def _doubts(kin: Service) -> set[tuple[str, str]]:
    return {(one.newer, one.older) for one in kin.store.decisions.conflicts()}


def _live(kin: Service) -> Sequence[Memory]:
    return kin.store.page(Filters(states=LIVE), "newest", 1000).memories


COLUMNS = (
    *("life", "lines", "learned", "changes", "noticed", "doubted wrongly", "ended wrongly"),
    "questions of a review at the end",
)
NOTE = "Counts. Doubted wrongly: earlier lines that still hold, and are said to be out of date."


def _row(name: str, lines: Sequence[Line]) -> Row:
    noticed = [(line.doubted | line.ended) & line.changes for line in lines]
    return (
        name,
        len(lines) - 1,
        sum(len(line.stored) for line in lines),
        sum(len(line.changes) for line in lines),
        sum(map(len, noticed)),
        sum(len(line.doubted - line.changes) for line in lines),
        sum(len(line.ended - line.changes) for line in lines),
        lines[-1].asked,
    )
