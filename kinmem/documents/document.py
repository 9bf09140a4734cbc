"""What the stages of reading a document pass on: files, blocks, and what of them is held back."""

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from kinmem.errors import InvalidInput, TooLarge, Unreadable
from kinmem.models import HELD_BACK, QUARANTINE, Memory, Note, State
from kinmem.text import cut

Kind = Literal["markdown", "text", "html", "pdf"]

# Bytes of a file, which may hold less text than that: a PDF with pictures, a page with scripts.
FILE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A document as it was handed over, not read yet."""

    data: bytes | str
    name: str = ""
    """File name. Its extension decides the kind if the content does not."""
    source_ref: str | None = None
    """Where it comes from, a path or an address. A document from the same source is a new
    version."""
    source: Literal["upload", "tool", "connector", "import"] = "upload"
    title: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    subject: str | None = None
    category: str = "knowledge"
    scope: str = "private"
    importance: float | None = None
    source_context: str | None = None
    occurred_at: str | datetime | None = None
    expires: str | datetime | None = None
    speaker: str | None = None
    """Who says what it says, if that is not known from elsewhere."""
    place: str | None = None
    """Path of the project in which it holds; None: everywhere."""
    client: str | None = None
    channel: Literal["import", "explicit"] = "import"
    trusted: bool = False
    """Whether passages that read like instructions to a model may be recalled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What was read of a document."""

    kind: Kind
    text: str
    size: int
    """Bytes as it was handed over."""
    title: str = ""
    description: str = ""
    pages: tuple[int, ...] = ()
    """Where in the text each page begins; empty if there are no pages."""
    notes: Mapping[str, int | str] = field(default_factory=dict)
    """What reading came across: the encoding, pages without text."""


def as_given(note: Note) -> Given:
    """Wrap a long text that somebody wants remembered."""
    return Given(
        data=note.content,
        source="tool",
        channel="explicit",
        tags=note.tags,
        subject=note.subject,
        category=note.category or "fact",
        scope=note.scope,
        importance=note.importance,
        source_context=note.source_context,
        occurred_at=note.occurred_at,
        expires=note.expires,
        speaker=note.speaker,
        place=note.place,
        client=note.client,
        trusted=note.trusted,
    )


# Extensions of the files that are read from a folder. A file named by the caller is tried whatever
# its extension.
READ = frozenset(
    """.md .markdown .mdown .mkd .mdx .qmd .txt .text .rst .org .adoc .asciidoc .tex .log .html .htm
    .xhtml .pdf""".split()
)
MOST_FILES = 10_000


def files_of(names: Sequence[str], *, recursive: bool) -> list[Path]:
    """Return the files that the names stand for, each once, those of folders in order of name.

    From folders only files with a document's extension are taken; hidden ones and links to folders
    are left out. Raises InvalidInput.
    """
    files: dict[Path, None] = {}
    for name in names:
        if not name.strip():
            raise InvalidInput("an empty name is no file; name files, or - for what is typed")
        path = Path(name).expanduser()
        if path.is_dir():
            if not recursive:
                raise InvalidInput(f"{name} is a folder; --recursive reads the documents in it")
            files |= dict.fromkeys(_within(path))
        else:
            files[path] = None
        if len(files) > MOST_FILES:
            raise InvalidInput(f"that is more than {MOST_FILES:,} files; name smaller folders")
    return list(files)


def _within(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if path.suffix.casefold() in READ and not name.startswith("."):
                yield path


def from_file(path: Path, **details: object) -> Given:
    """Read the file as a document whose source is its path. Raises Unreadable or TooLarge."""
    what = str(path)
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable(what, "it is no file")
        if about.st_size > FILE_BYTES:
            raise TooLarge(what, about.st_size, FILE_BYTES)
        data = path.read_bytes()
        source_ref = str(path.resolve())
    except FileNotFoundError as error:
        raise Unreadable(what, "there is no such file") from error
    except OSError as error:
        raise Unreadable(what, f"{error.strerror or error}") from error
    return Given(data=data, name=path.name, source_ref=source_ref, **details)  # type: ignore[arg-type]


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


HELD = "(everything in it reads like instructions to a model)"
OPENING = 1000
"""Characters of a document that its memory holds as content; all of it is in the chunks."""


def opening(text: str) -> str:
    """The content of the memory of a document that begins so."""
    return cut(text.strip(), OPENING)


def released(memory: Memory, text: str) -> dict[str, Any]:
    """What is to be changed of a memory that says this, so that all of it may be recalled."""
    kept = {name: one for name, one in memory.metadata.items() if name != QUARANTINE}
    fields: dict[str, Any] = {"state": State.ACTIVE, "metadata": kept}
    if memory.is_document:
        told = {name: one for name, one in memory.ingest_metadata.items() if name != HELD_BACK}
        fields["ingest_metadata"] = told
        if memory.content == HELD:
            fields["content"] = opening(text)
    return fields
