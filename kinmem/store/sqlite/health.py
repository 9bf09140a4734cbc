"""What one database file says about itself."""

from pathlib import Path

import apsw

from kinmem.models import Health
from kinmem.store.sqlite.connection import Database


def examine(database: Database, home: Path) -> Health:
    """Count what must agree and let SQLite look for damage; reads the whole file."""
    with database.afresh() as db:
        vectors = {
            str(name): _count(db, f"vectors_{number:d}_rowids")
            for number, name in db.execute("SELECT id, name FROM embedders").fetchall()
        }
        pending = db.execute(
            "SELECT name, count(chunk) FROM embedders LEFT JOIN pending"
            " ON pending.embedder = embedders.id GROUP BY name"
        ).fetchall()
        found = [said for (said,) in db.execute("PRAGMA quick_check(5)")]
        sqlite, source, vec = (
            str(db.execute(f"SELECT {told}()").get)
            for told in ("sqlite_version", "sqlite_source_id", "vec_version")
        )
        return Health(
            file=str(database.path.relative_to(home)),
            engine=f"SQLite {sqlite} ({source[:10]} {source[20:32]}), sqlite-vec {vec}",
            application=db.execute("PRAGMA application_id").get,
            version=db.execute("PRAGMA user_version").get,
            memories=_count(db, "memories"),
            words=_count(db, "words_docsize WHERE id > 0"),
            chunks=_count(db, "chunks"),
            vectors=vectors,
            pending={str(name): int(count or 0) for name, count in pending},
            damage=() if found == ["ok"] else tuple(map(str, found)),
        )


def _count(db: apsw.Connection, table: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table}").get)
