"""Whether standing instructions are found by questions that they apply to, worded otherwise."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from benchmarks.kins import fresh_kin
from benchmarks.report import Table, Target
from benchmarks.scoring import ndcg_at
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder

FILE = Path(__file__).with_name("corpora") / "standing.json"
LIMIT = 10


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """The development half; short or not, it takes seconds."""
    places = measured(FILE)
    cells = [round(100 * mean(0 < place <= most for place in places), 1) for most in (1, 5, LIMIT)]
    found = [[str(at) for at in range(1, LIMIT + 1)] for _ in places]
    ndcg = mean(ndcg_at(LIMIT, ids, {str(at)}) for ids, at in zip(found, places, strict=True))
    row = (len(places), *cells, round(100 * ndcg, 1))
    columns = ("instructions", "first", "among five", "among ten", "nDCG@10")
    note = (
        "Each with four distractors, all in one Kin; found by a question it applies to, in percent."
    )
    return [Table("Standing instructions", columns, [row], note)], []


def measured(
    file: Path, start: int = 0, stop: int | None = None, embedder: Embedder | None = None
) -> Sequence[int]:
    """For each of these instructions its place among the hits, from 1; 0: it is not shown."""
    items = json.loads(file.read_text(encoding="utf-8"))[start:stop]
    with fresh_kin(embedder or BuiltinEmbedder()) as kin:
        notes = [text for one in items for text in (one["instruction"], *one["distractors"])]
        ids = dict(zip(notes, (one.id for one in kin.memorize_many(notes)), strict=True))
        if not kin.settle():
            raise SystemExit("the vectors could not be made")
        places = []
        for one in items:
            hits = [hit.memory.id for hit in kin.recall(one["question"], limit=LIMIT).hits]
            wanted = ids[one["instruction"]]
            places.append(hits.index(wanted) + 1 if wanted in hits else 0)
    return places
