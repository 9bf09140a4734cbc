"""The records that the stages of reading a document pass on, and the files to read.

Every file is read by itself: one that cannot be read is reported, and the others are still read.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from kinmem.errors import InvalidInput, TooLarge, Unreadable
from kinmem.models import Note
from kinmem.validation import CONTENT_BYTES

Kind = Literal["markdown", "text", "html", "pdf"]

# Bytes of text that one document may have.
TEXT_BYTES = 8 * 1024 * 1024
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


def is_document(content: object) -> bool:
    """Return whether a text is too long for one statement."""
    return isinstance(content, str) and (
        len(content) > CONTENT_BYTES
        or 4 * len(content) > CONTENT_BYTES
        and len(content.encode("utf-8", "replace")) > CONTENT_BYTES
    )


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
