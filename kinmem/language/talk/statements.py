"""A message cut into the sentences that it consists of, each with its place in the message.

Nothing is reworded: a statement is a slice of what was said. Quotations stay in one piece, however
many sentences they hold, because who says them is told only once. With it stand the openings that
are no part of what is stated: that something is asked to be kept, and how sure its writer is.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from kinmem.language.lexicon import either
from kinmem.language.pattern import late
from kinmem.sentences import borders

LIST_MARK = late(r"(?:[-*•+]|\d{1,2}[.)]|#+)\s+")
QUOTATION = late(
    '"[^"\\n]{3,}?"(?!\\w)|“[^”]{3,}?”|„[^“”]{3,}?[“”]|«[^»]{3,}?»|‘[^’\\n]{12,}?’(?!\\w)'
)
ATTACHED = late(r"\[(?:photo|image|picture|video|attachment|gif|sticker|file)\b[^\]]*\]")
"""What a client puts in place of something shown; not the speaker's words."""
LONGEST = 2000
"""Characters of a sentence; whatever is longer is no talk."""
QUOTED_SHARE = 0.5
LEAST_WORDS = 3
"""Of a text in a program's message; a shorter one is a name or a value."""
ASKED_TO_KEEP = late(
    r"(?i)\W*(?:please |bitte |hey,? |(?:can|could|would|will) you )*"
    rf"(?:{either('asked_to_keep')})[,:]?\s+(?!to\b|me\b)"
)
"""It is taken off what is kept: my dog is called Bello."""
HEDGE = late(rf"(?i)\W*(?:{either('hedge')})[,，:]?\s*(?:dass )?")
"""How somebody tells what they have found to be so: a fact none the less."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or a line of a message."""

    text: str
    start: int
    """Where it begins in the message."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def statements(message: str) -> list[Statement]:
    """The sentences in order; what is longer than 2,000 characters is left out."""
    plain = ATTACHED.sub(lambda match: "\n" * len(match[0]), message)
    return [one for one in _cut(plain) if len(one.text) <= LONGEST]


def _cut(text: str) -> Iterator[Statement]:
    """The slices between the ends of sentences, without white space and list marks around them."""
    quoted = [match.span() for match in QUOTATION.finditer(text)]
    begin = 0
    for end in [*_ends(text, quoted), len(text)]:
        part = text[begin:end]
        start = begin + len(part) - len(part.lstrip())
        if mark := LIST_MARK.match(text, start, end):
            start = mark.end()
        if kept := text[start:end].strip():
            yield Statement(kept, start)
        begin = end


def _ends(text: str, quoted: list[tuple[int, int]]) -> Iterator[int]:
    for end in borders(text):
        begun = len(text[:end].rstrip())
        if not any(first < begun and end < last for first, last in quoted):
            yield end


def in_json(message: str) -> list[tuple[str, str | None]] | None:
    """The prose in a program's message, each text with its `type`; None: it is not JSON, as a whole
    or line by line."""
    stripped = message.strip()
    if stripped[:1] not in ("{", "[") or stripped[-1:] not in ("}", "]"):
        return None
    for parts in ([stripped], stripped.splitlines()):
        with suppress(ValueError, RecursionError):
            return [text for part in parts if part for text in _texts(json.loads(part), None)]
    return None


def _texts(value: object, type: str | None) -> Iterator[tuple[str, str | None]]:
    match value:
        case str() if len(value.split()) >= LEAST_WORDS:
            yield value, type
        case list():
            for item in value:
                yield from _texts(item, type)
        case dict():
            own = value.get("type")
            for item in value.values():
                yield from _texts(item, own if isinstance(own, str) else type)


def asks(text: str) -> bool:
    """Whether a sentence ends as a question."""
    return text.rstrip(' !."”)').endswith(("?", "？"))


def is_quotation(text: str) -> bool:
    """Whether most of it stands in quotation marks: those are somebody's words, and not the
    speaker's."""
    quoted = sum(len(match[0]) for match in QUOTATION.finditer(text) if " " in match[0])
    return quoted > QUOTED_SHARE * len(text)
