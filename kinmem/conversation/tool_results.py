"""Tool results: long ones move to files, and all become shorter as they get older, without a model.

Pure except for the files (Spill); messages are not changed in place. A preview replaces a long
result.

The latest groups of tool calls stay whole (TOOL_RESULT_MASK_KEEP_LAST), the groups before them are
cut (OBSERVATION_COMPACTION_WINDOW of them, to OBSERVATION_MAX_CHARS), and older ones become a line.
A group is the consecutive results of one turn. The zones are KinBot's.
"""

import hashlib
import json
import logging
import os
import re
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from kinmem.models.turns import Message
from kinmem.settings import CompactSettings

TRUNCATED = " [truncated]"
# Characters of a message other than a tool's in the zone of cut results, and in that of lines.
# Longer ones are squeezed, then cut.
LONG_TEXT, LONG_OLD_TEXT = 2000, 500
LONG_VALUE = 100
KEYS = 5
# Keys that a collapsed result keeps, because they say where to get it again.
NAMED = ("path", "file_path", "filePath", "file", "filename", "url", "uri")
FILE_TOOL = re.compile(r"(?i)read|write|edit|file|image|fetch|download|open|browse|notebook|url")
PLACE = re.compile(r"https?://[^\s\"'<>]+|(?:[A-Za-z]:\\|~?/|\.{1,2}/)[^\s\"'<>:,;]+")
LONGEST_PLACE = 200
# Characters of a text that are searched for a file's path: tools name it first.
LOOKED_AT = 500


def reduce(messages: Sequence[Message], settings: CompactSettings) -> list[Message]:
    """Return the messages with old ones shortened; all unchanged if the window is 0."""
    if not settings.window:
        return list(messages)
    groups = groups_of(messages)
    kept = settings.keep_last + settings.window
    collapsed = groups[: max(0, len(groups) - kept)]
    cut = groups[len(collapsed) : max(0, len(groups) - settings.keep_last)]
    shorter = {at: _collapsed(messages[at]) for group in collapsed for at in group}
    shorter |= {at: _result_cut(messages[at], settings.max_chars) for group in cut for at in group}
    recent = collapsed[-1][-1] + 1 if collapsed else 0
    # Without tool calls, as if each question had a group of them.
    ageing = cut[0][0] if cut else len(messages) - 2 * kept
    return [
        shorter.get(at, message)
        if message.role == "tool"
        else _squeezed(message, at, recent, ageing)
        for at, message in enumerate(messages)
    ]


def groups_of(messages: Sequence[Message]) -> list[list[int]]:
    """Return the positions of consecutive tool results of one turn, group by group."""
    groups: list[list[int]] = []
    for at, message in enumerate(messages):
        if begins_group(messages, at):
            groups.append([at])
        elif message.role == "tool":
            groups[-1].append(at)
    return groups


def begins_group(messages: Sequence[Message], at: int) -> bool:
    """Return whether it is a tool's result that follows no other of the same turn."""
    message, before = messages[at], messages[at - 1] if at else None
    if message.role != "tool":
        return False
    return before is None or before.role != "tool" or before.turn != message.turn


def _result_cut(message: Message, characters: int) -> Message:
    """Cut a result. A spilled one keeps the name of its file, which stands at its end."""
    shorter = _cut(message, characters)
    if message.spill and shorter is not message:
        return replace(shorter, text=f"{shorter.text} [whole: {message.spill}]")
    return shorter


def _cut(message: Message, characters: int) -> Message:
    if len(message.text) <= characters:
        return message
    return replace(message, text=message.text[:characters] + TRUNCATED)


def _squeezed(message: Message, at: int, recent: int, ageing: int) -> Message:
    """Remove blank lines and runs of blanks from a text before position `ageing`, and cut it at the
    limit, which is lower before position `recent`."""
    limit = LONG_OLD_TEXT if at < recent else LONG_TEXT
    if at >= ageing or len(message.text) <= limit:
        return message
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]{2,}", " ", message.text))
    return _cut(replace(message, text=text), limit)


def _collapsed(message: Message) -> Message:
    """Write a result as [grep, 12,345 characters: list of 40].

    A result of one short line is kept.
    """
    text = message.text
    if len(text) <= LONG_VALUE and "\n" not in text:
        return message
    try:
        kind = _value(json.loads(text))
    except (ValueError, RecursionError):
        kind = _text(message)
    whole = f"; whole: {message.spill}" if message.spill else ""
    return replace(message, text=f"[{_tool(message)}, {len(text):,} characters: {kind}{whole}]")


def _tool(message: Message) -> str:
    return " ".join((message.tool or "tool").split())


def _text(message: Message) -> str:
    """Describe a text: a short one by itself, a long one of a file tool by the file's path."""
    line = " ".join(message.text.split())
    if len(line) <= LONG_VALUE:
        return line
    place = PLACE.search(message.text[:LOOKED_AT]) if FILE_TOOL.search(_tool(message)) else None
    return f"text, {place[0][:LONGEST_PLACE]}" if place else "text"


def _value(value: Any) -> str:
    """Describe a value in one line: lists by length, objects by their first keys, long texts by
    length."""
    if isinstance(value, list):
        return f"list of {len(value):,}"
    if isinstance(value, dict):
        named = [key for key in NAMED if isinstance(value.get(key), str)]
        keys = [*named, *(key for key in value if key not in named)][:KEYS]
        told = ", ".join(f"{_inner(key)}: {_inner(value[key], key in named)}" for key in keys)
        more = len(value) - len(keys)
        return f"{told}, and {more:,} more" if more > 0 else told or "empty object"
    return _inner(value)


def _inner(value: Any, whole: bool = False) -> str:
    """Describe a value inside an object.

    `whole` marks a path, which is useless unless it is complete.
    """
    if isinstance(value, list):
        return f"list of {len(value):,}"
    if isinstance(value, dict):
        return f"object of {len(value):,}"
    if isinstance(value, str):
        line = " ".join(value.split())
        most = LONGEST_PLACE if whole else LONG_VALUE
        return line if len(line) <= most else f"text of {len(value):,} characters"
    return json.dumps(value)


logger = logging.getLogger(__name__)

# Limits the preview beside its 200 lines, since a tool that escapes line ends writes a single line.
# KinBot's later fix.
PREVIEW_CHARACTERS = 4000
OURS = re.compile(r"output-[0-9a-f]{32}(?:\.txt|-[0-9a-f]+-[0-9a-f]+\.part)")


class Spill:
    """Writes long outputs of one Kin to files in a folder of its own below the home folder."""

    def __init__(self, home: Path, kin: str, settings: CompactSettings) -> None:
        self._home = home
        self._folder = home / "kins" / f"{kin}-outputs"
        self._settings = settings

    def __call__(self, message: Message, now: datetime) -> Message:
        """Return the message with a preview if its text is long, otherwise unchanged."""
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
        """Delete expired files and return how many. Other files and links stay."""
        if not self._settings.ttl_hours or self._folder.is_symlink():
            return 0
        oldest = now.timestamp() - self._settings.ttl_hours * 3600
        gone = 0
        with suppress(OSError):
            for path in sorted(self._folder.iterdir()):
                gone += bool(OURS.fullmatch(path.name)) and _deleted(path, oldest)
        return gone

    def _where(self, name: str | None) -> str:
        """Say how to read the rest."""
        if name is None:
            return "the rest was not kept"
        hours = f", for {self._settings.ttl_hours:g} hours" if self._settings.ttl_hours else ""
        return f"read the whole in {self._home / name}{hours}"

    def _preview(self, text: str) -> str:
        most = self._settings.preview_lines
        return "\n".join(text[:PREVIEW_CHARACTERS].split("\n", most)[:most])

    def _written(self, data: bytes, now: datetime) -> str | None:
        """Return the file's name below the home folder; None if it cannot be written.

        The name is a hash of the content, so that the same output again only renews the file.
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
    """Renew the file's time and return True if the file exists and is complete."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_size == size:
            os.utime(path, (now.timestamp(), now.timestamp()))
            return True
    return False


def _write(path: Path, data: bytes, now: datetime) -> None:
    """Write all of the data or nothing.

    What a crash leaves behind has another name, which sweep knows.
    """
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
    """Delete the file if it is older than that, and return whether it was.

    Another process may be first.
    """
    with suppress(OSError):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_mtime < oldest:
            path.unlink()
            return True
    return False
