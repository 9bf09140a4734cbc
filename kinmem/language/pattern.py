"""Regular expressions that are compiled when they are first needed: kinmem starts without them."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, cast


class Pattern:
    """Like a compiled one without regard to case; long lists of words take milliseconds each."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, re.IGNORECASE)

    def match(self, text: str) -> re.Match[str] | None:
        """At the beginning of the text."""
        return self._compiled.match(text)

    def search(self, text: str) -> re.Match[str] | None:
        """The first one anywhere."""
        return self._compiled.search(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The whole of the text."""
        return self._compiled.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Each, in order."""
        return self._compiled.finditer(text)

    def count(self, text: str) -> int:
        """How many there are."""
        return len(self._compiled.findall(text))

    def sub(self, replacement: str, text: str) -> str:
        """The text with each replaced."""
        return self._compiled.sub(replacement, text)


def any_of(*patterns: str) -> Pattern:
    """One that matches whole words of any of these."""
    return Pattern("|".join(rf"\b(?:{pattern})\b" for pattern in patterns))


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
