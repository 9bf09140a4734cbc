"""Markdown: one page for each subject, written so that it can be read, edited and imported again.

A memory is one item of the list under "Memories". The comment at its end names it and what it said
when it was exported, so an edited line is told from a memory that has changed since.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kinmem.errors import InvalidInput
from kinmem.models import CATEGORIES, Memory

FORMAT = 1
# The section whose items are memories; all else is for the reader.
MEMORIES = "## Memories"
# File of memories without a subject.
REST = "_without-subject.md"
LONGEST_NAME = 60
BETWEEN, IMPORTANCE, SAID = " · ", "importance ", "said by "
# Names that are taken, by the list of pages or by Windows.
RESERVED = frozenset(
    {"index", "con", "prn", "aux", "nul"}
    | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
)
_ID = re.compile(r"\s*<!-- kinmem ([\x21-\x7e]{1,100}) ([0-9a-f]{12}) -->\s*$")
_BELOW = re.compile(r"\s+[-*] \*?(.*?)\*?\s*$")
_ESCAPED = re.compile(r"<br>|&#x([0-9a-f]{1,6});|\\([\\<&])")
_ESCAPES = re.compile(r"[\\<&]|[^\S ]|[\x00-\x1f\x7f-\x9f\u2028\u2029]|^ | $")


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a page."""

    line: int
    text: str
    id: str | None = None
    """None: it is new."""
    digest: str | None = None
    """Digest of what the memory said when it was exported."""
    facts: str = ""
    """What the line below says of the memory, see `facts`."""


@dataclass(slots=True)
class Page:
    """What a page says."""

    kin: str
    subject: str | None
    ids: tuple[str, ...]
    """The memories that were on it when it was exported."""
    items: list[Item] = field(default_factory=list)
    strays: list[int] = field(default_factory=list)
    """Numbers of lines among the items that belong to none."""


def digest(text: str) -> str:
    """Return by what a text is recognised."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def file_name(subject: str | None) -> str:
    """Return the name of a subject's page: plain ASCII, and another one for each subject."""
    if subject is None:
        return REST
    plain = unicodedata.normalize("NFKD", subject).encode("ascii", "ignore").decode().lower()
    name = "-".join(re.findall("[a-z0-9]+", plain))[:LONGEST_NAME].strip("-")
    if name.replace("-", " ") == subject and name not in RESERVED:
        return f"{name}.md"
    mark = hashlib.sha256(subject.encode()).hexdigest()[:8]
    return f"{name}-{mark}.md" if name else f"{mark}.md"


def escaped(text: str) -> str:
    """Return a text as one line that Markdown shows as it is; `unescaped` turns it back."""
    return _ESCAPES.sub(_escape, text)


def unescaped(line: str) -> str:
    """Return the text that a line says."""
    return _ESCAPED.sub(_meant, line)


def _escape(found: re.Match[str]) -> str:
    sign = found.group()
    if sign == "\n":
        return "<br>"
    return f"\\{sign}" if sign in "\\<&" else f"&#x{ord(sign):x};"


def _meant(found: re.Match[str]) -> str:
    code, sign = found.groups()
    if sign:
        return sign
    if code is None:
        return "\n"
    number = int(code, 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else found.group()


def page(
    kin: str, subject: str | None, memories: Sequence[Memory], past: Sequence[Memory]
) -> Iterator[str]:
    """Yield the lines of a page. `past` is what no longer holds."""
    yield "---"
    yield f"kinmem: {FORMAT}"
    yield f"kin: {json.dumps(kin)}"
    yield f"subject: {json.dumps(subject)}"
    yield f"ids: {json.dumps([memory.id for memory in memories])}"
    yield "---"
    yield ""
    yield f"# {escaped(subject) if subject else 'Without a subject'}"
    yield ""
    yield MEMORIES
    yield ""
    for memory in memories:
        yield f"- {escaped(memory.content)} <!-- kinmem {memory.id} {digest(memory.content)} -->"
        yield f"  - *{escaped(facts(memory))}*"
        if memory.source_context:
            yield f"  - *{escaped(memory.source_context)}*"
    yield ""
    yield from _timeline([*memories, *past])


def facts(memory: Memory) -> str:
    """Return what is known of a memory, for a reader; `noted` reads it."""
    told: list[str] = [memory.category, memory.scope]
    if memory.importance is not None:
        told.append(f"{IMPORTANCE}{memory.importance:g}")
    if memory.speaker:
        told.append(f"{SAID}{memory.speaker}")
    if memory.source_ref:
        told.append(f"from {memory.source_ref}")
    told.append(f"stored {memory.created_at:%Y-%m-%d}")
    return BETWEEN.join([*told, *(f"#{tag}" for tag in memory.tags)])


def noted(line: str) -> dict[str, Any]:
    """Return what a line of `facts` says that a new memory can have: fields of Note."""
    category, scope, *others = [*line.split(BETWEEN), ""]
    if category not in CATEGORIES or scope not in ("private", "shared"):
        return {}
    found: dict[str, Any] = {"category": category, "scope": scope}
    for one in others:
        if one.startswith(SAID):
            found["speaker"] = one.removeprefix(SAID)
        elif re.fullmatch(rf"{IMPORTANCE}\d+(\.\d+)?", one):
            found["importance"] = float(one.removeprefix(IMPORTANCE))
    return found | {"tags": tuple(one[1:] for one in others if one.startswith("#"))}


def _timeline(memories: Sequence[Memory]) -> Iterator[str]:
    """Yield what happened when, and what no longer holds, earliest first."""
    dated = [one for one in memories if one.occurred_at is not None or one.valid_to is not None]
    if not dated:
        return
    yield "## Timeline"
    yield ""
    for memory in sorted(dated, key=lambda one: (one.said_at, one.id)):
        until = f" until {memory.valid_to:%Y-%m-%d}" if memory.valid_to else ""
        yield f"- {memory.said_at:%Y-%m-%d}{until}: {escaped(memory.content)}"
    yield ""


def parsed(text: str) -> Page:
    """Read a page. Raises InvalidInput for what is none."""
    lines = text.split("\n")
    front, start = _front_matter(lines)
    version = front.get("kinmem")
    if isinstance(version, int) and version > FORMAT:
        raise InvalidInput(f"a newer kinmem has made this page (format {version}); update kinmem")
    kin, subject, ids = front.get("kin"), front.get("subject"), front.get("ids")
    if version != FORMAT or not isinstance(kin, str) or not isinstance(ids, list):
        raise InvalidInput("this page is no export of kinmem; kinmem add stores documents")
    found = Page(kin, str(subject) if subject else None, tuple(map(str, ids)))
    _read_items(lines, start, found)
    return found


def _front_matter(lines: Sequence[str]) -> tuple[dict[str, Any], int]:
    """Return the values between the first two --- lines, and the number of the line after them."""
    front: dict[str, Any] = {}
    if lines[0].strip() != "---":
        return front, 0
    for number, line in enumerate(lines[1:], 1):
        if line.strip() == "---":
            return front, number + 1
        name, _, value = line.partition(":")
        try:
            front[name.strip()] = json.loads(value)
        except (ValueError, RecursionError):
            front[name.strip()] = value.strip()
    return {}, 0


def _read_items(lines: Sequence[str], start: int, page: Page) -> None:
    """Add the items of the section of memories. A paragraph that an editor has wrapped is one item,
    and the first line below it that is a list of its own tells its facts."""
    is_within = goes_on = False
    for number, line in enumerate(lines[start:], start + 1):
        text = line.strip()
        begins = line.startswith(("- ", "* "))
        below = _BELOW.match(line)
        if line.startswith(("# ", "## ")):
            is_within, goes_on = text == MEMORIES, False
        elif is_within and begins:
            page.items.append(Item(number, line[2:].rstrip("\r")))
            goes_on = True
        elif is_within and page.items and below:
            last = page.items[-1]
            page.items[-1] = replace(last, facts=last.facts or unescaped(below[1]))
            goes_on = False
        elif is_within and text:
            if goes_on:
                last = page.items[-1]
                page.items[-1] = replace(last, text=f"{last.text} {text}")
            else:
                page.strays.append(number)
        else:
            goes_on = False
    page.items = list(map(_named, page.items))


def _named(item: Item) -> Item:
    """Take the name of its memory from the end of an item."""
    named = _ID.search(item.text)
    if named is None:
        return replace(item, text=unescaped(item.text.strip()))
    id, exported = named.groups()
    return replace(item, text=unescaped(item.text[: named.start()]), id=id, digest=exported)
