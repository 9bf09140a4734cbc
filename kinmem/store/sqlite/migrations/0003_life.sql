-- Version 3: memories have a life.

-- Null: since created_at.
ALTER TABLE memories ADD COLUMN state_at TEXT;
-- What a person has set; priority itself is computed.
ALTER TABLE memories ADD COLUMN set_priority REAL CHECK (set_priority BETWEEN 0 AND 1);
-- How much longer a memory lasts for its uses follows from their number: no curve grows what is stored.
ALTER TABLE memories DROP COLUMN stability;

-- How long each step of a run took, in seconds: a JSON object; null: not measured.
ALTER TABLE runs ADD COLUMN seconds TEXT;

-- Documents: the memory holds how they begin, the chunks hold all of it (documents.py). In `words`
-- each chunk of a document is a row of its own, numbered by its id below zero.
-- A file that is added again is looked up by where it came from.
CREATE INDEX memories_by_source ON memories (source_ref) WHERE source_ref IS NOT NULL;
-- What earlier versions of a document said, as what was done to the one that is named. The history
-- names them by content_hash, so that it need not repeat megabytes.
CREATE TABLE old_texts (
    memory_id    TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    base         TEXT NOT NULL,              -- content_hash of the version that it is told by
    delta        BLOB NOT NULL,              -- see delta.py
    at           TEXT NOT NULL,
    PRIMARY KEY (memory_id, content_hash)
);
-- The tier in which a summary was made: another asks for another one. An empty text was found to
-- need none.
ALTER TABLE summaries ADD COLUMN tier TEXT NOT NULL DEFAULT 'warm';
-- asked for with every list; foreign keys ask for both when a memory goes
CREATE INDEX summaries_of_memory ON summaries (memory, scope, chunk);
CREATE INDEX summaries_of_chunk ON summaries (chunk) WHERE chunk IS NOT NULL;

-- Tags by tag: recall and list filter by them, and memories that share one are linked. Kept by the
-- database itself, so that no way of writing a memory can miss it.
CREATE TABLE tags (
    tag    TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    PRIMARY KEY (tag, memory)
) WITHOUT ROWID;
-- who deletes a memory, or changes its tags, asks for them
CREATE INDEX tags_of_memory ON tags (memory);
INSERT OR IGNORE INTO tags (tag, memory)
SELECT value, m.rowid FROM memories m, json_each(m.manual_tags)
UNION SELECT value, m.rowid FROM memories m, json_each(m.auto_tags);
CREATE TRIGGER tags_of_new AFTER INSERT ON memories
WHEN new.manual_tags IS NOT NULL OR new.auto_tags IS NOT NULL BEGIN
    INSERT OR IGNORE INTO tags (tag, memory)
    SELECT value, new.rowid FROM json_each(new.manual_tags)
    UNION SELECT value, new.rowid FROM json_each(new.auto_tags);
END;
CREATE TRIGGER tags_of_changed AFTER UPDATE OF manual_tags, auto_tags ON memories
WHEN new.manual_tags IS NOT old.manual_tags OR new.auto_tags IS NOT old.auto_tags BEGIN
    DELETE FROM tags WHERE memory = new.rowid;
    INSERT OR IGNORE INTO tags (tag, memory)
    SELECT value, new.rowid FROM json_each(new.manual_tags)
    UNION SELECT value, new.rowid FROM json_each(new.auto_tags);
END;
-- what was never tagged or linked, and what was so longest ago; asked for in every sleep
CREATE INDEX memories_by_tagging ON memories (tagged_at);
CREATE INDEX memories_by_linking ON memories (linked_at);
-- precedes: what was said before in the same conversation
CREATE INDEX memories_of_session ON memories (session) WHERE session IS NOT NULL;

-- auto, manual, or refused: a person has taken it back, and the two are never linked again.
ALTER TABLE links ADD COLUMN origin TEXT NOT NULL DEFAULT 'auto';
-- An edge is recent by this, not by verified_at: upkeep verifies every edge once a week.
ALTER TABLE links ADD COLUMN created_at TEXT NOT NULL DEFAULT '';
-- links are read from both ends
CREATE INDEX links_by_target ON links (target);
-- stale ones are dropped in every sleep
CREATE INDEX links_to_drop ON links (verified_at) WHERE origin = 'auto' AND confidence <= 0.35;

-- Which write of its Kin a line belongs to. A write is what was done at once, be it in both files: a
-- Kin's writes have one order over both, which seq has within one file only (numbers.py).
-- 0: of version 2; numbered when its Kin opens both files, for one alone does not tell the order.
ALTER TABLE history ADD COLUMN write INTEGER NOT NULL DEFAULT 0;
-- Of undone: the writes whose lines about this memory it takes back, a JSON array.
ALTER TABLE history ADD COLUMN reverts TEXT;
-- what was done last, and the number of the next write
CREATE INDEX history_by_write ON history (kin, write);
-- what is undone together
CREATE INDEX history_of_batch ON history (batch) WHERE batch IS NOT NULL;

-- Entities and relations are what memories say. Names that a memory uses are kept with it, so that
-- aliases, and whatever is counted, hold for those who see it; nothing had been written yet.
ALTER TABLE entities DROP COLUMN aliases;
ALTER TABLE entities DROP COLUMN salience;
ALTER TABLE memory_entities ADD COLUMN alias TEXT;  -- as it is written there; null: as the entity's
ALTER TABLE memory_entities ADD COLUMN folded TEXT; -- of alias
-- who is called so
CREATE INDEX entities_by_alias ON memory_entities (folded) WHERE folded IS NOT NULL;
-- One row for each memory that says so: what a relation is worth is counted when it is asked for.
DROP TABLE relations;
CREATE TABLE relations (
    memory      INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    source      INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    relation    TEXT NOT NULL,
    target      INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    chunk       INTEGER NOT NULL,            -- position of the memory's chunk that says so
    origin      TEXT NOT NULL,               -- rules, or a model's name
    confidence  REAL NOT NULL,
    verified_at TEXT NOT NULL,
    PRIMARY KEY (memory, source, relation, target)
) WITHOUT ROWID;
-- relations are read from both ends; foreign keys ask for both
CREATE INDEX relations_from ON relations (source);
CREATE INDEX relations_to ON relations (target);
-- 0: its content is still to be read for entities. Memories of version 2 are.
ALTER TABLE memories ADD COLUMN entities_read INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memories_to_read ON memories (kin) WHERE entities_read = 0;
-- However a content is changed: what was read out of it before says nothing of it now.
CREATE TRIGGER entities_of_changed AFTER UPDATE OF content_hash ON memories
WHEN new.content_hash IS NOT old.content_hash BEGIN
    DELETE FROM relations WHERE memory = new.rowid;
    DELETE FROM memory_entities WHERE memory = new.rowid;
    UPDATE memories SET entities_read = 0 WHERE rowid = new.rowid AND entities_read;
END;
-- An entity is there as long as a memory is about it.
CREATE TRIGGER entities_alone AFTER DELETE ON memory_entities
WHEN NOT EXISTS (SELECT 1 FROM memory_entities WHERE entity = old.entity) BEGIN
    DELETE FROM entities WHERE id = old.entity;
END;

-- asked for with every recall: whether something that ends by itself has ended
CREATE INDEX memories_by_end ON memories (valid_to)
    WHERE valid_to IS NOT NULL AND state IN ('active', 'stale');
