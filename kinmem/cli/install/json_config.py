"""Adds kinmem to a client's JSON file and removes it, without changing anything else.

Parsing and dumping would lay out the whole file anew. So the text is parsed with the position of
each part, and one member or item at a time is inserted or removed: everything else keeps its order
and layout.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kinmem.cli.install.clients import Entry, is_ours, kept_beside

SPACE = re.compile(r"[ \t\r\n]*")
LITERAL = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
INDENT = re.compile(r"^[{\[]\r?\n([ \t]+)\S")
DECODER = json.JSONDecoder()
Keys = Sequence[str]


def with_entries(text: str, wanted: Sequence[Entry]) -> str:
    """Return the text with all entries, each once; unchanged if they are there.

    Older entries of kinmem are removed. What a user has added to the server's entry, such as `env`,
    stays. Raises NotPlainJson for comments and anything else that could not be kept.
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
            kept = kept_beside(entry.value, there)
            text = with_member(text, entry.keys, {**kept, **entry.value})
        elif there is None:
            text = with_member(text, entry.keys, entry.value)
    return text


def without_entries(text: str, wanted: Sequence[Entry]) -> str | None:
    """Return the text without what kinmem has added; None if nothing else was in it."""
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
        return there == {**kept_beside(entry.value, there), **entry.value}
    return there is not None


def _hooks(wanted: Sequence[Entry]) -> int:
    return sum(entry.listed for entry in wanted)


def _without_hooks(text: str) -> str:
    while path := next(_ours(text), None):
        text = without(text, path)
    return text


def _ours(text: str) -> Iterator[tuple[str | int, ...]]:
    """Yield where hooks of kinmem stand: as an item of an event, or in the group of such an
    item."""
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


class NotPlainJson(ValueError):
    """The text is not JSON, or is an extension of it."""


@dataclass
class Part:
    """A value in a text, from `start` to before `end`."""

    start: int
    end: int = 0
    kind: str = ""
    """Its first character."""
    keys: list[str] = field(default_factory=list)
    """For an object, the names of its members."""
    starts: list[int] = field(default_factory=list)
    """Where each member or item begins, the name included."""
    values: list["Part"] = field(default_factory=list)

    def member(self, key: str) -> "Part | None":
        """Return the value of that name; of several the last, as JSON readers do."""
        found = [value for name, value in zip(self.keys, self.values, strict=False) if name == key]
        return found[-1] if found else None


def parsed(text: str) -> Part:
    """Parse the whole text into parts. Raises NotPlainJson, saying where and why."""
    at = 1 if text.startswith("\ufeff") else 0
    part, at = _value(text, _skip(text, at))
    if _skip(text, at) != len(text):
        raise NotPlainJson(f"something follows the end at {_place(text, at)}")
    return part


def with_member(text: str, keys: Keys, value: Any) -> str:
    """Return the text with the member at that path set, creating objects on the way."""
    part, depth, missing = _deepest(parsed(text), keys)
    if not missing:
        return text[: part.start] + _laid_out(text, value, part.start, depth) + text[part.end :]
    for key in reversed(missing[1:]):
        value = {key: value}
    return _with_last(text, part, depth, json.dumps(missing[0], ensure_ascii=False) + ": ", value)


def with_item(text: str, keys: Keys, value: Any) -> str:
    """Return the text with one more item in the array at that path, which is created if missing."""
    part, depth, missing = _deepest(parsed(text), keys)
    if missing:
        return with_member(text, keys, [value])
    if part.kind != "[":
        raise NotPlainJson(f"{'.'.join(keys)} is no list")
    return _with_last(text, part, depth, "", value)


def without(text: str, keys: Sequence[str | int]) -> str:
    """Return the text without the member or item at that path, and without parents that become
    empty."""
    whole = parsed(text)
    trail = [whole]
    for key in keys:
        inner = trail[-1].values[key] if isinstance(key, int) else trail[-1].member(key)
        if inner is None:
            return text
        trail.append(inner)
    while len(trail) > 2 and len(trail[-2].values) == 1:
        trail.pop()
    return _without_value(text, trail[-2], trail[-1])


def items(text: str, keys: Keys) -> list[Any]:
    """Return the array at that path as values; empty if there is none."""
    value = value_at(text, keys)
    return value if isinstance(value, list) else []


def value_at(text: str, keys: Keys) -> Any:
    """Return the value at that path; None if there is none."""
    value = json.loads(text.removeprefix("\ufeff"))
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _deepest(part: Part, keys: Keys) -> tuple[Part, int, list[str]]:
    """Follow the path as far as it exists: return the last part, its depth, and the remaining
    keys."""
    for depth, key in enumerate(keys):
        inner = part.member(key)
        if inner is None:
            if part.kind != "{":
                raise NotPlainJson(f"{'.'.join(keys[:depth]) or 'the file'} is no object")
            return part, depth, list(keys[depth:])
        part = inner
    return part, len(keys), []


def _with_last(text: str, part: Part, depth: int, name: str, value: Any) -> str:
    """Append a member or item, laid out like the one before it."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    if part.values:
        end = part.values[-1].end
        between = text[part.start + 1 : part.starts[0]]
        if "\n" not in between:
            return f"{text[:end]}, {name}{json.dumps(value, ensure_ascii=False)}{text[end:]}"
        indent = between.rpartition("\n")[2]
        return text[:end] + f",{line_end}{indent}{name}{_dumped(text, value, indent)}" + text[end:]
    outer = _indent_of_line(text, part.start) if depth else ""
    inner = outer + unit
    body = f"{line_end}{inner}{name}{_dumped(text, value, inner)}{line_end}{outer}"
    return text[: part.start + 1] + body + text[part.end - 1 :]


def _laid_out(text: str, value: Any, start: int, depth: int) -> str:
    return _dumped(text, value, _indent_of_line(text, start) if depth else "")


def _dumped(text: str, value: Any, indent: str) -> str:
    """Dump a value whose first line is indented already."""
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return ("\r\n" if "\r\n" in text else "\n").join(
        [lines[0], *(indent + line for line in lines[1:])]
    )


def _unit(text: str) -> str:
    found = INDENT.match(text.removeprefix("\ufeff"))
    return found.group(1) if found else "  "


def _indent_of_line(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _without_value(text: str, outer: Part, value: Part) -> str:
    """Return the text without that part, its name, and the comma that goes with it."""
    number = outer.values.index(value)
    if len(outer.values) == 1:
        return text[: outer.start + 1] + text[outer.end - 1 :]
    if number == 0:
        return text[: outer.starts[0]] + text[outer.starts[1] :]
    return text[: outer.values[number - 1].end] + text[value.end :]


def _value(text: str, at: int) -> tuple[Part, int]:
    char = text[at : at + 1]
    part = Part(at, kind=char)
    if char in ("{", "["):
        part.end = _inside(text, part)
    elif char == '"':
        part.end = _string(text, at)[1]
    elif found := LITERAL.match(text, at):
        part.end = found.end()
    else:
        raise NotPlainJson(f"no value at {_place(text, at)}")
    return part, part.end


def _inside(text: str, part: Part) -> int:
    """Read the members or items, and return where the object or array ends."""
    closing = "}" if part.kind == "{" else "]"
    at = _skip(text, part.start + 1)
    if text[at : at + 1] == closing:
        return at + 1
    while True:
        part.starts.append(at)
        if part.kind == "{":
            key, at = _string(text, at)
            part.keys.append(key)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                raise NotPlainJson(f"a colon is missing at {_place(text, at)}")
            at = _skip(text, at + 1)
        value, at = _value(text, at)
        part.values.append(value)
        at = _skip(text, at)
        end, at = text[at : at + 1], at + 1
        if end == closing:
            return at
        if end != ",":
            raise NotPlainJson(f"a comma is missing at {_place(text, at - 1)}")
        at = _skip(text, at)


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        if text[at : at + 1] != '"':
            raise ValueError
        return DECODER.raw_decode(text, at)
    except ValueError as error:
        raise NotPlainJson(f"no text at {_place(text, at)}") from error


def _skip(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    end = found.end() if found else at
    if text.startswith(("//", "/*"), end):
        raise NotPlainJson(f"a comment at {_place(text, end)}, which would be lost")
    return end


def _place(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}"
