"""Train what tells a day to come ("the exam is on Friday") from one of every week ("choir is on
Friday"), from what training/ says with a mark of either.

A logistic regression over the vectors of the built-in embedder. Nobody has labelled the examples:
"tomorrow" and "next Friday" show that something happens once, "every Friday" and "on Fridays" that
it comes again; what is learned is the clause without these words. Run without an option it writes
kinmem/llm/minilm/once.npy; with --check it only measures, each folder by what the other ones teach.
See scripts/README.md.
"""

import argparse
import json
import re
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from kinmem.language.time import time_names  # noqa: E402
from kinmem.language.time.phrases import WINDOW, Anchor, likely_languages  # noqa: E402
from kinmem.language.time.time_names import ONCE, Clause, spoken_grammar  # noqa: E402
from kinmem.llm.base import warm  # noqa: E402
from kinmem.llm.builtin import FOLDER, BuiltinEmbedder  # noqa: E402
from kinmem.text import Plain  # noqa: E402
from scripts.train_places import fitted  # noqa: E402

FOLDERS = ("answers", "cards", "groups", "lives", "pairs", "talk", "worlds")
MADE = ("plain.jsonl", "short.jsonl", "brief.jsonl")
"""From templates, or written after failures."""
LOOKED_AT = ROOT / "tests" / "language" / "corpora" / "weekdays.jsonl"
LONGEST, LEAST = 170, 8
COMING = {"tomorrow", "overmorrow", "coming weekday", "this weekday", "next weekday", "date"}
ARTICLES: dict[str, tuple[str, ...]] = {"fr": ("le",), "it": ("il", "la")}
"""With it a weekday is one of every week there."""


class Example(NamedTuple):
    text: str
    happens_once: bool
    folder: str


def texts(found: Any) -> Iterator[str]:
    """Every text of a training file's line, whatever it is there."""
    if isinstance(found, str):
        yield found
    for part in (
        found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    ):
        yield from texts(part)


def measured() -> frozenset[str]:
    """The sentences by which it is measured; it learns from none of them."""
    with tarfile.open(ROOT / "training" / "weekdays-not-looked-at.tar.xz") as archive:
        unread = b"".join(archive.extractfile(one).read() for one in archive)  # type: ignore[union-attr]
    lines = LOOKED_AT.read_bytes().splitlines() + unread.splitlines()
    return frozenset(json.loads(line)["text"] for line in lines)


def examples() -> list[Example]:
    kept: dict[str, Example] = {}
    held = measured()
    for folder in FOLDERS:
        for file in sorted((ROOT / "training" / folder).glob("*.json*")):
            if file.name in MADE:
                continue
            lines = file.read_text(encoding="utf-8")
            read = (
                [json.loads(lines)]
                if file.suffix == ".json"
                else map(json.loads, lines.splitlines())
            )
            for text in texts(list(read)):
                if len(text) > LONGEST or "?" in text or text.strip() in held:
                    continue
                if one := _example(text, folder):
                    kept.setdefault(one.text, one)
    return list(kept.values())


def _example(text: str, folder: str) -> Example | None:
    """What is said with the one mark of a text; None where it has none, or several."""
    plain = Plain.of(text)
    for language in likely_languages(plain):
        speech = spoken_grammar(language)
        days = "|".join(day for names in language.table["weekdays"] for day in names.split("|"))
        weekly = [
            Anchor("weekly", one.start(), one.end(), None)  # type: ignore[arg-type]
            for one in re.finditer(rf"\b(?:{days})s\b", plain.text)
        ]
        marks = [*speech.anchors(plain.text), *weekly]
        if len(marks) != 1:
            continue
        (mark,) = marks
        low = max(0, mark.start - WINDOW)
        link = speech.link.search(plain.text, low, mark.start)
        habit = time_names.HABIT.search(plain.text, low, mark.start)
        start = (habit or link).start() if habit or link else mark.start  # type: ignore[union-attr]
        clause = Clause.of(mark, text, plain, language, ())
        article = link is not None and link[0].strip() in ARTICLES.get(language.name, ())
        if mark.meaning == "weekly" or (mark.meaning == "weekday" and (habit or article)):
            happens_once = False
        elif mark.meaning in COMING and not clause.tense.past and not habit:
            happens_once = True
        else:
            continue
        rest = clause.without(max(start, clause.start), mark.end)
        return Example(rest, happens_once, folder) if len(rest) >= LEAST else None
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="measure, and write nothing")
    only_measured = parser.parse_args().check
    known = examples()
    warm(embedder := BuiltinEmbedder())
    rows = embedder.embed([one.text for one in known]).astype(np.float64)
    once = np.array([one.happens_once for one in known])
    if not only_measured:
        fitted(rows, once).write(FOLDER / "once.npy")
        return
    for folder in FOLDERS:
        held = np.array([one.folder == folder for one in known])
        probe = fitted(rows[~held], once[~held])
        taken = np.array([probe.chance(row) >= ONCE for row in rows[held]])
        right, wrong = taken & once[held], taken & ~once[held]
        count = once[held].sum()
        print(f"{folder}: {right.sum()} of {count}, {wrong.sum()} of {held.sum() - count} wrongly")


if __name__ == "__main__":
    main()
