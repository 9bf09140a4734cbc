"""Conversations with questions: the shared data sets, or the small one of our own."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

VARIABLE = "KINMEM_BENCH_DATA"
NAMED = os.environ.pop(VARIABLE, "")
"""Taken out of the environment: kinmem refuses KINMEM_ variables that are none of its settings."""
SHARED = Path(__file__).parents[2] / "shared" / "data"
OWN = Path(__file__).with_name("own")
ABSTENTION = "abstention"
"""The own set in which half of the questions have no answer; it measures no retrieval."""

NEIGHBOUR_CHARACTERS = 200
ADVERSARIAL = "adversarial"
"""Category of questions that have no true answer."""

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
ISO = re.compile(r"\d{4}-\d\d-\d\d")
DAY_FIRST = re.compile(r"(?P<day>\d{1,2}) (?P<month>[A-Za-z]+),? (?P<year>\d{4})")
MONTH_FIRST = re.compile(r"(?P<month>[A-Za-z]+)-(?P<day>\d{1,2})-(?P<year>\d{4})")


@dataclass(frozen=True)
class Question:
    """A question and the turns that answer it."""

    text: str
    gold: frozenset[str]
    category: str


@dataclass(frozen=True)
class Conversation:
    """What one Kin is told, and what it is asked afterwards."""

    name: str
    ids: list[str]
    """Of the turns, in order."""
    notes: list[Mapping[str, Any]]
    """The turns as memorize takes them, side by side with `ids`."""
    sessions: list[str]
    """In which session each was said."""
    questions: list[Question]


def data_sets() -> dict[str, list[Conversation]]:
    """By name: those of KINMEM_BENCH_DATA, else of ../shared/data, else the own one."""
    folder = Path(NAMED).expanduser() if NAMED else SHARED
    found = dict(_sets(folder / "retrieval"))
    if NAMED and not found:
        raise SystemExit(f"{VARIABLE} is {NAMED}, where there is no retrieval/<set>/*.json")
    return found or own_set()


def pairs_folder() -> Path:
    """Where judged pairs of sentences are, if there are any."""
    return (Path(NAMED).expanduser() if NAMED else SHARED) / "pairs"


def own_set() -> dict[str, list[Conversation]]:
    """The set that comes with the benchmarks."""
    return {name: found for name, found in _sets(OWN) if name != ABSTENTION}


def abstention_set() -> list[Conversation]:
    """Own memories with questions, of which those without gold have no answer there."""
    return dict(_sets(OWN))[ABSTENTION]


def _sets(folder: Path) -> Iterator[tuple[str, list[Conversation]]]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        files = sorted(path.glob("*.json"))
        if files:
            yield path.name, [conversation(file) for file in files]


def conversation(file: Path) -> Conversation:
    """One file; ../shared/data/README.md has its form."""
    document = json.loads(file.read_text(encoding="utf-8"))
    turns = document["docs"]
    questions = [
        Question(q["text"], frozenset(q["gold"]), q["category"]) for q in document["queries"]
    ]
    return Conversation(
        name=document["name"],
        ids=[turn["id"] for turn in turns],
        notes=_notes(turns),
        sessions=[str(turn.get("session", "")) for turn in turns],
        questions=questions,
    )


def _notes(turns: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    notes: list[Mapping[str, Any]] = []
    days: dict[object, str | None] = {}
    for at, turn in enumerate(turns):
        session = turn.get("session")
        if session is None:  # a statement that stands alone
            notes.append({"content": turn["text"], "occurred_at": turn["date"]})
            continue
        days[session] = day(turn["date"]) or days.get(session)
        around = [
            turns[other]["text"][:NEIGHBOUR_CHARACTERS]
            for other in (at - 1, at + 1)
            if 0 <= other < len(turns) and turns[other]["session"] == session
        ]
        notes.append(
            {
                "content": turn["text"],
                "speaker": turn["speaker"],
                "occurred_at": days[session],
                "source_context": "\n".join(around),
            }
        )
    return notes


def day(text: str) -> str | None:
    """The ISO date in "1:56 pm on 8 May, 2023" or "March-15-2024"; None where there is none."""
    if ISO.fullmatch(text):
        return text
    match = DAY_FIRST.search(text) or MONTH_FIRST.search(text)
    if match is None:
        return None
    month = MONTHS.index(match["month"][:3].lower()) + 1
    return date(int(match["year"]), month, int(match["day"])).isoformat()
