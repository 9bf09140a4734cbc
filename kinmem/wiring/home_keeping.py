"""How a home is kept: encrypted with which key, and on which engine; what changes the one or the
other."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kinmem.backup.moving import Moved, move
from kinmem.clock import Clock, utc_now
from kinmem.errors import ConfigError, InvalidInput, StoreError
from kinmem.llm.prompts import chunks_of
from kinmem.models import Progress
from kinmem.settings import Settings
from kinmem.store.sqlite.driver import can_encrypt
from kinmem.store.sqlite.encryption import (
    KEYRING,
    TO_INSTALL,
    begin_change,
    end_change,
    place_of,
    read_marker,
    unlock,
)
from kinmem.store.sqlite.snapshot import SqliteHome
from kinmem.wiring.open_home import open_backups, open_store
from kinmem.wiring.open_memory import embedders


@dataclass(frozen=True, slots=True)
class KeyState:
    """How a home is encrypted."""

    key: str | None
    """Fingerprint of the key; None: the files are in the clear."""
    where: str | None
    """`keyring`, or the path of the file with the keys."""
    is_changing: bool = False
    """Whether a change was cut short."""


@dataclass(frozen=True, slots=True)
class KeyChange:
    """What a change of the key did."""

    state: KeyState
    files: int
    backup: Path | None
    """Made before the change."""
    in_the_clear: Sequence[Path]
    """Backups that are not encrypted, since they are from before."""


def key_state(settings: Settings) -> KeyState:
    """Return how the home is encrypted."""
    marker = read_marker(settings.home)
    if marker is None:
        return KeyState(None, None)
    return KeyState(marker.key, marker.where, marker.is_changing)


def set_key(settings: Settings, where: str | None = None) -> KeyChange:
    """Encrypt the home with a new key, kept in the keyring or in a file; if it is encrypted, change
    the key. Raises ConfigError, or StoreError while another process uses the home."""
    if not can_encrypt():
        raise ConfigError(TO_INSTALL)
    place = where or settings.general.key or key_state(settings).where or KEYRING
    return _change(settings, place_of(place))


def remove_key(settings: Settings) -> KeyChange:
    """Decrypt the home. Its keys stay where they are, for backups. Raises as set_key does."""
    return _change(settings, None)


def _change(settings: Settings, where: str | None) -> KeyChange:
    home, files = settings.home, SqliteHome()
    settings = replace(settings, general=replace(settings.general, key=None))
    before = key_state(settings)
    backups = open_backups(settings)
    made = None
    with files.alone(home) as held:  # nobody has it open; said before anything is made
        if held.unreadable:
            raise StoreError(
                f"{', '.join(sorted(held.unreadable))} cannot be read, and would keep the key it"
                " has; kinmem doctor --repair mends it. Nothing was changed",
                "storage_damaged",
            )
    if files.names(home) and not before.is_changing:
        made = backups.make("manual").path
    key = begin_change(home, where)
    unlock(home, None, can_encrypt=can_encrypt())
    count = files.encrypt(home, key)
    end_change(home)
    unlock(home, None, can_encrypt=can_encrypt())
    was_in_the_clear = before.key is None or before.is_changing
    earlier = [one.path for one in backups.listed() if not one.is_encrypted]
    is_now_encrypted = where is not None and was_in_the_clear
    return KeyChange(key_state(settings), count, made, earlier if is_now_encrypted else [])


def migrate(
    source: Settings,
    target: Settings,
    kins: Sequence[str],
    *,
    clock: Clock = utc_now,
    progress: Progress | None = None,
) -> Iterator[Moved]:
    """Move these Kins, one after the other. What others share is moved by who shares it.

    Raises InvalidInput if both are the same place.
    """
    if where_kept(source) == where_kept(target):
        raise InvalidInput(f"{where_kept(source)} is where memories are already")
    for kin in kins:
        with (
            closing(open_store(_of(source, kin), clock)) as here,
            closing(open_store(_of(target, kin), clock)) as there,
        ):
            [embedder, *_] = embedders(source, here.index.coverage())
            yield move(here, there, partial(chunks_of, embedder=embedder), progress)
        _copy_outputs(source, target, kin)


def where_kept(settings: Settings) -> str:
    """Return where memories are kept."""
    return settings.general.store or str(settings.home.resolve())


def _of(settings: Settings, kin: str) -> Settings:
    return replace(settings, general=replace(settings.general, kin=kin))


def _copy_outputs(source: Settings, target: Settings, kin: str) -> None:
    """Copy outputs of tools that were too long for a conversation, unless they are there."""
    folder = f"kins/{kin}-outputs"
    if source.home.resolve() != target.home.resolve() and (source.home / folder).is_dir():
        (target.home / "kins").mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copytree(source.home / folder, target.home / folder, dirs_exist_ok=True)
