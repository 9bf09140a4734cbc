"""What a text must hold for a sign of lexicon/orders.json to fit it, written beside the signs.

    python -m scripts.order_needs

Looking up words takes a fraction of the time that trying the signs does. What is not understood
here is not asked for. Run it after every change of a sign; a test compares.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from kinmem.language.orders import GAPS, START, WORD

FILE = Path(__file__).parent.parent / "kinmem" / "language" / "lexicon" / "orders.json"
Classes = Mapping[str, Sequence[str]]
_TOKEN = re.compile(
    r"(?P<open>\((?P<aside>\?<?[=!])?(?:\?:)?)|(?P<close>\))|(?P<or>\|)|\{(?P<class>[A-Z]+)\}"
    r"|(?P<maybe>(?:[?*]|\{(?:0?,\d*|0)\})\??)|(?P<often>(?:\+|\{\d[\d,]*\})\??)"
    r"|(?P<unknown>\[\^?\]?(?:\\.|[^\]\\])*\]|\\[wWsSdDn]|[.^$])"
    r"|(?P<edge>\\b)|\\?(?P<letter>.)",
    re.DOTALL,
)


FEW_PARTS = 4
CLASSES: Classes = json.loads(FILE.read_text(encoding="utf-8"))["classes"]


@dataclass(frozen=True, slots=True)
class Need:
    """One of these must be in the text."""

    words: frozenset[str] = frozenset()
    """Each with nothing beside it that belongs to a word."""
    starts: frozenset[str] = frozenset()
    """How words begin."""
    parts: tuple[str, ...] = ()

    @property
    def is_quick(self) -> bool:
        """Whether little of it has to be searched for; scripts without spaces are in few texts."""
        return sum(map(str.isascii, self.parts)) <= FEW_PARTS


_EDGE = "\n"
"""A word begins or ends there; no sign has a line break among its letters."""


@dataclass(frozen=True, slots=True)
class _Group:
    """One of these must fit, each a row of letters and groups; None: something unknown."""

    branches: "Sequence[Sequence[str | _Group | Need | None]]"


_Unit = str | _Group | Need | None


def needs(sign: str) -> tuple[Need, ...]:
    """All must be met; those that take long to look for are left out where there are others.

    In the sign, a regular expression, classes still stand as {NAME}.
    """
    found = tuple(_of_group(_group(_TOKEN.finditer(sign)), "", ""))
    quick = tuple(need for need in found if need.is_quick)
    return quick if any(need.words or need.starts for need in quick) else found


def _group(tokens: Iterator[re.Match[str]]) -> _Group:
    """Up to the bracket that closes it."""
    branches: list[list[_Unit]] = [[]]
    for token in tokens:
        units = branches[-1]
        match token.lastgroup:
            case "letter":
                units.append(token["letter"])
            case "edge":
                units.append(_EDGE)
            case "class":
                units.append(_of_class(token["class"]) if token["class"] in CLASSES else None)
            case "open":
                inner = _group(tokens)
                units.append(None if token["aside"] else inner)
            case "or":
                branches.append([])
            case "close":
                break
            case "maybe":
                units[-1] = None
            case _:  # once at least, or nobody knows what
                units.append(None)
    return _Group(branches)


def _of_group(group: _Group, before: str, after: str) -> Iterator[Need]:
    """`before`, `after`: the sign beside it, if it is known and belongs to no word."""
    found = [tuple(_of_branch([before, *units, after])) for units in group.branches]
    if len(found) == 1:
        yield from found[0]
    elif all(found):
        yield _either([max(one, key=_rarity) for one in found])


def _of_branch(units: Sequence[_Unit]) -> Iterator[Need]:
    runs: list[_Unit] = []  # letters in a row as one
    for is_text, some in groupby(units, key=lambda unit: isinstance(unit, str)):
        if is_text:
            runs.append("".join(map(str, some)))
        else:
            runs.extend(some)
    for place, run in enumerate(runs):
        if isinstance(run, Need):
            yield run
        elif isinstance(run, str):
            yield from _of_text(run)
        elif run is not None:
            before, after = runs[place - 1], runs[place + 1]
            yield from _of_group(
                run,
                _beside(before[-1:]) if isinstance(before, str) else "",
                _beside(after[:1]) if isinstance(after, str) else "",
            )


def _beside(sign: str) -> str:
    return "" if WORD.match(sign) else sign


def _of_text(text: str) -> Iterator[Need]:
    """Whole words are looked up at once, and so is how a word begins; the rest takes longer."""
    words = list(WORD.finditer(text))
    whole = [word[0] for word in words if word.start() > 0 and word.end() < len(text)]
    if whole:
        yield Need(words=frozenset({max(whole, key=len)}))
        return
    begun = [word[0] for word in words if word.start() > 0 and len(word[0]) >= START]
    if begun:
        yield Need(starts=frozenset({begun[0][:START]}))
        return
    for part in text.split(_EDGE):
        if part.strip():
            yield Need(parts=(part,))


def _of_class(name: str) -> Need:
    """Of several words in a row the longest is asked for, if it stands there whole."""
    words, starts, parts = set(), set(), []
    for told in CLASSES[name]:
        whole = WORD.findall(told.rpartition(" ")[0] if told.endswith("*") else told)
        if told >= "\u3040":
            parts.append(told.rstrip("*"))
        elif whole and len(longest := max(whole, key=len)) > 1:
            words.add(longest)
        elif told.endswith("*") and told[:START].isalpha():
            starts.add(told[:START])
        else:
            parts.append(told.rstrip("*"))
    return Need(frozenset(words), frozenset(starts), tuple(parts))


def _either(needed: Sequence[Need]) -> Need:
    return Need(
        frozenset(word for need in needed for word in need.words),
        frozenset(start for need in needed for start in need.starts),
        tuple(part for need in needed for part in need.parts),
    )


def _rarity(need: Need) -> int:
    """Long words are rarer than short ones."""
    return min(map(len, (*need.words, *need.starts, *need.parts)))


def computed(table: Mapping[str, Any]) -> dict[str, Any]:
    """The needs, each once, and for each sign the numbers of those that it has."""
    numbers: dict[Need, int] = {}
    needed = {}
    for why, signs in table["signs"].items():
        found = [dict.fromkeys(needs(_spelled(sign))) for sign in signs]
        needed[why] = [[numbers.setdefault(need, len(numbers)) for need in one] for one in found]
    return {"needs": [as_data(need) for need in numbers], "needed": needed}


def _spelled(sign: str) -> str:
    for gap, pattern in GAPS.items():
        sign = sign.replace(gap, pattern)
    return sign


def as_data(need: Need) -> dict[str, list[str]]:
    """Without what it does not ask for."""
    found = {
        "words": sorted(need.words),
        "starts": sorted(need.starts),
        "parts": list(dict.fromkeys(need.parts)),
    }
    return {kind: keys for kind, keys in found.items() if keys}


def written(table: Mapping[str, Any]) -> str:
    """The file: a line for each sign, class and need."""
    parts = []
    for name, value in table.items():
        if isinstance(value, str):
            parts.append(f" {_json(name)}: {_json(value)}")
        elif isinstance(value, list):
            rows = ",\n".join(f"  {_json(row)}" for row in value)
            parts.append(f" {_json(name)}: [\n{rows}\n ]")
        else:
            rows = ",\n".join(f"  {_json(key)}: {_row(key, row)}" for key, row in value.items())
            parts.append(f" {_json(name)}: {{\n{rows}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _row(key: str, row: Any) -> str:
    if key.isupper() or not all(isinstance(one, str) for one in row):
        return _json(row)
    return "[\n" + ",\n".join(f"   {_json(one)}" for one in row) + "\n  ]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    told = json.loads(FILE.read_text(encoding="utf-8"))
    FILE.write_text(written({**told, **computed(told)}), encoding="utf-8")
