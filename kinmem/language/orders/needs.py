"""What a text must hold for a sign of signs.py to fit it: looking up its words takes a
fraction of the time that trying the signs does. What is not understood here is not asked for."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from kinmem.language.orders.signs import CLASSES

WORD = re.compile(r"\w+")
_TOKEN = re.compile(
    r"(?P<open>\((?P<aside>\?<?[=!])?(?:\?:)?)|(?P<close>\))|(?P<or>\|)|\{(?P<class>[A-Z]+)\}"
    r"|(?P<maybe>(?:[?*]|\{(?:0?,\d*|0)\})\??)|(?P<often>(?:\+|\{\d[\d,]*\})\??)"
    r"|(?P<unknown>\[\^?\]?(?:\\.|[^\]\\])*\]|\\[wWsSdDn]|[.^$])"
    r"|(?P<edge>\\b)|\\?(?P<letter>.)",
    re.DOTALL,
)


START = 4
"""Letters by which a word is known whose ending may vary."""
FEW_PARTS = 4


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


class Index:
    """By what a text holds the needs that it meets, one bit for each."""

    def __init__(self, needed: Iterable[Need]) -> None:
        self._words, self._starts = defaultdict[str, int](int), defaultdict[str, int](int)
        self._parts, self._foreign = defaultdict[str, int](int), defaultdict[str, int](int)
        for number, need in enumerate(needed):
            for index, keys in (
                (self._words, need.words),
                (self._starts, need.starts),
                (self._parts, filter(str.isascii, need.parts)),
                (self._foreign, (part for part in need.parts if not part.isascii())),
            ):
                for key in keys:
                    index[key] |= 1 << number

    def met(self, plain: str) -> int:
        """`plain`: in lower case, its words one space apart."""
        words, starts = self._words, self._starts
        met = 0
        for word in set(WORD.findall(plain)):
            met |= words.get(word, 0) | starts.get(word[:START], 0)
        for parts in (self._parts, {} if plain.isascii() else self._foreign):
            for part, bits in parts.items():
                if part in plain:
                    met |= bits
        return met


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
    for told in (word.strip() for word in CLASSES[name].split("|")):
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
