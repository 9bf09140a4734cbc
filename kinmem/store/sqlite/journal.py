"""One Kin's conversations in its own file. Writing here does not change what recall finds."""

from kinmem.clock import Clock
from kinmem.store.sqlite.connection import Database
from kinmem.store.sqlite.jobs import JobRows
from kinmem.store.sqlite.opinions import OpinionRows
from kinmem.store.sqlite.said import SaidRows
from kinmem.store.sqlite.shown import ShownRows
from kinmem.store.sqlite.snapshots import SnapshotRows


class SqliteJournal(SaidRows, SnapshotRows, ShownRows, OpinionRows, JobRows):
    """See Journal."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
