"""New database files are copies of one that kinmem has made, once in a process of pytest.

Two files are new in most tests, and to write the schema into them takes longer than all else that
opening a memory does. In tests of the store itself (tests/store) kinmem makes each file.
"""

import itertools
import os
import shutil
from contextlib import closing, suppress
from pathlib import Path

from kinmem.store.sqlite.connection import SqliteDatabase
from kinmem.store.sqlite.driver import make_private
from kinmem.store.sqlite.encryption import keys_for


class NewFiles:
    """Makes files in place of kinmem's `make_private`, in which nothing is but the schema."""

    def __init__(self, folder: Path) -> None:
        self.is_used = True
        self._made = folder / "made.db"
        self._numbers = itertools.count()
        with closing(SqliteDatabase(self._made)):
            pass

    def make(self, path: Path) -> None:
        """Make folder and file, unless somebody has; one of several that try makes the file."""
        if self.is_used and not os.path.lexists(path) and keys_for(path) == (None,):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            copy = self._made.with_name(f"{next(self._numbers)}.db")
            shutil.copy(self._made, copy)
            with suppress(OSError):  # on another disk, or somebody was faster
                path.hardlink_to(copy)
            copy.unlink()
        make_private(path)
