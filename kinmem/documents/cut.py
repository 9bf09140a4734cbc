"""Stage 2: a text becomes chunks that an embedder reads whole, each knowing where it stands.

Chunks follow each other without a gap: all of them together are the text. Each ends with a sentence
and begins with one; headings begin chunks, list items are cut between them, code and tables are
cut between lines and only where they are too long. What reads like an instruction to a model is a
chunk of its own, which is held back; what stands beside it is not.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

from kinmem.documents.blocks import Block, blocks
from kinmem.documents.document import Document
from kinmem.language import may_be_orders, order_hints, order_in
from kinmem.llm.base import Embedder
from kinmem.llm.pieces import Window, before_letter
from kinmem.models import Chunks, Memory, Passage, Progress

SIZE = 1200
OVERLAP = 120
"""Kybernesis' sizes for documents, in characters; the overlap in whole sentences."""
SENTENCE = re.compile(r"""(?<=[.!?…])["'”’)\]]*\s+|(?<=[。！？])\s*""")
"""Behind the end of one; other than in talk, a line may break within a sentence."""
LINE = re.compile(r"\n+")
SPACE = re.compile(r"\s+")
MOST_HEADINGS = 6
LONGEST_PATH = 300
"""Characters."""

TOGETHER = 3
"""Sentences in which an order may be worded that none of them alone gives."""
WRAP = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence, a heading, a table or lines of code."""

    text: str
    is_prose: bool
    """Whether a line may end within a sentence."""

    @property
    def flowing(self) -> str:
        """As one reads it, over the ends of lines."""
        return WRAP.sub(" ", self.text) if self.is_prose else self.text


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is not cut any further."""

    start: int
    end: int
    tokens: int
    path: str
    opens: bool
    """Whether it is a heading: the chunk before ends here."""
    prose: bool
    """Whether the next chunk may repeat it."""
    page: int | None
    """From 1; a chunk is on one page."""
    held: str = ""
    """Why it is held back; empty: it is not."""


def chunked(document: Document, embedder: Embedder, progress: Progress | None = None) -> Chunks:
    """The chunks of a document, without vectors; `progress` is told in characters."""
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
        said = text[start:end]
        first = next((unit for unit in group if not unit.opens), group[0])
        texts.append(said)
        passages.append(Passage(start=start, heading=first.path, page=first.page, held=first.held))
    return Chunks(tuple(texts), places=tuple(passages))


def chunked_again(text: str, memory: Memory, embedder: Embedder) -> Chunks:
    """The chunks of a document that said this when its memory was as it is told here; nothing is
    held back of one that was trusted or released."""
    kind = memory.metadata.get("type", "text")
    pages = tuple(memory.ingest_metadata.get("page_starts", ()))
    chunks = chunked(Document(kind=kind, text=text, size=0, pages=pages), embedder)
    return chunks if memory.holds_back else freed(chunks)


def freed(chunks: Chunks) -> Chunks:
    """With nothing held back."""
    return replace(chunks, places=tuple(replace(place, held="") for place in chunks.places))


def _judged(text: str, units: Sequence[_Unit]) -> list[_Unit]:
    """With what is held back. A heading goes with what it stands over; places tell it as well."""
    told = [Told(text[unit.start : unit.end], unit.prose) for unit in units]
    reasons = orders(told)
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
            path = [one for one in path if one[0] < block.level][: MOST_HEADINGS - 1]
            path.append((block.level, block.title))
        told = " > ".join(title for _, title in path if title)[:LONGEST_PATH]
        for start, end in _spans(text, block, window):
            yield _Unit(
                start,
                end,
                window.count(text[start:end]),
                told,
                opens=block.kind == "heading",
                prose=block.kind in ("paragraph", "item"),
                page=bisect_right(pages, start) if pages else None,
            )


def _spans(text: str, block: Block, window: Window) -> Iterator[tuple[int, int]]:
    """The block as a whole or, if it is too long or prose, its sentences or lines."""
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
    """What the window holds is one; longer runs end at a space, if there is one to end at."""
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
    """A place to cut near `stop` that parts no letter from its accents."""
    return start + before_letter(text[start : stop + 1], stop - start)


def _grouped(units: Sequence[_Unit], window: Window) -> Iterator[list[_Unit]]:
    """Neighbours as long as the window holds them; headings and pages begin new chunks, and so does
    what is held back, and what is not behind it.

    What follows in one section begins with the last sentences of the chunk before, as far as they
    fit into the overlap.
    """
    group: list[_Unit] = []
    for unit in units:
        fits = not group or _holds([*group, unit], window)
        begins = unit.opens and not all(one.opens for one in group)
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
    return length <= window.characters and sum(one.tokens for one in group) <= window.tokens


def _repeated(group: Sequence[_Unit], unit: _Unit, window: Window) -> list[_Unit]:
    """The last sentences of a chunk that the next one repeats; never all of it."""
    repeated: list[_Unit] = []
    for one in reversed(group[1:]):
        wanted = [one, *repeated]
        too_long = unit.start - one.start > window.overlap
        if not one.prose or too_long or not _holds([*wanted, unit], window):
            break
        repeated = wanted
    return repeated


def orders(told: Sequence[Told]) -> list[str]:
    """Of each of these consecutive sentences why it is held back; empty: it is not.

    As little as possible is: one sentence of many, or the few that only together give an order.
    """
    found = [order_hints(one.flowing) for one in told]
    reasons: list[str] = []
    while (first := len(reasons)) < len(told):
        few = slice(first, first + TOGETHER)
        told_of = reduce(or_, found[few])
        if may_be_orders(told_of) and (why := _reason(told[few], told_of)):
            reasons += _smallest(told[few], why, told_of)
        else:
            reasons.append("")
    return reasons


def _smallest(few: Sequence[Told], why: str, told_of: int) -> list[str]:
    """Reasons of these, up to the first order among them, which is as short as there is one."""
    for count in range(1, len(few)):
        for first in range(len(few) - count + 1):
            if found := _reason(few[first : first + count], told_of):
                return [""] * first + [found] * count
    return [why] * len(few)


def _reason(told: Sequence[Told], told_of: int) -> str | None:
    """`told_of`: hints of these, and maybe of more."""
    said = "".join(one.text for one in told)
    read = "".join(one.flowing for one in told)
    return order_in(said, told_of) or (order_in(read, told_of) if read != said else None)
