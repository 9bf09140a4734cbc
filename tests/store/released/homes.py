"""Makes a home with the kinmem of an old commit, for homes.tar.xz.

Run it in a checkout of that commit: `PYTHONPATH=. python homes.py HOME`. Each was run once; the
archive holds what that version left on disk, and must not be made anew with a later kinmem.
schema-1-with-more-indexes is of 1667287, schema-1 of f790f1c, schema-2 of 1262776, schema-3 of
7ad2d63, schema-4 of c8008de, schema-5 of fa2c564, schema-7 of f2ffa53, schema-9 to schema-12 of
the commits that added them; dead-3 of 287bedd, f14b30a and ae1a7a8, development versions that bear
the number 3 without having its schema.
"""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from kinmem.settings import load

FACTS = (
    "Dora lives in Bremen",
    "Emil is allergic to peanuts",
    "The meeting is on 3 May at 14:30",
)


def opened(home: Path) -> Any:
    try:
        from kinmem.wiring.open_memory import open_service
    except ImportError:  # before it had a module of its own
        from kinmem.wiring import open_service  # type: ignore[attr-defined, no-redef]
    settings = load({"KINMEM_KIN": "ana", "KINMEM_HOME": home})
    with suppress(TypeError):
        return open_service(settings, resident=False)
    return open_service(settings)


def main() -> None:
    ana = opened(Path(sys.argv[1]))
    for fact in FACTS:
        ana.memorize(fact)
    ana.memorize("The kitchen is cleaned on Mondays", scope="shared")
    with suppress(AttributeError):  # before there were conversations
        ana.observe("prompt", "s1", "t1", "My sister Lena plays the cello")
    ana.settle(20)
    ana.close()


if __name__ == "__main__":
    main()
