"""Opens what is in a home folder: the store of a Kin, its conversations alone, and the backups.

A hook opens the conversations: every prompt waits for what is loaded here.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kinmem.backup import RESTORE_BEGUN
from kinmem.clock import Clock, utc_now
from kinmem.conversation.notes import Inject
from kinmem.conversation.observe import Conversation
from kinmem.conversation.tool_results import Spill
from kinmem.errors import ConfigError, ModelError, StoreError
from kinmem.language import Window
from kinmem.llm.base import Calibration, Purpose
from kinmem.models import Vectors
from kinmem.recall.pipeline import Recall
from kinmem.recall.question import Request
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.store.sqlite.disk import HighWater, check_is_there, note_of
from kinmem.store.sqlite.driver import can_encrypt
from kinmem.store.sqlite.encryption import is_encrypted, unlock
from kinmem.store.sqlite.owner_file import choose, owner_of
from kinmem.store.sqlite.store import SHARED, SqliteStore

if TYPE_CHECKING:
    from kinmem.backup.backups import Backups
    from kinmem.store.postgres.postgres_store import ServerWide


class NoEmbedder:
    """Implements Embedder but is never ready, so that words alone are searched where nobody may
    wait."""

    name = "none"
    calibration = Calibration(noise=0.0, duplicate=1.0, near=1.0)
    ready = False

    @property
    def dimension(self) -> int:
        """Raises ModelError: this embedder makes no vectors."""
        raise ModelError("there is no embedder here; words alone are searched")

    def warm(self) -> None:
        """Do nothing: there is nothing to load."""

    def window(self, limit: int, overlap: int = 0) -> Window:
        return Window(limit, limit, len, overlap)

    def pieces(self, text: str, limit: int, overlap: int = 0) -> list[str]:
        return [text]

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = "memory", deadline: float | None = None
    ) -> Vectors:
        """Raises ModelError."""
        raise ModelError("there is no embedder here; words alone are searched")


def open_store(settings: Settings, clock: Clock, *, is_brief: bool = False) -> Store:
    """Open the store of settings.general.kin, once a restore that was cut short has been ended;
    files of an older version are upgraded after a backup. What `is_brief` closes it soon, and may
    keep others out of it on a full disk."""
    if settings.general.store:
        return _on_a_server(settings, clock)
    _prepare(settings)
    if (settings.home / RESTORE_BEGUN).exists():
        from kinmem.backup.restore import finish

        finish(open_backups(settings, clock=clock))

    @contextmanager
    def before_upgrade(path: Path) -> Iterator[Callable[[], None]]:
        with open_backups(settings, clock=clock).upgrading(path) as back_up:
            yield back_up

    home, kin = settings.home, settings.general.kin
    return SqliteStore(home, kin, clock, before_upgrade, is_brief=is_brief)


def has_begun(settings: Settings) -> bool:
    """Return whether opening this Kin's memory would find its file here, or miss one that is gone:
    its own, or the one that all Kins share."""
    home, own = settings.home, f"kins/{settings.general.kin}.db"
    if (home / own).exists():
        return True
    try:
        for name in (own, SHARED):
            check_is_there(home / name, HighWater(note_of(home, name)).read())
    except StoreError:
        return True
    return False


def kins_on_the_server(settings: Settings) -> list[str]:
    """Return the Kins that have memories in the database, by name. Raises StoreError."""
    with _its_driver():
        from kinmem.store.postgres.postgres_store import names_of_kins
    return names_of_kins(settings.general.store)


def open_server(settings: Settings) -> "ServerWide":
    """Open what all Kins of the database share. Raises StoreError."""
    with _its_driver():
        from kinmem.store.postgres.postgres_store import ServerWide
    return ServerWide(settings.general.store)


def check_store(settings: Settings) -> None:
    """Raise StoreError unless memories can be stored now, as far as that is known at once."""
    if settings.general.store:
        with closing(open_server(settings)) as server:
            server.check()
    elif not os.access(settings.home, os.W_OK):
        raise StoreError(f"{settings.home} cannot be written", "storage_read_only")


def _on_a_server(settings: Settings, clock: Clock) -> Store:
    with _its_driver():
        from kinmem.store.postgres.postgres_store import PostgresStore
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return PostgresStore(settings.general.store, settings.general.kin, clock)


@contextmanager
def _its_driver() -> Iterator[None]:
    """Say what is missing where the driver of PostgreSQL is not installed."""
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"KINMEM_STORE needs {error.name}; install kinmem with its extra: pip install"
            " 'kinmem[postgres]'"
        ) from error


def open_backups(settings: Settings, *, clock: Clock = utc_now) -> "Backups":
    """Open the backups of the home. Opens no memory. Raises StoreError if memories are kept on a
    server."""
    if settings.general.store:
        raise StoreError(
            "KINMEM_STORE keeps memories in PostgreSQL: back up, restore and repair the database"
            " with its own means (pg_dump, pg_basebackup, your provider's snapshots); `kinmem"
            " export` writes what one Kin remembers",
            "storage_unsupported",
        )
    from kinmem.backup.backups import Backups
    from kinmem.store.sqlite.snapshot import SqliteHome

    _prepare(settings)
    return Backups(settings.home, SqliteHome(), settings.backup, clock)


def _prepare(settings: Settings) -> None:
    """Let this process lock the home's files as it should, and find their keys."""
    choose(settings.home, settings.general.locking)
    unlock(settings.home, settings.general.key, can_encrypt=can_encrypt())


def lock_told(settings: Settings) -> str | None:
    """Return what the lock file of the home says, in a few words; None if none is there and none
    is wanted. Raises StoreError."""
    owner = owner_of(settings.home)
    if owner is not None:
        return f"the home has a lock file of {owner.told}: {STATES[owner.state()]}"
    if settings.general.locking == "lockfile":
        return "a lock file lets one process at a time use the home; nobody has it now"
    return None


STATES = {
    "live": "it runs",
    "dead": "it has ended, so whoever comes next takes its place",
    "unseen": "whether that runs cannot be seen from here",
}


def clear_folder(settings: Settings) -> Path | None:
    """Return the folder for files that hold memories in the clear for a moment: if the home is
    encrypted, one in memory, where the system has one. None: the usual one."""
    return IN_MEMORY if is_encrypted(settings.home) and IN_MEMORY.is_dir() else None


IN_MEMORY = Path("/dev/shm")


def for_this_home(settings: Settings) -> Settings:
    """Return the settings as they apply to a home that is open: if it is encrypted, no tool output
    is kept in a file, since those are not encrypted."""
    if not is_encrypted(settings.home):
        return settings
    return replace(settings, compact=replace(settings.compact, spill_threshold=0))


@contextmanager
def open_conversation(settings: Settings, *, clock: Clock = utc_now) -> Iterator[Conversation]:
    """Open a Kin's conversations without the rest of its memory, for hooks that run without a
    server.

    No model is loaded: notes are found by words alone, and learning from what is said is left to
    another process.
    """
    with closing(open_store(settings, clock, is_brief=True)) as store:
        recall = Recall(store, [NoEmbedder()], settings, clock)
        limit = settings.recall.max_relevant
        spill = Spill(settings.home, settings.general.kin, for_this_home(settings).compact)
        yield Conversation(
            store,
            Inject(store.shown, settings, clock),
            lambda message: spill(message, clock()),
            lambda prompt, recent, seconds, allowed: recall.beside(
                prompt,
                recall(Request(prompt, limit, allowed, seconds=seconds), recent),
                allowed,
                seconds,
            ),
            settings,
            clock,
        )
