"""Codex' config.toml with kinmem's server in it, or without."""

from collections.abc import Sequence

from kinmem.install.clients import Entry
from kinmem.install.toml_text import table_in, with_table, without_table


def with_entries(text: str, wanted: Sequence[Entry]) -> str:
    """The text with each entry as a table; what a user has added to it stays."""
    for entry in wanted:
        name = ".".join(entry.keys)
        there = table_in(text, name)
        kept = there if isinstance(there, dict) else {}
        wanted_there = {**entry.unset, **kept, **entry.value}
        if kept != wanted_there:
            new = {key: value for key, value in wanted_there.items() if kept.get(key) != value}
            text = with_table(text, name, {**entry.value, **new})
    return text


def without_entries(text: str, wanted: Sequence[Entry]) -> str | None:
    """The text without those tables; None if nothing else was in it."""
    left = text
    for entry in wanted:
        left = without_table(left, ".".join(entry.keys))
    return None if left != text and not left.strip() else left
