"""What a tool gave at length goes to a file, and a preview stays in the conversation."""

import hashlib
import logging
import os
import re
import stat
import time
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from kinmem.settings import CompactSettings
from kinmem.turns import Message

logger = logging.getLogger(__name__)

PREVIEW_CHARACTERS = 4000
"""200 lines can be a book: a tool that escapes its line ends gives one line. KinBot's later fix."""
OURS = re.compile(r"output-[0-9a-f]{32}(?:\.txt|-[0-9a-f]+-[0-9a-f]+\.part)")


class Spill:
    """The files of one Kin, in a folder of its own below the home folder."""

    def __init__(self, home: Path, kin: str, settings: CompactSettings) -> None:
        self._home = home
        self._folder = home / "kins" / f"{kin}-outputs"
        self._settings = settings

    def __call__(self, message: Message, now: datetime) -> Message:
        """The message with a preview if its text is long; as it is if it is short."""
        limit = self._settings.spill_threshold
        if not limit or message.spill or 4 * len(message.text) <= limit:
            return message
        data = message.text.encode("utf-8", "replace")
        if len(data) <= limit:
            return message
        name = self._written(data, now)
        lines = message.text.count("\n") + 1
        told = (
            f"[{len(data):,} bytes in {lines:,} lines; this is the beginning, {self._where(name)}]"
        )
        preview = "\n".join(filter(None, [self._preview(message.text), told]))
        return replace(message, text=preview, spill=name)

    def sweep(self, now: datetime) -> int:
        """Delete files that are older than their time; how many. Others' files and links stay."""
        if not self._settings.ttl_hours or self._folder.is_symlink():
            return 0
        oldest = now.timestamp() - self._settings.ttl_hours * 3600
        gone = 0
        with suppress(OSError):
            for path in sorted(self._folder.iterdir()):
                gone += bool(OURS.fullmatch(path.name)) and _deleted(path, oldest)
        return gone

    def _where(self, name: str | None) -> str:
        """How to read the rest."""
        if name is None:
            return "the rest was not kept"
        hours = f", for {self._settings.ttl_hours:g} hours" if self._settings.ttl_hours else ""
        return f"read the whole in {self._home / name}{hours}"

    def _preview(self, text: str) -> str:
        most = self._settings.preview_lines
        return "\n".join(text[:PREVIEW_CHARACTERS].split("\n", most)[:most])

    def _written(self, data: bytes, now: datetime) -> str | None:
        """The file's name below the home folder; None if it cannot be written.

        It is named by what is in it: the same output again only makes the file young again.
        """
        path = self._folder / f"output-{hashlib.sha256(data).hexdigest()[:32]}.txt"
        try:
            if self._folder.is_symlink():
                raise OSError(f"{self._folder} is a link, which is not followed")
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)
            if not _made_young(path, len(data), now):
                _write(path, data, now)
        except (OSError, ValueError, OverflowError) as error:
            logger.warning("a tool's output could not be kept: %s", error)
            return None
        return str(path.relative_to(self._home))


def _made_young(path: Path, size: int, now: datetime) -> bool:
    """Whether the file was there, whole; its time begins anew then."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_size == size:
            os.utime(path, (now.timestamp(), now.timestamp()))
            return True
    return False


def _write(path: Path, data: bytes, now: datetime) -> None:
    """All of it or nothing: what a crash leaves has another name, which sweep knows."""
    part = path.with_name(f"{path.stem}-{os.getpid():x}-{time.time_ns():x}.part")
    file = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(file, "wb") as opened:
            opened.write(data)
        os.utime(part, (now.timestamp(), now.timestamp()))
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _deleted(path: Path, oldest: float) -> bool:
    """Whether it was a file of that age and is gone now; another process may have been first."""
    with suppress(OSError):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_mtime < oldest:
            path.unlink()
            return True
    return False
