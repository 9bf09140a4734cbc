"""Rows of training/worlds: what somebody has told so far, and what they say and ask later.

Beside a change, most of what is known is close to it and stays true. The other batches pair a
change with one memory that was written for it; here each saying stands beside the memories that
learning would show to the judge. `python -m scripts.judge.worlds FILE...` looks these up and notes
them in the files, as `near`.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinmem.language import sentences
from kinmem.language.talk.worth import KEPT, LEFT
from kinmem.learn.occasion import worth_judging
from kinmem.learn.worth_keeping import around
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.text import language_of

FOLDER = Path(__file__).parents[2] / "training" / "worlds"
SHOWN = 12
"""Memories beside a saying or a question: more than the judge will be shown, since the nearest of a
small world are far away in a large one."""
AMONG_THEMSELVES = 3
"""Memories beside each memory: all of them are true together."""
OF_REST = 0.6
"""How much it counts that a saying changes nothing of these: nobody has looked at each pair."""
HOLDS_AS_WELL = ("adds", "unrelated")


class Told(NamedTuple):
    """Two texts and the labels that are right for them."""

    head: str
    first: str
    second: str
    right: tuple[str, ...]
    weight: float
    language: str
    batch: str


def of_worlds() -> Iterator[Told]:
    """Yield what the judge learns from each world."""
    for path in sorted(FOLDER.glob("*.json")):
        world = json.loads(path.read_text(encoding="utf-8"))
        yield from _said(world, path.stem)
        yield from _asked(world, path.stem)
        yield from _together(world, path.stem)


def _said(world: dict[str, Any], batch: str) -> Iterator[Told]:
    for one in world["said"]:
        text, language = one["text"], language_of(one["text"])
        if len(sentences(text)) == 1:
            kinds = KEPT if one["keeps"] or one["repeats"] else LEFT
            context = around("", text, 0, len(text))
            yield Told("worth", text, context, kinds, 1.0, language, batch)
        for at in {*one["near"], *one["changes"], *one["repeats"]}:
            right, weight = HOLDS_AS_WELL, OF_REST
            if at in one["changes"]:
                right, weight = ("replaces", "contradicts"), 1.0
            elif at in one["repeats"]:
                right, weight = ("same",), 1.0
            texts = world["memories"][at], text
            yield Told("relation", *texts, right, weight, language, batch)


def _asked(world: dict[str, Any], batch: str) -> Iterator[Told]:
    for one in world["questions"]:
        for at in {*one["near"], *one["answers"]}:
            answers = at in one["answers"]
            right = ("answers",) if answers else ("about", "unrelated")
            texts = one["text"], world["memories"][at]
            weight = 1.0 if answers else OF_REST
            yield Told("answers", *texts, right, weight, language_of(one["text"]), batch)


def _together(world: dict[str, Any], batch: str) -> Iterator[Told]:
    memories = world["memories"]
    for memory, near in zip(memories, world["near"], strict=True):
        for at in near:
            texts = memories[at], memory
            yield Told("relation", *texts, HOLDS_AS_WELL, OF_REST, language_of(memory), batch)


def note_near(path: Path) -> None:
    """Note in a world's file which memories are near each saying, question and memory."""
    world = json.loads(path.read_text(encoding="utf-8"))
    memories, told = world["memories"], [*world["said"], *world["questions"]]
    for one, near in zip(told, _nearest([one["text"] for one in told], memories), strict=True):
        one["near"] = near[:SHOWN]
    among = _nearest(memories, memories)
    world["near"] = [
        [other for other in near if other != at][:AMONG_THEMSELVES] for at, near in enumerate(among)
    ]
    path.write_text(_written(world), encoding="utf-8")


def _nearest(texts: Sequence[str], memories: Sequence[str]) -> list[list[int]]:
    """Return for each text the memories that could be about the same thing, likeliest first."""
    embedder = BuiltinEmbedder()
    known, asked = np.array(embedder.embed(memories)), np.array(embedder.embed(texts))
    scaled = embedder.calibration.scaled
    found = []
    for text, cosines in zip(texts, asked @ known.T, strict=True):
        near = [(memory, scaled(float(one))) for memory, one in zip(memories, cosines, strict=True)]
        shown = worth_judging(text, near, SHOWN)
        by_meaning = (-cosines).argsort().tolist()
        found.append(list(dict.fromkeys([*shown, *by_meaning])))
    return found


def _written(world: dict[str, Any]) -> str:
    """Return the world as JSON with a saying, a question or a memory on each line."""
    parts = []
    for name, value in world.items():
        if isinstance(value, list):
            lines = ",\n".join(f"    {json.dumps(one, ensure_ascii=False)}" for one in value)
            parts.append(f'  "{name}": [\n{lines}\n  ]')
        else:
            parts.append(f'  "{name}": {json.dumps(value, ensure_ascii=False)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        note_near(Path(name))
