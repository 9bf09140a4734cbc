"""Reads and writes a client's configuration files so that nothing is lost; Codex' in TOML."""

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinmem.cli.install.clients import Entry, kept_beside
from kinmem.errors import ConfigError

# Suffix of the copy beside a changed file.
BACKUP = ".before-kinmem"
# A token for HTTP. Only its owner may read a file with one.
TOKEN = re.compile(r"kmk_[0-9a-f]{8}_[\w-]{43}")


@dataclass(frozen=True)
class FileChange:
    """The old and the new content of a file; None: no such file."""

    path: Path
    before: str | None
    after: str | None
    root: Path
    """The user's home or the project. Folders above it are never removed."""
    has_ours: bool = False
    """Whether `before` already contains something of kinmem, so that it is not worth a copy."""

    @property
    def copy(self) -> Path | None:
        """Where the file as it was is kept; None if it is not."""
        return None if self.before is None or self.has_ours else backup_of(self.path)


def backup_of(path: Path) -> Path:
    """Return the path of the copy of a file as it was before kinmem."""
    path = _real(path)
    return path.with_name(path.name + BACKUP)


def _real(path: Path) -> Path:
    """Resolve links, which home folders may contain."""
    return Path(os.path.realpath(path))


def content(path: Path) -> str | None:
    """Return the file's text with its line ends, or None if there is no file.

    Raises ConfigError.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}; correct it or move it away") from error


def write(changes: Sequence[FileChange]) -> None:
    """Make the changes, each file atomically, with a copy beside it of the file without kinmem.

    A file that is as it was again needs no copy, and folders that become empty are removed.

    Raises ConfigError before anything is written if a file has changed since it was planned. Raises
    it also if a file cannot be written; the files before it are changed by then, as their copies
    show.
    """
    for change in changes:
        if content(change.path) != change.before:
            raise ConfigError(f"{change.path} has just been changed by somebody; try again")
    for change in changes:
        try:
            _write(change)
        except OSError as error:
            raise ConfigError(f"{change.path} cannot be written: {error}") from error


def _write(change: FileChange) -> None:
    path, backup = _real(change.path), backup_of(change.path)
    if change.before is not None and change.copy is not None:
        _put(change.copy, change.before, path.stat().st_mode)
    if change.after is None:
        path.unlink(missing_ok=True)
        _remove_empty(path.parent, change.root)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
    if TOKEN.search(change.after):
        mode &= 0o600
    _put(path, change.after, mode)
    if change.has_ours and content(backup) == change.after:
        backup.unlink()


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove the folder and those above it, as long as they are empty and below the root."""
    with suppress(OSError):  # not empty, or not ours
        while _real(root) in folder.parents:
            folder.rmdir()
            folder = folder.parent


def _put(path: Path, text: str, mode: int) -> None:
    """Write the file atomically."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode & 0o777)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    """Return the umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


# The line that begins a table.
HEADER = re.compile(r"^\s*\[")


def with_entries(text: str, wanted: Sequence[Entry]) -> str:
    """Return the text with each entry as a table; keys that a user has added to it stay."""
    for entry in wanted:
        name = ".".join(entry.keys)
        there = table_in(text, name)
        kept = written = kept_beside(entry.value, there)
        if isinstance(there, dict) and kept != there:
            text, written = without_table(text, name), {}
        wanted_there = {**entry.unset, **kept, **entry.value}
        if written != wanted_there:
            new = {key: value for key, value in wanted_there.items() if written.get(key) != value}
            text = with_table(text, name, {**entry.value, **new})
    return text


def without_entries(text: str, wanted: Sequence[Entry]) -> str | None:
    """Return the text without those tables; None if nothing else was in it."""
    left = text
    for entry in wanted:
        left = without_table(left, ".".join(entry.keys))
    return None if left != text and not left.strip() else left


class NotOurTable(ValueError):
    """The table is written in a way that cannot be changed line by line."""


def with_table(text: str, name: str, table: Mapping[str, Any]) -> str:
    """Return the text with these keys of the table `a.b` set; a new table is added at the end."""
    there = table_in(text, name)
    found = _block(text, name)
    if found:
        start, end = found
        after = text[:start] + _with_keys(text[start:end], table) + text[end:]
    elif there is None:
        after = _with_block(text, name, table)
    else:
        raise NotOurTable(f"{name} is not written as [{name}]")
    wanted = {**(there or {}), **table}
    if table_in(after, name) != wanted or _others(after, name) != _others(text, name):
        raise NotOurTable(f"{name} cannot be set without changing something else")
    return after


def _with_block(text: str, name: str, table: Mapping[str, Any]) -> str:
    newline = _line_end(text)
    lines = [f"[{name}]", *(f"{key} = {_written(value)}" for key, value in table.items())]
    ended = text if not text or text.endswith("\n") else text + newline
    return ended + (newline if ended else "") + newline.join(lines) + newline


def _with_keys(block: str, table: Mapping[str, Any]) -> str:
    """Replace lines of the block, or add them below its header."""
    header, newline, rest = block.partition("\n")
    for key, value in reversed(list(table.items())):
        line = f"{key} = {_written(value)}"
        pattern = re.compile(rf"^\s*{re.escape(key)}\s*=[^\r\n]*", re.MULTILINE)
        found = pattern.search(rest)
        if found:
            rest = rest[: found.start()] + line + rest[found.end() :]
        else:
            rest = line + _line_end(block) + rest
    return header + newline + rest


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def without_table(text: str, name: str) -> str:
    """Return the text without the table and the empty line before it."""
    found = _block(text, name)
    if not found:
        return text
    start, end = found
    before = text[:start]
    before = re.sub(r"(?<=\n)\r?\n\Z", "", before) if before.strip() else ""
    after = before + text[end:]
    if table_in(after, name) is not None or _others(after, name) != _others(text, name):
        raise NotOurTable(f"{name} cannot be taken out without changing something else")
    return after


def _block(text: str, name: str) -> tuple[int, int] | None:
    """Return the span from the table's header to its last line with a value, subtables (`a.b.env`)
    included."""
    ours = re.compile(rf"^\s*\[{re.escape(name)}(?:\.[^\[\]]+)?\]\s*(?:#.*)?$")
    start = end = None
    at = 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        if HEADER.match(line):
            if ours.match(line.rstrip("\r\n")):
                start = at - len(line) if start is None else start
                end = at
                continue
            if start is not None:
                break
        if start is not None and line.strip() and not line.lstrip().startswith("#"):
            end = at
    return None if start is None or end is None else (start, end)


def table_in(text: str, name: str) -> Any:
    """Return what the table `a.b` holds; None if there is none."""
    value: Any = _loaded(text)
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _others(text: str, name: str) -> dict[str, Any]:
    """Return everything but that table."""
    document = _loaded(text)
    *path, last = name.split(".")
    outer = document
    for key in path:
        outer = outer.get(key, {})
    if isinstance(outer, dict):
        outer.pop(last, None)
    return {key: value for key, value in document.items() if value != {}}


def _loaded(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotOurTable(f"it is no TOML: {error}") from error


def _written(value: Any) -> str:
    """Write a text, a list or a table of texts: JSON's strings are TOML's, except for one
    character."""
    if isinstance(value, dict):
        pairs = (f"{_written(key)} = {_written(member)}" for key, member in value.items())
        return f"{{ {', '.join(pairs)} }}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
