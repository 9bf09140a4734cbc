"""Opens what is in a home folder: the store of a Kin, and the backups of all of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kinmem.backup import RESTORE_BEGUN
from kinmem.clock import Clock, utc_now
from kinmem.settings import Settings
from kinmem.store.sqlite.store import SqliteStore

if TYPE_CHECKING:  # imported late below: every prompt waits for a hook, which makes no backup
    from kinmem.backup.backups import Backups


def open_store(settings: Settings, clock: Clock) -> SqliteStore:
    """Open the store of settings.general.kin, once a restore that was cut short has been ended;
    files of an older version are upgraded after a backup."""
    if (settings.home / RESTORE_BEGUN).exists():
        from kinmem.backup.restore import finish

        finish(open_backups(settings, clock=clock))

    @contextmanager
    def before_upgrade(path: Path) -> Iterator[Callable[[], None]]:
        with open_backups(settings, clock=clock).upgrading(path) as back_up:
            yield back_up

    return SqliteStore(settings.home, settings.general.kin, clock, before_upgrade)


def open_backups(settings: Settings, *, clock: Clock = utc_now) -> "Backups":
    """Open the backups of the home. Opens no memory."""
    from kinmem.backup.backups import Backups
    from kinmem.store.sqlite.snapshot import SqliteHome

    return Backups(settings.home, SqliteHome(), settings.backup, clock)
