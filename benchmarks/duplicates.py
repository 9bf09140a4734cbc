"""What memorize took for a duplicate or a contradiction, in real talk and in judged pairs."""

from collections.abc import Sequence

from benchmarks import verdicts
from benchmarks.baselines import Remembering
from benchmarks.data import Conversation, data_sets, own_set
from benchmarks.kins import fresh_kin
from benchmarks.report import Row, Table, Target
from benchmarks.retrieval import LIMIT, recalls
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import Stored
from kinmem.service import Service

COLUMNS = ("conversation", "turns", "duplicate_of", "superseded", "questions that lost gold")


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """Every conversation, stored at once; the shortest of each set once more, one by one."""
    tables = []
    for name, conversations in (own_set() if short else data_sets()).items():
        rows = [counted(conversation) for conversation in conversations]
        shortest = min(conversations, key=lambda one: len(one.ids))
        same, asked = same_either_way(shortest)
        note = (
            f"{shortest.name} stored turn by turn instead of at once answered {same} of {asked}"
            " questions with the same turns in the same order."
        )
        tables.append(Table(f"Duplicates, {name}", COLUMNS, rows, note))
    judged, targets = verdicts.measure(short)
    return [*tables, *judged], targets


def counted(conversation: Conversation) -> Row:
    """What became of each turn."""
    with fresh_kin() as kin:
        stored = kin.memorize_many(conversation.notes)
        kin.settle()
        gone = {one.id for one in kin.list_memories(state="superseded", limit=200).memories}
        kept = {
            id
            for one, id in zip(stored, conversation.ids, strict=True)
            if one.status == "created" and one.id not in gone
        }
        known = sum(one.status == "duplicate_of" for one in stored)
        lost = sum(not question.gold <= kept for question in conversation.questions)
        return conversation.name, len(stored), known, len(gone), lost


def same_either_way(conversation: Conversation) -> tuple[int, int]:
    """How many questions memorize and memorize_many answer alike, and how many there are."""
    embedder = Remembering(BuiltinEmbedder())
    with fresh_kin(embedder) as at_once, fresh_kin(embedder) as one_by_one:
        many = at_once.memorize_many(conversation.notes)
        at_once.settle()
        single = [one_by_one.memorize(**note) for note in conversation.notes]
        ours = _answers(at_once, many, conversation)
        theirs = _answers(one_by_one, single, conversation)
    return sum(a == b for a, b in zip(ours, theirs, strict=True)), len(ours)


def _answers(kin: Service, stored: Sequence[Stored], conversation: Conversation) -> list[list[str]]:
    ask = recalls(kin, stored, conversation.ids)
    return [ask(question.text, LIMIT) for question in conversation.questions]
