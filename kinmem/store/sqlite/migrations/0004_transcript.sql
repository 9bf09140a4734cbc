-- Version 4: what was said can be found as well as what was learned from it. A Kin's own file holds
-- its turns; in shared.db these tables stay empty, but for memory_turns.

-- Messages of people and assistants that the indexes below do not hold yet, or not as they are now.
-- Filled by the database itself, emptied in the background; so files of any age become complete,
-- and whatever interrupts it, it goes on.
CREATE TABLE turns_to_index (
    turn INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE
);
INSERT INTO turns_to_index SELECT id FROM turns WHERE role IN ('user', 'assistant');

-- What may be searched by words, by turns.id: speaker, text and date; how the messages next to it
-- begin; what rules/evidence.py makes of the text; and whether any of it reads as an order to a model.
CREATE VIRTUAL TABLE turn_words USING fts5 (
    content, context, evidence UNINDEXED, doubtful UNINDEXED,
    tokenize = "porter unicode61 remove_diacritics 2"
);
INSERT INTO turn_words (turn_words, rank) VALUES ('secure-delete', 1);

-- The parts that have a vector each.
CREATE TABLE turn_chunks (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    turn     INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text     TEXT                            -- null: the whole text of the message
);
CREATE INDEX chunks_of_turn ON turn_chunks (turn, position);
-- Rows and no vec0 table: what is deleted here goes by itself with what it was made of, and all
-- searches but the first go through a copy in memory.
CREATE TABLE turn_vectors (
    id        INTEGER PRIMARY KEY AUTOINCREMENT, -- what came after a copy was made is above its last
    embedder  INTEGER NOT NULL REFERENCES embedders (id) ON DELETE CASCADE,
    chunk     INTEGER NOT NULL REFERENCES turn_chunks (id) ON DELETE CASCADE,
    embedding BLOB NOT NULL,
    UNIQUE (chunk, embedder)
);
-- One row; goes up when vectors are deleted: copies in memory are made anew.
CREATE TABLE turn_vectors_lost (number INTEGER NOT NULL);
INSERT INTO turn_vectors_lost VALUES (0);
CREATE TRIGGER turn_vector_lost AFTER DELETE ON turn_vectors BEGIN
    UPDATE turn_vectors_lost SET number = number + 1;
END;
-- Parts that lack a vector of that embedder.
CREATE TABLE turn_pending (
    embedder INTEGER NOT NULL REFERENCES embedders (id) ON DELETE CASCADE,
    chunk    INTEGER NOT NULL REFERENCES turn_chunks (id) ON DELETE CASCADE,
    PRIMARY KEY (embedder, chunk)
) WITHOUT ROWID;
CREATE INDEX turn_pending_by_chunk ON turn_pending (chunk);
CREATE TRIGGER turn_chunk_pending AFTER INSERT ON turn_chunks BEGIN
    INSERT INTO turn_pending SELECT id, new.id FROM embedders;
END;
CREATE TRIGGER turn_chunks_of_new_embedder AFTER INSERT ON embedders BEGIN
    INSERT INTO turn_pending SELECT new.id, id FROM turn_chunks;
END;

-- The messages of people and assistants right before and right after one, in its session.
CREATE VIEW turn_neighbours AS
SELECT t.id AS turn, (
        SELECT max(id) FROM (
            SELECT max(id) AS id FROM turns
            WHERE session = t.session AND role = 'user' AND id < t.id
            UNION ALL
            SELECT max(id) FROM turns
            WHERE session = t.session AND role = 'assistant' AND id < t.id
        )
    ) AS previous, (
        SELECT min(id) FROM (
            SELECT min(id) AS id FROM turns
            WHERE session = t.session AND role = 'user' AND id > t.id
            UNION ALL
            SELECT min(id) FROM turns
            WHERE session = t.session AND role = 'assistant' AND id > t.id
        )
    ) AS next
FROM turns t;

CREATE TRIGGER turn_said AFTER INSERT ON turns WHEN new.role IN ('user', 'assistant') BEGIN
    INSERT OR IGNORE INTO turns_to_index
    SELECT new.id
    UNION ALL SELECT previous FROM turn_neighbours WHERE turn = new.id AND previous IS NOT NULL;
END;
-- However a text is changed, by erasing a memory or forgetting about somebody: in the same moment
-- neither its own entries nor what its neighbours repeat of it is there any more.
CREATE TRIGGER turn_changed AFTER UPDATE OF text, speaker ON turns
WHEN old.role IN ('user', 'assistant')
    AND (old.text IS NOT new.text OR old.speaker IS NOT new.speaker)
BEGIN
    DELETE FROM turn_chunks WHERE turn = old.id;
    DELETE FROM turn_words WHERE rowid IN (
        SELECT old.id
        UNION ALL SELECT previous FROM turn_neighbours WHERE turn = old.id
        UNION ALL SELECT next FROM turn_neighbours WHERE turn = old.id
    );
    INSERT OR IGNORE INTO turns_to_index
    SELECT old.id
    UNION ALL SELECT previous FROM turn_neighbours WHERE turn = old.id AND previous IS NOT NULL
    UNION ALL SELECT next FROM turn_neighbours WHERE turn = old.id AND next IS NOT NULL;
END;
CREATE TRIGGER turn_deleted BEFORE DELETE ON turns WHEN old.role IN ('user', 'assistant') BEGIN
    DELETE FROM turn_words WHERE rowid IN (
        SELECT old.id
        UNION ALL SELECT previous FROM turn_neighbours WHERE turn = old.id
        UNION ALL SELECT next FROM turn_neighbours WHERE turn = old.id
    );
    INSERT OR IGNORE INTO turns_to_index
    SELECT previous FROM turn_neighbours WHERE turn = old.id AND previous IS NOT NULL
    UNION ALL SELECT next FROM turn_neighbours WHERE turn = old.id AND next IS NOT NULL;
END;
-- what is too old to be kept
CREATE INDEX turns_by_time ON turns (said_at);

-- Which turns a memory was learned from: what repeats a memory that is told, or one that was
-- forgotten, is not told as well. Kept by the database itself.
CREATE TABLE memory_turns (
    session TEXT NOT NULL,
    turn    TEXT NOT NULL,
    memory  INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    PRIMARY KEY (session, turn, memory)
) WITHOUT ROWID;
CREATE INDEX turns_of_memory ON memory_turns (memory);
INSERT OR IGNORE INTO memory_turns
SELECT session, turn_id, rowid FROM memories WHERE session IS NOT NULL AND turn_id IS NOT NULL
UNION SELECT m.session, value, m.rowid FROM memories m, json_each(m.metadata, '$.turns')
WHERE m.session IS NOT NULL;
CREATE TRIGGER turns_of_new AFTER INSERT ON memories
WHEN new.session IS NOT NULL AND new.turn_id IS NOT NULL BEGIN
    INSERT OR IGNORE INTO memory_turns
    SELECT new.session, new.turn_id, new.rowid
    UNION SELECT new.session, value, new.rowid FROM json_each(new.metadata, '$.turns');
END;
CREATE TRIGGER turns_of_changed AFTER UPDATE OF session, turn_id, metadata ON memories
WHEN new.session IS NOT old.session OR new.turn_id IS NOT old.turn_id
    OR new.metadata IS NOT old.metadata
BEGIN
    DELETE FROM memory_turns WHERE memory = new.rowid;
    INSERT OR IGNORE INTO memory_turns
    SELECT new.session, new.turn_id, new.rowid
    WHERE new.session IS NOT NULL AND new.turn_id IS NOT NULL
    UNION SELECT new.session, value, new.rowid FROM json_each(new.metadata, '$.turns')
    WHERE new.session IS NOT NULL;
END;
