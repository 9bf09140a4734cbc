"""Whether "now" is answered with now and "then" with then, through the whole service.

353 pairs of our own (benchmarks/own/now_and_then.json). Half of them, by a hash of the texts, was
not looked at while the rules were made that the judge has taken the place of.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.data import OWN
from benchmarks.kins import kin_at
from benchmarks.report import Row, Table, Target
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import LIVE, Hit, State
from kinmem.service import Service

FILE = OWN / "now_and_then.json"
HALVES = ("tuned on", "held back")
EARLIER, LATER, ASKED = (
    datetime(2026, 1, 20, 9, tzinfo=UTC),
    datetime(2026, 5, 4, 9, tzinfo=UTC),
    datetime(2026, 6, 15, 9, tzinfo=UTC),
)
BETWEEN = datetime(2026, 3, 10, 9, tzinfo=UTC)
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where 353 Kins are made without waiting for a disk: not the speed is measured here."""
UPDATES, KEPT_APART = 0.95, 0.97
"""Promised shares; both halves are held to them."""
KEPT = "kept apart"
COLUMNS = (
    *("half", "language", "updates", "now", "as of then", "asked of then", "then"),
    *("look-alikes", KEPT),
)


@dataclass(frozen=True)
class Pair:
    """Two statements; of an update the later one is so now, of a look-alike both are."""

    told: Mapping[str, str]

    @property
    def half(self) -> str:
        digest = blake2b(json.dumps(self.told, sort_keys=True).encode()).digest()
        return HALVES[digest[0] % 2]

    @property
    def is_update(self) -> bool:
        return self.told["kind"] == "update"

    @property
    def earlier(self) -> dict[str, Any]:
        told = self.told.get
        return {
            "content": told("earlier"),
            "subject": told("subject"),
            "speaker": told("speaker"),
            "occurred_at": told("earlier_at"),
        }

    @property
    def later(self) -> dict[str, Any]:
        told = self.told.get
        return {
            "content": told("later"),
            "subject": told("later_subject", told("subject")),
            "speaker": told("later_speaker", told("speaker")),
            "occurred_at": told("later_at"),
        }


@dataclass(frozen=True)
class Outcome:
    """What was answered; None: it was not asked."""

    now: bool | None = None
    """The current value first, the former one not at all, as what was, or marked as older."""
    as_of: bool | None = None
    """The same question at a moment between the two: the former value comes first."""
    then: bool | None = None
    """The same by the words of the question."""
    apart: bool | None = None
    """Both statements are live."""


class Clock:
    """Stands where it is put."""

    def __init__(self) -> None:
        self.now = EARLIER

    def __call__(self) -> datetime:
        return self.now


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """Both halves, by language; with `short` no less, it takes half a minute."""
    pairs, beside = read()
    outcomes = list(zip(pairs, outcomes_of(pairs, beside, BuiltinEmbedder()), strict=True))
    rows = [
        _row(half, language, [one for one in outcomes if _is_of(one[0], half, language)])
        for half in HALVES
        for language in ("all", *beside)
    ]
    note = (
        "Share right of what was asked. Now: the current value first, the former one not among the"
        " hits. As of then: the same question with as_of. Then: a question that names a time or"
        " says before, and nothing else."
    )
    targets = [
        target
        for half in HALVES
        for target in (
            Target(f"updates, {half}", share(outcomes, half, "now"), UPDATES, at_most=False),
            Target(
                f"kept apart, {half}", share(outcomes, half, "apart"), KEPT_APART, at_most=False
            ),
        )
    ]
    return [Table("Now and then, with the judge", COLUMNS, rows, note)], targets


def read() -> tuple[list[Pair], Mapping[str, Sequence[str]]]:
    """The pairs, and for each language what is known besides."""
    document: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return [Pair(one) for one in document["pairs"]], document["beside"]


def outcomes_of(
    pairs: Iterable[Pair], beside: Mapping[str, Sequence[str]], embedder: Embedder
) -> list[Outcome]:
    """In the order of the pairs; each has a Kin of its own, which knows what is beside it."""
    with TemporaryDirectory(dir=IN_MEMORY) as folder:
        homes = {language: Path(folder) / language for language in beside}
        for language, home in homes.items():
            with kin_at(home, embedder, Clock(), KINMEM_JUDGE="on") as kin:
                for text in beside[language]:
                    kin.memorize(text)
                if not kin.settle():
                    raise SystemExit("the vectors could not be made")
        return [outcome(pair, homes[pair.told["language"]], embedder) for pair in pairs]


def outcome(pair: Pair, beside: Path, embedder: Embedder) -> Outcome:
    """What becomes of one pair in a copy of the home `beside`, and what is then answered."""
    clock = Clock()
    with (
        TemporaryDirectory(dir=IN_MEMORY) as folder,
        kin_at(copytree(beside, Path(folder) / "home"), embedder, clock, KINMEM_JUDGE="on") as kin,
    ):
        earlier = kin.memorize(**pair.earlier)
        clock.now = LATER
        later = kin.memorize(**pair.later)
        clock.now = ASKED
        if not pair.is_update:
            apart = earlier.id != later.id and all(
                _is_live(kin, one.id) for one in (earlier, later)
            )
            return Outcome(apart=apart)
        return _asked(kin, pair.told, str(earlier.id))


def _asked(kin: Service, told: Mapping[str, str], former: str) -> Outcome:
    current, old = told["current"], told["old"]
    now = kin.recall(told["now"]).hits
    stale = [
        hit
        for hit in now
        if hit.memory.id == former and hit.memory.state in LIVE and hit.newer is None
    ]
    then = told.get("then")
    return Outcome(
        now=_is_first(now, current) and not (stale and current not in stale[0].memory.content),
        as_of=_is_first(kin.recall(told["now"], as_of=BETWEEN).hits, old),
        then=None if then is None else _is_then(kin, kin.recall(then).hits, old),
    )


def _is_first(hits: Sequence[Hit], value: str) -> bool:
    return bool(hits) and value.casefold() in hits[0].memory.content.casefold()


def _is_then(kin: Service, hits: Sequence[Hit], old: str) -> bool:
    """Whether the former value comes first, and is known to be no longer so or to be older."""
    if not _is_first(hits, old):
        return False
    memory = hits[0].memory
    return memory.state is State.SUPERSEDED or bool(kin.newer(memory.id))


def _is_live(kin: Service, id: str | None) -> bool:
    return id is not None and kin.get(id).state in LIVE


def _is_of(pair: Pair, half: str, language: str) -> bool:
    return pair.half == half and language in ("all", pair.told["language"])


def share(outcomes: Iterable[tuple[Pair, Outcome]], half: str, what: str) -> float:
    """Of what was asked in that half, how much was right."""
    told = [getattr(found, what) for pair, found in outcomes if pair.half == half]
    asked = [one for one in told if one is not None]
    return float(sum(asked)) / max(1, len(asked))


def _row(half: str, language: str, outcomes: Sequence[tuple[Pair, Outcome]]) -> Row:
    found = [outcome for _, outcome in outcomes]

    def counted(what: str) -> tuple[int, float | None]:
        asked = [value for one in found if (value := getattr(one, what)) is not None]
        return len(asked), 100 * sum(asked) / len(asked) if asked else None

    updates, now = counted("now")
    thens, then = counted("then")
    looking_alike, apart = counted("apart")
    return (half, language, updates, now, counted("as_of")[1], thens, then, looking_alike, apart)
