"""Tables of words, kept beside the code as text (lexicon.txt)."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kinmem.language.grammar import by_word, words

FILE = Path(__file__).with_suffix(".txt")
_TABLE = re.compile(r"^\[([\w.]+)\]\n(.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)


def listed(name: str) -> frozenset[str]:
    """The words of a table."""
    return words(_tables()[name])


def grouped(name: str) -> dict[str, str]:
    """Each word of a table with the form that stands for it."""
    return by_word(_tables()[name])


@cache
def _tables() -> Mapping[str, str]:
    return {name: rows.strip() for name, rows in _TABLE.findall(FILE.read_text("utf-8"))}
