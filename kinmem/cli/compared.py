"""Two embedders compared, as a table and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from kinmem.cli.tables import table_of
from kinmem.comparison import WAYS, Outcome, Probe, agreement


def numbers(
    first: Outcome, second: Outcome, asked: Sequence[Probe], memories: int
) -> dict[str, Any]:
    """For programs; shares are between 0 and 1."""
    agreed = {way: agreement(first, second, way) for way in WAYS}
    return {
        "memories": memories,
        "embedders": [
            {
                "name": one.embedder,
                "dimension": one.width,
                "bytesPerMemory": round(one.bytes_each),
                "msPerMemory": round(one.memory_ms, 2),
                "msPerQuestion": round(one.question_ms, 2),
                "found": [
                    {"by": kind, "way": way, "recall@10": recall, "ndcg@10": ndcg}
                    for kind, way, (recall, ndcg) in _found(one, asked)
                ],
            }
            for one in (first, second)
        ],
        "probes": {kind: sum(probe.kind == kind for probe in asked) for kind in _kinds(asked)},
        "agreement": [
            {"way": way, "topTens": shared, "first": same} for way, (shared, same) in agreed.items()
        ],
    }


def tables(
    first: Outcome, second: Outcome, asked: Sequence[Probe], memories: int
) -> Iterator[RenderableType]:
    """For people; shares in percent."""
    pair = (first, second)
    rows: list[tuple[str, ...]] = [
        ("width", *(f"{one.width:,}" for one in pair)),
        ("bytes of vectors per memory", *(f"{one.bytes_each:,.0f}" for one in pair)),
        ("ms per memory", *(f"{one.memory_ms:.1f}" for one in pair)),
        ("ms per question", *(f"{one.question_ms:.1f}" for one in pair)),
    ]
    for (kind, way, one), (_, _, other) in zip(
        *(_found(each, asked) for each in pair), strict=True
    ):
        shown = [f"{100 * recall:.1f} / {100 * ndcg:.1f}" for recall, ndcg in (one, other)]
        rows.append((f"memory found by its {kind}, {way}", *shown))
    yield Text(
        f"{memories:,} memories, {len(asked)} of their parts asked for; found: recall@10 / nDCG@10,"
        " in percent.\n"
    )
    yield table_of(("", *(one.embedder for one in pair)), rows)
    for way in WAYS:
        shared, same = agreement(first, second, way)
        yield Text(
            f"\nTop tens {way}: {100 * shared:.0f} % in common, the first the same in"
            f" {100 * same:.0f} %.",
            end="",
        )
    yield Text("\n")


def _found(one: Outcome, asked: Sequence[Probe]) -> Iterator[tuple[str, str, tuple[float, float]]]:
    for kind in _kinds(asked):
        for way in WAYS:
            yield kind, way, one.found(way, asked, kind)


def _kinds(asked: Sequence[Probe]) -> list[str]:
    return list(dict.fromkeys(probe.kind for probe in asked))
