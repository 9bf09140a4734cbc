"""What the C library keeps of memory that nobody uses any more, and how it is given back.

Opening a network takes twice what it needs afterwards, and glibc keeps the rest for itself: 57 MiB
for the two networks of the built-in embedder. Elsewhere than on glibc both functions do nothing.
"""

import ctypes
import sys
from functools import lru_cache
from typing import Any

MOST_ARENAS = 2
_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h


def share_arenas() -> None:
    """Let all threads share two heaps; glibc would give eight to each core, and each keeps what
    its threads took once."""
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
