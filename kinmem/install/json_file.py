"""A client's JSON file with what kinmem needs in it, or without anything of kinmem."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from kinmem.install.clients import Entry, is_ours
from kinmem.install.json_text import items, parsed, value_at, with_item, with_member, without


def with_entries(text: str, wanted: Sequence[Entry]) -> str:
    """The text with all entries, each once; unchanged if they are there.

    Older ones of kinmem's own go. What a user has added to the server's entry, say `env`, stays.
    Raises NotPlainJson for comments and whatever else could not be kept.
    """
    if not text.strip():
        text = "{}\n"
    parsed(text)
    if all(_is_there(text, entry) for entry in wanted) and len(list(_ours(text))) == _hooks(wanted):
        return text
    text = _without_hooks(text)
    for entry in wanted:
        there = value_at(text, entry.keys)
        if entry.listed:
            text = with_item(text, entry.keys, entry.value)
        elif not entry.frame:
            kept = there if isinstance(there, dict) else {}
            text = with_member(text, entry.keys, {**kept, **entry.value})
        elif there is None:
            text = with_member(text, entry.keys, entry.value)
    return text


def without_entries(text: str, wanted: Sequence[Entry]) -> str | None:
    """The text without what kinmem has added; None if nothing else was in it."""
    if not text.strip():
        return text
    parsed(text)
    left = _without_hooks(text)
    for entry in wanted:
        if not entry.listed and not entry.frame:
            left = without(left, entry.keys)
    frames = {entry.keys[0] for entry in wanted if entry.frame}
    return None if left != text and set(json.loads(left.lstrip("\ufeff"))) <= frames else left


def _is_there(text: str, entry: Entry) -> bool:
    if entry.listed:
        return entry.value in items(text, entry.keys)
    there = value_at(text, entry.keys)
    if isinstance(there, dict) and isinstance(entry.value, dict):
        return there == {**there, **entry.value}
    return there is not None


def _hooks(wanted: Sequence[Entry]) -> int:
    return sum(entry.listed for entry in wanted)


def _without_hooks(text: str) -> str:
    while path := next(_ours(text), None):
        text = without(text, path)
    return text


def _ours(text: str) -> Iterator[tuple[str | int, ...]]:
    """Where hooks of kinmem stand: as an item of an event, or in a group of such an item."""
    hooks = value_at(text, ["hooks"])
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            inner = group.get("hooks") if isinstance(group, dict) else None
            yield from (("hooks", event, number, *rest) for rest in _ours_in(group, inner))


def _ours_in(group: Any, inner: Any) -> Iterator[tuple[str | int, ...]]:
    if is_ours(group):
        yield ()
    elif isinstance(inner, list) and inner:
        ours = [number for number, handler in enumerate(inner) if is_ours(handler)]
        if len(ours) == len(inner):
            yield ()
        else:
            yield from (("hooks", number) for number in ours)
