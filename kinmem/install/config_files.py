"""Reading and writing a client's configuration, so that nothing is lost on the way."""

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kinmem.errors import ConfigError

BACKUP = ".before-kinmem"
"""Ends the name of the copy beside a changed file."""


@dataclass(frozen=True)
class FileChange:
    """What a file holds, and what it shall hold; None: there is no such file."""

    path: Path
    before: str | None
    after: str | None
    root: Path
    """The user's home or the project: above it no folder is kinmem's."""
    has_ours: bool = False
    """Whether there is something of kinmem in `before`, which then is no copy to go back to."""


def backup_of(path: Path) -> Path:
    """Where the copy of a file lies, as it was before kinmem."""
    path = _real(path)
    return path.with_name(path.name + BACKUP)


def _real(path: Path) -> Path:
    """What a link in a home folder leads to."""
    return Path(os.path.realpath(path))


def content(path: Path) -> str | None:
    """The file's text, its line ends as they are; None if there is none. Raises ConfigError."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}; correct it or move it away") from error


def write(changes: Sequence[FileChange]) -> None:
    """Make the changes, each file at once, with a copy of the one without kinmem beside it.

    A file that is as it was again needs no copy, and folders that are empty then go.

    Raises ConfigError before anything is written if a file is no longer as it was planned from, and
    if one cannot be written; those before it are then changed, and say so by their copies.
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
    if change.before is not None and not change.has_ours:
        _put(backup, change.before, path.stat().st_mode)
    if change.after is None:
        path.unlink(missing_ok=True)
        _remove_empty(path.parent, change.root)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode if path.exists() else 0o666 & ~_umask()
    _put(path, change.after, mode)
    if change.has_ours and content(backup) == change.after:
        backup.unlink()


def _remove_empty(folder: Path, root: Path) -> None:
    """The folder and those above it, as far as they are empty and below the root."""
    with suppress(OSError):  # not empty, or somebody else's
        while _real(root) in folder.parents:
            folder.rmdir()
            folder = folder.parent


def _put(path: Path, text: str, mode: int) -> None:
    """The whole file or the old one, never a part of it."""
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
    """It can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
