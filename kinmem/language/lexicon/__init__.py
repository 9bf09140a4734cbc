"""What kinmem knows of the words of each language: one data file a language, read once."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

LANGUAGES = ("en", "de", "fr", "es", "it", "pt")


@cache
def lexicon(language: str) -> Mapping[str, Any]:
    """The data file of one of LANGUAGES, by its sections."""
    path = Path(__file__).parent / f"{language}.json"
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def alternatives(section: str, name: str) -> list[str]:
    """A list of a section in every language, one after another."""
    return [word for language in LANGUAGES for word in lexicon(language)[section].get(name, ())]
