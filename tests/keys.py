"""Encrypted files in tests: `make encrypted` sets TESTS_ENCRYPTED, and new files have a key then.

It is held wherever a module of the tests is loaded, so also in processes that tests start. Files in
the clear, as those of older versions, can be opened as well.
"""

import os
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from kinmem.store.sqlite.encryption import hold

IS_ENCRYPTED = "TESTS_ENCRYPTED" in os.environ
KEY = "5e" * 32
AS_IT_IS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
IN_THE_CLEAR = b"SQLite format 3"

reads_bytes = pytest.mark.skipif(IS_ENCRYPTED, reason="it looks for words in the bytes of files")
has_processes = pytest.mark.skipif(IS_ENCRYPTED, reason="its processes have no key")

if IS_ENCRYPTED:
    hold(Path("/"), [KEY, None], [None])


def raw(path: Path, flags: int = AS_IT_IS) -> apsw.Connection:
    """Open a file as another program would that has the key."""
    if IS_ENCRYPTED:
        db = apsw.Connection(str(path), flags=flags)
        db.pragma("key", f"raw:{KEY}")
        with suppress(apsw.NotADBError):
            db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            return db
        db.close()
    return apsw.Connection(str(path), flags=flags)
