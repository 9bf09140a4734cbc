"""Write what the migrations make of a new file into one script.

    python -m scripts.schema_of_new_files

A new file gets its tables from it at once, in a third of the time that the migrations take one
after the other. tests/store/test_released.py compares both.
"""

import sys
from collections.abc import Iterator

from kinmem.store.sql.database import Transaction
from kinmem.store.sqlite.driver import scratch
from kinmem.store.sqlite.migrating import MIGRATIONS, NEW_FILE, OF_EXTENSIONS, numbered, of_version

# Tables of words, whose settings are stored by a command to FTS5.
WORDS = ("words", "turn_words")
KINDS = ("table", "index", "view", "trigger")


def script() -> str:
    steps = numbered(MIGRATIONS)
    with scratch() as db:
        for _, step in steps:
            db.run(step)
        made = db.rows("SELECT type, name, sql FROM sqlite_schema ORDER BY rowid")
        statements = {kind: [] for kind in KINDS}
        for kind, name, sql in made:
            if sql and not name.startswith("sqlite_") and not OF_EXTENSIONS.fullmatch(name):
                statements[kind].append(sql)
        statements["table"] += rows(db, [name for kind, name, _ in made if kind == "table"])
    lines = [of_version(steps[-1][0]), *(sql for kind in KINDS for sql in statements[kind])]
    return lines[0] + "\n" + ";\n".join(lines[1:]) + ";\n"


def rows(db: Transaction, tables: list[str]) -> Iterator[str]:
    """Yield what fills the tables of a new file."""
    for table in tables:
        if OF_EXTENSIONS.fullmatch(table):
            continue
        if table in WORDS:
            settings = f"SELECT k, quote(v) FROM {table}_config WHERE k <> 'version'"
            for name, value in db.rows(settings):
                yield f"INSERT INTO {table} ({table}, rank) VALUES ('{name}', {value})"
            continue
        for row in db.rows(f"SELECT * FROM {table}"):
            yield f"INSERT INTO {table} VALUES ({', '.join(map(quoted, row))})"


def quoted(value: object) -> str:
    if value is None or isinstance(value, int):
        return "NULL" if value is None else str(value)
    return "'" + str(value).replace("'", "''") + "'"


if __name__ == "__main__":
    NEW_FILE.write_text(script(), encoding="utf-8")
    sys.stderr.write(f"wrote {NEW_FILE}\n")
