"""Whether a working prompt is told what it needs, and an unrelated one nothing.

Five worlds of twenty memories with ten working prompts and five unrelated ones each, in four
languages (benchmarks/corpora/prompts.json; another file of that form in KINMEM_PROMPTS). Each
prompt stands in a session of its own: after an opening, as clients with hooks have it, without one,
and after the opening of a memory that has all worlds in it and does not fit into an opening.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.kins import fresh_kin
from benchmarks.report import Row, Table, Target
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.service import Service

FILE = Path(__file__).parent / "corpora" / "prompts.json"
NAMED = "KINMEM_PROMPTS"
CATEGORIES = {"rule": "preference"}
"""What kinmem calls a rule."""
COMPLETE, RELEVANT = 0.85, 0.8
COMPLETED = ("complete", "prompts")
COLUMNS = (
    *(
        "begins with",
        "language",
        "prompts",
        "got all they need",
        "lines beside",
        "of them relevant",
    ),
    *("rules told once", "of them relevant", "unrelated", "unrelated answered"),
)
World = Mapping[str, Any]


@dataclass(frozen=True)
class Heard:
    """What one session was told."""

    once: list[str]
    """At its start, or with the first prompt whatever it is."""
    beside: list[str]
    """Because of the prompt. What is of another world is called ""."""


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """The table by language, and the promised shares."""
    del short
    worlds = _worlds(Path(os.environ.get(NAMED, FILE)))
    embedder = BuiltinEmbedder()
    counts: dict[tuple[str, str], Counter[str]] = {}
    for world in worlds:
        others = [one for other in worlds if other is not world for one in other["memories"]]
        small = _counted(world, (), ("opening", "prompt"), embedder)
        large = _counted(world, others, ("opening of many",), embedder)
        for begins, found in (*small, *large):
            for language in (world["lang"], "all"):
                counts.setdefault((begins, language), Counter()).update(found)
    rows = [_row(begins, language, found) for (begins, language), found in sorted(counts.items())]
    table = Table("Notes beside a working prompt", COLUMNS, rows, __doc__.split("\n")[0])
    opened, bare = counts["opening", "all"], counts["prompt", "all"]
    return [table], [
        Target("prompts that got all", _share(opened, *COMPLETED), COMPLETE, False),
        # an opening leaves nothing to be told: the lines are those of sessions without one, with
        # the rules told once, which are relevant if any prompt of their world needs them
        Target("told lines relevant", _of_all(bare), RELEVANT, False),
        Target(
            "prompts that got all, without an opening", _share(bare, *COMPLETED), COMPLETE, False
        ),
        Target("unrelated prompts answered", opened["answered"] + bare["answered"], 0),
    ]


def _worlds(file: Path) -> list[World]:
    """As they are stored; a prompt that no memory is fine for may leave that out."""
    worlds: list[World] = json.loads(file.read_text(encoding="utf-8"))
    return [
        {**world, "prompts": [{"fine": [], **prompt} for prompt in world["prompts"]]}
        for world in worlds
    ]


def _counted(
    world: World, others: Iterable[World], modes: Iterable[str], embedder: BuiltinEmbedder
) -> Iterator[tuple[str, Counter[str]]]:
    with TemporaryDirectory() as folder, fresh_kin(embedder) as kin:
        (Path(folder) / ".git").mkdir()
        kin.here = str(Path(folder).resolve())
        ids = _memorized(world["memories"], kin)
        ids |= dict.fromkeys(_memorized(others, kin), "")
        kin.settle()
        used = {id for prompt in world["prompts"] for id in (*prompt["needs"], *prompt["fine"])}
        used |= {one["id"] for one in world["memories"] if one.get("standing")}
        for begins in modes:
            counts: Counter[str] = Counter()
            for at, prompt in enumerate(world["prompts"]):
                heard = _heard(kin, ids, folder, f"{begins} {at}", prompt["text"])
                helps = {*prompt["needs"], *prompt["fine"]}
                counts += _count(heard, set(prompt["needs"]), helps, used)
            for at, text in enumerate(world["unrelated"]):
                heard = _heard(kin, ids, folder, f"{begins} unrelated {at}", text)
                counts += Counter(unrelated=1, answered=bool(heard.beside))
            yield begins, counts


def _memorized(memories: Iterable[World], kin: Service) -> dict[str, str]:
    """By the ids under which they stand those of the set."""
    return {
        kin.memorize(one["text"], category=CATEGORIES.get(one["category"], one["category"])).id
        or "": one["id"]
        for one in memories
    }


def _heard(kin: Service, ids: Mapping[str, str], folder: str, session: str, text: str) -> Heard:
    shown = kin.store.shown.of
    if session.startswith("opening"):
        kin.opening(session, place=folder)
    else:  # what stands in a first block whatever it is asked
        kin.observe("prompt", session, "first", "Hm.", place=folder)
    first = shown(session, "first" if not session.startswith("opening") else "").memories
    kin.observe("prompt", session, "asked", text, place=folder)
    beside = shown(session, "asked").memories
    return Heard(*([ids[id] for id in told if id in ids] for told in (first, beside)))


def _count(heard: Heard, needs: set[str], helps: set[str], used: set[str]) -> Counter[str]:
    return Counter(
        prompts=1,
        complete=needs <= {*heard.once, *heard.beside},
        lines=len(heard.beside),
        relevant=sum(one in helps for one in heard.beside),
        once=len(heard.once),
        once_used=sum(one in used for one in heard.once),
    )


def _of_all(found: Mapping[str, int]) -> float:
    """Of all lines that sessions were told, at once or beside a prompt, those that help."""
    told = found["lines"] + found["once"]
    return (found["relevant"] + found["once_used"]) / told if told else 1.0


def _share(found: Mapping[str, int], part: str, whole: str) -> float:
    return found[part] / found[whole] if found[whole] else 1.0


def _row(begins: str, language: str, found: Counter[str]) -> Row:
    return (
        begins,
        language,
        found["prompts"],
        f"{_share(found, 'complete', 'prompts'):.0%}",
        found["lines"],
        f"{_share(found, 'relevant', 'lines'):.0%}",
        found["once"],
        f"{_share(found, 'once_used', 'once'):.0%}",
        found["unrelated"],
        found["answered"],
    )
