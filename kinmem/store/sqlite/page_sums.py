"""Sums of whole pages: SQLite's own layer for files, cksumvfs, writes one at the end of each page.

They find what the sums of rows cannot: vectors, indexes, links, unused parts of pages. They
are checked on request only, so a page with a wrong one is still used as far as it can be read.
Encrypted files have none: their pages are authenticated.
"""

import ctypes
import logging
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import apsw

from kinmem.errors import StoreError

logger = logging.getLogger(__name__)
LAYER = "cksmvfs"
WIDTH = 8
"""Bytes at the end of each page that are kept free for its sum: how the layer knows a file."""
RESERVED_AT = 20
"""Where the head of a file says how many bytes of each page are kept free."""
HEAD = 100
SUFFIXES = (".so", ".dylib", ".dll")
TRIES = 3
NOT_THERE = (
    "its pages have sums, and this build of apsw cannot write them;"
    " pip install --force-reinstall apsw brings one that can"
)
_loading = threading.Lock()


def files_without() -> str | None:
    """Return the name of the layer for files that have no sums; None if it is the usual one.

    From the first call on files are opened through the layer that writes sums, if there is one.
    """
    with _loading:
        usual = _load()
    return usual if apsw.vfs_names()[0] == LAYER else None


@cache
def _load() -> str:
    """Load the layer; returns which one it is on top of. It stands in the wheels of apsw, but not
    in each build of it."""
    usual: str = apsw.vfs_names()[0]
    extension = Path(apsw.__file__).parent / "sqlite_extra_binaries" / "cksumvfs"
    if any(extension.with_suffix(suffix).exists() for suffix in SUFFIXES):
        with closing(apsw.Connection(":memory:")) as db:
            db.enable_load_extension(True)
            db.load_extension(str(extension))
    return usual


def is_there() -> bool:
    """Return whether sums can be written."""
    return LAYER in apsw.vfs_names()


def prepare(db: apsw.Connection) -> None:
    """Let a connection that has read nothing yet write sums into a new file and into one that has
    them, and read pages whatever their sums are."""
    if is_there():
        wanted = ctypes.c_int(WIDTH)
        db.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(wanted))
        db.read("main", 0, 0, HEAD)  # the layer looks at the head, and would check from then on
        ignore(db)


def add(db: apsw.Connection, name: str) -> None:
    """Give a file that has no sums room for them, and write it anew, if nobody else has it open.

    Others would read its first page from the log, not notice that it has sums now, and write pages
    without. Raises StoreError for a file with sums that this driver cannot write.
    """
    ignore(db)  # a new file is one with sums since its first page was written
    if not is_there():
        if reserved(db) == WIDTH:
            raise StoreError(f"{name}: {NOT_THERE}", "storage_unsupported")
        return
    if reserved(db) != 0 or not db.pragma("page_count"):
        return
    try:
        if db.execute("PRAGMA journal_mode = DELETE").get == "delete":
            db.execute("VACUUM").fetchall()
            ignore(db)
    except (apsw.BusyError, apsw.LockedError, apsw.FullError, apsw.ReadOnlyError) as error:
        logger.info("%s has no sums of its pages yet: %s", name, error)


def ignore(db: apsw.Connection) -> None:
    """Read pages whatever their sums are. The layer forgets this when a file is made."""
    db.execute("PRAGMA checksum_verification = OFF").fetchall()


def reserved(db: apsw.Connection) -> int:
    """Return how many bytes of each page are kept free."""
    is_whole, head = db.read("main", 0, 0, HEAD)
    return head[RESERVED_AT] if is_whole else 0


def is_wrong(error: BaseException) -> bool:
    """Return whether the layer says that a page has not its sum."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA


def damaged_pages(db: apsw.Connection) -> Iterator[int]:
    """Yield the numbers of pages that are not as they were written. `db` is not used by others."""
    if reserved(db) != WIDTH or not is_there():
        return
    with suppress(apsw.Error):  # a crash may have cut short what is in the log as a whole
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    size: int = db.pragma("page_size")
    db.execute("PRAGMA checksum_verification = ON").fetchall()
    try:
        number = 0
        while (whole := _page(db, number, size)) is not None:
            number += 1
            if not whole:
                yield number
    finally:
        ignore(db)


def _page(db: apsw.Connection, number: int, size: int) -> bool | None:
    """Return whether a page has its sum; None behind the last. Another process may be writing it
    just now, so it is read more than once."""
    for _ in range(TRIES):
        try:
            is_whole, _ = db.read("main", 0, number * size, size)
        except apsw.IOError as error:
            if not is_wrong(error):
                raise
        else:
            return True if is_whole else None
    return False
