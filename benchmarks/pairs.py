"""What becomes of a stored statement when another one is told later, by label and language.

`python -m benchmarks pairs FILE...`: lines of {"old", "new", "label", "lang"}. Labels as the judge
has them (same, replaces, contradicts, adds, unrelated), or as sets of look-alikes have them.
With --same only how many are called the same by the judge's chance, with and without what is exact
above it; of files of groups, see training/README.md, as well.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.kins import fresh_kin
from benchmarks.now import IN_MEMORY, Clock
from benchmarks.report import Row, Table, Target
from benchmarks.updates import TOLD
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder, BuiltinJudge
from kinmem.llm.relating import Relating
from kinmem.models import State

ENDS = ("replaces", "update", "direct", "indirect")
"""Labels of those whose first statement is so no longer."""
EXCLUDED = (*ENDS, "contradicts")
"""Those of which at most one is so: neither is lost by mistake if the first ends."""
SAME = "same"
BARS = (0.7, 0.8, 0.82, 0.9)
"""Of the judge's chance."""
LISTED = "listed"
"""Both are there, and a review says that they are one."""
FATES = ("ended", "flagged", "duplicate", LISTED, "both active")
COLUMNS = ("label", "language", "pairs", *FATES)
FALSE = 0.005
FLAGGED = 0.02
NOTICED = 0.85
RECOGNISED = 0.8
VARIABLE = "KINMEM_BENCH_JUDGE"
JUDGE = os.environ.pop(VARIABLE, "on")


def measure(files: Sequence[Path]) -> tuple[list[Table], list[Target]]:
    """Each pair in a Kin of its own: memorized, and months later memorized again."""
    embedder = BuiltinEmbedder()
    found: Counter[tuple[str, str, str]] = Counter()
    for pair in _read(files):
        fate = fate_of(*_texts(pair), embedder)
        for language in ("all", pair.get("lang", "en")):
            found[pair["label"], language, fate] += 1
    return [_table(found)], list(_targets(found))


def fate_of(old: str, new: str, embedder: Embedder) -> str:
    """What became of the first of two that were memorized."""
    clock = Clock()
    with fresh_kin(embedder, clock, IN_MEMORY, KINMEM_JUDGE=JUDGE) as kin:
        clock.now = TOLD[0]
        older = kin.memorize(old).id
        clock.now = TOLD[1]
        told = kin.memorize(new)
        if told.status in ("duplicate_of", "merged_into"):
            return "duplicate"
        if older is not None and kin.get(older).state is State.SUPERSEDED:
            return "ended"
        if kin.store.decisions.conflicts():
            return "flagged"
        listed = any(issue.type == "duplicate" for issue in kin.review_memories().issues)
        return LISTED if listed else "both active"


def by_bar(files: Sequence[Path]) -> list[Table]:
    """How many of each file are called the same, by the chance from which on they are."""
    relating = Relating(BuiltinJudge())

    def of_any_length(old: str, new: str) -> float:
        return relating.likeness(old, new) if relating.same(old, new) else 0.0

    ways = {
        "the judge alone": relating.likeness,
        "and what is exact": of_any_length,
        "and the bar of short ones": relating.same,
    }
    rows: list[Row] = []
    for file in files:
        pairs = list(_read([file]))
        for way, chance in ways.items():
            found = [(pair["label"] == SAME, chance(*_texts(pair))) for pair in pairs]
            for wanted in (True, False):
                chances = [one for is_same, one in found if is_same is wanted]
                called = [sum(one >= bar for one in chances) for bar in BARS]
                name = SAME if wanted else "not the same"
                rows.append((file.stem, name, way, len(chances), *called))
    return [Table("Called the same", ("file", "label", "by", "pairs", *map(str, BARS)), rows)]


def _read(files: Iterable[Path]) -> Iterator[Mapping[str, str]]:
    for file in files:
        for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            yield from _of_group(line) if "memory" in line else [line]


def _of_group(group: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """A memory beside all that was written about it."""
    for label, texts in group.items():
        for text in texts if isinstance(texts, list) else ():
            yield {"old": group["memory"], "new": text, "label": label, "lang": group["lang"]}


def _texts(pair: Mapping[str, str]) -> tuple[str, str]:
    return (pair["old"], pair["new"]) if "old" in pair else (pair["a"], pair["b"])


def _table(found: Counter[tuple[str, str, str]]) -> Table:
    groups = sorted(
        {(label, language) for label, language, _ in found},
        key=lambda group: (group[0], group[1] != "all", group[1]),
    )
    rows: list[Row] = []
    for label, language in groups:
        counts = [found[label, language, fate] for fate in FATES]
        rows.append((label, language, sum(counts), *counts))
    return Table("Pairs", COLUMNS, rows, "Both memorized, the second months later.")


def _targets(found: Counter[tuple[str, str, str]]) -> Iterator[Target]:
    labels = {label for label, _, _ in found}

    def share(of: Iterable[str], *fates: str) -> float:
        wanted = [label for label in labels if label in set(of)]
        pairs = sum(found[label, "all", fate] for label in wanted for fate in FATES)
        return sum(found[label, "all", fate] for label in wanted for fate in fates) / max(1, pairs)

    both_so = labels.difference(EXCLUDED)
    different = labels.difference([SAME])
    if both_so:
        yield Target("ended wrongly", share(both_so, "ended"), FALSE)
        yield Target("flagged wrongly", share(both_so - {SAME}, "flagged"), FLAGGED)
    if different:
        yield Target("called the same wrongly", share(different, "duplicate"), FALSE)
    if labels.intersection(ENDS):
        yield Target("updates noticed", share(ENDS, "ended", "flagged"), NOTICED, at_most=False)
    if SAME in labels:
        yield Target("paraphrases", share([SAME], "duplicate"), RECOGNISED, at_most=False)
