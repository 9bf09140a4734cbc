"""Pairs told one after the other: which are one, which are asked about, and which stay two."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import Table, Target
from kinmem.service import Service
from kinmem.settings import Settings, load
from kinmem.wiring.open_memory import open_service

PAIRS = Path(__file__).parents[1] / "tests" / "corpora" / "same.jsonl"
ONE = ("duplicate_of", "merged_into")


def measure(short: bool, pairs: Path = PAIRS) -> tuple[list[Table], list[Target]]:
    """Both are memorized in turn; what is two then is looked for in a review."""
    found = counted(pairs)
    rows = [(label, n["all"], n["write"], n["review"]) for label, n in found.items()]
    columns = ("label", "pairs", "one at write", "listed by review")
    same, different = found["same"], found["different"]
    targets = [
        Target("same: one at write", same["write"] / same["all"], 0.5, at_most=False),
        Target(
            "same: at write or in review",
            (same["write"] + same["review"]) / same["all"],
            0.7,
            at_most=False,
        ),
        Target("different: one at write", different["write"] / different["all"], 0.005),
        Target("different: listed by review", different["review"] / different["all"], 0.03),
    ]
    return [Table("Paraphrases", columns, rows, "Own pairs, in six languages.")], targets


def counted(pairs: Path = PAIRS, every: int = 1) -> dict[str, Counter[str]]:
    """Of every so manieth pair, by label: all, write (recognised when stored), review (listed as a
    duplicate later)."""
    found: dict[str, Counter[str]] = {}
    with TemporaryDirectory() as home, open_service(_settings(home)) as service:
        for pair in islice(_read(pairs), 0, None, every):
            counts = found.setdefault(pair["label"], Counter())
            counts.update(["all", *filter(None, [_became(service, pair["a"], pair["b"])])])
    return found


def _settings(home: str) -> Settings:
    """What a user has set, but the door codes of the texts are made up."""
    return load({"KINMEM_KIN": "ana", "KINMEM_HOME": home, "KINMEM_SECRETS": "keep"})


def _read(pairs: Path) -> Iterator[dict[str, str]]:
    yield from map(json.loads, pairs.read_text(encoding="utf-8").splitlines())


def _became(service: Service, a: str, b: str) -> str:
    """How the second was recognised; nothing is left of either."""
    stored = [service.memorize(a), service.memorize(b)]
    try:
        if stored[1].status in ONE:
            return "write"
        ids = {one.id for one in stored}
        issues = service.review_memories().issues
        same = [one for one in issues if one.type == "duplicate" and ids == set(one.memory_ids)]
        return "review" if same else ""
    finally:
        for id in {one.id for one in stored if one.id}:
            service.forget(id, erase=True)
