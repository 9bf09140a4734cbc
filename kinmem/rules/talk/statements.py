"""A message cut into the sentences that it consists of, each with its place in the message.

Nothing is reworded: a statement is a slice of what was said. Quotations stay in one piece, however
many sentences they hold, because who says them is told only once.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from kinmem.rules.pattern import late
from kinmem.rules.same.atoms import atoms
from kinmem.text import SENTENCE_END

LIST_MARK = late(r"(?:[-*•+]|\d{1,2}[.)]|#+)\s+")
ABBREVIATED = late(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|e\.g|i\.e|z\.B|bzw|ca|Nr|Sra?|Dra|Mme|[A-Z]\.[A-Z])\.\s*$"
)
NUMBERED = late(r"(?<![\w.,:])\d{1,2}\.[^\S\n]+$")
"""It may be an ordinal; joining two sentences costs less than cutting one."""
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
    for match in SENTENCE_END.finditer(text):
        end = match.end()
        if not end or any(first < match.start() and end < last for first, last in quoted):
            continue
        head = text[max(0, end - 24) : end]
        if "\n" not in match[0] and (ABBREVIATED.search(head) or _is_ordinal(text, end)):
            continue
        yield end


def _is_ordinal(text: str, end: int) -> bool:
    """Whether the number in front of `end` counts what comes: 18. April, am 3. Tag."""
    if not NUMBERED.search(text[max(0, end - 8) : end]):
        return False
    return text[end : end + 1].isupper() or bool(atoms(f"18 {text[end : end + 12]}").dates)


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


def is_quotation(text: str) -> bool:
    """Whether most of it stands in quotation marks: those are somebody's words, and not the
    speaker's."""
    quoted = sum(len(match[0]) for match in QUOTATION.finditer(text) if " " in match[0])
    return quoted > QUOTED_SHARE * len(text)
