"""The process of a server: what it logs, never of what memories say nor of what opens them, and
what the C library keeps of memory that nobody uses any more.

Opening a network takes twice what it needs afterwards, and glibc keeps the rest for itself: 57 MiB
for the two networks of the built-in embedder. Elsewhere than on glibc nothing is given back.
"""

import ctypes
import logging
import re
import sys
from functools import lru_cache
from typing import Any

MOST_ARENAS = 1
_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h


def share_arenas() -> None:
    """Let all threads share one heap; glibc would give eight to each core, and each keeps what
    its threads took once. A second one costs 18 MB at 100,000 memories and makes nothing faster:
    eight threads that embed take 3.1 ms of processor time a text with one, 3.4 with two."""
    if library := _glibc():
        library.mallopt(_ARENA_MAX, MOST_ARENAS)


def give_back() -> None:
    """Return unused memory to the system. Takes some milliseconds, so never within an answer."""
    if library := _glibc():
        library.malloc_trim(0)


@lru_cache(maxsize=1)
def _glibc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None


def log_to_stderr(level: str) -> None:
    """Log ids and counts of kinmem, and warnings of others: their messages below that repeat what
    was sent, at DEBUG all of it."""
    form = "%(levelname)s %(name)s: %(message)s"
    others = level if level == "ERROR" else "WARNING"
    logging.basicConfig(level=others, stream=sys.stderr, format=form, force=True)
    logging.getLogger("kinmem").setLevel(level)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_without_values)
        handler.addFilter(_without_credentials)


# Session ids of MCP, which are random UUIDs (a memory's is ordered by time, version 7), and tokens.
CREDENTIAL = re.compile(
    r"\b[0-9a-f]{12}4[0-9a-f]{19}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}\b|\bkmk_\S+"
)


def _without_credentials(record: logging.LogRecord) -> bool:
    """Take what opens a session or a memory out of a log record."""
    told = record.getMessage()
    if (hidden := CREDENTIAL.sub("[hidden]", told)) != told:
        record.msg, record.args = hidden, ()
    return True


def _without_values(record: logging.LogRecord) -> bool:
    """Strip a pydantic error from a log record: it shows the refused value, which may be a
    memory."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None and type(error).__name__ == "ValidationError":
        record.exc_info = None
        record.msg = f"{record.msg} ({type(error).__name__})"
    return True
