"""Verdicts of the rules alone on pairs of sentences: duplicates, contradictions, look-alikes.

Half of each set, by a hash of the texts, was never looked at while the rules were made.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from benchmarks.data import OWN, pairs_folder
from benchmarks.report import Row, Table, Target
from kinmem.language import Ladder, claim, content_hash
from kinmem.learn.reconcile import (
    Flag,
    Merge,
    Outdated,
    Replace,
    Skip,
    Verdict,
    reconcile,
)
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import Memory

NOW = datetime(2026, 6, 15, tzinfo=UTC)
LEAST_KEPT = 0.97
"""Share of look-alikes that must not be replaced."""
SHORT = 300
HALVES = ("tuned on", "held back")
JUDGED = ("set", "half", "pairs", "verdict", "given", "right", "precision", "recall")
FATE = ("what was said", "half", "pairs", "replaced", "flagged", "known", "kept")


@dataclass(frozen=True)
class Pair:
    """Two texts and what is so of them: duplicate, contradiction, update, lookalike or neither."""

    earlier: str
    later: str
    truth: str

    @property
    def half(self) -> str:
        digest = blake2b((self.earlier + self.later).encode()).digest()
        return HALVES[digest[0] % 2]


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """Judged pairs where the shared data is there, and the own updates and look-alikes."""
    judge = Judge()
    tables = []
    sets = {"SICK": _sick(), "STS-B": _stsb()}
    rows = [
        row
        for name, pairs in sets.items()
        for row in _judged(name, pairs[:SHORT] if short else pairs, judge)
    ]
    if rows:
        note = (
            "Duplicate: SICK's entailments related 4.5 or more, STS-B's 4.5 or more alike."
            " Replaced: clear enough to act unasked. Contradicted: replaced or flagged."
        )
        tables.append(Table("Pairs, built-in embedder, no model", JUDGED, rows, note))
    fates = _fates(_own(), judge)
    kept = 1 - sum(f["replaced"] for p, f in fates if p == "lookalike") / max(
        1, sum(f.total() for p, f in fates if p == "lookalike")
    )
    tables.append(_fate_table(fates))
    return tables, [Target("look-alikes not replaced", kept, LEAST_KEPT, at_most=False)]


class Judge:
    """What reconcile says of the later text where the earlier is known."""

    def __init__(self) -> None:
        self._embedder = BuiltinEmbedder()
        known = self._embedder.calibration
        self._ladder = Ladder.calibrated(known.noise, known.near, known.duplicate)

    def __call__(self, pair: Pair) -> Verdict:
        texts = list(dict.fromkeys((pair.earlier, pair.later, claim(pair.later).text)))
        vectors = [self._embedder.embed([text])[0] for text in texts]
        cosine = max(float(vectors[0] @ vector) for vector in vectors[1:] or vectors)
        new, known = _memory(pair.later, 1), _memory(pair.earlier, 0)
        if cosine < self._ladder.related:
            return reconcile(new, [], self._ladder, "temporal", NOW)
        return reconcile(new, [(known, cosine)], self._ladder, "temporal", NOW)


def _memory(content: str, number: int) -> Memory:
    at = NOW - timedelta(days=2 - number)
    return Memory(
        id=str(number),
        kin="bench",
        scope="private",
        content=content,
        category="fact",
        content_hash=content_hash(content),
        created_at=at,
        content_updated_at=at,
    )


MEANT: dict[str, tuple[str, Callable[[Verdict], bool]]] = {
    "duplicate": ("duplicate", lambda verdict: isinstance(verdict, Skip | Merge)),
    "replaced": ("contradiction", lambda verdict: isinstance(verdict, Replace | Outdated)),
    "contradicted": (
        "contradiction",
        lambda verdict: isinstance(verdict, Replace | Outdated | Flag),
    ),
}
"""Verdict -> the truth that it should be given for."""


def _judged(name: str, pairs: list[Pair], judge: Judge) -> Iterator[Row]:
    verdicts = [(pair, judge(pair)) for pair in pairs]
    truths = {pair.truth for pair in pairs}
    for half in HALVES:
        ours = [(pair, verdict) for pair, verdict in verdicts if pair.half == half]
        for what, (truth, is_it) in MEANT.items():
            if truth not in truths:
                continue
            given = [pair for pair, verdict in ours if is_it(verdict)]
            right = sum(pair.truth == truth for pair in given)
            all_of_them = sum(pair.truth == truth for pair, _ in ours)
            precision = right / len(given) if given else None
            yield (
                *(name, half, len(ours), what, len(given), right, precision),
                right / max(1, all_of_them),
            )


def _fates(pairs: list[Pair], judge: Judge) -> list[tuple[str, Counter[str]]]:
    """For each kind of pair and half, in this order, how many fared how."""
    fates = []
    for truth in ("update", "lookalike"):
        for half in HALVES:
            ours = [pair for pair in pairs if pair.truth == truth and pair.half == half]
            fates.append((truth, Counter(_fate(judge(pair)) for pair in ours)))
    return fates


def _fate(verdict: Verdict) -> str:
    match verdict:
        case Replace() | Outdated():
            return "replaced"
        case Flag():
            return "flagged"
        case Skip() | Merge():
            return "known"
        case _:
            return "kept"


def _fate_table(fates: list[tuple[str, Counter[str]]]) -> Table:
    rows: list[Row] = [
        (truth, HALVES[at % 2], counts.total(), *(counts[fate] for fate in FATE[3:]))
        for at, (truth, counts) in enumerate(fates)
    ]
    note = "Our own pairs (benchmarks/own/updates.txt). A look-alike must never be replaced."
    return Table("Updates and look-alikes", FATE, rows, note)


def _own() -> list[Pair]:
    lines = (OWN / "updates.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return [Pair(earlier, later, truth) for truth, earlier, later in rows]


def _sick() -> list[Pair]:
    return [
        Pair(
            row["a"],
            row["b"],
            "contradiction"
            if row["judgment"] == "CONTRADICTION"
            else "duplicate"
            if row["judgment"] == "ENTAILMENT" and row["relatedness"] >= 4.5
            else "neither",
        )
        for row in _rows("sick")
    ]


def _stsb() -> list[Pair]:
    return [
        Pair(row["a"], row["b"], "duplicate" if row["similarity"] >= 4.5 else "neither")
        for row in _rows("stsb")
    ]


def _rows(name: str) -> list[dict[str, Any]]:
    file = pairs_folder() / f"{name}.json"
    rows: list[dict[str, Any]] = (
        json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    )
    return rows
