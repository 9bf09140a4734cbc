"""What ends and what does not: pairs that look like updates, updates, and whole chats.

The pairs (tests/corpora/lookalikes.jsonl) were written by somebody who had seen no code. Each is
told twice, months apart: by memorize and in two conversations. The chats are those of the shared
set that have labelled updates: every turn of a person is replayed, and all that ended is listed.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.data import Conversation, Question, data_sets
from benchmarks.kins import fresh_kin
from benchmarks.now import IN_MEMORY, Clock
from benchmarks.report import Row, Table, Target
from kinmem.clock import parse_time
from kinmem.llm.base import Embedder
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.models import Memory, State
from kinmem.service import Service

PAIRS = Path(__file__).parents[1] / "tests/corpora/lookalikes.jsonl"
VARIABLE = "KINMEM_BENCH_PAIRS"
NAMED = os.environ.pop(VARIABLE, "")
"""Another file of pairs; taken out of the environment as in data.py."""
TOLD = datetime(2026, 1, 20, 9, tzinfo=UTC), datetime(2026, 5, 4, 9, tzinfo=UTC)
FLAGGED = 0.02
UPDATES = "knowledge_update"
FATES = ("ended", "flagged", "neither")
KINDS = ("kind", "pairs", "ended", "flagged", "neither", "ended", "flagged", "neither")
CHATS = ("chat", "turns", "memories", "ended", "flagged", "labelled", "noticed")


@dataclass(frozen=True)
class Chat:
    """What became of one conversation."""

    conversation: Conversation
    turns: int
    memories: int
    ended: Sequence[tuple[Memory, Memory]]
    """What ended, and what took its place."""
    flagged: Sequence[tuple[Memory, Memory]]

    @property
    def labelled(self) -> list[Question]:
        """Its questions about something that changed, which two turns or more tell of."""
        asked = self.conversation.questions
        return [one for one in asked if one.category == UPDATES and len(one.gold) > 1]

    def found(self, question: Question) -> list[tuple[Memory, Memory]]:
        """The changes that were noticed between turns that answer the question."""
        return [
            pair
            for pair in (*self.ended, *self.flagged)
            if all(question.gold.intersection(one.turns) for one in pair)
        ]


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """The pairs, and without `short` the chats."""
    embedder = BuiltinEmbedder()
    pairs, targets = _of_pairs(embedder)
    tables = [pairs]
    if not short:
        sets = [one for found in data_sets().values() for one in found]
        chats = [replayed(one, embedder) for one in sets if _has_updates(one)]
        if chats:
            tables.append(_of_chats(chats))
    return tables, targets


def _of_pairs(embedder: Embedder) -> tuple[Table, list[Target]]:
    pairs = [
        json.loads(line) for line in Path(NAMED or PAIRS).read_text(encoding="utf-8").splitlines()
    ]
    found: Counter[tuple[str, str, str]] = Counter()
    for pair in pairs:
        kind = pair["kind"] if pair["label"] == "keep" else f"update, {pair['kind']}"
        found["memorize", kind, memorized(pair["old"], pair["new"], embedder)] += 1
        found["turns", kind, talked(pair["old"], pair["new"], embedder)] += 1
    kinds = sorted({kind for _, kind, _ in found}, key=lambda kind: (kind.startswith("up"), kind))
    keep = [kind for kind in kinds if not kind.startswith("update")]
    rows = [_row(kind, [kind], found) for kind in kinds]
    rows.insert(len(keep), _row("**all to keep**", keep, found))
    note = "Memorized, then told in turns: what became of the first statement of each pair."
    told = ("memorize", "turns")
    targets = [
        Target(f"{way}: ended wrongly", sum(found[way, kind, "ended"] for kind in keep), 0)
        for way in told
    ]
    count = sum(found["memorize", kind, fate] for kind in keep for fate in FATES)
    targets += [
        Target(
            f"{way}: flagged wrongly, share",
            sum(found[way, kind, "flagged"] for kind in keep) / max(1, count),
            FLAGGED,
        )
        for way in told
    ]
    return Table("What ends", KINDS, rows, note), targets


def _row(name: str, kinds: Sequence[str], found: Counter[tuple[str, str, str]]) -> Row:
    counts = [
        sum(found[way, kind, fate] for kind in kinds)
        for way in ("memorize", "turns")
        for fate in FATES
    ]
    return (name, sum(counts[: len(FATES)]), *counts)


def memorized(old: str, new: str, embedder: Embedder) -> str:
    """What becomes of a statement when the other one is memorized later."""
    clock = Clock()
    with fresh_kin(embedder, clock, IN_MEMORY) as kin:
        clock.now = TOLD[0]
        older = kin.memorize(old).id
        clock.now = TOLD[1]
        kin.memorize(new)
        return _fate(kin, [str(older)])


def talked(old: str, new: str, embedder: Embedder) -> str:
    """What becomes of what was learned from the first turn when the other one is said."""
    clock = Clock()
    with fresh_kin(embedder, clock, IN_MEMORY) as kin:
        older: list[str] = []
        for at, text in zip(TOLD, (old, new), strict=True):
            clock.now = at
            kin.record_turn(f"on {at:%d %B}", text, "OK.", turn="1", at=at)
            kin.settle()
            older = older or [one.id for one in kin.list_memories().memories]
        return _fate(kin, older)


def _fate(kin: Service, ids: Sequence[str]) -> str:
    if any(kin.get(id).state is State.SUPERSEDED for id in ids):
        return "ended"
    return "flagged" if kin.store.decisions.conflicts() else "neither"


def _has_updates(conversation: Conversation) -> bool:
    return any(question.category == UPDATES for question in conversation.questions)


def replayed(conversation: Conversation, embedder: Embedder) -> Chat:
    """One chat, said turn by turn by the people in it."""
    clock, turns = Clock(), 0
    with fresh_kin(embedder, clock, IN_MEMORY) as kin:
        told = zip(conversation.ids, conversation.notes, conversation.sessions, strict=True)
        for id, note, session in told:
            if note.get("speaker") == "assistant":
                continue
            if note.get("occurred_at"):
                clock.now = max(clock.now, parse_time(note["occurred_at"], UTC))
            kin.record_turn(session, note["content"], "OK.", turn=id, at=clock.now)
            kin.settle()
            turns += 1
        known = {one.id: one for one in _all(kin)}
        conflicts = kin.store.decisions.conflicts()
        ended = [
            (one, known[one.superseded_by])
            for one in known.values()
            if one.superseded_by in known and one.content != known[one.superseded_by].content
        ]
        flagged = [
            (known[one.older], known[one.newer])
            for one in conflicts
            if one.older in known and one.newer in known
        ]
    return Chat(conversation, turns, len(known), ended, flagged)


def _all(kin: Service) -> Iterator[Memory]:
    for state in (None, State.SUPERSEDED):
        cursor = None
        while True:
            page = kin.list_memories(state=state, limit=200, cursor=cursor)
            yield from page.memories
            if (cursor := page.next_cursor) is None:
                break


def _of_chats(chats: Sequence[Chat]) -> Table:
    rows = [
        (
            chat.conversation.name,
            chat.turns,
            chat.memories,
            len(chat.ended),
            len(chat.flagged),
            len(chat.labelled),
            sum(bool(chat.found(question)) for question in chat.labelled),
        )
        for chat in chats
    ]
    totals = [sum(int(row[place] or 0) for row in rows) for place in range(1, len(CHATS))]
    noticed = {
        (older.id, newer.id)
        for chat in chats
        for question in chat.labelled
        for older, newer in chat.found(question)
    }
    said = totals[2] + totals[3]
    precision = f"{len(noticed)} of {said}" if said else "nothing was said to have changed"
    note = (
        "Every turn of a person, replayed on its day. Labelled: questions about something that"
        f" changed. Precision of what ended or was flagged: {precision}; recall {totals[5]} of"
        f" {totals[4]}."
    )
    return Table("Updates in chats", CHATS, [*rows, ("**all**", *totals)], note)
