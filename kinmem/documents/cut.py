"""Stage 2: cut a text into chunks that an embedder reads whole, each with its position.

Chunks have no gaps between them: together they are the text. Each begins and ends with a sentence.
A heading begins a chunk, list items are cut between each other, code and tables between lines and
only if they are too long. Text that reads like an instruction to a model becomes a chunk of its
own, which is held back; the text beside it is not.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from kinmem.documents.document import Block, Document, blocks
from kinmem.language import Window, before_letter, may_be_orders, order_hints, order_in
from kinmem.llm.base import Embedder
from kinmem.models import Chunks, Memory, Passage, Progress

SIZE = 1200
# Kybernesis' chunk size for documents, in characters; the overlap consists of whole sentences.
OVERLAP = 120
# The position after a sentence. Unlike in conversations, a line may break within a sentence.
SENTENCE = re.compile(r"""(?<=[.!?…])["'”’)\]]*\s+|(?<=[。！？])\s*""")
LINE = re.compile(r"\n+")
SPACE = re.compile(r"\s+")
MOST_HEADINGS = 6
# Characters.
LONGEST_PATH = 300

# Number of sentences that may together give an order that none of them gives alone.
TOGETHER = 3
WRAP = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence, a heading, a table or lines of code."""

    text: str
    is_prose: bool
    """Whether a line may end within a sentence."""

    @property
    def flowing(self) -> str:
        """The text as one reads it, across line ends."""
        return WRAP.sub(" ", self.text) if self.is_prose else self.text


@dataclass(frozen=True, slots=True)
class _Unit:
    """A span that is not cut any further."""

    start: int
    end: int
    tokens: int
    path: str
    opens: bool
    """Whether it is a heading, so that the previous chunk ends before it."""
    prose: bool
    """Whether the next chunk may repeat it."""
    page: int | None
    """From 1. A chunk lies on one page."""
    held: str = ""
    """Why it is held back; empty: it is not."""


def chunked(document: Document, embedder: Embedder, progress: Progress | None = None) -> Chunks:
    """Cut a document into chunks without vectors. `progress` counts characters."""
    window = embedder.window(SIZE, OVERLAP)
    text, pages = document.text, document.pages
    marked = document.kind in ("markdown", "html")
    units = []
    for unit in _units(text, pages, window, marked=marked):
        units.append(unit)
        if progress:
            progress(unit.end, len(text), "characters read")
    units = _judged(text, units)
    texts, passages = [], []
    for group in _grouped(units, window):
        start, end = group[0].start, group[-1].end
        content = text[start:end]
        first = next((unit for unit in group if not unit.opens), group[0])
        texts.append(content)
        passages.append(Passage(start=start, heading=first.path, page=first.page, held=first.held))
    return Chunks(tuple(texts), places=tuple(passages))


def chunked_again(text: str, memory: Memory, embedder: Embedder) -> Chunks:
    """Cut a document again as it was cut for its memory.

    Nothing is held back if the document was trusted or released.
    """
    kind = memory.metadata.get("type", "text")
    pages = tuple(memory.ingest_metadata.get("page_starts", ()))
    chunks = chunked(Document(kind=kind, text=text, size=0, pages=pages), embedder)
    return chunks if memory.holds_back else freed(chunks)


def freed(chunks: Chunks) -> Chunks:
    """Return the chunks with nothing held back."""
    return replace(chunks, places=tuple(replace(place, held="") for place in chunks.places))


def _judged(text: str, units: Sequence[_Unit]) -> list[_Unit]:
    """Mark what is held back.

    A heading is held back with the text below it. A heading that is an order itself is also removed
    from the chunks' positions.
    """
    reasons = orders([Told(text[unit.start : unit.end], unit.prose) for unit in units])
    paths = {unit.path: "" if order_in(unit.path) else unit.path for unit in units}
    for place in range(len(units) - 2, -1, -1):
        if units[place].opens:
            reasons[place] = reasons[place] or reasons[place + 1]
    return [
        replace(unit, held=why, path=paths[unit.path]) if why or not paths[unit.path] else unit
        for unit, why in zip(units, reasons, strict=True)
    ]


def _units(text: str, pages: Sequence[int], window: Window, *, marked: bool) -> Iterator[_Unit]:
    path: list[tuple[int, str]] = []
    for block in blocks(text, marked=marked):
        if block.kind == "heading":
            path = [heading for heading in path if heading[0] < block.level][: MOST_HEADINGS - 1]
            path.append((block.level, block.title))
        headings = " > ".join(title for _, title in path if title)[:LONGEST_PATH]
        for start, end in _spans(text, block, window):
            yield _Unit(
                start,
                end,
                window.count(text[start:end]),
                headings,
                opens=block.kind == "heading",
                prose=block.kind in ("paragraph", "item"),
                page=bisect_right(pages, start) if pages else None,
            )


def _spans(text: str, block: Block, window: Window) -> Iterator[tuple[int, int]]:
    """Yield the whole block; for prose or a block that is too long, its sentences or lines."""
    is_prose = block.kind in ("paragraph", "item")
    if not is_prose and window.holds(text[block.start : block.end]):
        yield block.start, block.end
        return
    split = SENTENCE if is_prose else LINE
    start = block.start
    for found in split.finditer(text, block.start, block.end):
        if found.end() > start:
            yield from _fitting(text, start, found.end(), window)
            start = found.end()
    if start < block.end:
        yield from _fitting(text, start, block.end, window)


def _fitting(text: str, start: int, end: int, window: Window) -> Iterator[tuple[int, int]]:
    """Cut a span into parts that the window holds, at a space if there is one."""
    while start < end:
        length = min(end - start, window.characters)
        while (count := window.count(text[start : start + length])) > window.tokens and length > 1:
            length = max(1, min(length - 1, int(length * 0.95 * window.tokens / count)))
        stop = start + length
        if stop < end:
            spaces = [found.end() for found in SPACE.finditer(text, start + length // 2, stop)]
            stop = spaces[-1] if spaces else _before_letter(text, start, stop)
        yield start, stop
        start = stop


def _before_letter(text: str, start: int, stop: int) -> int:
    """Return a position near `stop` that separates no letter from its accents."""
    return start + before_letter(text[start : stop + 1], stop - start)


def _grouped(units: Sequence[_Unit], window: Window) -> Iterator[list[_Unit]]:
    """Group neighbouring units while the window holds them.

    A heading, a page, and a change between held back and not begin a new group. A group within a
    section begins with the last sentences of the previous one, as far as they fit into the overlap.
    """
    group: list[_Unit] = []
    for unit in units:
        fits = not group or _holds([*group, unit], window)
        begins = unit.opens and not all(other.opens for other in group)
        is_other = bool(group) and (unit.page, unit.held) != (group[-1].page, group[-1].held)
        if group and (begins or not fits or is_other):
            yield group
            is_apart = unit.opens or is_other
            group = [] if is_apart else _repeated(group, unit, window)
        group.append(unit)
    if group:
        yield group


def _holds(group: Sequence[_Unit], window: Window) -> bool:
    length = group[-1].end - group[0].start
    return length <= window.characters and sum(unit.tokens for unit in group) <= window.tokens


def _repeated(group: Sequence[_Unit], unit: _Unit, window: Window) -> list[_Unit]:
    """Return the last sentences of a group that the next one repeats; never the whole group."""
    repeated: list[_Unit] = []
    for one in reversed(group[1:]):
        wanted = [one, *repeated]
        too_long = unit.start - one.start > window.overlap
        if not one.prose or too_long or not _holds([*wanted, unit], window):
            break
        repeated = wanted
    return repeated


def orders(told: Sequence[Told]) -> list[str]:
    """Return for each of these consecutive sentences why it is held back; empty if it is not.

    As little as possible is held back: one sentence of many, or the few that give an order
    together.
    """
    found = [order_hints(one.flowing) for one in told]
    reasons: list[str] = []
    while (first := len(reasons)) < len(told):
        few = slice(first, first + TOGETHER)
        given_hints = reduce(or_, found[few])
        if may_be_orders(given_hints) and (why := _reason(told[few], given_hints)):
            reasons += _smallest(told[few], why, given_hints)
        else:
            reasons.append("")
    return reasons


def _smallest(few: Sequence[Told], why: str, given_hints: int) -> list[str]:
    """Return the reasons for these sentences up to the first order, which is cut as short as
    possible."""
    for count in range(1, len(few)):
        for first in range(len(few) - count + 1):
            if found := _reason(few[first : first + count], given_hints):
                return [""] * first + [found] * count
    return [why] * len(few)


def _reason(told: Sequence[Told], given_hints: int) -> str | None:
    """Return why these sentences read like an order.

    `given_hints` are their hints, and maybe those of other sentences.
    """
    text = "".join(part.text for part in told)
    flowing = "".join(part.flowing for part in told)
    if found := order_in(text, given_hints):
        return found
    return order_in(flowing, given_hints) if flowing != text else None
