"""Stage 1: a file becomes a text with a title. What it is its content says, then its name."""

import re
from pathlib import PurePath

from kinmem.documents.blocks import blocks
from kinmem.documents.decode import decoded, plain
from kinmem.documents.document import FILE_BYTES, TEXT_BYTES, Document, Given, Kind
from kinmem.documents.html import read_html
from kinmem.documents.pdf import read_pdf
from kinmem.errors import TooLarge, Unreadable
from kinmem.language.orders.instructions import suspicious
from kinmem.text import VISIBLE, cut

MARKDOWN = frozenset((".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd"))
HTML = frozenset((".html", ".htm", ".xhtml"))
PAGE = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
FORMATS = {
    b"PK\x03\x04": "it is a ZIP archive or an office file; save it as PDF, HTML or text",
    b"\xd0\xcf\x11\xe0": "it is an old office file; save it as PDF, HTML or text",
    b"{\\rtf": "it is RTF; save it as PDF, HTML or text",
}
PDF_WITHIN = 1024
"""Bytes in which a PDF says that it is one; some begin with something else."""
FRONT_MATTER = re.compile(r"\A---\n(.{0,20000}?)\n(?:---|\.\.\.)(?:\n|\Z)", re.DOTALL)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
LONGEST_TITLE = 120
"""Characters."""
UNTITLED = "(untitled)"
HEADED = ("markdown", "html")


def read(given: Given) -> Document:
    """What the document says. Raises Unreadable or TooLarge, naming the file."""
    what = given.name or "content"
    size = len(
        given.data if isinstance(given.data, bytes) else given.data.encode("utf-8", "replace")
    )
    if size > FILE_BYTES:
        raise TooLarge(what, size, FILE_BYTES)
    if isinstance(given.data, bytes) and b"%PDF-" in given.data[:PDF_WITHIN]:
        text, title, pages, empty = read_pdf(given.data, what)
        notes = {"pages": len(pages)} | ({"pages_without_text": empty} if empty else {})
        document = Document(
            kind="pdf", text=text, size=size, title=title, pages=tuple(pages), notes=notes
        )
    else:
        document = _written(given, size, what)
    if not VISIBLE.search(document.text):
        raise Unreadable(what, "there is no text in it")
    length = len(document.text.encode("utf-8", "replace"))
    if length > TEXT_BYTES:
        raise TooLarge(what, length, TEXT_BYTES)
    return document


def _written(given: Given, size: int, what: str) -> Document:
    text, encoding = given.data, ""
    if isinstance(text, bytes):
        for opening, why in FORMATS.items():
            if text.startswith(opening):
                raise Unreadable(what, why)
        text, encoding = decoded(text, what)
    notes = {"encoding": encoding} if encoding not in ("", "utf-8") else {}
    kind = _kind(text, given.name)
    if kind == "html":
        said, title, description = read_html(text, what)
        said = plain(said)
        return Document(
            kind=kind,
            text=said,
            size=size,
            title=title or _heading(said, kind),
            description=plain(description),
            notes=notes,
        )
    text = plain(text)
    title = ""
    if kind == "markdown":
        text, title = _without_front_matter(COMMENT.sub("", text))
    return Document(
        kind=kind, text=text, size=size, title=title or _heading(text, kind), notes=notes
    )


def _kind(text: str, name: str) -> Kind:
    ending = PurePath(name).suffix.casefold()
    if ending in HTML or PAGE.match(text[:5000]):
        return "html"
    if ending in MARKDOWN or not ending and re.search(r"^#{1,3} \S", text[:5000], re.MULTILINE):
        return "markdown"
    return "text"


def _without_front_matter(text: str) -> tuple[str, str]:
    """The text behind the lines that describe it, and the title these give."""
    found = FRONT_MATTER.match(text)
    if found is None:
        return text, ""
    title = re.search(r"^title:[ \t]*(.+)$", found[1], re.MULTILINE | re.IGNORECASE)
    return text[found.end() :].lstrip("\n"), title[1].strip(" \"'") if title else ""


def _heading(text: str, kind: Kind) -> str:
    """The first heading, if the text has headings."""
    if kind not in HEADED:
        return ""
    found = (block.title for block in blocks(text, marked=True) if block.title)
    return next(found, "")


def title_of(document: Document, given: Given) -> str:
    """As given, as the document says, as the file is called, or its first line; the first of them
    that does not read like an order to a model."""
    named = PurePath(given.name).name if given.name != "-" else ""
    first = next((line.strip() for line in document.text.split("\n") if line.strip()), "")
    told = (" ".join(plain(one).split()) for one in (document.title, named, first))
    free = (one for one in told if one and (given.trusted or not suspicious(one)))
    return cut(" ".join(plain(given.title or "").split()) or next(free, UNTITLED), LONGEST_TITLE)
