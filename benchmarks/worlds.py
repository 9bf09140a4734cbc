"""What becomes of what somebody says later, among all that they have told before.

A world is one person's life or project: some forty memories that are all true, forty sayings that
change one, repeat one, add something or are not worth it, and questions with and without an answer.
Each saying is a turn of its own against the same memories. `python -m benchmarks worlds FOLDER`.
"""

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.baselines import Remembering
from benchmarks.kins import fresh_kin, kin_at
from benchmarks.now import IN_MEMORY
from benchmarks.report import Row, Table, Target, percent
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import LIVE, Filters, Memory
from kinmem.service import Service

FOLDER = Path(__file__).parents[1] / "training" / "worlds"
TOP = 3
SECONDS = 60.0
"""In which one saying is learned at most."""


@dataclass(frozen=True)
class Said:
    """What became of one saying. Places are those of the world's memories."""

    told: Mapping[str, Any]
    stored: tuple[str, ...]
    """What is new in memory."""
    flagged: frozenset[int]
    """Memories that a review asks about."""
    ended: frozenset[int]

    @property
    def kind(self) -> str:
        """What it is, as its writer labelled it."""
        for kind in ("changes", "repeats"):
            if self.told[kind]:
                return kind
        return "new" if self.told["keeps"] else "nothing"

    @property
    def noticed(self) -> frozenset[int]:
        return (self.flagged | self.ended) & frozenset(self.told["changes"])

    @property
    def wrong(self) -> frozenset[int]:
        """Memories said to be out of date that are not."""
        return (self.flagged | self.ended) - frozenset(self.told["changes"])


@dataclass(frozen=True)
class Asked:
    """What was answered to one question."""

    told: Mapping[str, Any]
    place: int | None
    """Of the first answer, from 1."""
    abstained: bool


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """All worlds of the folder; with `short` every second one."""
    folder = Path(os.environ.get("KINMEM_BENCH_WORLDS", FOLDER))
    files = sorted(folder.glob("*.json"))[:: 2 if short else 1]
    embedder = Remembering(BuiltinEmbedder())
    said: dict[str, list[Said]] = {}
    asked: dict[str, list[Asked]] = {}
    for file in files:
        world = json.loads(file.read_text("utf-8"))
        said[file.stem], asked[file.stem] = lived(world, embedder)
    names = [*said, "all"]
    said["all"] = [one for every in said.values() for one in every]
    asked["all"] = [one for every in asked.values() for one in every]
    rows = [_row(name, said[name], asked[name]) for name in names]
    return [Table("Worlds", COLUMNS, rows, NOTE)], []


def lived(world: Mapping[str, Any], embedder: Remembering) -> tuple[list[Said], list[Asked]]:
    """What becomes of each saying and question of a world."""
    with fresh_kin(embedder, folder=IN_MEMORY) as kin:
        ids = [str(one.id) for one in kin.memorize_many(world["memories"])]
        if not kin.settle():
            raise SystemExit("the vectors could not be made")
        home = kin.settings.home
        live = {memory.id for memory in _live(kin)}  # a held one has not ended
        known = {id: at for at, id in enumerate(ids) if id in live}
        if len(set(ids)) < len(ids):
            raise SystemExit(f"{world['about']}: memories of one world are stored once")
        asked = [_asked(kin, known, one) for one in world["questions"]]
        with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
            first = Path(folder) / "first"
            shutil.copytree(home, first)  # nothing writes any more
            return list(_said(world, first, known, embedder)), asked


def _said(
    world: Mapping[str, Any], first: Path, known: Mapping[str, int], embedder: Remembering
) -> Iterator[Said]:
    for number, one in enumerate(world["said"]):
        home = first.with_name(str(number))
        shutil.copytree(first, home)
        with kin_at(home, embedder) as kin:
            before = {one.newer + one.older for one in kin.store.decisions.conflicts()}
            kin.observe("prompt", "later", "1", one["text"])
            kin.observe("answer", "later", "1", "Noted.")
            if not kin.settle(SECONDS):
                raise SystemExit(f"was not learned: {one['text']}")
            yield _became(kin, one, known, before)
        shutil.rmtree(home)


def _became(
    kin: Service, told: Mapping[str, Any], known: Mapping[str, int], before: set[str]
) -> Said:
    flagged = {
        known[id]
        for one in kin.store.decisions.conflicts()
        if one.newer + one.older not in before
        for id in (one.newer, one.older)
        if id in known
    }
    memories = _live(kin)
    live = {memory.id for memory in memories}
    return Said(
        told,
        tuple(memory.content for memory in memories if memory.id not in known),
        frozenset(flagged),
        frozenset(at for id, at in known.items() if id not in live),
    )


def _live(kin: Service) -> Sequence[Memory]:
    return kin.store.page(Filters(states=LIVE), "newest", 200).memories


def _asked(kin: Service, known: Mapping[str, int], told: Mapping[str, Any]) -> Asked:
    answer = kin.recall(told["text"], limit=10)
    places = [known[hit.memory.id] in told["answers"] for hit in answer.hits]
    place = places.index(True) + 1 if True in places else None
    return Asked(told, place, answer.abstained or not answer.hits)


COLUMNS = (
    *("world", "changes noticed", "flagged", "of these wrong", "ended wrongly"),
    *("kept, changes", "kept, new", "stored again", "kept, nothing"),
    *("answered in top 3", "answerable not answered", "unanswerable recognised"),
)
NOTE = (
    "In hundredths but for the counts: flagged, of these wrong, ended wrongly. Kept: something of"
    " the saying is a memory; stored again: of those that only repeat."
)


def _row(name: str, said: Sequence[Said], asked: Sequence[Asked]) -> Row:
    by_kind = {kind: [one for one in said if one.kind == kind] for kind in KINDS}
    changes = by_kind["changes"]
    counts: Counter[str] = Counter()
    for one in said:
        counts["flagged"] += len(one.flagged)
        counts["wrong"] += len(one.wrong)
        counts["ended"] += len(one.ended & one.wrong)
    present = [one for one in asked if one.told["answers"]]
    absent = [one for one in asked if not one.told["answers"]]
    return (
        name,
        percent(one.noticed for one in changes),
        *(counts[name] for name in ("flagged", "wrong", "ended")),
        *(percent(one.stored for one in by_kind[kind]) for kind in KINDS),
        percent(one.place is not None and one.place <= TOP for one in present),
        percent(one.abstained for one in present),
        percent(one.abstained for one in absent),
    )


KINDS = ("changes", "new", "repeats", "nothing")
