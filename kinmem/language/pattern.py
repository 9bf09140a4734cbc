"""Regular expressions that are compiled when they are first needed: kinmem starts without them."""

import re
from functools import cached_property
from typing import Any, cast


def late(text: str, flags: int = 0) -> re.Pattern[str]:
    """As re.compile, but the work is done at the first use: a hook uses few of all there are."""
    return cast("re.Pattern[str]", _Late(text, flags))


class _Late:
    """Whatever is asked of it is fetched from the compiled one, once."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
