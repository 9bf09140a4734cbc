"""What is kept outside of the store and brought back. Backups of a home: made daily and before what
could go wrong, verified, restored, and reached by erasure. Exports of all that a Kin remembers, as
JSONL without loss or as Markdown to be read, and their import.

What they ask of an engine is HomeFiles: all files of a home at one moment, whoever's they are. They
copy, count and compare; they show nobody what another Kin's memories say.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from kinmem.models.reports import Earlier, FileChanges, FileFacts, Mended
from kinmem.store.base import Store

FOLDER = "backups"
RESTORING = ".restoring"
BEGUN = "begun.json"
"""In the folder of prepared files once a restore has begun; names them."""
RESTORE_BEGUN = f"{FOLDER}/{RESTORING}/{BEGUN}"


class HomeFiles(Protocol):
    """The database files of a home. Names are paths below it, as `kins/ana.db`."""

    @property
    def schema(self) -> int:
        """The version that this kinmem writes."""
        ...

    def names(self, home: Path) -> list[str]:
        """Return the names of the files that a home, or a folder of copies, has."""
        ...

    def taken(self, home: Path) -> AbstractContextManager[bool]:
        """Keep other processes out of the home during the block if a lock file does so, and return
        whether it does. Raises StoreError, storage_busy."""
        ...

    def copy(
        self,
        home: Path,
        folder: Path,
        *,
        locked: Path | None = None,
        stopping: Callable[[], bool] = bool,
    ) -> Mapping[str, str]:
        """Copy all files into an empty folder, as they are together at one moment, while others go
        on writing. `locked` is a file that the caller has locked for writing.

        Returns the files that are so damaged that they cannot be copied, each with the reason.
        Raises StoreError; storage_busy also if `stopping` returns True.
        """
        ...

    def facts(self, path: Path, *, thorough: bool = True) -> FileFacts:
        """Count what is in a file that nobody has open; if `thorough`, also look for damage."""
        ...

    def changes(self, present: Path | None, copy: Path) -> FileChanges:
        """Compare a file of the home, if there is one, with the copy that would replace it."""
        ...

    def alone(self, home: Path) -> AbstractContextManager["Replaceable"]:
        """Lock out everybody from all files of a home. Raises StoreError, storage_busy while a
        process has one of them open."""
        ...

    def damage(self, path: Path) -> list[str]:
        """Look at everything in a copy that nobody has open; returns what is wrong, in a few words
        each. An older copy is upgraded by this."""
        ...

    def salvage(
        self, copy: Path, target: Path, backups: Earlier, gone: Collection[str] = ()
    ) -> Mended:
        """Write into a new file what is sound in a copy, and what the history or one of the
        `backups` knows of what is not. Nothing about the memories in `gone` comes from backups."""
        ...

    def claim(self, home: Path, names: Collection[str]) -> None:
        """Let all copies of what is shared be published again, since files of different moments
        have come together."""
        ...

    def opened(self, folder: Path, kin: str) -> AbstractContextManager[Store]:
        """Open the memory of a Kin in a folder of copies, upgrading it if needed; on leaving, all
        is in the files themselves, and nothing erased is left in them."""
        ...

    def missing(self, home: Path) -> Mapping[str, int | None]:
        """Return how many of the writes that were answered each file lacks; None if all of it is
        gone. Files that lack nothing are left out."""
        ...

    def accept(self, home: Path, name: str) -> None:
        """Take a file as it is, whatever it lacks."""
        ...

    def erased(self, home: Path, kin: str) -> set[str]:
        """Return the ids of the memories that the history of a Kin says are erased for good."""
        ...

    def erased_turns(self, home: Path, kin: str) -> Sequence[tuple[int, str]]:
        """Return number and session of the messages whose text was erased."""
        ...

    def erase_turns(self, folder: Path, kin: str, turns: Sequence[tuple[int, str]]) -> int:
        """Erase the text of those of these messages that a copy still has; returns how many."""
        ...

    def ids(self, path: Path, among: Collection[str]) -> set[str]:
        """Return those of these memories that a file of any schema has."""
        ...


class Replaceable(Protocol):
    """The files of a home, nobody else having them open."""

    def copy(self, folder: Path) -> Mapping[str, str]:
        """Copy all of them into an empty folder; see HomeFiles.copy."""
        ...

    def replace(self, name: str, copy: Path) -> None:
        """Let a file hold what a copy holds, as a whole or not at all."""
        ...
