"""Brings a file to the present schema: the numbered scripts in migrations/."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from kinmem.errors import StoreError
from kinmem.store.sql.database import Transaction
from kinmem.store.sqlite import schemas
from kinmem.store.sqlite.schemas import Scratch

APPLICATION_ID = 0x6B696E6D  # "kinm"
MIGRATIONS = Path(__file__).with_name("migrations")
NEW_FILE = Path(__file__).with_name("new_file.sql")
"""What all scripts together make of a new file; scripts/schema_of_new_files.py writes it."""


BeforeUpgrade = Callable[[Path], AbstractContextManager[Callable[[], None]]]
"""Entered before an older file is locked; yields what makes a backup once it is. One process after
the other upgrades, so that each of their backups is of one moment (kinmem/backup)."""


def without_backup(path: Path) -> AbstractContextManager[Callable[[], None]]:
    """Upgrade a file of which nobody needs a backup: a scratch file, or what is a copy already."""
    return nullcontext(lambda: None)


class Migrations:
    """The scripts of a folder."""

    def __init__(self, folder: Path, new: Scratch) -> None:
        self._steps = numbered(folder)
        self._of_new_file = _of_new_file(self.latest) if folder == MIGRATIONS else None
        self._new = new

    @property
    def latest(self) -> int:
        """The schema version this kinmem writes."""
        return self._steps[-1][0]

    def checked_version(self, db: Transaction, path: Path) -> int:
        """Return the file's schema version, 0 for a new file. Raises StoreError for files that
        kinmem must not write to."""
        application, version, tables = db.value(  # all from one moment: it may be migrated now
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)"
            " FROM pragma_application_id, pragma_user_version"
        )
        if application != APPLICATION_ID and (application or version or tables):
            raise StoreError(
                f"{path} is not a kinmem file; move it away or set KINMEM_HOME elsewhere",
                "storage_foreign",
            )
        if version > self.latest:
            raise StoreError(
                f"{path} has schema {version}, this kinmem writes {self.latest};"
                " install the newer kinmem that made it",
                "storage_newer",
            )
        if tables and not version:
            raise StoreError(
                f"{path} has lost the number of its schema; kinmem doctor --repair finds it out",
                "storage_damaged",
            )
        if version:
            schemas.check(db, path, version, self._steps, self._new)
        return int(version)

    def number_again(self, db: Transaction, path: Path) -> None:
        """Give a file that has lost the number of its schema that number. Raises StoreError if it
        has none of the schemas."""
        if db.value("PRAGMA user_version"):
            return
        version = schemas.version_of(db, self._steps, self._new)
        if version is None:
            raise StoreError(f"{path} has no schema that kinmem knows", "storage_foreign")
        db.run(f"PRAGMA application_id = {APPLICATION_ID}")
        db.run(f"PRAGMA user_version = {version}")

    def apply(self, db: Transaction, path: Path, back_up: Callable[[], None]) -> None:
        """Apply the scripts that the file lacks, in the caller's transaction: nobody can write
        between the backup of an older file and them."""
        found = self.checked_version(db, path)
        if 0 < found < self.latest:
            back_up()
            schemas.drop_indexes(db, found, self._steps, self._new)
        if found or self._of_new_file is None:
            for number, script in self._steps:
                if number > found:
                    db.run(script)
        else:
            db.run(self._of_new_file)
        db.run(f"PRAGMA application_id = {APPLICATION_ID}")
        db.run(f"PRAGMA user_version = {self.latest}")


def numbered(folder: Path) -> list[tuple[int, str]]:
    """Return the migrations as (number, script), from 1 on. Raises StoreError if one is missing."""
    steps = sorted(
        (int(match.group(1)), file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if (match := re.fullmatch(r"(\d{4})_\w+\.sql", file.name))
    )
    if [number for number, _ in steps] != list(range(1, len(steps) + 1)) or not steps:
        raise StoreError(f"the migrations in {folder} are incomplete; reinstall kinmem")
    return steps


def of_version(number: int) -> str:
    """Return the first line of NEW_FILE."""
    return f"-- Schema {number}, made by python -m scripts.schema_of_new_files"


def _of_new_file(latest: int) -> str | None:
    """Return NEW_FILE; None if it is of another version."""
    script = NEW_FILE.read_text(encoding="utf-8")
    return script if script.startswith(of_version(latest)) else None
