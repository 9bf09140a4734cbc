"""Forget everything about a name: find it, erase it, and prove that it is gone.

The proof is a byte scan: it searches all files below a folder for names and pieces of texts.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Protocol

from kinmem.errors import InvalidInput
from kinmem.models import ErasedFromBackups, Memory
from kinmem.store.base import Store
from kinmem.store.history import SHORTEST, Mention
from kinmem.text import INVISIBLE

BLOCK = 1 << 24
# Bytes that are read again at the start of the next block.
LONGEST = 4096
# Copies a file to stdout.
READ = "import shutil, sys; shutil.copyfileobj(open(sys.argv[1], 'rb'), sys.stdout.buffer, 1 << 20)"
# Bytes on either side that are searched for the word that contains a name.
REACH = 40
WORD_BEFORE = re.compile(rb"[0-9A-Za-z_\x80-\xff]*\Z")
WORD_AFTER = re.compile(rb"[0-9A-Za-z_\x80-\xff]*")
# Bytes; shorter names occur by chance in binary numbers such as vectors.
SHORT = 4
PRINTABLE = frozenset([*range(0x20, 0x7F), *range(0x80, 0x100), 9, 10, 13])
# Characters of each piece of a text that is searched for: one from its beginning, one from its
# middle.
PROBE = 40
MOST_PROBES = 300


@dataclass(frozen=True, slots=True)
class Place:
    """A file that contains something that was searched for."""

    file: str
    """Path below the home folder, or a table of the database server."""
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
        """Return where they occur. Not reported are occurrences within a longer word for which
        `is_known` returns True, and pieces for which `holds` does, since something that stays says
        the same."""
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
        """Count the words around the name, and the pieces of texts."""
        words, texts = Counter[str](), Counter[str]()
        for block in _blocks(path):
            words.update(self._words(block))
            if self._texts is not None:
                texts.update(hit.decode() for hit in self._texts.findall(block))
        return words, texts

    def _words(self, block: bytes) -> Iterator[str]:
        """Yield the word around each occurrence of the name, without invisible characters."""
        block = _unseen().sub(b"", block.lower())
        for hit in self._name.finditer(block):
            start, end = hit.span()
            if end - start >= SHORT or _is_text(block, start, end):
                before = WORD_BEFORE.search(block[max(0, start - REACH) : start])
                after = WORD_AFTER.match(block[end : end + REACH])
                assert before is not None and after is not None  # both also match the empty string
                word = before.group() + hit.group() + after.group()
                yield word.decode("utf-8", "replace").lower()


@cache
def _unseen() -> re.Pattern[bytes]:
    """Match invisible characters, in each form in which a file may contain them."""
    invisible = INVISIBLE.findall("".join(map(chr, (*range(0xD800), *range(0xE000, 0xE1000)))))
    return re.compile(
        _any_of({form.encode() for character in invisible for form in _written(character)})
    )


def _written(text: str) -> tuple[str, str]:
    return text, json.dumps(text)[1:-1]


def _any_of(forms: Collection[bytes]) -> bytes:
    """Return a pattern that reads each byte once; none of the forms may be the start of another."""
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
    """Return whether it is surrounded by text rather than by binary numbers."""
    around = block[max(0, start - 4) : start] + block[end : end + 4]
    return sum(byte in PRINTABLE for byte in around) >= 4


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the file in overlapping blocks; nothing if the file is gone by now.

    Another process reads it: closing a database's file here would drop all locks that SQLite holds
    on it for this process. Raises OSError if the file cannot be read.
    """
    command = [sys.executable, "-I", "-S", "-c", READ, str(path)]
    with Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE) as reader:
        assert reader.stdout is not None and reader.stderr is not None
        before = b""
        while block := reader.stdout.read(BLOCK):
            yield before + block
            before = block[-LONGEST:]
        failure = reader.stderr.read().decode("utf-8", "replace")
    if failure and path.exists():
        raise OSError(f"{path} cannot be searched: {failure.splitlines()[-1]}")


def _probes(texts: Sequence[str]) -> Iterator[str]:
    """Yield pieces of texts that are long enough to be unique."""
    for text in texts:
        for start in {0, len(text) // 2}:
            piece = text[start : start + PROBE].strip()
            if len(piece) >= PROBE // 2:
                yield piece


COPIES = (".bak", ".backup")


@dataclass(frozen=True, slots=True)
class Proof:
    """What was erased, and where the name or the erased texts still occur."""

    erased: int
    """Number of memories."""
    blanked: Mapping[str, int]
    """By table, the number of other rows from which the name was removed."""
    deleted: tuple[str, ...]
    """Files, by their path below the home folder."""
    searched: tuple[str, ...]
    """Files that were scanned byte by byte afterwards."""
    texts: int
    """Number of pieces of erased texts that were searched for, besides the name."""
    places: tuple[Place, ...]
    """Where something is left; empty if everything is gone."""
    others: tuple[str, ...]
    """Ids of other Kins' shared memories that mention the name. Only those Kins may change them."""
    copies: tuple[Path, ...]
    """Copies of shared.db that contain the name, to be deleted by hand."""
    kept: tuple[str, ...]
    """See Forgetting.kept."""
    backups: ErasedFromBackups = ErasedFromBackups()
    """How far it is erased in the backups of the home."""
    remarks: tuple[str, ...] = ()
    """See store.history.Forgetting.compact."""


class InBackups(Protocol):
    """Finds and erases what backups hold about a name."""

    def naming(self, mention: Mention) -> Sequence[Path]:
        """Return the backups in the home that mention it."""
        ...

    def erasing_about(
        self, mention: Mention, ids: Collection[str]
    ) -> AbstractContextManager[Callable[[], ErasedFromBackups]]:
        """Hold the backups while the block erases all about it, these memories among it. What is
        yielded, called after it, erases it from every backup that can be reached."""
        ...


class Forgetting:
    """Everything about a name in one Kin's memory. Nothing is erased until `erase` is called."""

    def __init__(
        self,
        store: Store,
        home: Path,
        name: str,
        done: Callable[[], None],
        in_backups: InBackups | None = None,
    ) -> None:
        """`done` is called once something was erased. Raises InvalidInput for a useless name."""
        self.mention = Mention(name)
        if len(self.mention.name) < SHORTEST:
            raise InvalidInput(f"{name!r} is too short to tell what is about it; name it in full")
        self._store = store
        self._home = home
        self._done = done
        self._in_backups = in_backups
        traces = store.forgetting.traces(self.mention)
        self.memories: list[Memory] = traces.memories
        """The Kin's own memories about the name, private and shared, in any state; they are
        erased."""
        self.others: tuple[str, ...] = tuple(traces.others)
        """Ids of other Kins' shared memories that mention the name; they stay."""
        self.counts: Mapping[str, int] = traces.counts
        """By table, how many other rows mention it: turns, summaries, history, what was shown."""
        self.files: tuple[str, ...] = tuple(dict.fromkeys((*traces.spills, *self._own_files())))
        """Files that are deleted: tool outputs, and copies of the Kin's own database."""
        self.copies: tuple[Path, ...] = tuple(self._shared_copies())
        """Copies of shared.db that contain the name. They stay, since they hold other Kins'
        memories too; to remove the name from them, delete them by hand."""
        self.kept: tuple[str, ...] = traces.kept
        """table.column where the name is one of kinmem's own words, or the Kin's name; these
        stay."""

        self.backups: tuple[Path, ...] = (
            () if in_backups is None else tuple(in_backups.naming(self.mention))
        )
        """Backups in the home that mention it; it is erased in them too."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to erase."""
        return not (self.memories or self.counts or self.files or self.backups)

    def erase(self) -> Proof:
        """Erase everything for good, then search every file for remains.

        Raises StoreError, storage_busy, while another process makes or restores a backup; then
        nothing was erased.
        """
        forgetting, ids = self._store.forgetting, [memory.id for memory in self.memories]
        texts = [text for one in self.memories for text in (one.content, one.source_context or "")]
        in_backups = self._in_backups
        with (
            nullcontext(ErasedFromBackups)
            if in_backups is None
            else in_backups.erasing_about(self.mention, ids)
        ) as erase_in_backups:
            blanked = forgetting.counts(self.mention, self.memories)
            erased = self._store.making_room(lambda: forgetting.erase(ids))
            self._store.making_room(lambda: forgetting.blank(self.mention))
            deleted = tuple(name for name in self.files if self._deleted(name))
            self._done()
            reached = erase_in_backups()
        scan = Scan(self.mention.spellings(), texts)
        paths = list(self._searched())
        places = self._places(scan, paths)
        remarks: Sequence[str] = ()
        is_in_files = any(place.file.endswith((".db", "-wal")) for place in places)
        if forgetting.keeps_versions or is_in_files:
            remarks = forgetting.compact()
            places = self._places(scan, paths)
        return Proof(
            erased=erased,
            blanked=blanked,
            deleted=deleted,
            searched=tuple(str(path.relative_to(self._home)) for path in paths),
            texts=len(scan.probes),
            places=places,
            others=self.others,
            copies=tuple(self._shared_copies()),
            kept=self.kept,
            backups=reached,
            remarks=tuple(remarks),
        )

    def _places(self, scan: Scan, paths: list[Path]) -> tuple[Place, ...]:
        forgetting = self._store.forgetting
        known = set(forgetting.words_with(self.mention.spellings()))
        known = {word for word in known if not self.mention.is_in(word)}

        def is_known(word: str) -> bool:
            return any(other in word or word in other for other in known)

        remains = forgetting.remains(self.mention).items()
        return (
            *scan(self._home, paths, is_known, forgetting.holds),
            *(Place(place, count, "name") for place, count in remains),
        )

    def _own_files(self) -> Iterator[str]:
        """Yield tool outputs, and copies of the Kin's own database, that contain the name."""
        folder, kin = self._home / "kins", self._store.kin
        files = [*folder.glob(f"{kin}-outputs/*"), *folder.glob(f"{kin}.db*")]
        for path in self._naming(p for p in files if p.suffix in COPIES or p.parent != folder):
            yield str(path.relative_to(self._home))

    def _shared_copies(self) -> Iterator[Path]:
        return self._naming(p for p in self._home.glob("shared.db*") if p.suffix in COPIES)

    def _naming(self, paths: Iterable[Path]) -> Iterator[Path]:
        scan = Scan(self.mention.spellings(), ())
        for path in sorted(filter(_is_plain, paths)):
            if scan(self._home, [path], lambda word: False, lambda text: False):
                yield path

    def _deleted(self, name: str) -> bool:
        path = self._home / name
        with suppress(FileNotFoundError):
            if _is_plain(path):
                path.unlink()
                return True
        return False

    def _searched(self) -> Iterator[Path]:
        """Yield every file except those of other Kins, `marks` and `reserve`, which hold numbers
        and zeros, and backups, which are packed: what they hold is asked of them."""
        kin = self._store.kin
        for path in sorted(filter(_is_plain, self._home.rglob("*"))):
            folder, *rest = path.relative_to(self._home).parts
            is_own = bool(rest) and (rest[0] == f"{kin}-outputs" or rest[0].startswith(f"{kin}.db"))
            if folder not in ("kins", "backups", "marks", "reserve") or is_own:
                yield path


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
