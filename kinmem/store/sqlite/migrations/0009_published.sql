-- Version 9: whoever follows what Kins share reads on from a number.

-- In shared.db: every memory that was ever shared, numbered anew whenever its copy is published,
-- changed or withdrawn. The row stays when the memory is erased: a reader that comes later learns
-- that it is gone. In a Kin's own file the table is empty.
CREATE TABLE published (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    memory TEXT NOT NULL UNIQUE,
    kin    TEXT NOT NULL,                    -- the author
    at     TEXT NOT NULL
);
INSERT INTO published (memory, kin, at)
SELECT id, kin, content_updated_at FROM memories
WHERE scope = 'shared' AND NOT EXISTS (SELECT 1 FROM marks WHERE name = 'adopted')
ORDER BY rowid;
