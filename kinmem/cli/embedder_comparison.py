"""Compares embedders on a Kin's memories: what each finds, how far they agree, what they cost.

Nobody has labelled which memory answers which question, so memories are searched for by what is
known to belong to them: their first half, and their source context.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from kinmem.cli.command_context import CommandContext
from kinmem.cli.tables import table_of
from kinmem.cli.terminal import progress_bar
from kinmem.clock import Clock
from kinmem.errors import InvalidInput
from kinmem.language import sentences
from kinmem.llm.base import Embedder, chunks_of
from kinmem.models import Chunks, Draft, Filters, Memory, Progress
from kinmem.recall.pipeline import Recall
from kinmem.recall.profiles import PROFILES, Formula, Profile
from kinmem.recall.question import Request
from kinmem.settings import RecallSettings, Settings
from kinmem.store.base import Store
from kinmem.text import UNSPACED, count_words
from kinmem.upkeep.embed import Embed
from kinmem.wiring.open_memory import embedder_named, scratch_store

# Memories that are compared. A provider receives, and is paid for, all of them.
MOST = 1000
# Probes of each kind, spread evenly over the memories.
PROBES = 100
TOP = 10
# Words of a text whose first half still makes a question.
SHORTEST = 6
BATCH = 100
NUMBER_BYTES = 4

AS_RECALLED, BY_MEANING = "as recall answers", "by meaning alone"
ALONE = Formula(
    words=0.0,
    neighbours=0.0,
    answers=0.0,
    named=0.0,
    by_user=0.0,
    standing_wish=0.0,
    then=0.0,
    evidence=0.0,
    worth=0.0,
    age=0.0,
)
WAYS: Mapping[str, Profile] = {
    AS_RECALLED: PROFILES["relevance"],
    BY_MEANING: replace(PROFILES["relevance"], formula=ALONE),
}


@dataclass(frozen=True)
class Probe:
    """A text to search for, and the memory that it was taken from."""

    kind: str
    text: str
    memory: str


@dataclass(frozen=True)
class Outcome:
    """The results of one embedder."""

    embedder: str
    width: int
    bytes_each: float
    """Bytes of vectors per memory."""
    memory_ms: float
    """Mean time to embed a memory in a batch."""
    question_ms: float
    """Median time to embed a question alone."""
    tops: Mapping[str, list[list[str]]]
    """By way of searching: for each probe the ids found, best first."""

    def found(self, way: str, probes: Sequence[Probe], kind: str) -> tuple[float, float]:
        """Return the share of the probes of a kind whose memory is in the top ten, and their
        nDCG@10."""
        places = [
            top.index(probe.memory) + 1 if probe.memory in top else 0
            for top, probe in zip(self.tops[way], probes, strict=True)
            if probe.kind == kind
        ]
        return mean(place > 0 for place in places), mean(
            1 / math.log2(place + 1) if place else 0.0 for place in places
        )


def probes(memories: Sequence[Memory]) -> list[Probe]:
    """Return up to 100 probes of each kind."""
    halves = [
        Probe("first half", half, one.id)
        for one in memories
        if (half := _first_half(one.content)) is not None
    ]
    contexts = [
        Probe("source context", sentences(one.source_context)[0].strip(), one.id)
        for one in memories
        if one.source_context and one.source_context.strip()
    ]
    return [*_spread(halves), *_spread(contexts)]


def _first_half(text: str) -> str | None:
    """Return the first half of a text's words, or of its characters where no spaces separate words;
    None if it is too short."""
    if count_words(text) < SHORTEST:
        return None
    spaced = text.split()
    return text[: len(text) // 2] if UNSPACED.search(text) else " ".join(spaced[: len(spaced) // 2])


def measured(
    embedder: Embedder,
    memories: Sequence[Memory],
    asked: Sequence[Probe],
    store: Store,
    settings: Settings,
    clock: Clock,
    progress: Progress | None = None,
) -> Outcome:
    """Measure one embedder, with the memories in the empty `store`. Raises ModelError."""
    embedder.warm()
    chunks = [chunks_of(one.content, embedder) for one in memories]
    for start in range(0, len(memories), BATCH):
        part = zip(memories[start:][:BATCH], chunks[start:][:BATCH], strict=True)
        store.add([Draft(_as_new(one), Chunks(texts)) for one, texts in part])
    started = time.perf_counter()
    Embed(store.index, embedder).all(progress)
    seconds = time.perf_counter() - started
    settings = replace(settings, recall=RecallSettings(adaptive_k=False, abstain=False))
    recall = Recall(store, [embedder], settings, clock, profiles=WAYS)
    return Outcome(
        embedder=embedder.name,
        width=embedder.dimension,
        bytes_each=NUMBER_BYTES * embedder.dimension * mean(map(len, chunks)),
        memory_ms=1000 * seconds / len(memories),
        question_ms=1000 * median(_times(embedder, asked)),
        tops={
            way: [
                [hit.memory.id for hit in recall(Request(probe.text, TOP, Filters(), way)).hits]
                for probe in asked
            ]
            for way in WAYS
        },
    )


def agreement(one: Outcome, other: Outcome, way: str) -> tuple[float, float]:
    """Return the share that two top tens have in common, and how often their first hit is the
    same."""
    pairs = [
        (first, second)
        for first, second in zip(one.tops[way], other.tops[way], strict=True)
        if first or second
    ]
    shared = [len(set(a) & set(b)) / max(len(a), len(b)) for a, b in pairs]
    return mean(shared), mean(a[:1] == b[:1] for a, b in pairs)


def _times(embedder: Embedder, asked: Sequence[Probe]) -> Iterator[float]:
    for probe in asked[:PROBES]:
        started = time.perf_counter()
        embedder.embed([probe.text], purpose="question")
        yield time.perf_counter() - started


def _spread(probes: Sequence[Probe]) -> Sequence[Probe]:
    step = max(1, math.ceil(len(probes) / PROBES))
    return probes[::step]


def _as_new(memory: Memory) -> Memory:
    """Return the memory without references to others, which may be missing."""
    return replace(memory, superseded_by=None)


def comparison_row(
    first: Outcome, second: Outcome, asked: Sequence[Probe], memories: int
) -> dict[str, Any]:
    """Return the results for programs. Shares are between 0 and 1."""
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
                    for kind, way, (recall, ndcg) in _found_by(one, asked)
                ],
            }
            for one in (first, second)
        ],
        "probes": {kind: sum(probe.kind == kind for probe in asked) for kind in _kinds(asked)},
        "agreement": [
            {"way": way, "topTens": shared, "first": same} for way, (shared, same) in agreed.items()
        ],
    }


def comparison_tables(
    first: Outcome, second: Outcome, asked: Sequence[Probe], memories: int
) -> Iterator[RenderableType]:
    """Yield the results for people. Shares are in percent."""
    pair = (first, second)
    rows: list[tuple[str, ...]] = [
        ("width", *(f"{one.width:,}" for one in pair)),
        ("bytes of vectors per memory", *(f"{one.bytes_each:,.0f}" for one in pair)),
        ("ms per memory", *(f"{one.memory_ms:.1f}" for one in pair)),
        ("ms per question", *(f"{one.question_ms:.1f}" for one in pair)),
    ]
    for (kind, way, one), (_, _, other) in zip(
        *(_found_by(each, asked) for each in pair), strict=True
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


def _found_by(
    one: Outcome, asked: Sequence[Probe]
) -> Iterator[tuple[str, str, tuple[float, float]]]:
    for kind in _kinds(asked):
        for way in WAYS:
            yield kind, way, one.found(way, asked, kind)


def _kinds(asked: Sequence[Probe]) -> list[str]:
    return list(dict.fromkeys(probe.kind for probe in asked))


def compare_embedders(context: CommandContext, names: Sequence[str]) -> None:
    """Compare two embedders on the same part of the Kin's memories. Nothing is written to its
    memory."""

    if len(names) != 2:
        raise InvalidInput("two are compared: --embedder is given twice; one alone goes with WHICH")
    settings = context.settings()
    embedders = [embedder_named(name, settings) for name in names]
    with context.memory(resident=False) as memory:
        memories = memory.store.page(Filters(), "newest", MOST).memories
        kin, clock = memory.kin, memory.clock
    asked = probes(memories)
    if not asked:
        raise InvalidInput("there are no memories here that two embedders could be compared on")
    outcomes = []
    for one in embedders:
        with scratch_store(kin) as store, progress_bar() as progress:
            outcomes.append(measured(one, memories, asked, store, settings, clock, progress))
    first, second = outcomes
    count = len(memories)
    context.tell(
        comparison_row(first, second, asked, count), *comparison_tables(first, second, asked, count)
    )
