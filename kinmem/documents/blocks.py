"""Stage 2a: split a text into blocks: headings, code, tables, list items and paragraphs."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
CLOSER = re.compile(r" {0,3}(?:`{3,}|~{3,})\s*\Z")
ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+\S")
UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
# Characters of a heading. A longer one is a paragraph that looks like a heading.
LONGEST_TITLE = 200

# Most lines between two fences.
LONGEST_CODE = 2_000


@dataclass(frozen=True, slots=True)
class Block:
    """A span of text that belongs together, including the white space after it."""

    start: int
    end: int
    kind: Literal["heading", "code", "table", "item", "paragraph"]
    level: int = 0
    title: str = ""
    """The text of a heading."""


def blocks(text: str, *, marked: bool) -> Iterator[Block]:
    """Yield the whole text as consecutive blocks.

    `marked` says that it is Markdown; otherwise it has only paragraphs and list items.
    """
    lines = text.splitlines(keepends=True) if marked else text.split("\n")
    if not marked:
        lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
    closers = [number for number, line in enumerate(lines) if CLOSER.match(line)] if marked else []
    at = place = 0
    while place < len(lines):
        count, kind, level, title = _block(lines, closers, place, marked=marked)
        while place + count < len(lines) and not lines[place + count].strip():
            count += 1
        end = at + sum(map(len, lines[place : place + count]))
        yield Block(at, end, kind, level, title)
        at, place = end, place + count


_Kind = tuple[int, Literal["heading", "code", "table", "item", "paragraph"], int, str]


def _block(lines: list[str], closers: Sequence[int], place: int, *, marked: bool) -> _Kind:
    """Return the number of lines, the kind, and for a heading its level and title."""
    line = lines[place].rstrip("\r\n")
    if marked and (fence := FENCE.match(line)):
        return _fenced(lines, closers, place, fence[1]), "code", 0, ""
    if marked and len(line) <= LONGEST_TITLE and (heading := HEADING.fullmatch(line)):
        return 1, "heading", len(heading[1]), _bare(heading[2])
    if marked and _is_underlined(lines, place):
        level = 1 if lines[place + 1].strip().startswith("=") else 2
        return 2, "heading", level, _bare(line)
    if line.lstrip().startswith("|"):
        return _run(lines, place, lambda other: other.lstrip().startswith("|")), "table", 0, ""
    kind: Literal["item", "paragraph"] = "item" if ITEM.match(line) else "paragraph"

    def goes_on(other: str) -> bool:
        return bool(other.strip()) and not (
            ITEM.match(other)
            or marked
            and (FENCE.match(other) or HEADING.fullmatch(other.rstrip("\r\n")))
        )

    return _run(lines, place, goes_on), kind, 0, ""


def _run(lines: list[str], place: int, goes_on: Callable[[str], bool]) -> int:
    count = 1
    while place + count < len(lines) and goes_on(lines[place + count]):
        count += 1
    return count


def _fenced(lines: list[str], closers: Sequence[int], place: int, fence: str) -> int:
    """Return the number of lines up to the closing fence; 1 if no fence closes it."""
    for at in range(bisect_right(closers, place), len(closers)):
        if closers[at] - place >= LONGEST_CODE:
            break
        if lines[closers[at]].strip().startswith(fence):
            return closers[at] - place + 1
    return 1


def _is_underlined(lines: list[str], place: int) -> bool:
    if place + 1 >= len(lines) or not lines[place].strip() or ITEM.match(lines[place]):
        return False
    before = lines[place - 1].strip() if place else ""
    return (
        not before
        and len(lines[place]) <= LONGEST_TITLE
        and UNDERLINE.fullmatch(lines[place + 1].rstrip("\r\n")) is not None
        and not set(lines[place].strip()) <= set("=-")
    )


def _bare(title: str) -> str:
    """Remove the marks of emphasis, code and links."""
    title = re.sub(r"!?\[([^\]]{0,200})\]\([^)]{0,500}\)", r"\1", title)
    return " ".join(re.sub(r"[*`]|(?<!\w)_|_(?!\w)", "", title).split())
