"""The store of one Kin in SQLite files."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from kinmem.clock import Clock, utc_now
from kinmem.errors import StoreError
from kinmem.models import Health
from kinmem.settings import kin_name
from kinmem.store.sql.sql_store import SqlStore
from kinmem.store.sqlite.kin_files import SqliteFiles
from kinmem.store.sqlite.maintenance import examine, keep_house
from kinmem.store.sqlite.migrating import BeforeUpgrade, without_backup
from kinmem.store.sqlite.name_traces import SqliteForgetting
from kinmem.store.sqlite.search_index import SqliteIndex
from kinmem.store.sqlite.turn_search import SqliteTranscript


class SqliteStore(SqlStore):
    """See Store. Uses `kins/<kin>.db` and `shared.db` below `home`."""

    def __init__(
        self,
        home: Path,
        kin: str,
        clock: Clock = utc_now,
        before_upgrade: BeforeUpgrade = without_backup,
    ) -> None:
        """Open or create both files. Raises InvalidInput for a name that a Kin cannot have, and
        StoreError."""
        self._home = home
        self.files = SqliteFiles(home, kin_name(kin), clock, before_upgrade)
        super().__init__(self.files)
        self.index = SqliteIndex(self.files)
        self.transcript = SqliteTranscript(self.files)
        self.forgetting = SqliteForgetting(self.files, self.documents, self.writer.erase_all)

    def health(self) -> list[Health]:
        return [examine(file.database, self._home) for file in self.files]

    def keep_house(self, is_over: Callable[[], bool], dry_run: bool = False) -> Mapping[str, int]:
        done: Counter[str] = Counter()
        if not dry_run:
            self.files.copies.catch_up()
        for file in self.files:
            done += keep_house(file.database, is_over, dry_run)
        return done

    def close(self) -> None:
        with suppress(StoreError):  # counters are not worth an error on closing
            self.flush_use()
        self.transcript.close()
        self.files.close()
