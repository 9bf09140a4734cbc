"""Whether recall finds what answers a question, through the Python API at default settings."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from benchmarks.baselines import Baselines, Remembering
from benchmarks.data import ADVERSARIAL, Conversation, Question, data_sets, own_set
from benchmarks.kins import fresh_kin
from benchmarks.report import Row, Table, Target
from benchmarks.scoring import ndcg_at, recall_at, reciprocal_rank
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import Stored
from kinmem.service import Service

LIMIT = 10
LONG = 20
KINMEM = "kinmem"
BASELINES = ("words, all", "words", "words and context", "vectors", "RRF")
WAYS = (*BASELINES, "profile kinbot", KINMEM)
MEASURES = ("R@5", "R@10", "R@20", "MRR", "nDCG@10")
TARGETS = {"locomo": (0.80, 0.60), "beam": (0.65, 0.54)}

Ask = Callable[[str, int], list[str]]
"""Takes a question and a limit, gives the ids of turns, best first."""


@dataclass(frozen=True)
class Result:
    """How one way of searching answered one question."""

    way: str
    category: str
    scores: tuple[float, ...]
    """Side by side with MEASURES."""
    found: int


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """All sets, or with `short` the own one."""
    tables: list[Table] = []
    targets: list[Target] = []
    for name, conversations in (own_set() if short else data_sets()).items():
        results = [result for one in conversations for result in asked(one, BuiltinEmbedder())]
        answerable = [result for result in results if result.category != ADVERSARIAL]
        tables += [by_way(name, answerable), by_category(name, answerable)]
        tables += adversarial(name, results)
        targets += _targets(name, answerable)
    return tables, targets


def asked(conversation: Conversation, embedder: Embedder) -> list[Result]:
    """One conversation in a Kin of its own, every question asked in every way."""
    embedder = Remembering(embedder)
    with fresh_kin(embedder) as kin:
        stored = kin.memorize_many(conversation.notes)
        if not kin.settle():
            raise SystemExit("the vectors could not be made")
        ways = _ways(kin, stored, conversation, embedder)
        # kinmem first: what is recalled counts as used, and use counts in later answers.
        return [
            _result(way, ways[way], question)
            for way in reversed(WAYS)
            for question in conversation.questions
        ]


def recalls(kin: Service, stored: Sequence[Stored], ids: Sequence[str]) -> Callable[..., list[str]]:
    """Recall, with memories named as the data names them; of duplicates the first."""
    turn = {one.id: id for one, id in reversed(list(zip(stored, ids, strict=True)))}

    def ask(question: str, limit: int, mode: str | None = None) -> list[str]:
        hits = kin.recall(question, limit=limit, mode=mode).hits
        return [turn[hit.memory.id] for hit in hits]

    return ask


def _ways(
    kin: Service, stored: Sequence[Stored], conversation: Conversation, embedder: Embedder
) -> dict[str, Ask]:
    baselines = Baselines(conversation, embedder)
    recall = recalls(kin, stored, conversation.ids)
    plain = (
        baselines.words,
        baselines.content_words,
        baselines.words_around,
        baselines.vectors,
        baselines.rrf,
    )
    return dict(zip(BASELINES, plain, strict=True)) | {
        "profile kinbot": lambda question, limit: recall(question, limit, "kinbot"),
        KINMEM: recall,
    }


def _result(way: str, ask: Ask, question: Question) -> Result:
    """Asked twice: for ten, which all but R@20 are measured on, and for twenty."""
    ranked, longer = ask(question.text, LIMIT), ask(question.text, LONG)
    gold = question.gold
    scores = (
        recall_at(5, ranked, gold),
        recall_at(10, ranked, gold),
        recall_at(20, longer, gold),
        reciprocal_rank(ranked, gold),
        ndcg_at(10, ranked, gold),
    )
    return Result(way, question.category, scores, len(ranked))


def means(results: Iterable[Result]) -> list[float]:
    """Over the questions, in hundredths."""
    columns = zip(*(result.scores for result in results), strict=True)
    return [round(100 * mean(column), 1) for column in columns]


def by_way(name: str, results: Sequence[Result]) -> Table:
    """kinmem beside the baselines."""
    rows: list[Row] = [(way, *means(r for r in results if r.way == way)) for way in WAYS]
    count = sum(result.way == KINMEM for result in results)
    note = f"{count} questions, adversarial ones left out; the mean over questions, in hundredths."
    return Table(f"Retrieval, {name}", ("way", *MEASURES), rows, note)


def by_category(name: str, results: Sequence[Result]) -> Table:
    """kinmem alone."""
    ours = [result for result in results if result.way == KINMEM]
    rows: list[Row] = []
    for category in sorted({result.category for result in ours}):
        part = [result for result in ours if result.category == category]
        rows.append((category, len(part), *means(part)))
    return Table(f"Retrieval by category, {name}", ("category", "questions", *MEASURES), rows)


def adversarial(name: str, results: Sequence[Result]) -> list[Table]:
    """Questions without a true answer: how often recall still brings the turn they play on."""
    rows = []
    for way in WAYS:
        part = [one for one in results if one.way == way and one.category == ADVERSARIAL]
        if part:
            found = round(mean(one.found for one in part), 1)
            rows.append((way, len(part), means(part)[1], found))
    columns = ("way", "questions", "R@10 of the turn played on", "results")
    return [Table(f"Adversarial questions, {name}", columns, rows)] if rows else []


def _targets(name: str, results: Sequence[Result]) -> list[Target]:
    scores = {way: means(one for one in results if one.way == way) for way in WAYS}
    targets = []
    for measured, at, bound in zip(
        (1, 4), ("recall@10", "nDCG@10"), TARGETS.get(name, ()), strict=False
    ):
        targets.append(Target(f"{name} {at}", scores[KINMEM][measured] / 100, bound, at_most=False))
    for measured, at in ((1, "recall@10"), (4, "nDCG@10")):
        best = max(scores[way][measured] for way in BASELINES)
        what = f"{name} {at}, above the best baseline"
        targets.append(Target(what, scores[KINMEM][measured] / 100, best / 100, at_most=False))
    return targets
