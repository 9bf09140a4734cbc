"""The input of a hook, read tolerantly: what is no text, empty or a placeholder is absent."""

import re
from collections.abc import Mapping
from typing import Any

PLACEHOLDER = re.compile(r"\$\{[^{}]*\}")
SURROGATES = re.compile("[\ud800-\udfff]")
NAME_CHARACTERS = 200
"""Of a longer id the rest is replaced by its digest."""


class Fields:
    """The fields of one JSON object."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def text(self, *names: str) -> str | None:
        """The first of these fields that says something."""
        return next((said for name in names if (said := filled(self.given.get(name)))), None)

    def name(self, *names: str) -> str | None:
        """The same for ids, which are short and of one line."""
        found = self.text(*names)
        if found is None:
            return None
        found = " ".join(found.split())
        return found if len(found) <= NAME_CHARACTERS and found.isascii() else digest(found)

    def object(self, name: str) -> "Fields":
        """The object in that field; empty if it holds none."""
        value = self.given.get(name)
        return Fields(value if isinstance(value, dict) else {})


def filled(value: object) -> str | None:
    """The text, if a client has put any there: some leave `${prompt_id}` as it stands."""
    if not isinstance(value, str):
        return None
    value = SURROGATES.sub("\ufffd", value.replace("\0", ""))
    return value if value.strip() and not PLACEHOLDER.fullmatch(value.strip()) else None


def digest(*texts: str) -> str:
    """A short name for texts, the same in every process."""
    from hashlib import blake2b  # late: most hooks need none, and it loads OpenSSL

    return blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=12).hexdigest()
