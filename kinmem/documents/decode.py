"""Stage 1a: bytes become text, whatever wrote them."""

import codecs
import re
import unicodedata

from kinmem.errors import Unreadable
from kinmem.text import CONTROLS, LONE_SURROGATES

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LOOKED_AT = 8192
"""Bytes by which a file is judged."""
BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
MOST_BINARY = 0.02
"""Share of control characters that no text has."""
ZEROS = 0.3
"""Share of every second byte that is 0 in UTF-16 of a Western language."""
# Nobody sees them. They can hide an order to a model within a text, or part a word so that no
# search finds it. Joiners (200c, 200d) and direction marks (200e, 200f) belong to scripts.
UNSEEN = re.compile(
    "[\u00ad\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def decoded(data: bytes, what: str) -> tuple[str, str]:
    """The text and the name of its encoding. Raises Unreadable for what is no text."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _strictly(data, encoding, what), encoding
    if (wide := _wide(data)) is not None:
        return _strictly(data, wide, what), wide
    head = data[:LOOKED_AT]
    if len(BINARY.findall(head)) > MOST_BINARY * len(head):
        raise Unreadable(what, "it is no text (a program, a picture or an archive?)")
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), "cp1252"


def plain(text: str) -> str:
    """As it is stored: NFC, lines that end alike, without what is not seen."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    if not (text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()):
        text = LONE_SURROGATES.sub("\ufffd", UNSEEN.sub("", CONTROLS.sub("", text)))
        text = unicodedata.normalize("NFC", text)
    return text.strip("\n").rstrip()


def _strictly(data: bytes, encoding: str, what: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(what, f"it begins like {encoding} but is damaged") from error


def _wide(data: bytes) -> str | None:
    """UTF-16 that does not say so."""
    head = data[:LOOKED_AT]
    if len(head) < 4 or len(data) % 2:
        return None
    low, high = (head[at::2].count(0) / len(head[at::2]) for at in (0, 1))
    if high > ZEROS and low < ZEROS / 10:
        return "utf-16-le"
    return "utf-16-be" if low > ZEROS and high < ZEROS / 10 else None
