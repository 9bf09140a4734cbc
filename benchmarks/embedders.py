"""Two embedders on the same conversations and questions: `--embedder A --embedder B`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import mean, median

from benchmarks.ablation import change
from benchmarks.asking import Score, told
from benchmarks.baselines import Remembering
from benchmarks.data import Conversation, data_sets, own_set
from benchmarks.report import Row, Table, Target
from kinmem.cli.embedder_comparison import ALONE
from kinmem.llm.base import Embedder, Purpose
from kinmem.llm.builtin import BuiltinEmbedder

WAYS: Mapping[str, Mapping[str, float]] = {
    "as recall answers": {},
    "by meaning alone": asdict(ALONE),
}
QUESTIONS = 100
"""That are embedded one by one, for their time."""


def measure(
    short: bool, embedders: Sequence[Embedder] | None = None
) -> tuple[list[Table], list[Target]]:
    """Each pair of neighbours in the list; of one embedder what there is to know of one."""
    found = embedders or [BuiltinEmbedder()]
    sets = own_set() if short else data_sets()
    tables = [_costs(found, [one for part in sets.values() for one in part])]
    for name, conversations in sets.items():
        scores = [_scores(conversations, one) for one in found]
        tables.append(_qualities(name, found, scores))
    return tables, []


def _scores(conversations: Sequence[Conversation], embedder: Embedder) -> Mapping[str, list[Score]]:
    """By way of asking one for each question."""
    found: dict[str, list[Score]] = {way: [] for way in WAYS}
    known = Remembering(embedder)
    for conversation in conversations:
        with told(conversation, known) as kin:
            for way, formula in WAYS.items():
                found[way] += kin.scores(formula)
    return found


def _qualities(
    name: str, embedders: Sequence[Embedder], scores: Sequence[Mapping[str, list[Score]]]
) -> Table:
    rows: list[Row] = []
    for way in WAYS:
        first = scores[0][way]
        for embedder, found in zip(embedders, scores, strict=True):
            other = found[way]
            cells = [round(100 * mean(values), 1) for values in _columns(other)]
            compared: list[str | float] = [""] * 3
            if other is not first:
                pairs = zip(_columns(first), _columns(other), strict=True)
                compared = [*(str(change(*pair)) for pair in pairs), shared(first, other)]
            rows.append((f"{embedder.name}, {way}", *cells, *compared))
    columns = ("", "R@10", "nDCG@10", "change of R@10", "of nDCG@10", "top tens in common, %")
    note = "In hundredths; changes against the first, and where they lie for 95 of 100 resamplings."
    return Table(f"Embedders, {name}", columns, rows, note)


def shared(one: Sequence[Score], other: Sequence[Score]) -> float:
    """How much two embedders' top tens have in common, in percent."""
    pairs = [(set(a.ranked), set(b.ranked)) for a, b in zip(one, other, strict=True)]
    return round(100 * mean(len(a & b) / max(len(a), len(b), 1) for a, b in pairs if a or b), 1)


def _columns(scores: Sequence[Score]) -> tuple[list[float], list[float]]:
    return [one.recall for one in scores], [one.ndcg for one in scores]


def _costs(embedders: Sequence[Embedder], conversations: Sequence[Conversation]) -> Table:
    questions = [one.text for part in conversations for one in part.questions][:QUESTIONS]
    texts = [str(note["content"]) for part in conversations for note in part.notes][:QUESTIONS]
    rows: list[Row] = []
    for embedder in embedders:
        embedder.warm()
        each = [_seconds(embedder, [one], "question") for one in questions]
        together = _seconds(embedder, texts, "memory") / len(texts)
        width = embedder.dimension
        rows.append(
            (
                embedder.name,
                width,
                4 * width,
                round(1000 * median(each), 2),
                round(1000 * together, 2),
            )
        )
    columns = ("", "width", "bytes a vector", "ms a question, alone", "ms a memory, among others")
    return Table("Embedders, what they cost", columns, rows)


def _seconds(embedder: Embedder, texts: Sequence[str], purpose: Purpose) -> float:
    started = time.perf_counter()
    embedder.embed(texts, purpose=purpose)
    return time.perf_counter() - started
