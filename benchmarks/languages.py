"""Notes found by questions in their own language and in others.

Thirty notes with a question each, the same in seven languages (own/languages.json), and up to a
hundred cards of training/ for each language with the first two questions that each answers. Nothing
that is not English was seen while the map into the space of the English model was fitted.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.kins import fresh_kin
from benchmarks.report import Cell, Row, Table, Target, percent
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.service import Service

ROOT = Path(__file__).parents[1]
FILE = ROOT / "benchmarks" / "own" / "languages.json"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "zh")
HELD = "cards-2.jsonl"
"""English cards; of the other languages all."""
MOST, ASKED = 100, 2
SETTLED = 600.0
BEHIND = 1_000_000
Asked = tuple[str, str]
"""A question and the note that answers it."""


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """How often the note comes first, and how near questions are to what is something else."""
    embedder = BuiltinEmbedder()
    told = json.loads(FILE.read_text(encoding="utf-8"))
    pairs = {spoken: [(one["question"], one["note"]) for one in told[spoken]] for spoken in told}
    across = [_across(spoken, pairs, embedder) for spoken in LANGUAGES]
    columns = ("notes", *(f"asked in {spoken}" for spoken in LANGUAGES), "by meaning alone")
    tables = [Table("Found first, of 30 notes", columns, across, (__doc__ or "").split("\n")[0])]
    if not short:
        rows = [_many(spoken, embedder) for spoken in LANGUAGES]
        columns = (
            *("notes", "how many", "found first, %", "among five, %", "by meaning alone, %"),
            *("English model alone, %", "cosine with others, 9 of 10 below", "with the answer"),
        )
        tables.append(Table("Found by a question in the same language", columns, rows))
    return tables, []


def _across(spoken: str, pairs: Mapping[str, Sequence[Asked]], embedder: Embedder) -> Row:
    notes = [note for _, note in pairs[spoken]]
    asked = {language: [question for question, _ in pairs[language]] for language in LANGUAGES}
    cells: list[Cell] = [spoken]
    with _knowing(notes, embedder) as service:
        for questions in asked.values():
            both = zip(questions, notes, strict=True)
            cells.append(sum(_place(service, *one) == 1 for one in both))
    cosines = _cosines(asked[spoken], notes, embedder)
    return [*cells, int((cosines.argmax(1) == np.arange(len(notes))).sum())]


def _many(spoken: str, embedder: BuiltinEmbedder) -> Row:
    cards = _cards(spoken)
    notes = list(dict.fromkeys(note for _, note in cards))
    with _knowing(notes, embedder) as service:
        places = [_place(service, *one) for one in cards]
    first, five = (percent([place <= most for place in places]) for most in (1, 5))
    questions, place = [question for question, _ in cards], [notes.index(one) for _, one in cards]
    shares = []
    for model in (embedder, embedder.english):
        cosines = _cosines(questions, notes, model)
        shares.append(percent((cosines.argmax(1) == place).tolist()))
        if model is embedder:
            right = cosines[np.arange(len(place)), place]
            other = np.delete(cosines.ravel(), np.arange(len(place)) * len(notes) + place)
    nine, middle = round(float(np.quantile(other, 0.9)), 2), round(float(np.median(right)), 2)
    return [spoken, len(notes), first, five, *shares, nine, middle]


def _cards(spoken: str) -> list[Asked]:
    found = []
    for path in sorted((ROOT / "training" / "cards").glob(HELD if spoken == "en" else "*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            card = json.loads(line)
            if card["lang"] == spoken:
                found.append(card)
    return [(one, card["memory"]) for card in found[:MOST] for one in card["answered"][:ASKED]]


@contextmanager
def _knowing(notes: Sequence[str], embedder: Embedder) -> Iterator[Service]:
    with fresh_kin(embedder) as service:
        service.memorize_many(list(notes))
        service.settle(SETTLED)
        yield service


def _place(service: Service, question: str, note: str) -> int:
    """Of the note among the hits; behind all of them if it is not there."""
    hits = [hit.memory.content for hit in service.recall(question).hits]
    return hits.index(note) + 1 if note in hits else BEHIND


def _cosines(questions: Sequence[str], notes: Sequence[str], embedder: Embedder) -> np.ndarray:
    asked = embedder.embed(questions, purpose="question")
    found: np.ndarray = asked @ embedder.embed(notes).T
    return found
