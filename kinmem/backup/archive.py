"""A backup is one ZIP file: the database files of a home at one moment, and a manifest that says
what is in it. Encrypted, it is the same file in the format of age.

A file appears under its name when it is whole and on the disk, or not at all. Kept are, of those
made daily, one for each of the last days, then one a week; of those made before something the last
few; of those that a person has made all.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal, cast, get_args

from kinmem.errors import ConfigError, InvalidInput, StoreError

Reason = Literal["daily", "manual", "upgrade", "restore", "import"]
"""Why a backup was made: `upgrade`, `restore` and `import` are those made before one."""

FORMAT = 1
MANIFEST = "manifest.json"
ENCRYPTED = ".age"
NAME = re.compile(
    rf"kinmem-(\d{{8}}T\d{{6}}Z)(?:-(\d+))?-({'|'.join(get_args(Reason))})\.zip(\.age)?"
)
STAMP = "%Y%m%dT%H%M%SZ"
MEMBER = re.compile(r"shared\.db|kins/[a-z0-9][a-z0-9_-]*\.db")
BLOCK = 1 << 20
TO_INSTALL = "encryption needs one more package: pip install 'kinmem[encrypted-backups]'"


@dataclass(frozen=True, slots=True)
class Member:
    """One database file in a backup."""

    sha256: str
    bytes: int
    schema: int
    memories: int
    turns: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says about itself."""

    made_at: datetime
    reason: Reason
    files: Mapping[str, Member]
    """By name: path below the home."""
    damaged: Mapping[str, str] = field(default_factory=dict)
    """Files of the home that were damaged when the backup was made, each with what is wrong."""
    kinmem: str = field(default_factory=lambda: version("kinmem"))

    def text(self) -> str:
        return json.dumps(
            {"format": FORMAT, **asdict(self), "made_at": self.made_at.isoformat()}, indent=1
        )

    @staticmethod
    def read(text: bytes) -> "Manifest":
        """Raises StoreError if it is none, or that of a later kinmem."""
        try:
            told = json.loads(text)
            if told.pop("format") > FORMAT:
                raise StoreError("a newer kinmem has made this backup", "storage_newer")
            told["made_at"] = datetime.fromisoformat(told["made_at"])
            told["files"] = {name: Member(**one) for name, one in told["files"].items()}
            return Manifest(**told)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreError("its manifest cannot be read", "storage_damaged") from error


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup in a folder, as its name tells of it."""

    path: Path
    made_at: datetime
    reason: Reason
    is_encrypted: bool
    number: int = 1
    """Of several made in one second."""


def backups_in(folder: Path) -> list[Backup]:
    """Return the backups in a folder, the latest first."""
    found = [known for path in folder.glob("kinmem-*") if (known := named(path)) is not None]
    return sorted(found, key=lambda one: (one.made_at, one.number), reverse=True)


def named(path: Path) -> Backup | None:
    """Return the backup that a path names; None if it is no name of one."""
    match = NAME.fullmatch(path.name)
    if match is None:
        return None
    stamp, number, reason, encrypted = match.groups()
    try:
        made_at = datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
    except ValueError:  # digits that are no date
        return None
    return Backup(path, made_at, cast(Reason, reason), encrypted is not None, int(number or 1))


def free_name(folder: Path, made_at: datetime, reason: Reason, *, encrypted: bool) -> Path:
    """Return a path for a new backup that no file has yet."""
    made_at = made_at.astimezone(UTC).replace(microsecond=0)
    same_second = [one.number for one in backups_in(folder) if one.made_at == made_at]
    number = f"-{max(same_second) + 1}" if same_second else ""
    ending = ENCRYPTED if encrypted else ""
    return folder / f"kinmem-{made_at.strftime(STAMP)}{number}-{reason}.zip{ending}"


def member_of(path: Path, schema: int, memories: int, turns: int) -> Member:
    """Describe a copy that nobody has open."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return Member(digest.hexdigest(), path.stat().st_size, schema, memories, turns)


def pack(folder: Path, manifest: Manifest, target: Path, passphrase: str | None = None) -> None:
    """Write the copies in a folder as one backup, into a folder that exists, replacing an earlier
    one of this name."""
    hidden = target.with_name(f".{target.name}.tmp")
    with explained(target):
        try:
            with _private(hidden) as file:
                if passphrase is None:
                    _zip(folder, manifest, file)
                else:
                    plain = BytesIO()
                    _zip(folder, manifest, plain)
                    file.write(_encrypt(plain.getvalue(), passphrase))
                file.flush()
                os.fsync(file.fileno())
            hidden.replace(target)
        except BaseException:
            hidden.unlink(missing_ok=True)
            raise
        sync_folder(target.parent)


def unpack(
    path: Path, folder: Path, names: Collection[str] | None = None, passphrase: str | None = None
) -> Manifest:
    """Put the files of a backup, or those named, into a folder, each checked against its hash.

    Raises StoreError, `storage_damaged` if anything is not as it was when the backup was made, and
    InvalidInput for a wrong passphrase.
    """
    with _reading(path, passphrase) as (archive, manifest):
        for name, member in manifest.files.items():
            if names is None or name in names:
                _extract(archive, name, member, folder / name, path)
        return manifest


def manifest_of(path: Path, passphrase: str | None = None) -> Manifest:
    """Return what a backup says about itself. Raises as unpack does."""
    with _reading(path, passphrase) as (_, manifest):
        return manifest


def sync_folder(folder: Path) -> None:
    """Let a new name in the folder outlive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of the file system into StoreError."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            told = f"no room for the backup {path.name}; make room and try again"
            raise StoreError(told, "storage_full") from error
        raise StoreError(f"{path}: {error.strerror or error}", "storage_failed") from error


def _private(path: Path) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    return os.fdopen(os.open(path, flags, 0o600), "wb")


def _zip(folder: Path, manifest: Manifest, file: BinaryIO | BytesIO) -> None:
    # Not compressed: a third of the size is not worth five times the time, which erasing in a dozen
    # backups takes as well; vectors hardly shrink.
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(MANIFEST, manifest.text())
        for name in manifest.files:
            archive.write(folder / name, name)


@contextmanager
def _reading(path: Path, passphrase: str | None) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    if not path.is_file():
        raise InvalidInput(f"there is no backup {path}; kinmem backup list shows them")
    with explained(path):
        try:
            file: BinaryIO | BytesIO
            if path.name.endswith(ENCRYPTED):
                file = BytesIO(_decrypt(path, passphrase))
            else:
                file = path.open("rb")
            with file, zipfile.ZipFile(file) as archive:
                manifest = Manifest.read(archive.read(MANIFEST))
                if not all(map(MEMBER.fullmatch, manifest.files)):
                    raise StoreError("it names files that are not kinmem's", "storage_damaged")
                yield archive, manifest
        except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError) as error:
            raise StoreError(f"{path.name} is damaged: {error}", "storage_damaged") from error


def _extract(archive: zipfile.ZipFile, name: str, member: Member, target: Path, path: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with archive.open(name) as packed, _private(target) as file:
        while block := packed.read(BLOCK):
            digest.update(block)
            file.write(block)
    if digest.hexdigest() != member.sha256:
        raise StoreError(
            f"{path.name} is damaged: {name} is not as it was when the backup was made",
            "storage_damaged",
        )


def _encrypt(plain: bytes, passphrase: str) -> bytes:
    age = _age()
    return bytes(age.encrypt(plain, passphrase))


def _decrypt(path: Path, passphrase: str | None) -> bytes:
    if passphrase is None:
        raise InvalidInput(f"{path.name} is encrypted; give its passphrase")
    age = _age()
    try:
        return bytes(age.decrypt(path.read_bytes(), passphrase))
    except age.DecryptError as error:
        raise InvalidInput(
            f"the passphrase does not open {path.name}, or the file is damaged: {error}"
        ) from error


class _Age:
    """The two functions of pyrage that are used; it is loaded only when somebody encrypts."""

    def __init__(self) -> None:
        import pyrage  # type: ignore[import-untyped]
        from pyrage import passphrase

        self.encrypt, self.decrypt = passphrase.encrypt, passphrase.decrypt
        self.DecryptError: type[Exception] = pyrage.DecryptError


def _age() -> _Age:
    try:
        return _Age()
    except ImportError as error:
        raise ConfigError(TO_INSTALL) from error


def emptied(folder: Path) -> Path:
    """Return the folder, new and empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    return folder


BEFORE = ("upgrade", "restore", "import")
KEPT_BEFORE = 3
"""Of each kind of backup made before something."""
AHEAD = timedelta(days=1)


def outdated(backups: Sequence[Backup], now: datetime, days: int, weeks: int) -> list[Backup]:
    """Return those to delete.

    Days and weeks are those on which there is a backup, however long ago: no clock that has jumped
    makes a backup old. What a clock that was ahead has dated in the future is counted apart, so
    that it never pushes out what is made today.
    """
    dated = [one for one in backups if one.made_at <= now + AHEAD]
    future = [one for one in backups if one.made_at > now + AHEAD]
    gone: list[Backup] = []
    for group in (dated, future):
        latest_first = sorted(group, key=lambda one: one.made_at, reverse=True)
        daily = [one for one in latest_first if one.reason == "daily"]
        kept = _daily(daily, days, weeks)
        gone += [one for one in daily if one not in kept]
        for reason in BEFORE:
            gone += [one for one in latest_first if one.reason == reason][KEPT_BEFORE:]
    return gone


def _daily(latest_first: Sequence[Backup], days: int, weeks: int) -> list[Backup]:
    """Return the last one of each of the last days, then the last of each of the weeks before."""
    by_day: dict[object, Backup] = {}
    for one in latest_first:
        by_day.setdefault(one.made_at.date(), one)
    of_days = list(by_day.values())[:days]
    covered = {one.made_at.isocalendar()[:2] for one in of_days}
    by_week: dict[object, Backup] = {}
    for one in list(by_day.values())[days:]:
        week = one.made_at.isocalendar()[:2]
        if week not in covered:
            by_week.setdefault(week, one)
    return [*of_days, *list(by_week.values())[:weeks]]
