"""Which tool a request in plain words leads to, by the tools' names and descriptions alone.

A keyword oracle (BM25 over word stems, without words that any sentence has) stands in for a model:
what it finds, any model finds. `make live` asks one.

The descriptions may be changed while looking at the development half; the held half was read while
an earlier release wrote its own, and only its number is looked at now.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from math import log
from pathlib import Path

from benchmarks.report import Row, Table, Target
from kinmem.mcp.tools import tools

OWN = Path(__file__).parent / "own"
HALVES = {"held": "tool_requests.json", "development": "tool_requests_development.json"}
# Of 60 and 30.
LEAST = {"held": 33, "development": 22}
SATURATION, LENGTH = 1.2, 0.75
ENDINGS = ("ions", "ion", "ing", "ed", "es", "s", "e")
# Of six short texts one may be the only one with such a word, which then would decide.
COMMON = frozenset(
    """a an the this that these those i me my mine you your yours he him his she her it its we us
    our they them their am is are was were be been being do does did have has had can could
    will would shall should may might must and or but if so as than then of to in on at by for
    from with about into over up out there here any some all just please i'm i'd i've i'll
    it's that's there's what's you've we've isn't don't doesn't didn't can't won't""".split()
)


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """One row for each tool and half."""
    rows, targets = list[Row](), list[Target]()
    for half, least in LEAST.items():
        asked = requests(half)
        right = Counter(tool for request, tool in asked if chosen(request) == tool)
        total = Counter(tool for _, tool in asked)
        rows += [(half, tool, right[tool], count) for tool, count in total.items()]
        what = f"requests of the {half} half that lead to their tool"
        targets.append(Target(what, right.total(), least, at_most=False))
    note = "Requests in plain words; chosen by key words of the names and descriptions alone."
    return [Table("Choice of a tool", ("half", "tool", "chosen", "of"), rows, note)], targets


def requests(half: str) -> list[tuple[str, str]]:
    """What was asked, and the tool that was meant."""
    cases = json.loads((OWN / HALVES[half]).read_text(encoding="utf-8"))
    return [(case["request"], case["tool"]) for case in cases]


def chosen(request: str) -> str:
    """The tool whose name and description have most of the request's words."""
    described = _described()
    return max(described, key=lambda name: _score(request, described[name]))


@cache
def _described() -> Mapping[str, Counter[str]]:
    listed = [tool for tool in tools() if tool.listed]
    return {
        tool.name: Counter(_stems(f"{tool.name} {tool.title} {tool.description}"))
        for tool in listed
    }


def _score(request: str, description: Counter[str]) -> float:
    every = _described().values()
    average = sum(map(Counter.total, every)) / len(every)
    damped = SATURATION * (1 - LENGTH + LENGTH * description.total() / average)
    score = 0.0
    for stem in _stems(request):
        if count := description[stem]:
            holders = sum(stem in one for one in every)
            rarity = log(1 + (len(every) - holders + 0.5) / (holders + 0.5))
            score += rarity * count * (SATURATION + 1) / (count + damped)
    return score


def _stems(text: str) -> list[str]:
    stems = []
    for word in re.findall(r"[a-z']+", text.replace("_", " ").lower()):
        if word in COMMON:
            continue
        ending = next((e for e in ENDINGS if word.endswith(e) and len(word) >= len(e) + 3), "")
        stems.append(word.removesuffix(ending))
    return stems
