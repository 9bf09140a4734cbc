"""Which files are meant, and what is in each. Every one is read by itself: one that cannot be read
is told, and the others are read all the same."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from kinmem.documents.document import FILE_BYTES, Given
from kinmem.errors import InvalidInput, TooLarge, Unreadable

READ = frozenset(
    """.md .markdown .mdown .mkd .mdx .qmd .txt .text .rst .org .adoc .asciidoc .tex .log .html .htm
    .xhtml .pdf""".split()
)
"""Endings of what is taken out of a folder; what is named itself is tried whatever it is called."""
MOST_FILES = 10_000


def found(names: Sequence[str], *, recursive: bool) -> list[Path]:
    """The files that are meant, each once, folders by name. Raises InvalidInput.

    Of folders those that end like documents; hidden ones, and links to folders, are left out.
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


def given(path: Path, **details: object) -> Given:
    """The file as a document that comes from its path. Raises Unreadable or TooLarge."""
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
