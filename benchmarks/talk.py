"""What is learned from talk: which statements become memories, and which should not have.

KINMEM_BENCH_TALK names a file of messages, each a line of JSON as in training/talk: what is to be
learned of it and what is not, by kind. Without it, it is the messages that the judge was trained
with, and the numbers are higher than those of talk it has not seen.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.kins import fresh_kin
from benchmarks.report import Table, Target
from kinmem.models import Memory
from kinmem.service import Service
from kinmem.text import content_words

FILE = Path(__file__).parent.parent / "training" / "talk" / "messages.jsonl"
SHORT = 40
"""Messages of the short run."""
AT = datetime(2026, 3, 4, 9, tzinfo=UTC)
HELD, SHARED = 0.6, 0.5
"""Share of the words of a quote that a memory must hold; and of a memory that a quote must."""

UNREAL = ("hypothetical", "others_words")

Row = dict[str, Any]


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """With and without the judge: what was learned of each kind, and what should not have been."""
    path = Path(os.environ.get("KINMEM_BENCH_TALK", FILE))
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = rows[:SHORT] if short else rows
    tables = []
    for setting in ("on", "off"):
        memories = _learned(rows, setting)
        title = f"Learning from talk: {path.stem}, {len(rows)} messages, judge {setting}"
        tables.append(Table(title, ("what", "count", "share"), list(_lines(rows, memories))))
    return tables, []


def _lines(rows: list[Row], memories: list[Memory]) -> Iterator[tuple[str, str, str]]:
    held, wanted = _found(rows, memories)
    wrong, offered = _wrong(rows, memories), _kinds(rows, "skip")
    unreal = sum(wrong[kind] for kind in UNREAL)
    yield _line("to be learned", held.total(), wanted.total())
    yield _line("memories of nothing to be learned", wrong.total(), len(memories))
    yield _line("memories of hypotheticals and others' words", unreal, len(memories))
    for kind in sorted(wanted):
        yield _line(f"learned: {kind}", held[kind], wanted[kind])
    for kind in sorted(offered | wrong):
        yield _line(f"not to be: {kind}", wrong[kind], offered[kind])


def _line(what: str, count: int, total: int) -> tuple[str, str, str]:
    return what, f"{count} of {total}", f"{count / max(1, total):.1%}"


def _learned(rows: list[Row], judge: str) -> list[Memory]:
    """What a fresh Kin remembers of these messages, each in a session of its own."""
    with fresh_kin(KINMEM_JUDGE=judge) as kin:
        for number, row in enumerate(rows):
            if row["before"]:
                kin.record_turn(str(number), "Hello.", row["before"], turn="0", at=AT)
            kin.record_turn(str(number), row["text"], "OK.", turn="1", at=AT)
        kin.settle()
        return _all(kin)


def _all(kin: Service) -> list[Memory]:
    page = kin.list_memories(limit=200)
    found = [*page.memories]
    while page.next_cursor:
        page = kin.list_memories(limit=200, cursor=page.next_cursor)
        found += page.memories
    return found


def _kinds(rows: list[Row], name: str) -> Counter[str]:
    return Counter(quote["kind"] for row in rows for quote in row[name])


def _found(rows: list[Row], memories: list[Memory]) -> tuple[Counter[str], Counter[str]]:
    """Of each kind that is to be learned, how many are remembered; wherever they were said."""
    held = Counter(
        quote["kind"]
        for row in rows
        for quote in row["learn"]
        if any(_holds(memory.content, quote["quote"]) for memory in memories)
    )
    return held, _kinds(rows, "learn")


def _wrong(rows: list[Row], memories: list[Memory]) -> Counter[str]:
    """The memories that hold nothing which was to be learned, by the kind of what they hold."""
    wrong: Counter[str] = Counter()
    for memory in memories:
        row, text = rows[int(memory.session or 0)], memory.content
        if any(_shares(text, quote["quote"]) for quote in row["learn"]):
            continue
        kinds = [quote["kind"] for quote in row["skip"] if _shares(text, quote["quote"])]
        wrong[kinds[0] if kinds else "none of these"] += 1
    return wrong


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .,;")


def _holds(content: str, quote: str) -> bool:
    words = set(content_words(quote))
    share = len(words & set(content_words(content)))
    return _plain(quote) in _plain(content) or bool(words) and share >= HELD * len(words)


def _shares(content: str, quote: str) -> bool:
    words = set(content_words(content))
    share = len(words & set(content_words(quote)))
    is_part = _plain(content) in _plain(quote) or bool(words) and share >= SHARED * len(words)
    return is_part or _holds(content, quote)
