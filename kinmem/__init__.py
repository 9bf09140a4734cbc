"""kinmem: lasting memory for agents.

import kinmem

with kinmem.open("ana") as memory:
    memory.memorize("The office closes at six", subject="office")
    for hit in memory.recall("when does the office close?").hits:
        print(hit.memory.content, hit.why)
"""

import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    # Importing pathlib would cost every hook 5 ms.
    from pathlib import Path

    from kinmem.service import Service

__version__ = "0.1.0"
__all__ = ["open"]

# Set before numpy is imported: with two BLAS threads on a busy machine, a product that needs 0.3 ms
# takes 8-24 ms.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")


def open(
    kin: str = "default",
    home: "str | Path | None" = None,
    *,
    url: str | None = None,
    token: str | None = None,
) -> "Service":
    """Open the memory of one Kin (see Service). Close it after use, or use it in a with statement.

    `home` is the folder that holds all Kins; it defaults to KINMEM_HOME (~/.kinmem). The built-in
    embedder loads in the background, and the first call that needs it waits.

    With `url` the memory is that of a server (`kinmem serve --transport http`), reached over REST;
    `token` is one of the Kin's. Methods and results are the same; see web/rest/client.py for
    what only a local memory has.
    """
    if url is not None:
        if home is not None:
            raise ValueError("a memory is in a home here or at a url, not both")
        from kinmem.web.rest.client import Client  # late, as below

        return cast("Service", Client(kin, url, token))
    from kinmem.wiring.open_memory import open_kin  # late: takes 0.5 s, and every hook loads this

    return open_kin(kin, home)
