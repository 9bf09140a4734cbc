"""What the judge of language adds, with the numbers by which its constants are chosen.

Order of recall by weight of its word, of notes and of turns of talk; texts that command by bar; the
time of a pair by its length and what it needs of memory. Each list is read once, and then weighed
anew for each weight. The blend is fitted to a batch of cards that training has not seen.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from benchmarks.abstention import NOTES, TALK, halves
from benchmarks.baselines import Remembering
from benchmarks.data import ADVERSARIAL, Conversation, Question, abstention_set, data_sets, own_set
from benchmarks.kins import fresh_kin
from benchmarks.report import Row, Table, Target
from benchmarks.scoring import ndcg_at, recall_at
from kinmem.language import order_in
from kinmem.learn import screen as gate
from kinmem.llm.builtin import BuiltinEmbedder, BuiltinJudge
from kinmem.models import Scored
from kinmem.recall import pipeline
from kinmem.recall import rerank as stage

TRAINING = Path(__file__).parent.parent / "training"
CARDS, COMMANDS, PLAIN = "cards-2", "commands-1", "plain"
WEIGHTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
READ = 20
"""Of each list."""
CONVERSATIONS, QUESTIONS = 2, 80
"""Of each shared set, and of each of its conversations."""
BARS = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)
LENGTHS = (12, 25, 50, 80, 112)
TIMES = 30
ROUNDS, RATE, RIDGE = 400, 0.5, 1e-3


class Listed(NamedTuple):
    """One of a list, as recall found it and as the judge reads it."""

    id: str
    score: float
    answers: float
    about: float


Lists = Mapping[str, Sequence[tuple[Question, Sequence[Listed]]]]
"""By conversation: what was asked and found."""


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """With `short` neither turns of talk nor the shared sets."""
    judge = BuiltinJudge()
    judge.warm()
    tables = [_costs(judge), *_commands(judge)]
    embedder = Remembering(BuiltinEmbedder())

    def listed(conversations: Sequence[Conversation]) -> Lists:
        return {one.name: list(_listed(one, judge, embedder)) for one in conversations}

    blend = _fitted(listed([_of_cards(CARDS)]))
    for name, conversations in _sets(short).items():
        tables.append(_orders(name, listed(conversations), blend))
    return tables, []


def _sets(short: bool) -> Mapping[str, Sequence[Conversation]]:
    own = {one.name: one for one in abstention_set()}
    sets = {"own notes": [own[name] for half in halves(NOTES).values() for name in half]}
    sets["own notes"] += own_set()["everyday"]
    if short:
        return sets
    sets["own talk"] = [own[name] for half in halves(TALK).values() for name in half]
    return sets | {name: list(found)[:CONVERSATIONS] for name, found in data_sets().items()}


def _of_cards(batch: str) -> Conversation:
    cards = _lines("cards", batch)
    return Conversation(
        name=batch,
        ids=[str(at) for at in range(len(cards))],
        notes=[{"content": card["memory"]} for card in cards],
        sessions=[""] * len(cards),
        questions=[
            Question(text, frozenset({str(at)}), batch)
            for at, card in enumerate(cards)
            for text in card["answered"]
        ],
    )


def _lines(folder: str, batch: str) -> list[dict[str, Any]]:
    path = TRAINING / folder / f"{batch}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _listed(
    conversation: Conversation, judge: BuiltinJudge, embedder: Remembering
) -> Iterator[tuple[Question, Sequence[Listed]]]:
    """The best of every question that has an answer, before the judge has said anything."""
    with fresh_kin(embedder, KINMEM_JUDGE="off") as kin, _watched() as seen:
        ids = [one.id for one in kin.memorize_many(conversation.notes)]
        kin.settle()
        turn = dict(reversed(list(zip(ids, conversation.ids, strict=True))))
        asked = [one for one in conversation.questions if one.gold and one.category != ADVERSARIAL]
        for question in asked[:QUESTIONS]:
            seen.clear()
            kin.recall(question.text, limit=10)
            yield question, [_read(one, question, turn, judge) for one in seen[:READ]]


def _read(one: Scored, question: Question, turn: Mapping[str, str], judge: BuiltinJudge) -> Listed:
    text = stage.read_by_judge(one.candidate, question.text.split())
    [verdict] = judge.answers(question.text[: stage.HEAD], [text])
    return Listed(turn[one.candidate.id], one.score, verdict.answers, verdict.about)


@contextmanager
def _watched() -> Iterator[list[Scored]]:
    """What recall would show the judge."""
    seen: list[Scored] = []

    def watching(ranked: Sequence[Scored], limit: int, judging: Any) -> list[Scored]:
        seen.extend(ranked)
        return list(ranked)

    setattr(pipeline, "judged", watching)  # noqa: B010 - mypy knows no judged there
    try:
        yield seen
    finally:
        setattr(pipeline, "judged", stage.judged)  # noqa: B010


def _fitted(lists: Lists) -> np.ndarray:
    """What makes the answers of a batch likeliest to be first: how much answers, about and the
    logarithm of the odds that it answers count beside a score that counts whole."""
    each = [
        (_features(found), np.array([one.id in question.gold for one in found], float))
        for asked in lists.values()
        for question, found in asked
        if any(one.id in question.gold for one in found)
    ]
    weights = np.array([8.0, 0.0, 0.0, 0.0])
    for _ in range(ROUNDS):
        slope = RIDGE * weights
        for features, right in each:
            chance = features @ weights
            chance = np.exp(chance - chance.max())
            slope += (chance / chance.sum() - right / right.sum()) @ features / len(each)
        weights -= RATE * 4 * slope
    return np.asarray(weights[1:] / weights[0])


def _features(found: Sequence[Listed]) -> np.ndarray:
    return np.array([(one.score, one.answers, one.about, _odds(one)) for one in found])


def _odds(one: Listed) -> float:
    return float(np.log((one.answers + 1e-3) / (1 - one.answers + 1e-3)) / 10)


def _orders(name: str, lists: Lists, blend: np.ndarray) -> Table:
    """Recall and nDCG by weight, and the conversation that loses most by it."""

    def by(weight: float) -> Callable[[Listed], float]:
        return lambda one: one.score + weight * one.answers

    def blended(one: Listed) -> float:
        return float(one.score + blend @ (one.answers, one.about, _odds(one)))

    ways = {f"{weight:g}": by(weight) for weight in WEIGHTS}
    ways[f"blend {' '.join(f'{one:.2f}' for one in blend)}"] = blended
    ways["judge alone"] = lambda one: one.answers
    without = _scores(lists, ways["0"])
    rows: list[Row] = []
    for way, score in ways.items():
        found = _scores(lists, score)
        worst = [min(np.subtract(found[key], without[key])[at] for key in found) for at in (0, 2)]
        totals = [mean(found[key][at] for key in lists for _ in lists[key]) for at in range(3)]
        rows.append((way, *(_percent(one) for one in (*totals, *worst))))
    columns = ("weight", "recall@5", "recall@10", "nDCG@10", "worst, recall@5", "worst, nDCG@10")
    asked = sum(map(len, lists.values()))
    note = f"{asked} questions, the best {READ} of each read; in hundredths."
    return Table(f"The judge in recall, {name}", columns, rows, note)


def _scores(lists: Lists, score: Callable[[Listed], float]) -> dict[str, tuple[float, ...]]:
    found = {}
    for name, asked in lists.items():
        each = []
        for question, listed in asked:
            ranked = [one.id for one in sorted(listed, key=score, reverse=True)][:10]
            gold = question.gold
            each.append(
                (recall_at(5, ranked, gold), recall_at(10, ranked, gold), ndcg_at(10, ranked, gold))
            )
        found[name] = tuple(map(mean, zip(*each, strict=True))) if each else (0.0,) * 3
    return found


def _commands(judge: BuiltinJudge) -> Iterator[Table]:
    """By bar of the judge, where its word is joined with the signs of an order."""
    of: dict[str, list[tuple[str | None, float]]] = {}
    for batch in (COMMANDS, PLAIN):
        for row in _lines("commands", batch):
            text = row["text"]
            kind = f"{row['label']}, {batch}"
            of.setdefault(kind, []).append((order_in(text), judge.commands(text)))
    lines: list[Row] = [("signs alone", *(_held(texts, None) for texts in of.values()))]
    lines += [(bar, *(_held(texts, bar) for texts in of.values())) for bar in BARS]
    note = f"By signs or the judge; the gate's bar is {gate.SURELY}."
    yield Table(f"Texts that command, {COMMANDS} and {PLAIN}", ("bar", *of), lines, note)


def _held(texts: Sequence[tuple[str | None, float]], bar: float | None) -> str:
    held = [sign is not None or (bar is not None and chance >= bar) for sign, chance in texts]
    return f"{sum(held)} of {len(held)}, {sum(held) / len(held):.1%}"


def _costs(judge: BuiltinJudge) -> Table:
    """Processor time of one pair, and the most memory that the process has needed."""
    rows: list[Row] = []
    for pieces in LENGTHS:
        texts = [f"{at} " + "word " * (pieces - 10) for at in range(TIMES)]
        begun = time.process_time()
        judge.answers("Where do I live?", texts)
        rows.append((pieces, 1000 * (time.process_time() - begun) / TIMES))
    unit = 1024 * (1024 if sys.platform == "darwin" else 1)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    note = f"At most {most:.0f} MB resident, the judge loaded and no service."
    return Table("A pair read by the judge", ("word pieces", "ms"), rows, note)


def _percent(share: float) -> float:
    return round(100 * share, 1)
