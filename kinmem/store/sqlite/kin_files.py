"""Opens the two files of a Kin."""

from pathlib import Path

from kinmem.clock import Clock
from kinmem.store.sql.memory_file import MemoryFile
from kinmem.store.sql.sharing import KinFiles
from kinmem.store.sqlite.adoption import adopt
from kinmem.store.sqlite.chunk_vectors import ChunkVectors
from kinmem.store.sqlite.connection import SqliteDatabase, translated
from kinmem.store.sqlite.migrating import BeforeUpgrade, without_backup
from kinmem.store.sqlite.nearest_chunks import NearestChunks
from kinmem.store.sqlite.word_index import WordIndex


class SqliteFile(MemoryFile):
    """One SQLite file, whoever's it is, and what of it is in memory."""

    database: SqliteDatabase
    vectors: ChunkVectors

    def __init__(
        self, path: Path, kin: str, before_upgrade: BeforeUpgrade = without_backup
    ) -> None:
        """Open or create it. Raises StoreError, see SqliteDatabase."""
        database = SqliteDatabase(path, before_upgrade=before_upgrade)
        self.near = NearestChunks(database)
        super().__init__(database, WordIndex(), ChunkVectors(database, self.near.copies), kin)

    def close(self) -> None:
        """Release the file. A second call does nothing."""
        self.near.copies.close()
        self.database.close()


class SqliteFiles(KinFiles[SqliteFile]):
    """`kins/<kin>.db` and `shared.db` below a folder. Never opens another Kin's file."""

    def __init__(
        self, home: Path, kin: str, clock: Clock, before_upgrade: BeforeUpgrade = without_backup
    ) -> None:
        """Open or create both. What was to be published before a crash is published now, and what
        version 6 had in shared.db alone comes home. Raises StoreError."""
        with translated(home):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = SqliteFile(home / "kins" / f"{kin}.db", kin, before_upgrade)
        try:
            shared = SqliteFile(home / "shared.db", kin, before_upgrade)
        except BaseException:
            own.close()
            raise
        super().__init__(own, shared, kin, clock)
        try:
            adopt(own, shared, kin)
            self.copies.catch_up()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close both files. A second call does nothing."""
        for file in self:
            file.close()
