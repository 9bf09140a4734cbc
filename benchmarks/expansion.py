"""What models would add to recall, told by ones that are perfect, useless or silent.

No model is asked: scripted ones know the answers, or say what has nothing to do with them.
"""

import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from statistics import mean

from benchmarks.ablation import change
from benchmarks.asking import Score, Told, told
from benchmarks.baselines import Remembering
from benchmarks.data import Conversation, Question, data_sets, own_set
from benchmarks.report import Row, Table, Target
from kinmem.llm.base import ChatModels, Embedder
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models.turns import Message
from kinmem.text import folded
from tests.scripted import ScriptedModel

WORDINGS = 3
LONGEST = 300
"""Characters of a turn that a scripted model repeats."""
HARM = -0.01
"""What useless models may cost at most, of recall@10 and nDCG@10."""
GARBAGE = ("zxq blorf quantum", "asdf jkl qwertz", "lorem ipsum dolor sit amet")
FOREIGN = (
    "The capital of France is Paris.",
    "Photosynthesis turns light into sugar.",
    "Python lists are mutable.",
)
PLAIN = "no model"
ANSWERS, ON_THE_SUBJECT = "the answers", "turns at random"
AT_RANDOM = "re-rank: at random"

Says = Callable[[Told, Question], list[str]]


@dataclass(frozen=True)
class Way:
    """Models that say something of one kind."""

    name: str
    models: Callable[[Told, Question], ChatModels]
    promise: float | None
    """What recall@10 and nDCG@10 gain by it at least; None: nothing is promised, since what is on
    the subject is believed, and a re-ranker is taken at its word."""


def _answers(kin: Told, question: Question) -> list[str]:
    return [kin.texts[id][:LONGEST] for id in sorted(question.gold)[:WORDINGS] if id in kin.texts]


def _others(kin: Told, question: Question) -> list[str]:
    chance = random.Random(question.text)
    return [text[:LONGEST] for text in chance.sample(sorted(kin.texts.values()), WORDINGS)]


SAYS: Mapping[str, Says] = {
    ANSWERS: _answers,
    ON_THE_SUBJECT: _others,
    "nonsense words": lambda kin, question: list(GARBAGE),
    "facts about something else": lambda kin, question: list(FOREIGN),
    "nothing": lambda kin, question: [],
}


def _vary(says: Says) -> Callable[[Told, Question], ChatModels]:
    def models(kin: Told, question: Question) -> ChatModels:
        return ChatModels(multi_query=ScriptedModel([{"questions": says(kin, question)}]))

    return models


def _imagine(says: Says) -> Callable[[Told, Question], ChatModels]:
    def models(kin: Told, question: Question) -> ChatModels:
        (said, *_) = [*says(kin, question), ""]
        return ChatModels(hyde=ScriptedModel([{"answer": said}]))

    return models


@dataclass
class Marks:
    """Implements Reranker: gives each text the mark of a function."""

    mark: Callable[[str], float]
    name: str = "benchmarks/marks"

    def scores(
        self, question: str, texts: Sequence[str], *, deadline: float | None = None
    ) -> list[float]:
        """See Reranker."""
        return [self.mark(text) for text in texts]


def _knowing(kin: Told, question: Question) -> ChatModels:
    right = [kin.texts[id] for id in question.gold if id in kin.texts]
    return ChatModels(rerank=Marks(lambda text: float(any(one[:200] in text for one in right))))


def _guessing(kin: Told, question: Question) -> ChatModels:
    chance = random.Random(question.text)
    return ChatModels(rerank=Marks(lambda text: chance.random()))


def _indifferent(kin: Told, question: Question) -> ChatModels:
    return ChatModels(rerank=Marks(lambda text: 0.5))


PROMISES: Mapping[str, float | None] = {ANSWERS: 0.0, ON_THE_SUBJECT: None}


def _ways() -> Iterator[Way]:
    for means, models in (("multi-query", _vary), ("HyDE", _imagine)):
        for name, says in SAYS.items():
            yield Way(f"{means}: {name}", models(says), PROMISES.get(name, HARM))
    yield Way("re-rank: knows the answers", _knowing, 0.0)
    yield Way("re-rank: all alike", _indifferent, HARM)
    yield Way(AT_RANDOM, _guessing, None)


WAYS = tuple(_ways())


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """On the shared sets, or with `short` on the own one."""
    embedder = Remembering(BuiltinEmbedder())
    tables: list[Table] = []
    targets: list[Target] = []
    for name, conversations in (own_set() if short else data_sets()).items():
        helped, followed = scores(conversations, embedder)
        tables += [
            _table(f"What models would add, {name}", helped, "what it says"),
        ]
        if followed:
            tables.append(_table(f"Follow-ups, {name}", followed, "what is asked"))
        targets += _targets(name, helped)
    return tables, targets


Scores = Mapping[str, list[Score]]


def scores(conversations: Sequence[Conversation], embedder: Embedder) -> tuple[Scores, Scores]:
    """By way a score for each question; the same for those that make sense as follow-ups."""
    helped: dict[str, list[Score]] = {name: [] for name in (PLAIN, *(way.name for way in WAYS))}
    followed: dict[str, list[Score]] = {}
    for conversation in conversations:
        with told(conversation, embedder) as kin:
            helped[PLAIN] += kin.scores()
            for way in WAYS:
                helped[way.name] += kin.scores(models=partial(way.models, kin))
            for name, part in _follow_ups(kin):
                followed.setdefault(name, []).extend(part)
    return helped, followed


def _follow_ups(kin: Told) -> Iterator[tuple[str, list[Score]]]:
    """Questions about one person, whose name only the conversation before them has."""
    names = kin.kin.store.names()
    about = {one: named[0] for one in kin.questions if len(named := _named(one, names)) == 1}
    kin = replace(kin, questions=list(about))
    if not about:
        return
    yield "with the name", kin.scores()
    yield "with a pronoun, and nobody knows who", kin.scores(asked=lambda one: _pronoun(one, about))
    found = []
    for one, name in about.items():
        said = [_said(f"What do you know of {name}?")]
        found += replace(kin, questions=[one]).scores(
            asked=partial(_pronoun, about=about), recent=said.copy
        )
    yield "with a pronoun, after a question about them", found


def _said(text: str) -> Message:
    return Message(session="s", turn="1", role="user", text=text, said_at=datetime.now(UTC))


def _named(question: Question, names: Collection[str]) -> list[str]:
    return list(dict.fromkeys(w for w in re.findall(r"\w+", question.text) if folded(w) in names))


def _pronoun(question: Question, about: Mapping[Question, str]) -> str:
    name = about[question]
    owned = re.sub(rf"\b{name}['’]s\b", "their", question.text)
    return re.sub(rf"\b{name}\b", "they", owned)


def _table(title: str, found: Scores, column: str) -> Table:
    first, *_ = found.values()
    rows: list[Row] = []
    for name, scores in found.items():
        cells = [round(100 * mean(values), 1) for values in columns(scores)]
        changes = [
            str(change(plain, other))
            for plain, other in zip(columns(first), columns(scores), strict=True)
        ]
        rows.append((name, *cells, *(changes if scores is not first else ["", ""])))
    note = f"{len(first)} questions, in hundredths; changes against the first row, as above."
    named = (column, "R@10", "nDCG@10", "change of R@10", "of nDCG@10")
    return Table(title, named, rows, note)


def columns(scores: Sequence[Score]) -> list[tuple[float, ...]]:
    """Recall and nDCG of each question."""
    return list(zip(*((one.recall, one.ndcg) for one in scores), strict=True))


def _targets(name: str, found: Scores) -> Iterator[Target]:
    """Those that know make it better, and no useless one does harm."""
    plain = columns(found[PLAIN])
    for way in WAYS:
        if way.promise is None:
            continue
        for at, what in enumerate(("recall@10", "nDCG@10")):
            gain = mean(columns(found[way.name])[at]) - mean(plain[at])
            yield Target(f"{name} {what}, gained, {way.name}", gain, way.promise, at_most=False)
