"""Reads and writes a client's configuration files so that nothing is lost."""

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kinmem.errors import ConfigError

# Suffix of the copy beside a changed file.
BACKUP = ".before-kinmem"


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
