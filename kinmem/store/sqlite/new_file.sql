-- Schema 12, made by python -m scripts.schema_of_new_files
CREATE TABLE memories (
    -- What the word and vector indexes know a memory by. Never used again, as with chunks and
    -- embedders: whoever has read a number a moment ago finds that one or none.
    rowid              INTEGER PRIMARY KEY AUTOINCREMENT,
    id                 TEXT NOT NULL UNIQUE, -- uuid7; the same before and after a change of scope
    kin                TEXT NOT NULL,        -- owner and author
    scope              TEXT NOT NULL CHECK (scope IN ('private', 'shared')),
    content            TEXT NOT NULL,
    category           TEXT NOT NULL,
    subject            TEXT,
    source_context     TEXT,
    content_hash       TEXT NOT NULL,        -- of the normalised content
    language           TEXT,
    importance         REAL CHECK (importance BETWEEN 1 AND 10),  -- null: not scored yet
    confidence         REAL NOT NULL DEFAULT 1,
    evidence           REAL NOT NULL DEFAULT 0, -- from the text alone: how much of an answer it can hold
    pinned             INTEGER NOT NULL DEFAULT 0,
    priority           REAL,
    speaker            TEXT,
    channel            TEXT NOT NULL,
    trust              REAL NOT NULL,        -- from the channel, never from what the text claims
    client             TEXT,
    session            TEXT,
    turn_id            TEXT,
    model              TEXT,
    occurred_at        TEXT,
    state              TEXT NOT NULL DEFAULT 'active',
    tier               TEXT NOT NULL DEFAULT 'warm',
    tier_reason        TEXT,
    expires_at         TEXT,
    valid_from         TEXT,                 -- null: occurred_at, else created_at
    valid_to           TEXT,
    superseded_by      TEXT,                 -- an id, not a reference: it may be in the other file
    recalled_count     INTEGER NOT NULL DEFAULT 0,
    recalled_at        TEXT,
    created_at         TEXT NOT NULL,
    content_updated_at TEXT NOT NULL,        -- moved by edits of the content alone: scoring reads it
    scored_at          TEXT,
    deleted_at         TEXT,
    generation         INTEGER NOT NULL DEFAULT 0,
    manual_tags        TEXT,                 -- JSON arrays; null: none
    auto_tags          TEXT,
    title              TEXT,
    description        TEXT,
    source             TEXT NOT NULL DEFAULT 'tool',
    source_ref         TEXT,
    status             TEXT NOT NULL DEFAULT 'ingested',
    metadata           TEXT,                 -- JSON objects; null: empty
    ingest_metadata    TEXT,
    tagged_at          TEXT,
    linked_at          TEXT,
    version            INTEGER NOT NULL DEFAULT 1
, state_at TEXT, set_priority REAL CHECK (set_priority BETWEEN 0 AND 1), entities_read INTEGER NOT NULL DEFAULT 0, place TEXT, sum BLOB);
CREATE TABLE lineage (
    child  TEXT NOT NULL,
    parent TEXT NOT NULL,
    PRIMARY KEY (child, parent)
) WITHOUT ROWID;
CREATE TABLE chunks (
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- also the key of its vectors
    memory   INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    layer    TEXT NOT NULL DEFAULT 'warm',
    text     TEXT,                           -- null: the memory's whole content
    summary  TEXT,
    metadata TEXT
, sum BLOB);
CREATE TABLE embedders (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    name      TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL
);
CREATE TABLE pending (
    embedder INTEGER NOT NULL REFERENCES embedders (id) ON DELETE CASCADE,
    chunk    INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    PRIMARY KEY (embedder, chunk)
) WITHOUT ROWID;
CREATE TABLE vector_log (
    seq   INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk INTEGER NOT NULL
);
CREATE TABLE revision (number INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
    content, subject, context,
    tokenize = "porter unicode61 remove_diacritics 2"
);
CREATE TABLE history (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    at        TEXT NOT NULL,
    kin       TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    action    TEXT NOT NULL,
    before    TEXT,
    after     TEXT,
    reason    TEXT,
    batch     TEXT                           -- changes that are undone together
, write INTEGER NOT NULL DEFAULT 0, reverts TEXT, seal BLOB);
CREATE TABLE summaries (
    id         INTEGER PRIMARY KEY,
    memory     INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    chunk      INTEGER REFERENCES chunks (id) ON DELETE CASCADE,
    scope      TEXT NOT NULL CHECK (scope IN ('chunk', 'memory')),
    text       TEXT NOT NULL,
    model      TEXT NOT NULL,                -- extractive, or a model's name
    tokens     INTEGER NOT NULL,
    created_at TEXT NOT NULL
, tier TEXT NOT NULL DEFAULT 'warm', sum BLOB);
CREATE TABLE entities (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    type     TEXT NOT NULL,
    metadata TEXT, folded TEXT NOT NULL DEFAULT '', sum BLOB,
    UNIQUE (name, type)
);
CREATE TABLE memory_entities (
    memory INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    entity INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE, alias TEXT, folded TEXT,
    PRIMARY KEY (memory, entity)
) WITHOUT ROWID;
CREATE TABLE tier_changes (
    id        INTEGER PRIMARY KEY,
    memory_id TEXT NOT NULL,
    from_tier TEXT NOT NULL,
    to_tier   TEXT NOT NULL,
    reason    TEXT NOT NULL,
    at        TEXT NOT NULL
, sum BLOB);
CREATE TABLE snapshots (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session    TEXT NOT NULL,
    summary    TEXT NOT NULL,
    model      TEXT NOT NULL,                -- extractive, client, or a model's name
    first      INTEGER NOT NULL,             -- messages it reaches from and to
    last       INTEGER NOT NULL,
    seen       INTEGER NOT NULL,             -- the session's latest message when it was made
    turns      INTEGER NOT NULL,
    depth      INTEGER NOT NULL DEFAULT 0,   -- 0: made from turns; above: from summaries
    created_at TEXT NOT NULL
, sum BLOB);
CREATE TABLE turns (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    session    TEXT NOT NULL,
    turn       TEXT NOT NULL,                -- the client's prompt id
    role       TEXT NOT NULL,
    part       TEXT NOT NULL DEFAULT '',     -- a tool call's id
    text       TEXT NOT NULL,
    speaker    TEXT,
    tool       TEXT,
    spill      TEXT,
    client     TEXT,
    place      TEXT,
    said_at    TEXT NOT NULL,
    learned_at TEXT,
    tries      INTEGER NOT NULL DEFAULT 0,
    due_at     TEXT,
    parked     INTEGER NOT NULL DEFAULT 0,
    problem    TEXT,
    snapshot   INTEGER REFERENCES snapshots (id), sum BLOB,
    UNIQUE (session, turn, role, part)
);
CREATE TABLE shown (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    session  TEXT NOT NULL,
    turn     TEXT NOT NULL,
    text     TEXT,
    memories TEXT NOT NULL,                  -- JSON object: id -> version
    at       TEXT NOT NULL
);
CREATE TABLE conflicts (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    newer  TEXT NOT NULL,
    older  TEXT NOT NULL,
    kind   TEXT NOT NULL,
    mode   TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'open',
    reason TEXT NOT NULL,
    at     TEXT NOT NULL, chance REAL,
    UNIQUE (newer, older)
);
CREATE TABLE refusals (
    kind TEXT NOT NULL,
    ids  TEXT NOT NULL,                      -- JSON array, sorted
    at   TEXT NOT NULL,
    PRIMARY KEY (kind, ids)
) WITHOUT ROWID;
CREATE TABLE jobs (
    name   TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until  TEXT NOT NULL
);
CREATE TABLE marks (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    started_at  TEXT NOT NULL,
    finished_at TEXT NOT NULL,
    counts      TEXT NOT NULL,               -- JSON object
    problems    TEXT                         -- JSON array
, seconds TEXT);
CREATE TABLE old_texts (
    memory_id    TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    base         TEXT NOT NULL,              -- content_hash of the version that it is told by
    delta        BLOB NOT NULL,              -- see delta.py
    at           TEXT NOT NULL,
    PRIMARY KEY (memory_id, content_hash)
);
CREATE TABLE tags (
    tag    TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    PRIMARY KEY (tag, memory)
) WITHOUT ROWID;
CREATE TABLE relations (
    memory      INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    source      INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    relation    TEXT NOT NULL,
    target      INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    chunk       INTEGER NOT NULL,            -- position of the memory's chunk that says so
    origin      TEXT NOT NULL,               -- rules, or a model's name
    confidence  REAL NOT NULL,
    verified_at TEXT NOT NULL, sum BLOB,
    PRIMARY KEY (memory, source, relation, target)
) WITHOUT ROWID;
CREATE TABLE turns_to_index (
    turn INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE
);
CREATE VIRTUAL TABLE turn_words USING fts5 (
    content, context, evidence UNINDEXED, doubtful UNINDEXED,
    tokenize = "porter unicode61 remove_diacritics 2"
);
CREATE TABLE turn_chunks (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    turn     INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text     TEXT                            -- null: the whole text of the message
);
CREATE TABLE turn_vectors (
    id        INTEGER PRIMARY KEY AUTOINCREMENT, -- what came after a copy was made is above its last
    embedder  INTEGER NOT NULL REFERENCES embedders (id) ON DELETE CASCADE,
    chunk     INTEGER NOT NULL REFERENCES turn_chunks (id) ON DELETE CASCADE,
    embedding BLOB NOT NULL, sum BLOB,
    UNIQUE (chunk, embedder)
);
CREATE TABLE turn_vectors_lost (number INTEGER NOT NULL);
CREATE TABLE turn_pending (
    embedder INTEGER NOT NULL REFERENCES embedders (id) ON DELETE CASCADE,
    chunk    INTEGER NOT NULL REFERENCES turn_chunks (id) ON DELETE CASCADE,
    PRIMARY KEY (embedder, chunk)
) WITHOUT ROWID;
CREATE TABLE memory_turns (
    session TEXT NOT NULL,
    turn    TEXT NOT NULL,
    memory  INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    PRIMARY KEY (session, turn, memory)
) WITHOUT ROWID;
CREATE TABLE repetitions (
    session TEXT NOT NULL,
    turn    TEXT NOT NULL,
    memory  TEXT NOT NULL,                   -- an id, not a reference: it may be in the other file
    role    TEXT NOT NULL,                   -- of who repeats it
    PRIMARY KEY (session, turn, memory, role)
) WITHOUT ROWID;
CREATE TABLE outbox (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    memory TEXT NOT NULL UNIQUE
);
CREATE TABLE "links" (
    source      TEXT NOT NULL,
    target      TEXT NOT NULL,
    relation    TEXT NOT NULL,
    kin         TEXT NOT NULL DEFAULT '',
    weight      REAL NOT NULL,
    confidence  REAL NOT NULL,
    evidence    TEXT,
    verified_at TEXT NOT NULL,
    origin      TEXT NOT NULL DEFAULT 'auto', -- auto, manual, or refused: see version 3
    created_at  TEXT NOT NULL DEFAULT '', sum BLOB,
    PRIMARY KEY (source, target, relation, kin)
) WITHOUT ROWID;
CREATE TABLE others_uses (
    memory TEXT PRIMARY KEY,
    count  INTEGER NOT NULL,
    at     TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE erased_lines (
    last  INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    link  BLOB NOT NULL                      -- of the last of them
);
CREATE TABLE published (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    memory TEXT NOT NULL UNIQUE,
    kin    TEXT NOT NULL,                    -- the author
    at     TEXT NOT NULL
);
CREATE TABLE vector_sums (
    chunk    INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    embedder INTEGER NOT NULL REFERENCES embedders (id) ON DELETE CASCADE,
    sum      BLOB NOT NULL,
    PRIMARY KEY (chunk, embedder)
) WITHOUT ROWID;
INSERT INTO sqlite_sequence VALUES ('published', 0);
INSERT INTO revision VALUES (0);
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
INSERT INTO turn_words (turn_words, rank) VALUES ('secure-delete', 1);
INSERT INTO turn_vectors_lost VALUES (0);
CREATE INDEX memories_by_hash ON memories (content_hash);
CREATE INDEX memories_by_time ON memories (coalesce(occurred_at, created_at));
CREATE INDEX memories_by_speaker ON memories (speaker) WHERE speaker IS NOT NULL;
CREATE INDEX memories_by_kin ON memories (kin);
CREATE INDEX memories_by_subject ON memories (subject) WHERE subject IS NOT NULL;
CREATE INDEX memories_by_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memories_in_bin ON memories (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX chunks_of_memory ON chunks (memory, position);
CREATE INDEX history_of_memory ON history (memory_id, seq);
CREATE INDEX snapshots_of_session ON snapshots (session, first);
CREATE INDEX turns_to_learn ON turns (id) WHERE learned_at IS NULL;
CREATE INDEX turns_of_session ON turns (session, id);
CREATE INDEX turns_unsummarised ON turns (session) WHERE snapshot IS NULL;
CREATE INDEX turns_by_role ON turns (session, role);
CREATE INDEX turns_of_snapshot ON turns (snapshot) WHERE snapshot IS NOT NULL;
CREATE INDEX shown_to_session ON shown (session, id);
CREATE INDEX shown_in_turn ON shown (session, turn);
CREATE UNIQUE INDEX entities_by_name ON entities (folded, type);
CREATE INDEX memories_of_entity ON memory_entities (entity);
CREATE INDEX memories_unsettled ON memories (kin) WHERE status = 'pending';
CREATE INDEX memories_by_source ON memories (source_ref) WHERE source_ref IS NOT NULL;
CREATE INDEX summaries_of_memory ON summaries (memory, scope, chunk);
CREATE INDEX summaries_of_chunk ON summaries (chunk) WHERE chunk IS NOT NULL;
CREATE INDEX tags_of_memory ON tags (memory);
CREATE INDEX memories_by_tagging ON memories (tagged_at);
CREATE INDEX memories_by_linking ON memories (linked_at);
CREATE INDEX memories_of_session ON memories (session) WHERE session IS NOT NULL;
CREATE INDEX history_by_write ON history (kin, write);
CREATE INDEX history_of_batch ON history (batch) WHERE batch IS NOT NULL;
CREATE INDEX entities_by_alias ON memory_entities (folded) WHERE folded IS NOT NULL;
CREATE INDEX relations_from ON relations (source);
CREATE INDEX relations_to ON relations (target);
CREATE INDEX memories_to_read ON memories (kin) WHERE entities_read = 0;
CREATE INDEX memories_by_end ON memories (valid_to)
    WHERE valid_to IS NOT NULL AND state IN ('active', 'stale');
CREATE INDEX chunks_of_turn ON turn_chunks (turn, position);
CREATE INDEX turn_pending_by_chunk ON turn_pending (chunk);
CREATE INDEX turns_by_time ON turns (said_at);
CREATE INDEX turns_of_memory ON memory_turns (memory);
CREATE INDEX memories_by_place ON memories (place) WHERE place IS NOT NULL;
CREATE INDEX repetitions_of_memory ON repetitions (memory);
CREATE INDEX links_by_target ON links (target);
CREATE INDEX links_to_drop ON links (verified_at) WHERE origin = 'auto' AND confidence <= 0.35;
CREATE INDEX memories_shared ON memories (kin) WHERE scope = 'shared';
CREATE INDEX memories_superseded ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
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
CREATE VIEW unpublished (memory) AS SELECT memory FROM outbox;
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
CREATE TRIGGER entities_of_changed AFTER UPDATE OF content_hash ON memories
WHEN new.content_hash IS NOT old.content_hash BEGIN
    DELETE FROM relations WHERE memory = new.rowid;
    DELETE FROM memory_entities WHERE memory = new.rowid;
    UPDATE memories SET entities_read = 0 WHERE rowid = new.rowid AND entities_read;
END;
CREATE TRIGGER entities_alone AFTER DELETE ON memory_entities
WHEN NOT EXISTS (SELECT 1 FROM memory_entities WHERE entity = old.entity) BEGIN
    DELETE FROM entities WHERE id = old.entity;
END;
CREATE TRIGGER turn_vector_lost AFTER DELETE ON turn_vectors BEGIN
    UPDATE turn_vectors_lost SET number = number + 1;
END;
CREATE TRIGGER turn_chunk_pending AFTER INSERT ON turn_chunks BEGIN
    INSERT INTO turn_pending SELECT id, new.id FROM embedders;
END;
CREATE TRIGGER turn_chunks_of_new_embedder AFTER INSERT ON embedders BEGIN
    INSERT INTO turn_pending SELECT new.id, id FROM turn_chunks;
END;
CREATE TRIGGER turn_said AFTER INSERT ON turns WHEN new.role IN ('user', 'assistant') BEGIN
    INSERT OR IGNORE INTO turns_to_index
    SELECT new.id
    UNION ALL SELECT previous FROM turn_neighbours WHERE turn = new.id AND previous IS NOT NULL;
END;
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
CREATE TRIGGER repetitions_of_renamed AFTER UPDATE OF session, turn ON turns
WHEN new.session IS NOT old.session OR new.turn IS NOT old.turn
BEGIN
    UPDATE OR REPLACE repetitions SET session = new.session, turn = new.turn
    WHERE session = old.session AND turn = old.turn;
END;
CREATE TRIGGER repetitions_of_deleted AFTER DELETE ON turns
WHEN NOT EXISTS (SELECT 1 FROM turns WHERE session = old.session AND turn = old.turn)
BEGIN
    DELETE FROM repetitions WHERE session = old.session AND turn = old.turn;
END;
CREATE TRIGGER unpublished_to_outbox INSTEAD OF INSERT ON unpublished
WHEN EXISTS (SELECT 1 FROM marks WHERE name = 'adopted') BEGIN
    DELETE FROM outbox WHERE memory = new.memory;
    INSERT INTO outbox (memory) VALUES (new.memory);
END;
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
CREATE TRIGGER relation_of_shared_added AFTER INSERT ON relations BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = new.memory AND scope = 'shared';
END;
CREATE TRIGGER relation_of_shared_deleted AFTER DELETE ON relations BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE rowid = old.memory AND scope = 'shared';
END;
CREATE TRIGGER parent_of_shared_added AFTER INSERT ON lineage BEGIN
    INSERT INTO unpublished SELECT id FROM memories WHERE id = new.child AND scope = 'shared';
END;
CREATE TRIGGER link_of_shared_added AFTER INSERT ON links BEGIN
    INSERT INTO unpublished
    SELECT id FROM memories WHERE id IN (new.source, new.target) AND scope = 'shared';
END;
CREATE TRIGGER link_of_shared_deleted AFTER DELETE ON links BEGIN
    INSERT INTO unpublished
    SELECT id FROM memories WHERE id IN (old.source, old.target) AND scope = 'shared';
END;
CREATE TRIGGER memory_summed AFTER INSERT ON memories BEGIN
    UPDATE memories SET sum = kinmem_sum(
        CAST(id AS BLOB), CAST(kin AS BLOB), CAST(scope AS BLOB), CAST(content AS BLOB),
        CAST(category AS BLOB), CAST(subject AS BLOB), CAST(source_context AS BLOB),
        CAST(content_hash AS BLOB), CAST(language AS BLOB), importance, confidence,
        evidence, pinned, set_priority, CAST(speaker AS BLOB), CAST(channel AS BLOB), trust,
        CAST(client AS BLOB), CAST(session AS BLOB), CAST(turn_id AS BLOB), CAST(model AS
        BLOB), CAST(place AS BLOB), CAST(occurred_at AS BLOB), CAST(state AS BLOB),
        CAST(state_at AS BLOB), CAST(expires_at AS BLOB), CAST(valid_from AS BLOB),
        CAST(valid_to AS BLOB), CAST(superseded_by AS BLOB), CAST(created_at AS BLOB),
        CAST(content_updated_at AS BLOB), CAST(deleted_at AS BLOB), generation,
        CAST(manual_tags AS BLOB), CAST(auto_tags AS BLOB), CAST(title AS BLOB),
        CAST(description AS BLOB), CAST(source AS BLOB), CAST(source_ref AS BLOB),
        CAST(metadata AS BLOB), CAST(ingest_metadata AS BLOB), version
    ) WHERE rowid = new.rowid;
END;
CREATE TRIGGER memory_summed_again AFTER UPDATE OF
    id, kin, scope, content, category, subject, source_context, content_hash, language,
    importance, confidence, evidence, pinned, set_priority, speaker, channel, trust, client,
    session, turn_id, model, place, occurred_at, state, state_at, expires_at, valid_from,
    valid_to, superseded_by, created_at, content_updated_at, deleted_at, generation,
    manual_tags, auto_tags, title, description, source, source_ref, metadata, ingest_metadata,
    version
ON memories WHEN new.sum IS old.sum BEGIN
    UPDATE memories SET sum = kinmem_sum(
        CAST(id AS BLOB), CAST(kin AS BLOB), CAST(scope AS BLOB), CAST(content AS BLOB),
        CAST(category AS BLOB), CAST(subject AS BLOB), CAST(source_context AS BLOB),
        CAST(content_hash AS BLOB), CAST(language AS BLOB), importance, confidence,
        evidence, pinned, set_priority, CAST(speaker AS BLOB), CAST(channel AS BLOB), trust,
        CAST(client AS BLOB), CAST(session AS BLOB), CAST(turn_id AS BLOB), CAST(model AS
        BLOB), CAST(place AS BLOB), CAST(occurred_at AS BLOB), CAST(state AS BLOB),
        CAST(state_at AS BLOB), CAST(expires_at AS BLOB), CAST(valid_from AS BLOB),
        CAST(valid_to AS BLOB), CAST(superseded_by AS BLOB), CAST(created_at AS BLOB),
        CAST(content_updated_at AS BLOB), CAST(deleted_at AS BLOB), generation,
        CAST(manual_tags AS BLOB), CAST(auto_tags AS BLOB), CAST(title AS BLOB),
        CAST(description AS BLOB), CAST(source AS BLOB), CAST(source_ref AS BLOB),
        CAST(metadata AS BLOB), CAST(ingest_metadata AS BLOB), version
    ) WHERE rowid = new.rowid AND old.sum IS kinmem_sum(
        CAST(old.id AS BLOB), CAST(old.kin AS BLOB), CAST(old.scope AS BLOB),
        CAST(old.content AS BLOB), CAST(old.category AS BLOB), CAST(old.subject AS BLOB),
        CAST(old.source_context AS BLOB), CAST(old.content_hash AS BLOB), CAST(old.language
        AS BLOB), old.importance, old.confidence, old.evidence, old.pinned,
        old.set_priority, CAST(old.speaker AS BLOB), CAST(old.channel AS BLOB), old.trust,
        CAST(old.client AS BLOB), CAST(old.session AS BLOB), CAST(old.turn_id AS BLOB),
        CAST(old.model AS BLOB), CAST(old.place AS BLOB), CAST(old.occurred_at AS BLOB),
        CAST(old.state AS BLOB), CAST(old.state_at AS BLOB), CAST(old.expires_at AS BLOB),
        CAST(old.valid_from AS BLOB), CAST(old.valid_to AS BLOB), CAST(old.superseded_by AS
        BLOB), CAST(old.created_at AS BLOB), CAST(old.content_updated_at AS BLOB),
        CAST(old.deleted_at AS BLOB), old.generation, CAST(old.manual_tags AS BLOB),
        CAST(old.auto_tags AS BLOB), CAST(old.title AS BLOB), CAST(old.description AS BLOB),
        CAST(old.source AS BLOB), CAST(old.source_ref AS BLOB), CAST(old.metadata AS BLOB),
        CAST(old.ingest_metadata AS BLOB), old.version
    );
END;
CREATE TRIGGER part_summed AFTER INSERT ON chunks BEGIN
    UPDATE chunks SET sum = kinmem_sum(
        memory, position, CAST(text AS BLOB), CAST(metadata AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER part_summed_again AFTER UPDATE OF
    memory, position, text, metadata
ON chunks WHEN new.sum IS old.sum BEGIN
    UPDATE chunks SET sum = kinmem_sum(
        memory, position, CAST(text AS BLOB), CAST(metadata AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        old.memory, old.position, CAST(old.text AS BLOB), CAST(old.metadata AS BLOB)
    );
END;
CREATE TRIGGER message_summed AFTER INSERT ON turns BEGIN
    UPDATE turns SET sum = kinmem_sum(
        CAST(session AS BLOB), CAST(turn AS BLOB), CAST(role AS BLOB), CAST(part AS BLOB),
        CAST(text AS BLOB), CAST(speaker AS BLOB), CAST(tool AS BLOB), CAST(spill AS BLOB),
        CAST(client AS BLOB), CAST(place AS BLOB), CAST(said_at AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER message_summed_again AFTER UPDATE OF
    session, turn, role, part, text, speaker, tool, spill, client, place, said_at
ON turns WHEN new.sum IS old.sum BEGIN
    UPDATE turns SET sum = kinmem_sum(
        CAST(session AS BLOB), CAST(turn AS BLOB), CAST(role AS BLOB), CAST(part AS BLOB),
        CAST(text AS BLOB), CAST(speaker AS BLOB), CAST(tool AS BLOB), CAST(spill AS BLOB),
        CAST(client AS BLOB), CAST(place AS BLOB), CAST(said_at AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        CAST(old.session AS BLOB), CAST(old.turn AS BLOB), CAST(old.role AS BLOB),
        CAST(old.part AS BLOB), CAST(old.text AS BLOB), CAST(old.speaker AS BLOB),
        CAST(old.tool AS BLOB), CAST(old.spill AS BLOB), CAST(old.client AS BLOB),
        CAST(old.place AS BLOB), CAST(old.said_at AS BLOB)
    );
END;
CREATE TRIGGER line_sealed AFTER INSERT ON history BEGIN
    UPDATE history SET seal = kinmem_seal(
        coalesce(
            (SELECT link FROM erased_lines WHERE last = new.seq - 1),
            (SELECT substr(seal, 33, 16) FROM history WHERE seq < new.seq ORDER BY seq DESC LIMIT 1)
        ),
        CAST(at AS BLOB), CAST(kin AS BLOB), CAST(memory_id AS BLOB), CAST(action AS BLOB),
        CAST(before AS BLOB), CAST(after AS BLOB), CAST(reason AS BLOB), CAST(batch AS
        BLOB), write, CAST(reverts AS BLOB)
    ) WHERE seq = new.seq;
END;
CREATE TRIGGER line_rewritten AFTER UPDATE OF
    at, kin, memory_id, action, before, after, reason, batch, write, reverts
ON history WHEN new.seal IS old.seal BEGIN
    UPDATE history SET seal = kinmem_rewrite(
        old.seal,
        CAST(at AS BLOB), CAST(kin AS BLOB), CAST(memory_id AS BLOB), CAST(action AS BLOB),
        CAST(before AS BLOB), CAST(after AS BLOB), CAST(reason AS BLOB), CAST(batch AS
        BLOB), write, CAST(reverts AS BLOB)
    ) WHERE seq = new.seq;
END;
CREATE TRIGGER line_erased AFTER DELETE ON history WHEN old.seal IS NOT NULL BEGIN
    INSERT INTO erased_lines (last, count, link) VALUES (
        old.seq,
        1 + coalesce((SELECT count FROM erased_lines WHERE last = old.seq - 1), 0),
        substr(old.seal, 33, 16)
    );
    DELETE FROM erased_lines WHERE last = old.seq - 1;
    -- the stretch right behind it takes in the one that ends here
    UPDATE erased_lines
    SET count = count + (SELECT count FROM erased_lines WHERE last = old.seq)
    WHERE last = (SELECT min(last) FROM erased_lines WHERE last > old.seq)
        AND last - count = old.seq;
    DELETE FROM erased_lines
    WHERE last = old.seq AND EXISTS (
        SELECT 1 FROM erased_lines
        WHERE last = (SELECT min(last) FROM erased_lines WHERE last > old.seq)
            AND last - count < old.seq
    );
END;
CREATE TRIGGER link_of_shared_changed AFTER UPDATE OF
    source, target, relation, kin, weight, confidence, evidence, verified_at, origin, created_at
ON links BEGIN
    INSERT INTO unpublished
    SELECT id FROM memories WHERE id IN (new.source, new.target) AND scope = 'shared';
END;
CREATE TRIGGER link_summed AFTER INSERT ON links BEGIN
    UPDATE links SET sum = kinmem_sum(
        CAST(source AS BLOB), CAST(target AS BLOB), CAST(relation AS BLOB), CAST(kin AS BLOB),
        weight, confidence, CAST(evidence AS BLOB), CAST(verified_at AS BLOB), CAST(origin AS BLOB),
        CAST(created_at AS BLOB)
    ) WHERE source = new.source AND target = new.target AND relation = new.relation AND kin = new.kin;
END;
CREATE TRIGGER link_summed_again AFTER UPDATE OF
    source, target, relation, kin, weight, confidence, evidence, verified_at, origin, created_at
ON links WHEN new.sum IS old.sum BEGIN
    UPDATE links SET sum = kinmem_sum(
        CAST(source AS BLOB), CAST(target AS BLOB), CAST(relation AS BLOB), CAST(kin AS BLOB),
        weight, confidence, CAST(evidence AS BLOB), CAST(verified_at AS BLOB), CAST(origin AS BLOB),
        CAST(created_at AS BLOB)
    ) WHERE source = new.source AND target = new.target AND relation = new.relation AND kin = new.kin
    AND old.sum IS kinmem_sum(
        CAST(old.source AS BLOB), CAST(old.target AS BLOB), CAST(old.relation AS BLOB), CAST(old.kin
        AS BLOB), old.weight, old.confidence, CAST(old.evidence AS BLOB), CAST(old.verified_at AS
        BLOB), CAST(old.origin AS BLOB), CAST(old.created_at AS BLOB)
    );
END;
CREATE TRIGGER named_by_shared_changed AFTER UPDATE OF
    name, type, metadata, folded
ON entities BEGIN
    INSERT INTO unpublished
    SELECT m.id FROM memory_entities a JOIN memories m ON m.rowid = a.memory
    WHERE a.entity = new.id AND m.scope = 'shared';
END;
CREATE TRIGGER entity_summed AFTER INSERT ON entities BEGIN
    UPDATE entities SET sum = kinmem_sum(
        CAST(name AS BLOB), CAST(type AS BLOB), CAST(metadata AS BLOB), CAST(folded AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER entity_summed_again AFTER UPDATE OF
    name, type, metadata, folded
ON entities WHEN new.sum IS old.sum BEGIN
    UPDATE entities SET sum = kinmem_sum(
        CAST(name AS BLOB), CAST(type AS BLOB), CAST(metadata AS BLOB), CAST(folded AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        CAST(old.name AS BLOB), CAST(old.type AS BLOB), CAST(old.metadata AS BLOB), CAST(old.folded
        AS BLOB)
    );
END;
CREATE TRIGGER relation_summed AFTER INSERT ON relations BEGIN
    UPDATE relations SET sum = kinmem_sum(
        memory, source, CAST(relation AS BLOB), target, chunk, CAST(origin AS BLOB), confidence,
        CAST(verified_at AS BLOB)
    ) WHERE memory = new.memory AND source = new.source AND relation = new.relation AND target =
    new.target;
END;
CREATE TRIGGER relation_summed_again AFTER UPDATE OF
    memory, source, relation, target, chunk, origin, confidence, verified_at
ON relations WHEN new.sum IS old.sum BEGIN
    UPDATE relations SET sum = kinmem_sum(
        memory, source, CAST(relation AS BLOB), target, chunk, CAST(origin AS BLOB), confidence,
        CAST(verified_at AS BLOB)
    ) WHERE memory = new.memory AND source = new.source AND relation = new.relation AND target =
    new.target AND old.sum IS kinmem_sum(
        old.memory, old.source, CAST(old.relation AS BLOB), old.target, old.chunk, CAST(old.origin
        AS BLOB), old.confidence, CAST(old.verified_at AS BLOB)
    );
END;
CREATE TRIGGER summary_summed AFTER INSERT ON summaries BEGIN
    UPDATE summaries SET sum = kinmem_sum(
        memory, chunk, CAST(scope AS BLOB), CAST(text AS BLOB), CAST(model AS BLOB), tokens,
        CAST(created_at AS BLOB), CAST(tier AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER summary_summed_again AFTER UPDATE OF
    memory, chunk, scope, text, model, tokens, created_at, tier
ON summaries WHEN new.sum IS old.sum BEGIN
    UPDATE summaries SET sum = kinmem_sum(
        memory, chunk, CAST(scope AS BLOB), CAST(text AS BLOB), CAST(model AS BLOB), tokens,
        CAST(created_at AS BLOB), CAST(tier AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        old.memory, old.chunk, CAST(old.scope AS BLOB), CAST(old.text AS BLOB), CAST(old.model AS
        BLOB), old.tokens, CAST(old.created_at AS BLOB), CAST(old.tier AS BLOB)
    );
END;
CREATE TRIGGER snapshot_summed AFTER INSERT ON snapshots BEGIN
    UPDATE snapshots SET sum = kinmem_sum(
        CAST(session AS BLOB), CAST(summary AS BLOB), CAST(model AS BLOB), first, last, seen, turns,
        depth, CAST(created_at AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER snapshot_summed_again AFTER UPDATE OF
    session, summary, model, first, last, seen, turns, depth, created_at
ON snapshots WHEN new.sum IS old.sum BEGIN
    UPDATE snapshots SET sum = kinmem_sum(
        CAST(session AS BLOB), CAST(summary AS BLOB), CAST(model AS BLOB), first, last, seen, turns,
        depth, CAST(created_at AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        CAST(old.session AS BLOB), CAST(old.summary AS BLOB), CAST(old.model AS BLOB), old.first,
        old.last, old.seen, old.turns, old.depth, CAST(old.created_at AS BLOB)
    );
END;
CREATE TRIGGER move_summed AFTER INSERT ON tier_changes BEGIN
    UPDATE tier_changes SET sum = kinmem_sum(
        CAST(memory_id AS BLOB), CAST(from_tier AS BLOB), CAST(to_tier AS BLOB), CAST(reason AS
        BLOB), CAST(at AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER move_summed_again AFTER UPDATE OF
    memory_id, from_tier, to_tier, reason, at
ON tier_changes WHEN new.sum IS old.sum BEGIN
    UPDATE tier_changes SET sum = kinmem_sum(
        CAST(memory_id AS BLOB), CAST(from_tier AS BLOB), CAST(to_tier AS BLOB), CAST(reason AS
        BLOB), CAST(at AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        CAST(old.memory_id AS BLOB), CAST(old.from_tier AS BLOB), CAST(old.to_tier AS BLOB),
        CAST(old.reason AS BLOB), CAST(old.at AS BLOB)
    );
END;
