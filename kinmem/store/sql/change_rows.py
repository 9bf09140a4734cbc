"""What has changed since a position, by whatever process; see Changes."""

import json
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from kinmem.models import Event
from kinmem.store.history import Position, Published
from kinmem.store.sql.damage import Row, filled, readable
from kinmem.store.sql.history_rows import COLUMNS, events_of

if TYPE_CHECKING:
    from kinmem.store.sql.sharing import Files

POSITION = """
    SELECT revision.number, (SELECT max(seq) FROM history), (SELECT max(id) FROM turns)
    FROM revision
"""
SHARED_POSITION = "SELECT number, (SELECT max(seq) FROM published) FROM revision"
LINES = f"""
    SELECT seq, {COLUMNS} FROM history WHERE seq > :after AND kin = :kin ORDER BY seq LIMIT :limit
"""
SHARED = """
    SELECT p.seq, p.memory, p.kin, p.at, m.state NOT IN ('deleted', 'quarantined')
    FROM published p LEFT JOIN memories m ON m.id = p.memory
    WHERE p.seq > :after AND p.kin <> :kin AND p.kin NOT IN LISTED(:muted)
    ORDER BY p.seq LIMIT :limit
"""


class SqlChanges:
    """See Changes."""

    def __init__(self, files: "Files") -> None:
        self._files = files

    def position(self) -> Position:
        own, shared = self._files.own.database, self._files.shared.database
        [(revision, line, turn)] = own.rows(POSITION)
        [(published, number)] = shared.rows(SHARED_POSITION)
        return Position(line or 0, revision, turn or 0, published, number or 0)

    def lines(self, after: int, limit: int) -> list[Event]:
        own = self._files.own.database

        def rows(behind: int, count: int) -> list[Row]:
            return own.rows(LINES, {"after": behind, "kin": self._files.kin, "limit": count})

        return filled(rows, partial(events_of, damage=own.damage), after, limit, own.damage)

    def shared(self, after: int, limit: int) -> list[Published]:
        files = self._files
        muted = json.dumps(sorted(files.muted))
        damage = files.own.database.damage

        def rows(behind: int, count: int) -> list[Row]:
            bound = {"after": behind, "kin": files.kin, "muted": muted, "limit": count}
            return files.shared.database.rows(SHARED, bound)

        return filled(
            rows,
            lambda some: readable(some, _published, "published", damage),
            after,
            limit,
            files.shared.database.damage,
        )


def _published(row: Row) -> Published:
    number, id, kin, at, is_visible = row
    return Published(number, id, kin, datetime.fromisoformat(at), bool(is_visible))
