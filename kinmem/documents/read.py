"""Stage 1: read a file as text with a title. Its content decides its kind, then its name.

Bytes are decoded here, PDFs page by page; for web pages see html.py.
"""

import codecs
import io
import logging
import re
import time
import unicodedata
from pathlib import PurePath
from typing import TYPE_CHECKING

from kinmem.documents.document import FILE_BYTES, Document, Given, Kind, blocks
from kinmem.documents.html import read_html
from kinmem.errors import TooLarge, Unreadable
from kinmem.language import order_in, without_private
from kinmem.models.draft import TEXT_BYTES
from kinmem.text import CONTROLS, LONE_SURROGATES, VISIBLE, cut

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

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
# Bytes within which a PDF declares itself; some begin with something else.
PDF_WITHIN = 1024
FRONT_MATTER = re.compile(r"\A---\n(.{0,20000}?)\n(?:---|\.\.\.)(?:\n|\Z)", re.DOTALL)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# Characters.
LONGEST_TITLE = 120
UNTITLED = "(untitled)"
HEADED = ("markdown", "html")


def read(given: Given) -> Document:
    """Read the document. Raises Unreadable or TooLarge, naming the file."""
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
        raise Unreadable(what, "there is no text in it", "no_text")
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
    text = without_private(text)
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
    """Return the text after the front matter, and the title given there."""
    found = FRONT_MATTER.match(text)
    if found is None:
        return text, ""
    title = re.search(r"^title:[ \t]*(.+)$", found[1], re.MULTILINE | re.IGNORECASE)
    return text[found.end() :].lstrip("\n"), title[1].strip(" \"'") if title else ""


def _heading(text: str, kind: Kind) -> str:
    """Return the first heading if this kind of text has headings."""
    if kind not in HEADED:
        return ""
    found = (block.title for block in blocks(text, marked=True) if block.title)
    return next(found, "")


def title_of(document: Document, given: Given) -> str:
    """Return the title given by the caller, else the first of these that does not read like an
    order to a model: the document's own title, the file name, its first line."""
    named = PurePath(given.name).name if given.name != "-" else ""
    first = next((line.strip() for line in document.text.split("\n") if line.strip()), "")
    told = (" ".join(plain(one).split()) for one in (document.title, named, first))
    free = (one for one in told if one and (given.trusted or not order_in(one)))
    return cut(" ".join(plain(given.title or "").split()) or next(free, UNTITLED), LONGEST_TITLE)


MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Bytes by which a file is judged.
LOOKED_AT = 8192
BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# Largest share of control characters in a text file.
MOST_BINARY = 0.02
# Share of zeros among every second byte in UTF-16 text of a Western language.
ZEROS = 0.3
# Invisible characters. They can hide an order to a model within a text, or split a word so that no
# search finds it. Joiners (200c, 200d) and direction marks (200e, 200f) belong to scripts.
UNSEEN = re.compile(
    "[\u00ad\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def decoded(data: bytes, what: str) -> tuple[str, str]:
    """Return the text and the name of its encoding. Raises Unreadable for what is not text."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _strictly(data, encoding, what), encoding
    if (wide := _wide(data)) is not None:
        return _strictly(data, wide, what), wide
    head = data[:LOOKED_AT]
    if len(BINARY.findall(head)) > MOST_BINARY * len(head):
        raise Unreadable(what, "it is no text (a program, a picture or an archive?)", "no_text")
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), "cp1252"


def plain(text: str) -> str:
    """Return the text as it is stored: NFC, LF line ends, without invisible characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    if not (text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()):
        text = LONE_SURROGATES.sub("\ufffd", UNSEEN.sub("", CONTROLS.sub("", text)))
        text = unicodedata.normalize("NFC", text)
    return text.strip("\n").rstrip()


def _strictly(data: bytes, encoding: str, what: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(
            what, f"it begins like {encoding} but is damaged", "damaged_file"
        ) from error


def _wide(data: bytes) -> str | None:
    """Return the UTF-16 encoding of data without a byte order mark, or None."""
    head = data[:LOOKED_AT]
    if len(head) < 4 or len(data) % 2:
        return None
    low, high = (head[at::2].count(0) / len(head[at::2]) for at in (0, 1))
    if high > ZEROS and low < ZEROS / 10:
        return "utf-16-le"
    return "utf-16-be" if low > ZEROS and high < ZEROS / 10 else None


# Seconds that reading a PDF may take: some files are built to take forever.
MOST_SECONDS = 120.0
MOST_PAGES = 10_000
# A word that is hyphenated at the end of a line.
SPLIT_WORD = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")
logger = logging.getLogger(__name__)


def read_pdf(data: bytes, what: str) -> tuple[str, str, list[int], int]:
    """Return (text, title, the start of each page, the number of pages without text).

    Raises Unreadable or TooLarge.
    """
    reader = _opened_pdf(data, what)
    until = time.monotonic() + MOST_SECONDS
    text, pages, empty = "", list[int](), 0
    parts: list[str] = []
    size = at = 0
    for page in _pdf_pages(reader, what):
        text = _page_text(page)
        pages.append(at)
        empty += not text
        size += len(text.encode("utf-8", "replace"))
        if size > TEXT_BYTES:
            raise TooLarge(what, size, TEXT_BYTES)
        if time.monotonic() > until:
            raise Unreadable(
                what, f"its {len(pages)} first pages alone took {MOST_SECONDS:.0f} seconds"
            )
        parts.append(text + "\n\n")
        at += len(parts[-1])
    if empty == len(pages):
        raise Unreadable(
            what,
            f"none of its {len(pages)} pages has text; if they are pictures of pages, let a program"
            " for text recognition (OCR) read them first",
            "no_text",
        )
    return "".join(parts), _pdf_title(reader), pages, empty


def _opened_pdf(data: bytes, what: str) -> "PdfReader":
    from pypdf import PdfReader  # late: a server starts without it

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs every flaw of every file
    try:
        reader = PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and not reader.decrypt("")
    except Exception as error:  # pypdf documents no common base for errors of damaged files
        logger.info("pypdf: %s", error)
        if b"/Encrypt" in data:
            raise Unreadable(
                what, "it is encrypted; save a copy without a password", "encrypted"
            ) from error
        raise Unreadable(
            what, "it is damaged; open it and save it again", "damaged_file"
        ) from error
    if locked:
        raise Unreadable(what, "it is encrypted; save a copy without a password", "encrypted")
    return reader


def _pdf_pages(reader: "PdfReader", what: str) -> "list[PageObject]":
    try:
        count = len(reader.pages)
        if count > MOST_PAGES:
            raise Unreadable(what, f"it has {count:,} pages, more than {MOST_PAGES:,}; split it")
        return list(reader.pages)
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(
            what, "it is damaged; open it and save it again", "damaged_file"
        ) from error


def _page_text(page: "PageObject") -> str:
    """Return the text of a page; empty if it cannot be read."""
    try:
        return SPLIT_WORD.sub("", plain(page.extract_text())).strip()
    except Exception as error:
        logger.info("a page cannot be read: %s", error)
        return ""


def _pdf_title(reader: "PdfReader") -> str:
    try:
        metadata = reader.metadata
        return " ".join(plain(str(metadata.title or "")).split()) if metadata else ""
    except Exception:  # a wrong date in it is no reason to refuse the file
        return ""
