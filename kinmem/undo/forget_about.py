"""Forget all about a name: what that is, erasing it, and the proof that it is gone."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kinmem.errors import InvalidInput
from kinmem.language.names.mention import SHORTEST, Mention
from kinmem.models import Memory
from kinmem.store.base import Store
from kinmem.undo.byte_scan import Place, Scan

logger = logging.getLogger(__name__)

COPIES = (".bak", ".backup")


@dataclass(frozen=True, slots=True)
class Proof:
    """What was erased, and where the name or the erased texts still stand."""

    erased: int
    """Memories."""
    blanked: Mapping[str, int]
    """Rows of other tables from which it was removed."""
    deleted: tuple[str, ...]
    """Files, below the home folder."""
    searched: tuple[str, ...]
    """Files that were read byte by byte afterwards."""
    texts: int
    """Pieces of erased texts that were searched for, beside the name."""
    places: tuple[Place, ...]
    """Where something is left; none: it is gone."""
    others: tuple[str, ...]
    """Other Kins' shared memories that name it. Nobody but they may change these."""
    copies: tuple[Path, ...]
    """Copies of shared.db that name it, to be deleted by hand."""
    kept: tuple[str, ...]
    """See Forgetting.kept."""


class Forgetting:
    """What one Kin's memory holds of a name. Nothing is erased before `erase` is called."""

    def __init__(self, store: Store, home: Path, name: str, done: Callable[[], None]) -> None:
        """`done` is called when something was erased. Raises InvalidInput for a useless name."""
        self.mention = Mention(name)
        if len(self.mention.name) < SHORTEST:
            raise InvalidInput(f"{name!r} is too short to tell what is about it; name it in full")
        self._store = store
        self._home = home
        self._done = done
        traces = store.forgetting.traces(self.mention)
        self.memories: list[Memory] = traces.memories
        """Own ones, private and shared, in whatever state; they are erased."""
        self.others: tuple[str, ...] = tuple(traces.others)
        """Ids of other Kins' shared memories that name it; they stay."""
        self.counts: Mapping[str, int] = traces.counts
        """By table how many other rows name it: turns, summaries, history, what was shown."""
        self.files: tuple[str, ...] = tuple(dict.fromkeys((*traces.spills, *self._own_files())))
        """Files that are deleted: what tools gave, and copies of the Kin's own database."""
        self.copies: tuple[Path, ...] = tuple(self._shared_copies())
        """Copies of shared.db that name it. They stay, for other Kins' memories are in them too;
        who wants the name gone from them deletes them by hand."""
        self.kept: tuple[str, ...] = traces.kept
        """table.column where the name is a word of kinmem's own, or the Kin's name; these stay."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be erased."""
        return not (self.memories or self.counts or self.files)

    def erase(self) -> Proof:
        """Erase all of it for good, then search every file for what may be left."""
        texts = [text for one in self.memories for text in (one.content, one.source_context or "")]
        forgetting = self._store.forgetting
        blanked = forgetting.counts(self.mention, self.memories)
        erased = forgetting.erase([memory.id for memory in self.memories])
        forgetting.blank(self.mention)
        deleted = tuple(name for name in self.files if self._deleted(name))
        self._done()
        scan = Scan(self.mention.spellings(), texts)
        paths = list(self._searched())
        places = self._places(scan, paths)
        if any(place.file.endswith((".db", "-wal")) for place in places):
            forgetting.compact()
            places = self._places(scan, paths)
        names = tuple(str(path.relative_to(self._home)) for path in paths)
        return Proof(
            erased=erased,
            blanked=blanked,
            deleted=deleted,
            searched=names,
            texts=len(scan.probes),
            places=places,
            others=self.others,
            copies=tuple(self._shared_copies()),
            kept=self.kept,
        )

    def _places(self, scan: Scan, paths: list[Path]) -> tuple[Place, ...]:
        forgetting = self._store.forgetting
        known = set(forgetting.words_with(self.mention.spellings()))
        known = {word for word in known if not self.mention.is_in(word)}

        def is_known(word: str) -> bool:
            return any(one in word or word in one for one in known)

        former = forgetting.former(self.mention).items()
        return (
            *scan(self._home, paths, is_known, forgetting.holds),
            *(Place(str(path.relative_to(self._home)), count, "name") for path, count in former),
        )

    def _own_files(self) -> Iterator[str]:
        """What tools gave, and copies of the own database, that name it."""
        folder, kin = self._home / "kins", self._store.kin
        found = [*folder.glob(f"{kin}-outputs/*"), *folder.glob(f"{kin}.db*")]
        for path in self._naming(p for p in found if p.suffix in COPIES or p.parent != folder):
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
        """Every file but those of other Kins, which are theirs to search."""
        kin = self._store.kin
        for path in sorted(filter(_is_plain, self._home.rglob("*"))):
            folder, *rest = path.relative_to(self._home).parts
            is_own = bool(rest) and (rest[0] == f"{kin}-outputs" or rest[0].startswith(f"{kin}.db"))
            if folder != "kins" or is_own:
                yield path


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
