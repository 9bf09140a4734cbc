"""Where names and texts stand in the files below a folder, byte by byte."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kinmem.text import INVISIBLE

BLOCK = 1 << 24
LONGEST = 4096
"""Bytes that are read again at the start of the next block."""
REACH = 40
"""Bytes on either side that are looked at for the word in which a name stands."""
WORD_BEFORE = re.compile(rb"[0-9A-Za-z_\x80-\xff]*\Z")
WORD_AFTER = re.compile(rb"[0-9A-Za-z_\x80-\xff]*")
SHORT = 4
"""Bytes; shorter names turn up in random numbers such as vectors."""
PRINTABLE = frozenset([*range(0x20, 0x7F), *range(0x80, 0x100), 9, 10, 13])
PROBE = 40
"""Characters of a text that are searched for, from its beginning and from its middle."""
MOST_PROBES = 300


@dataclass(frozen=True, slots=True)
class Place:
    """Something that was searched for stands in a file."""

    file: str
    """Below the home folder."""
    count: int
    what: str
    """name or text."""


class Scan:
    """Searches files for the spellings of a name, and for pieces of texts."""

    def __init__(self, spellings: Collection[str], erased: Sequence[str]) -> None:
        forms = {form.encode().lower() for name in spellings for form in _written(name)}
        self._name = re.compile(b"|".join(map(re.escape, sorted(forms))))
        self.probes = list(dict.fromkeys(_probes(erased)))[:MOST_PROBES]
        texts = b"|".join(re.escape(probe.encode()) for probe in self.probes)
        self._texts = re.compile(texts) if texts else None

    def __call__(
        self,
        home: Path,
        paths: Sequence[Path],
        is_known: Callable[[str], bool],
        holds: Callable[[str], bool],
    ) -> list[Place]:
        """Where they stand. `is_known`: a longer word that the name is part of; `holds`: a text
        that something which stays says as well; neither is told."""
        is_held = cache(holds)
        places = []
        for path in paths:
            name = str(path.relative_to(home))
            words, texts = self._in_file(path)
            left = {
                "name": sum(count for word, count in words.items() if not is_known(word)),
                "text": sum(count for text, count in texts.items() if not is_held(text)),
            }
            places += [Place(name, count, what) for what, count in left.items() if count]
        return places

    def _in_file(self, path: Path) -> tuple[Counter[str], Counter[str]]:
        """The words around the name, and the pieces of texts, with how often each is there."""
        words, texts = Counter[str](), Counter[str]()
        for block in _blocks(path):
            words.update(self._words(block))
            if self._texts is not None:
                texts.update(hit.decode() for hit in self._texts.findall(block))
        return words, texts

    def _words(self, block: bytes) -> Iterator[str]:
        """The words around each place of the name, without invisible characters."""
        block = _unseen().sub(b"", block.lower())
        for hit in self._name.finditer(block):
            start, end = hit.span()
            if end - start >= SHORT or _is_text(block, start, end):
                before = WORD_BEFORE.search(block[max(0, start - REACH) : start])
                after = WORD_AFTER.match(block[end : end + REACH])
                assert before is not None and after is not None  # they match nothing as well
                word = before.group() + hit.group() + after.group()
                yield word.decode("utf-8", "replace").lower()


@cache
def _unseen() -> re.Pattern[bytes]:
    """Invisible characters, as they may stand in a file."""
    found = INVISIBLE.findall("".join(map(chr, (*range(0xD800), *range(0xE000, 0xE1000)))))
    return re.compile(_any_of({form.encode() for one in found for form in _written(one)}))


def _written(text: str) -> tuple[str, str]:
    return text, json.dumps(text)[1:-1]


def _any_of(forms: Collection[bytes]) -> bytes:
    """A pattern that looks at each byte once, none of the forms being the start of another."""
    ends: dict[int, set[bytes]] = {}
    for form in filter(None, forms):
        ends.setdefault(form[0], set()).add(form[1:])
    starts: dict[bytes, bytes] = {}
    for byte, rest in sorted(ends.items()):
        ending = _any_of(rest)
        starts[ending] = starts.get(ending, b"") + rb"\x%02x" % byte
    parts = [b"[%b]%b" % (bytes, ending) for ending, bytes in starts.items()]
    return b"(?:%b)" % b"|".join(parts) if parts else b""


def _is_text(block: bytes, start: int, end: int) -> bool:
    """Whether it stands among text rather than numbers."""
    around = block[max(0, start - 4) : start] + block[end : end + 4]
    return sum(byte in PRINTABLE for byte in around) >= 4


def _blocks(path: Path) -> Iterator[bytes]:
    """The file in overlapping parts; what is gone meanwhile is empty."""
    try:
        with path.open("rb") as file:
            before = b""
            while block := file.read(BLOCK):
                yield before + block
                before = block[-LONGEST:]
    except FileNotFoundError:
        return


def _probes(texts: Sequence[str]) -> Iterator[str]:
    """Pieces of texts that are long enough to be theirs alone."""
    for text in texts:
        for start in {0, len(text) // 2}:
            piece = text[start : start + PROBE].strip()
            if len(piece) >= PROBE // 2:
                yield piece
