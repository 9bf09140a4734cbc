"""Which memory a hook is for, as kinmem.settings would say, but without loading it.

The settings take longer to load than all else that a hook with a server does: that is left to the
server, or to the hook that finds none. tests/hooks/test_place.py holds both to one answer.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple


class Place(NamedTuple):
    """The folder of all memories, and whose memory in it."""

    home: str
    kin: str


def place_of(flags: Mapping[str, str], environment: Mapping[str, str]) -> Place:
    """From flags, else the environment, else config.toml, else the defaults.

    Raises OSError or ValueError if config.toml cannot be read.
    """
    home = flags.get("KINMEM_HOME") or environment.get("KINMEM_HOME") or "~/.kinmem"
    home = os.path.abspath(os.path.expanduser(home))  # noqa: PTH100, PTH111  (strings stay strings)
    kin = flags.get("KINMEM_KIN") or environment.get("KINMEM_KIN") or _configured(home)
    return Place(home, kin or "default")


def _configured(home: str) -> str | None:
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:  # noqa: PTH118, PTH123
            content = file.read()
    except FileNotFoundError:
        return None
    if b"KINMEM_KIN" not in content:
        return None
    from tomllib import loads  # late: 10 ms

    kin = loads(content.decode("utf-8")).get("KINMEM_KIN")
    return kin if isinstance(kin, str) else None
