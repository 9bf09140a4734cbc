"""Whether what is stored is shown: small stores of notes, asked in plain words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.kins import fresh_kin
from benchmarks.report import Row, Table, Target
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import Answer

FILE = Path(__file__).with_name("corpora") / "answers.json"
KINDS = ("answered here", "of another life", "about what is known, never told")
FIRST = 3


@dataclass(frozen=True)
class Asked:
    """How one question was answered."""

    kind: str
    text: str
    place: int
    """Of the memory that answers it among all hits, from 1; 0: it is not shown."""
    is_weak: bool
    """Whether that memory is shown as a weak hit."""
    abstained: bool
    strong: int
    shown: int


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """The development half; short or not, it takes seconds."""
    found = measured(FILE)
    plain = measured(FILE, KINMEM_ABSTAIN=False)
    first, best = (_share_first(one) for one in (found, plain))
    return [table(found, plain)], [
        Target("answers hidden", sum(one.place == 0 for one in _answered(found)), 0),
        Target("answers among the first three", first, best, at_most=False),
    ]


def measured(file: Path, embedder: Embedder | None = None, **variables: object) -> list[Asked]:
    """Each store in a Kin of its own, all of its questions."""
    found: list[Asked] = []
    for store in json.loads(file.read_text(encoding="utf-8")):
        found += _asked(store, embedder or BuiltinEmbedder(), variables)
    return found


def _asked(
    store: Mapping[str, Any], embedder: Embedder, variables: Mapping[str, object]
) -> list[Asked]:
    with fresh_kin(embedder, **variables) as kin:
        stored = kin.memorize_many(store["memories"])
        if not kin.settle():
            raise SystemExit("the vectors could not be made")
        questions = [(KINDS[0], one["text"], one["answer"]) for one in store["questions"]]
        questions += [(KINDS[1], text, None) for text in store["foreign"]]
        questions += [(KINDS[2], text, None) for text in store["near"]]
        return [
            _outcome(kind, text, kin.recall(text), None if at is None else stored[at].id)
            for kind, text, at in questions
        ]


def _outcome(kind: str, text: str, answer: Answer, wanted: str | None) -> Asked:
    ids = [hit.memory.id for hit in answer.hits]
    place = ids.index(wanted) + 1 if wanted in ids else 0
    strong = sum(not hit.weak for hit in answer.hits)
    is_weak = place > 0 and answer.hits[place - 1].weak
    return Asked(kind, text, place, is_weak, answer.abstained, strong, len(ids))


def _answered(found: Sequence[Asked]) -> list[Asked]:
    return [one for one in found if one.kind == KINDS[0]]


def _share_first(found: Sequence[Asked]) -> float:
    answered = _answered(found)
    return sum(0 < one.place <= FIRST for one in answered) / len(answered)


def table(found: Sequence[Asked], plain: Sequence[Asked]) -> Table:
    """By kind of question; `plain`: the same with abstention switched off."""
    rows: list[Row] = []
    for kind in KINDS:
        part = [one for one in found if one.kind == kind]
        if kind == KINDS[0]:
            first, best = (
                f"{sum(0 < one.place <= FIRST for one in _answered(x))}" for x in (found, plain)
            )
            hidden, weak = sum(one.place == 0 for one in part), sum(one.is_weak for one in part)
            cells: tuple[str | float, ...] = (first, best, hidden, weak)
        else:
            cells = ("", "", "", "")
        abstained = sum(one.abstained for one in part)
        shown = round(sum(one.shown for one in part) / len(part), 1)
        rows.append((kind, len(part), *cells, abstained, shown))
    columns = (
        *("question", "asked", "among the first three", "the same, never abstaining"),
        *("hidden", "shown as weak", "abstained", "memories shown, mean"),
    )
    return Table("Answers from small stores", columns, rows)
