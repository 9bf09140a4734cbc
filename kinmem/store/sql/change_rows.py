"""What has changed since a position, by whatever process; see Changes."""

from datetime import datetime
from typing import TYPE_CHECKING

from kinmem.models import Event, Memory
from kinmem.store.history import Position
from kinmem.store.sql.history_rows import events
from kinmem.store.sql.memory_rows import COLUMNS, memories_of, time_text

if TYPE_CHECKING:
    from kinmem.store.sql.sharing import Files

POSITION = """
    SELECT revision.number, (SELECT max(seq) FROM history), (SELECT max(id) FROM turns)
    FROM revision
"""


class SqlChanges:
    """See Changes."""

    def __init__(self, files: "Files") -> None:
        self._files = files

    def position(self) -> Position:
        own, shared = self._files.own.database, self._files.shared.database
        [(revision, line, turn)] = own.rows(POSITION)
        [(published,)] = shared.rows("SELECT number FROM revision")
        return Position(line or 0, revision, turn or 0, published)

    def lines(self, after: int, limit: int) -> list[Event]:
        which = "seq > :after AND kin = :kin ORDER BY seq LIMIT :limit"
        bound = {"after": after, "kin": self._files.kin, "limit": limit}
        return events(self._files.own.database, which, bound)

    def shared(self, after: datetime, limit: int) -> list[Memory]:
        rows = self._files.shared.database.rows(
            f"SELECT {COLUMNS} FROM memories m WHERE m.kin <> :kin"
            " AND (m.content_updated_at >= :after OR m.state_at >= :after)"
            " ORDER BY m.id LIMIT :limit",
            {"kin": self._files.kin, "after": time_text(after), "limit": limit},
        )
        muted = self._files.muted
        found = memories_of(rows, self._files.own.database.damage)
        return [memory for memory in found if memory.kin not in muted]
