"""Stage 1c: the text of a PDF, page by page."""

import io
import logging
import re
import time
from typing import TYPE_CHECKING

from kinmem.documents.decode import plain
from kinmem.documents.document import TEXT_BYTES
from kinmem.errors import TooLarge, Unreadable

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

SECONDS = 120.0
"""That reading may take: some files are built to take forever."""
MOST_PAGES = 10_000
SPLIT_WORD = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")
"""A word that goes on in the next line."""
logger = logging.getLogger(__name__)


def read_pdf(data: bytes, what: str) -> tuple[str, str, list[int], int]:
    """(text, title, where each page begins, pages without text). Raises Unreadable or TooLarge."""
    reader = _opened(data, what)
    until = time.monotonic() + SECONDS
    text, pages, empty = "", list[int](), 0
    parts: list[str] = []
    size = at = 0
    for page in _pages(reader, what):
        text = _text_of(page)
        pages.append(at)
        empty += not text
        size += len(text.encode("utf-8", "replace"))
        if size > TEXT_BYTES:
            raise TooLarge(what, size, TEXT_BYTES)
        if time.monotonic() > until:
            raise Unreadable(what, f"its {len(pages)} first pages alone took {SECONDS:.0f} seconds")
        parts.append(text + "\n\n")
        at += len(parts[-1])
    if empty == len(pages):
        raise Unreadable(
            what,
            f"none of its {len(pages)} pages has text; if they are pictures of pages, let a program"
            " for text recognition (OCR) read them first",
        )
    return "".join(parts), _title(reader), pages, empty


def _opened(data: bytes, what: str) -> "PdfReader":
    from pypdf import PdfReader  # late: a server starts without it

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells every flaw of every file
    try:
        reader = PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and not reader.decrypt("")
    except Exception as error:  # pypdf documents no common base of what a damaged file raises
        logger.info("pypdf: %s", error)
        if b"/Encrypt" in data:
            raise Unreadable(what, "it is encrypted; save a copy without a password") from error
        raise Unreadable(what, "it is damaged; open it and save it again") from error
    if locked:
        raise Unreadable(what, "it is encrypted; save a copy without a password")
    return reader


def _pages(reader: "PdfReader", what: str) -> "list[PageObject]":
    try:
        count = len(reader.pages)
        if count > MOST_PAGES:
            raise Unreadable(what, f"it has {count:,} pages, more than {MOST_PAGES:,}; split it")
        return list(reader.pages)
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(what, "it is damaged; open it and save it again") from error


def _text_of(page: "PageObject") -> str:
    """Empty for a page that cannot be read."""
    try:
        return SPLIT_WORD.sub("", plain(page.extract_text())).strip()
    except Exception as error:
        logger.info("a page cannot be read: %s", error)
        return ""


def _title(reader: "PdfReader") -> str:
    try:
        told = reader.metadata
        return " ".join(plain(str(told.title or "")).split()) if told else ""
    except Exception:  # a wrong date in it is no reason to refuse the file
        return ""
