"""Whether a text names somebody or something, and the text without that."""

import json
import re
from typing import Any

from kinmem.text import INVISIBLE, folded, late

ERASED = "[erased]"
OWN_ENDS = late(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts that write words without blanks between them, or endings right behind a name."""
GENITIVE = r"(?:['’]?s)?"
NO_WIDTH = "\u200b"
PARTING = frozenset("\u200b\u115f\u1160\u3164\uffa0")
"""Characters without width that may stand between two words as well as within one."""
SHORTEST = 2


class Mention:
    """One name. It is found as whole words, whatever its case and accents: Bob in "bob's", not in
    "bobsled"; in scripts without blanks wherever it stands. Invisible characters do not hide it."""

    def __init__(self, name: str) -> None:
        self.name = " ".join(INVISIBLE.sub("", name).split())
        self._plain = folded(self.name)
        self._in_folded = _pattern(self._plain, NO_WIDTH)
        self._as_written = _pattern(self.name, INVISIBLE.pattern)

    def is_in(self, text: str | None) -> bool:
        """Whether the text names it."""
        if not text:
            return False
        if text.isascii():
            return self._in_folded.search(text.lower()) is not None
        return self._in_folded.search(folded(INVISIBLE.sub(_parting, text))) is not None

    def removed(self, text: str) -> str:
        """The text without the name; all of it is gone where the name is spelled otherwise."""
        left = self._as_written.sub(ERASED, text)
        return ERASED if self.is_in(left) else left

    def blanked(self, stored: str) -> str:
        """A text that names it is blanked as a whole; of a JSON text the values that do."""
        if not self.is_in(stored):
            return stored
        if stored[:1] in "{[":
            try:
                value = json.loads(stored)
            except ValueError:
                return ERASED
            left = json.dumps(self._blanked(value), ensure_ascii=False)
            return ERASED if self.is_in(left) else left
        return ERASED

    def spellings(self) -> tuple[str, ...]:
        """As it may stand in a file: as it is, folded, in other cases."""
        name = self.name
        forms = (name, self._plain, name.lower(), name.upper(), name.title(), name.casefold())
        return tuple(dict.fromkeys(forms))

    def _blanked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.blanked(value)
        if isinstance(value, list):
            return [self._blanked(one) for one in value]
        if isinstance(value, dict):
            return {self.removed(key): self._blanked(one) for key, one in value.items()}
        return value


def _parting(hit: re.Match[str]) -> str:
    return NO_WIDTH if hit.group() in PARTING else ""


def _pattern(name: str, unseen: str) -> re.Pattern[str]:
    """`unseen` matches a character that may stand between any two."""
    parts = (f"{unseen}*".join(map(re.escape, word)) for word in name.split())
    words = rf"(?:\s|{unseen})+".join(parts)
    if OWN_ENDS.search(name):
        return late(words, re.IGNORECASE)
    return late(rf"(?<!\w){words}{GENITIVE}(?!\w)", re.IGNORECASE)
