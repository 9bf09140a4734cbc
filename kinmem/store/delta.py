"""One text told by another: a small change takes little room, whatever the length of the text."""

import json
import zlib
from bisect import bisect_left

from kinmem.text import sentences

LONGEST = 500
"""Characters compared at once where no sentence ends sooner."""


def delta(base: str, text: str) -> bytes:
    """What makes `text` of `base`: spans of it to copy, and words that it does not have."""
    head = _common(base, text)
    tail = _common(base[head:][::-1], text[head:][::-1])
    middle, end = text[head : len(text) - tail], len(base) - tail
    steps: list[list[int] | str] = [[0, head], *_steps(base, head, end, middle), [end, len(base)]]
    told = json.dumps([step for step in steps if isinstance(step, str) or step[0] < step[1]])
    return zlib.compress(told.encode())


def applied(base: str, change: bytes) -> str:
    """The text that `delta` was given."""
    steps = json.loads(zlib.decompress(change))
    return "".join(s if isinstance(s, str) else base[s[0] : s[1]] for s in steps)


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    lengths = range(1, min(len(one), len(other)) + 1)
    return bisect_left(lengths, True, key=lambda n: one[:n] != other[:n])


def _steps(base: str, start: int, end: int, text: str) -> list[list[int] | str]:
    """The text by its sentences: those that stand in that span of `base` are copied."""
    known: dict[str, int] = {}
    at = start
    for part in _parts(base[start:end]):
        known.setdefault(part, at)
        at += len(part)
    steps: list[list[int] | str] = []
    unknown: list[str] = []
    for part in _parts(text):
        place = known.get(part)
        if place is None:
            unknown.append(part)
            continue
        if unknown:
            steps.append("".join(unknown))
            unknown.clear()
        last = steps[-1] if steps else None
        if isinstance(last, list) and base.startswith(part, last[1]):
            last[1] += len(part)
        else:
            steps.append([place, place + len(part)])
    return [*steps, "".join(unknown)] if unknown else steps


def _parts(text: str) -> list[str]:
    return [
        part[at : at + LONGEST] for part in sentences(text) for at in range(0, len(part), LONGEST)
    ]
