"""What is learned from a conversation without a model, and whether it still answers.

Every turn is observed in order and learned from, with what was said before it and no more. Then the
questions are asked: of the memories alone, of memories and turns as recall answers, and of the
turns themselves, each stored as a memory. A memory is credited for the turns it came from, three at
most; the stricter columns credit it for the first of them alone.
"""

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from statistics import mean

from benchmarks.baselines import Remembering
from benchmarks.data import ADVERSARIAL, Conversation, Question, data_sets, own_set
from benchmarks.kins import fresh_kin
from benchmarks.report import Row, Table, Target
from benchmarks.retrieval import LIMIT, recalls
from benchmarks.scoring import recall_at
from kinmem.clock import parse_time
from kinmem.learn.extract import extract
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import ROLES, Answer, Filters, Memory, Note
from kinmem.models.turns import Message
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request
from kinmem.service import Service

BEFORE = 8
"""Messages of the session that extraction sees besides the turn, as the cycle gives them."""
CREDITED = 3
SHARE_OF_RECALL, SHARE_OF_TEXT, MILLISECONDS = 0.9, 0.5, 5.0
UNDATED = "2024-01-01"
COLUMNS = (
    *("conversation", "turns", "memories", "R@10 of turns", "R@10", "in % of turns'"),
    *("R@10, first turn only", "both layers R@10", "both, first turn only"),
    *("% of text kept", "CPU ms a turn"),
)

Hits = list[list[tuple[str, ...]]]
"""For each question, for each hit, the turns it stands for."""


@dataclass(frozen=True)
class Replayed:
    """One conversation, asked in both forms."""

    conversation: Conversation
    questions: list[Question]
    of_turns: Hits
    of_memories: Hits
    of_both: Hits
    """Of memories and turns."""
    memories: int
    kept: int
    """Characters of content and source context."""
    seconds: float
    """CPU time of the extraction alone."""

    @property
    def said(self) -> int:
        """Characters of the turns."""
        return sum(len(note["content"]) for note in self.conversation.notes)


@dataclass(frozen=True)
class Scored:
    """Recall of each question, in the five ways of counting."""

    result: Replayed
    of_turns: list[float]
    of_memories: list[float]
    of_first: list[float]
    of_both: list[float]
    of_both_first: list[float]


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """All sets, or with `short` the own one."""
    tables: list[Table] = []
    targets: list[Target] = []
    for name, conversations in (own_set() if short else data_sets()).items():
        results = [replayed(one, BuiltinEmbedder()) for one in conversations]
        tables.append(_table(f"Replay, {name}", [scored(one) for one in results]))
        if any(_assistants(one.conversation) for one in results):
            own = [scored(one, _assistants(one.conversation)) for one in results]
            tables.append(_table(f"Replay, {name}: what people said", own))
        targets += _targets(name, results)
    return tables, targets


def messages(conversation: Conversation) -> list[Message]:
    """The turns as they are observed."""
    told = []
    for id, note, session in zip(
        conversation.ids, conversation.notes, conversation.sessions, strict=True
    ):
        speaker = note["speaker"]
        told.append(
            Message(
                session=session,
                turn=id,
                role="assistant" if speaker == "assistant" else "user",
                text=note["content"],
                speaker=None if speaker in ROLES else speaker,
                said_at=parse_time(note["occurred_at"] or UNDATED, UTC),
            )
        )
    return told


def replayed(conversation: Conversation, embedder: Embedder) -> Replayed:
    """One conversation stored twice: as it was said, and as it was learned."""
    embedder = Remembering(embedder)
    questions = [one for one in conversation.questions if one.category != ADVERSARIAL]
    of_turns = _asked_of_turns(conversation, embedder, questions)
    with fresh_kin(embedder) as kin:
        _learn(kin, conversation)
        memories = list(_memories(kin))
        alone = Recall(kin.store, [embedder], kin.settings, kin.clock)
        of_memories = [_credited(alone(Request(one.text, LIMIT, Filters()))) for one in questions]
        of_both = [_credited(kin.recall(one.text, limit=LIMIT)) for one in questions]
    return Replayed(
        conversation=conversation,
        questions=questions,
        of_turns=of_turns,
        of_memories=of_memories,
        of_both=of_both,
        memories=len(memories),
        kept=sum(len(one.content) + len(one.source_context or "") for one in memories),
        seconds=extracted(conversation)[1],
    )


def _credited(answer: Answer) -> list[tuple[str, ...]]:
    return [hit.memory.turns[:CREDITED] for hit in answer.hits]


def extracted(conversation: Conversation) -> tuple[list[Note], float]:
    """What extraction alone finds, turn by turn, and the CPU seconds it takes."""
    notes: list[Note] = []
    before: list[Message] = []
    started = time.process_time()
    for message in messages(conversation):
        if before and before[-1].session != message.session:
            before = []
        notes += extract([message], before[-BEFORE:], UTC)
        before.append(message)
    return notes, time.process_time() - started


def _asked_of_turns(
    conversation: Conversation, embedder: Embedder, questions: Sequence[Question]
) -> Hits:
    with fresh_kin(embedder) as kin:
        stored = kin.memorize_many(conversation.notes)
        _settled(kin)
        ask = recalls(kin, stored, conversation.ids)
        return [[(turn,) for turn in ask(one.text, LIMIT)] for one in questions]


def _learn(kin: Service, conversation: Conversation) -> None:
    for one in messages(conversation):
        event = "answer" if one.role == "assistant" else "prompt"
        kin.observe(
            event, one.session, one.turn, one.text, speaker=one.speaker, at=one.said_at, tell=False
        )
    kin.sleep()
    _settled(kin)


def _settled(kin: Service) -> None:
    if not kin.settle():
        raise SystemExit("the vectors could not be made")


def _memories(kin: Service) -> Iterator[Memory]:
    page = kin.list_memories(limit=200)
    yield from page.memories
    while page.next_cursor:
        page = kin.list_memories(limit=200, cursor=page.next_cursor)
        yield from page.memories


def _assistants(conversation: Conversation) -> frozenset[str]:
    """The turns of assistants, who are not learned from."""
    turns = zip(conversation.ids, conversation.notes, strict=True)
    return frozenset(id for id, note in turns if note["speaker"] == "assistant")


def scored(result: Replayed, foreign: frozenset[str] = frozenset()) -> Scored:
    """Scored as if these turns were no evidence; questions that then have none are left out."""
    kept = [
        (one.gold - foreign, turns, memories, both)
        for one, turns, memories, both in zip(
            result.questions, result.of_turns, result.of_memories, result.of_both, strict=True
        )
        if one.gold - foreign
    ]
    return Scored(
        result,
        [_recall(turns, gold) for gold, turns, _, _ in kept],
        [_recall(memories, gold) for gold, _, memories, _ in kept],
        [_recall([turns[:1] for turns in memories], gold) for gold, _, memories, _ in kept],
        [_recall(both, gold) for gold, *_, both in kept],
        [_recall([turns[:1] for turns in both], gold) for gold, *_, both in kept],
    )


def _recall(hits: Sequence[Sequence[str]], gold: Collection[str]) -> float:
    credited = [turn for turns in hits for turn in turns]
    return recall_at(len(credited), credited, gold)


def _table(title: str, scores: Sequence[Scored]) -> Table:
    rows = [_row(one.result.conversation.name, [one]) for one in scores]
    count = sum(len(one.of_turns) for one in scores)
    note = f"{count} questions, adversarial ones left out; learned by rules, without a model."
    return Table(title, COLUMNS, [*rows, _row("all", scores)], note)


def _row(name: str, scores: Sequence[Scored]) -> Row:
    results = [one.result for one in scores]
    turns = sum(len(one.conversation.ids) for one in results)
    of_turns, of_memories, of_first, of_both, of_both_first = _means(scores)
    return (
        name,
        turns,
        sum(one.memories for one in results),
        round(100 * of_turns, 1),
        round(100 * of_memories, 1),
        round(100 * of_memories / of_turns, 1),
        round(100 * of_first, 1),
        round(100 * of_both, 1),
        round(100 * of_both_first, 1),
        round(100 * _share(results), 1),
        round(1000 * sum(one.seconds for one in results) / turns, 2),
    )


def _means(scores: Sequence[Scored]) -> tuple[float, float, float, float, float]:
    """Over all questions."""
    return (
        mean(score for one in scores for score in one.of_turns),
        mean(score for one in scores for score in one.of_memories),
        mean(score for one in scores for score in one.of_first),
        mean(score for one in scores for score in one.of_both),
        mean(score for one in scores for score in one.of_both_first),
    )


def _share(results: Sequence[Replayed]) -> float:
    return sum(one.kept for one in results) / sum(one.said for one in results)


def _targets(name: str, results: Sequence[Replayed]) -> list[Target]:
    """Of extraction's speed everywhere; of what it keeps where people talk as they do."""
    turns = sum(len(one.conversation.ids) for one in results)
    speed = 1000 * sum(one.seconds for one in results) / turns
    targets = [Target(f"{name} replayed: CPU ms of extraction a turn", speed, MILLISECONDS)]
    of_turns, of_memories, _, of_both, _ = _means([scored(one) for one in results])
    what = f"{name} replayed: recall@10 of both layers as a share of the turns'"
    targets.append(Target(what, of_both / of_turns, 1.0, at_most=False))
    if name == "locomo":
        what = f"{name} replayed: recall@10 as a share of the turns'"
        targets += [
            Target(what, of_memories / of_turns, SHARE_OF_RECALL, at_most=False),
            Target(f"{name} replayed: share of the text kept", _share(results), SHARE_OF_TEXT),
        ]
    return targets
