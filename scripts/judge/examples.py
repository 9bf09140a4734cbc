"""What the judge learns from: training/, as rows for its four heads.

A file is a batch by one writer. The batches in VALIDATION choose temperatures and thresholds and
are never trained on; what tests the judge is kept outside of the repository.
"""

import json
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinmem.learn.worth_keeping import around

FOLDER = Path(__file__).parents[2] / "training"
RELATIONS = ("same", "replaces", "contradicts", "adds", "unrelated")
ANSWERS = ("answers", "about", "unrelated")
KINDS = (
    *("fact", "identity", "preference", "rule", "decision", "plan", "event", "relationship"),
    *("knowledge", "task", "question", "smalltalk", "feedback", "hypothetical", "wish", "joke"),
    *("others_words", "transient", "error", "log", "table", "paste"),
)
LABELS = {
    "relation": RELATIONS,
    "answers": ANSWERS,
    "worth": KINDS,
    "commands": ("harmless", "commands"),
}
VALIDATION = frozenset(
    {"pairs-2", "answers-2", "mixed", "commands-1", "cards-2", "groups-en-3", "groups-mixed"}
    | {"near-pt", "conversations", "circles-kept"}
)
NAMES = (
    *("Ana", "Ben", "Chen", "Dora", "Emil", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kim"),
    *("Lea", "Marco", "Nadia", "Omar", "Priya", "Quinn", "Rosa", "Sam", "Tom", "Uta", "Vera"),
    *("Wen", "Yuki", "Zoe"),
)
EITHER = -1
"""One of the last two labels of a head, and the writer did not say which: of two statements that
are true together, one adds to the other or has nothing to do with it; a memory that does not answer
may be about the question."""
OF_GROUP = 48
"""Pairs that are drawn of one group of such statements; in three of four the later one is
second."""
UNANSWERING, COUNTS = 4, 0.6
"""Statements of a circle that are drawn for one of its questions and do not answer it, though they
share names with it, and how much each counts."""
LOOKALIKES = {"keep": ("unrelated", 0.6), "update": ("replaces", 1.0)}
"""What the labels of pairs/lookalikes.jsonl are here; a look-alike may add as well."""
TURNED_ROUND = {"same": 1.0, "contradicts": 0.7, "adds": 0.8}
"""How much a label counts for a pair in the other order, where it says as much of that."""


@dataclass(frozen=True)
class Row:
    head: str
    first: str
    second: str | None
    label: int
    weight: float
    """How much the label counts: less where it follows from another one."""
    language: str
    batch: str


def rows(seed: int = 3) -> tuple[list[Row], list[Row]]:
    """What is trained on, and the validation batches; each text or pair once."""
    chance = random.Random(seed)
    found: dict[tuple[str, str, str | None], Row] = {}
    for row in _all(chance):
        found.setdefault((row.head, row.first, row.second), row)
    trained = [row for row in found.values() if row.batch not in VALIDATION]
    return trained, [row for row in found.values() if row.batch in VALIDATION]


def recent(trained: Sequence[Row], batches: Collection[str], seed: int) -> list[Row]:
    """The rows of these batches, and as many of the others, so that the judge forgets nothing."""
    new = [row for row in trained if row.batch in batches]
    known = [row for row in trained if row.batch not in batches]
    return new + random.Random(seed).sample(known, min(len(known), len(new)))


def said_along(kinds: Collection[str], longest: int = 110) -> dict[str, list[str]]:
    """Sentences of talk of these kinds, by language, of batches that are trained on."""
    found: dict[str, list[str]] = {}
    for batch, line in _lines("talk"):
        for told in line["skip"] if batch not in VALIDATION else ():
            if told["kind"] in kinds and len(told["quote"]) <= longest:
                found.setdefault(line.get("lang", "en"), []).append(told["quote"])
    return found


def _all(chance: random.Random) -> Iterator[Row]:
    for batch, line in _lines("pairs"):
        label, weight = LOOKALIKES.get(line["label"], (line["label"], 1.0))
        yield _row("relation", line["old"], line["new"], label, weight, line, batch)
        if weight := weight * TURNED_ROUND.get(label, 0.0):
            yield _row("relation", line["new"], line["old"], label, weight, line, batch)
    yield from _cards(chance)
    for batch, group in _lines("together"):
        yield from _together(batch, group, chance)
    for batch, line in _lines("answers"):
        yield _row("answers", line["question"], line["memory"], line["label"], 1.0, line, batch)
    for batch, circle in _lines("circles"):
        if batch not in VALIDATION:
            yield from _asked(batch, circle, chance)
    for batch, line in _lines("talk"):
        for told in (*line["learn"], *line["skip"]):
            quote, message = told["quote"], line["text"]
            start = message.index(quote)
            context = around(line.get("before") or "", message, start, start + len(quote))
            yield _row("worth", quote, context, told["kind"], 1.0, line, batch)
    for batch, line in _lines("commands"):
        yield _row("commands", line["text"], None, line["label"], 1.0, line, batch)


def _lines(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((FOLDER / folder).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield path.stem, json.loads(line)


def _row(
    head: str,
    first: str,
    second: str | None,
    label: str,
    weight: float,
    line: Mapping[str, Any],
    batch: str,
) -> Row:
    number = LABELS[head].index(label)
    return Row(head, first, second, number, weight, line.get("lang", "en"), batch)


def _cards(chance: random.Random) -> Iterator[Row]:
    """Of cards/, which have questions as well, and of groups/, which have statements alone."""
    batches: dict[str, list[dict[str, Any]]] = {}
    for batch, card in (*_lines("cards"), *_lines("groups")):
        batches.setdefault(batch, []).append(card)
    for batch, cards in batches.items():
        for number, card in enumerate(cards):
            other = cards[(number * 7 + 3) % len(cards)]["memory"]
            if other == card["memory"]:
                other = cards[number - 1]["memory"]
            for head, first, second, label, weight in _of_card(card, other, chance):
                yield _row(head, first, second, label, weight, card, batch)


def _together(batch: str, group: Mapping[str, Any], chance: random.Random) -> Iterator[Row]:
    """Statements of a group that are all true, and what was said later, which changes one or
    none."""
    told, language = group["statements"], group["lang"]
    pairs = [(one, other) for at, one in enumerate(told) for other in told[at + 1 :]]
    for one, other in chance.sample(pairs, min(len(pairs), OF_GROUP)):
        first, second = (one, other) if chance.random() < 0.75 else (other, one)
        yield Row("relation", first, second, EITHER, 1.0, language, batch)
    replaces = RELATIONS.index("replaces")
    for later in group.get("later", ()):
        for at, one in enumerate(told):
            label, weight = (replaces, 1.5) if at in later["changes"] else (EITHER, 1.0)
            yield Row("relation", one, later["text"], label, weight, language, batch)


def _asked(batch: str, circle: Mapping[str, Any], chance: random.Random) -> Iterator[Row]:
    """The questions about a circle, half of which nothing in it answers."""
    told, language = circle["statements"], circle["lang"]
    for question in circle["questions"]:
        others = [one for at, one in enumerate(told) if at not in question["answers"]]
        for at in question["answers"]:
            yield Row("answers", question["q"], told[at], 0, 1.0, language, batch)
        for one in chance.sample(others, min(len(others), UNANSWERING)):
            yield Row("answers", question["q"], one, EITHER, COUNTS, language, batch)


Labelled = tuple[str, str, str, str, float]


def _of_card(card: Mapping[str, Any], other: str, chance: random.Random) -> Iterator[Labelled]:
    yield from _relations(card, other, chance)
    if "answered" in card:
        yield from _answers(card, other, chance)


def _relations(card: Mapping[str, Any], other: str, chance: random.Random) -> Iterator[Labelled]:
    memory, same = card["memory"], card["same"]
    for at, text in enumerate(same):
        yield "relation", memory, text, "same", 1.0
        yield "relation", text, memory, "same", 1.0
        for again in same[at + 1 :]:
            yield "relation", text, again, "same", 1.0
    for text in card["replaces"]:
        yield "relation", memory, text, "replaces", 1.0
        yield "relation", chance.choice(same or [memory]), text, "replaces", 0.7
    for label in ("contradicts", "adds"):
        for text in card[label]:
            yield "relation", memory, text, label, 1.0
            yield "relation", text, memory, label, TURNED_ROUND[label]
    for text in card["unrelated"]:
        yield "relation", memory, text, "unrelated", 1.0
    for text in card.get("off", ()):
        yield "relation", memory, text, "unrelated", 0.3
    yield "relation", memory, other, "unrelated", 0.5


def _answers(card: Mapping[str, Any], other: str, chance: random.Random) -> Iterator[Labelled]:
    memory, same = card["memory"], card["same"] or [card["memory"]]
    for question in card["answered"]:
        yield "answers", question, _said(memory, chance), "answers", 1.0
        yield "answers", question, _said(chance.choice(same), chance), "answers", 1.0
        if card["replaces"]:
            yield "answers", question, _said(card["replaces"][0], chance), "answers", 0.5
        if card["unrelated"]:
            near = chance.choice(card["unrelated"])
            yield "answers", question, _said(near, chance), "about", 0.3
        yield "answers", question, _said(other, chance), "unrelated", 0.7
    for question in card["about"]:
        yield "answers", question, _said(memory, chance), "about", 1.0
        yield "answers", question, _said(chance.choice(same), chance), "about", 0.5
    for question in card["off"]:
        yield "answers", question, _said(memory, chance), "unrelated", 1.0
    yield "answers", chance.choice(card["about"]), _said(other, chance), "unrelated", 0.7


def _said(text: str, chance: random.Random) -> str:
    """As recall shows a memory to the judge: with who said it and when, where that is known."""
    day = f"{chance.choice((2023, 2024, 2025, 2026))}-{chance.randrange(1, 13):02d}"
    day += f"-{chance.randrange(1, 29):02d}"
    drawn = chance.random()
    if drawn < 0.25:
        return f"{text} (said by {chance.choice(NAMES)} on {day})"
    return f"{text} ({day})" if drawn < 0.4 else text
