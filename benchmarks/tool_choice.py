"""Which tool a request in plain words leads to, by the tools' names and descriptions alone.

A keyword oracle (BM25 over word stems) stands in for a model: what it finds, any model finds.
`make live` asks one.
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

REQUESTS = Path(__file__).parent / "own" / "tool_requests.json"
LEAST = 30
"""Of 60; with the descriptions of the first release it was 15."""
SATURATION, LENGTH = 1.2, 0.75
ENDINGS = ("ing", "ed", "es", "s", "e")


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """One row for each tool."""
    asked = requests()
    right = Counter(tool for request, tool in asked if chosen(request) == tool)
    total = Counter(tool for _, tool in asked)
    rows: list[Row] = [(tool, right[tool], count) for tool, count in total.items()]
    note = "60 requests, written without the descriptions at hand; chosen by key words alone."
    table = Table("Choice of a tool", ("tool", "chosen", "of"), rows, note)
    found = sum(right.values())
    return [table], [Target("requests that lead to their tool", found, LEAST, at_most=False)]


def requests() -> list[tuple[str, str]]:
    """What was asked, and the tool that was meant."""
    return [
        (case["request"], case["tool"]) for case in json.loads(REQUESTS.read_text(encoding="utf-8"))
    ]


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
        ending = next((e for e in ENDINGS if word.endswith(e) and len(word) >= len(e) + 3), "")
        stems.append(word.removesuffix(ending))
    return stems
