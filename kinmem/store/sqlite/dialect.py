"""How SQLite says the words of store/sql/database.py, and how it is set."""

import re

from kinmem.store.sql.memory_rows import IS_LIVE

TABLES = {
    "LISTED": "(SELECT value FROM json_each({}))",
    "NUMBERED": "(SELECT value FROM json_each({}))",
    "PAIRED": "(SELECT value ->> 0 AS one, value ->> 1 AS other FROM json_each({}))",
    "PARSED": "iif(json_valid({0}), {0}, NULL)",
    # For partial indexes that it is not null; bytes, since a damaged text is no UTF-8.
    "ALIKE": "({0} IS NOT NULL AND kinmem_alike(CAST({0} AS BLOB), CAST({1} AS BLOB)))",
}
"""By word, with its arguments in place of {}."""
WORDS = {"ORDERED JOIN": "CROSS JOIN", "BY INDEX": "INDEXED BY"}
"""By word, what has no argument."""
WORD = re.compile(rf"\b({'|'.join(TABLES)})\(([\w:.?]+)(?:, ([\w:.?]+))?\)|{'|'.join(WORDS)}")
"""Matches a word; group 1 is one of TABLES, groups 2 and 3 are its arguments."""

# All of it is read from one end of an index.
STATE = f"""
    SELECT revision.number,
        (SELECT min(seq) FROM vector_log),
        (SELECT max(seq) FROM vector_log),
        (SELECT max(rowid) FROM memories),
        (SELECT max(id) FROM chunks),
        (SELECT min(id) FROM words_docsize) < 0,
        (SELECT max(id) FROM turn_vectors),
        (SELECT number FROM turn_vectors_lost),
        EXISTS (SELECT 1 FROM turn_words_docsize),
        EXISTS (SELECT 1 FROM conflicts WHERE status = 'open'),
        (SELECT m.expires_at FROM memories m WHERE m.expires_at IS NOT NULL AND {IS_LIVE}
            ORDER BY m.expires_at LIMIT 1),
        (SELECT m.valid_to FROM memories m WHERE m.valid_to IS NOT NULL AND {IS_LIVE}
            ORDER BY m.valid_to LIMIT 1),
        (SELECT json_group_array(json_array(CAST(name AS TEXT), id, dimension,
            NOT EXISTS (SELECT 1 FROM pending WHERE embedder = id),
            NOT EXISTS (SELECT 1 FROM turn_pending WHERE embedder = id))) FROM embedders)
    FROM revision
    """

PRAGMAS = (
    "fullfsync = ON",  # macOS only: else the drive may keep what was synced in its cache
    "checkpoint_fullfsync = ON",
    "synchronous = FULL",  # 0 of 300 simulated power cuts lost an answered write, NORMAL 138
    "foreign_keys = ON",
    "secure_delete = ON",  # forgotten text must not stay in free pages
    "cell_size_check = ON",
    "temp_store = MEMORY",
    # KiB, for each connection. The system keeps what was read as well: at 100,000 memories a
    # question takes 36 ms of processor time with 32 MiB, 32 with 4, and 100 MiB less are taken.
    "cache_size = -4096",
    "journal_size_limit = 67108864",
    "wal_autocheckpoint = 1000",
    "recursive_triggers = ON",
)
