-- Version 7: sharing publishes a copy. The original of every memory is in its author's file;
-- shared.db holds the copies that the authors' processes have published there. Originals that an
-- earlier version kept in shared.db come home when their Kin is opened (kin_files.py).

-- Moves that were cut short are settled by adoption: of two rows with one id the later version is
-- the original.
DROP TABLE moves;

-- Of a Kin's own file: memories whose copy may not be as the original is. The row is written in the
-- transaction that changes the original, and goes when the copy has followed. A change in between
-- gives it a greater number, and it stays.
CREATE TABLE outbox (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    memory TEXT NOT NULL UNIQUE
);
-- Who inserts an id here puts it into the outbox, once the Kin has its originals. Nobody ever has
-- in shared.db, so the same triggers do nothing there. Deleted first: a REPLACE of the trigger's
-- own would become the IGNORE of the statement that has fired it.
CREATE VIEW unpublished (memory) AS SELECT memory FROM outbox;
CREATE TRIGGER unpublished_to_outbox INSTEAD OF INSERT ON unpublished
WHEN EXISTS (SELECT 1 FROM marks WHERE name = 'adopted') BEGIN
    DELETE FROM outbox WHERE memory = new.memory;
    INSERT INTO outbox (memory) VALUES (new.memory);
END;

-- Whatever belongs to a memory and is copied with it. tagged_at, linked_at and scored_at are of no
-- use to others: that upkeep has looked at a memory is no reason to publish it again.
CREATE TRIGGER shared_added AFTER INSERT ON memories WHEN new.scope = 'shared' BEGIN
    INSERT INTO unpublished VALUES (new.id);
END;
CREATE TRIGGER shared_changed AFTER UPDATE OF
    scope, content, category, subject, source_context, content_hash, language, importance,
    confidence, evidence, pinned, priority, set_priority, speaker, channel, trust, client, session,
    turn_id, place, model, occurred_at, state, state_at, tier, tier_reason, expires_at, valid_from,
    valid_to, superseded_by, recalled_count, recalled_at, content_updated_at, deleted_at,
    generation, manual_tags, auto_tags, title, description, source, source_ref, status, metadata,
    ingest_metadata, version
ON memories WHEN new.scope = 'shared' OR old.scope = 'shared' BEGIN
    INSERT INTO unpublished VALUES (new.id);
END;
CREATE TRIGGER shared_erased AFTER DELETE ON memories WHEN old.scope = 'shared' BEGIN
    INSERT INTO unpublished VALUES (old.id);
END;
CREATE TRIGGER chunk_of_shared_added AFTER INSERT ON chunks BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = new.memory AND scope = 'shared';
END;
CREATE TRIGGER chunk_of_shared_deleted AFTER DELETE ON chunks BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = old.memory AND scope = 'shared';
END;
-- a vector was made
CREATE TRIGGER vector_of_shared_added AFTER DELETE ON pending BEGIN
    INSERT INTO unpublished SELECT m.id FROM chunks c JOIN memories m ON m.rowid = c.memory
    WHERE c.id = old.chunk AND m.scope = 'shared';
END;
CREATE TRIGGER summary_of_shared_added AFTER INSERT ON summaries BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = new.memory AND scope = 'shared';
END;
CREATE TRIGGER summary_of_shared_deleted AFTER DELETE ON summaries BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = old.memory AND scope = 'shared';
END;
CREATE TRIGGER entity_of_shared_added AFTER INSERT ON memory_entities BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = new.memory AND scope = 'shared';
END;
CREATE TRIGGER entity_of_shared_changed AFTER UPDATE ON memory_entities BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = new.memory AND scope = 'shared';
END;
CREATE TRIGGER entity_of_shared_deleted AFTER DELETE ON memory_entities BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = old.memory AND scope = 'shared';
END;
-- what was of no certain type is of one now
CREATE TRIGGER named_by_shared_changed AFTER UPDATE ON entities BEGIN
    INSERT INTO unpublished
    SELECT m.id FROM memory_entities a JOIN memories m ON m.rowid = a.memory
    WHERE a.entity = new.id AND m.scope = 'shared';
END;
CREATE TRIGGER relation_of_shared_added AFTER INSERT ON relations BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = new.memory AND scope = 'shared';
END;
CREATE TRIGGER relation_of_shared_deleted AFTER DELETE ON relations BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = old.memory AND scope = 'shared';
END;
CREATE TRIGGER parent_of_shared_added AFTER INSERT ON lineage BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE id = new.child AND scope = 'shared';
END;

-- In a Kin's own file its own links; in shared.db copies of those between shared memories, each with
-- the Kin that has published it. Empty there: made by an earlier version, and taken home by nobody.
CREATE TABLE links_of_kins (
    source      TEXT NOT NULL,
    target      TEXT NOT NULL,
    relation    TEXT NOT NULL,
    kin         TEXT NOT NULL DEFAULT '',
    weight      REAL NOT NULL,
    confidence  REAL NOT NULL,
    evidence    TEXT,
    verified_at TEXT NOT NULL,
    origin      TEXT NOT NULL DEFAULT 'auto', -- auto, manual, or refused: see version 3
    created_at  TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (source, target, relation, kin)
) WITHOUT ROWID;
INSERT INTO links_of_kins
    (source, target, relation, weight, confidence, evidence, verified_at, origin, created_at)
SELECT source, target, relation, weight, confidence, evidence, verified_at, origin, created_at
FROM links;
DROP TABLE links;
ALTER TABLE links_of_kins RENAME TO links;
CREATE INDEX links_by_target ON links (target);
CREATE INDEX links_to_drop ON links (verified_at) WHERE origin = 'auto' AND confidence <= 0.35;
CREATE TRIGGER link_of_shared_added AFTER INSERT ON links BEGIN
    INSERT INTO unpublished
    SELECT id FROM memories WHERE id IN (new.source, new.target) AND scope = 'shared';
END;
CREATE TRIGGER link_of_shared_changed AFTER UPDATE ON links BEGIN
    INSERT INTO unpublished
    SELECT id FROM memories WHERE id IN (new.source, new.target) AND scope = 'shared';
END;
CREATE TRIGGER link_of_shared_deleted AFTER DELETE ON links BEGIN
    INSERT INTO unpublished
    SELECT id FROM memories WHERE id IN (old.source, old.target) AND scope = 'shared';
END;

-- In shared.db: how often Kins other than the author have recalled a memory, and when last. In a
-- Kin's own file: as much of that as the original counts already.
CREATE TABLE others_uses (
    memory TEXT PRIMARY KEY,
    count  INTEGER NOT NULL,
    at     TEXT NOT NULL
) WITHOUT ROWID;

-- who is named as an author, and whether anything is shared
CREATE INDEX memories_shared ON memories (kin) WHERE scope = 'shared';
