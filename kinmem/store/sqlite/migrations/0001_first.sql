-- Version 1: everything kinmem knows. A Kin's file and shared.db have the same schema.
-- Times are UTC text 'YYYY-MM-DDTHH:MM:SS.ffffffZ': of one width, so they sort as text.

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
    stability          REAL NOT NULL DEFAULT 1,
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
);
-- memorize asks whether a statement is known
CREATE INDEX memories_by_hash ON memories (content_hash);
-- since and until
CREATE INDEX memories_by_time ON memories (coalesce(occurred_at, created_at));
-- recall asks who is known by name: speakers, and authors of shared memories
CREATE INDEX memories_by_speaker ON memories (speaker) WHERE speaker IS NOT NULL;
CREATE INDEX memories_by_kin ON memories (kin);
-- completion of subjects and the filter by subject
CREATE INDEX memories_by_subject ON memories (subject) WHERE subject IS NOT NULL;
-- recall asks whether anything live has expired; the sleep cycle which
CREATE INDEX memories_by_expiry ON memories (expires_at) WHERE expires_at IS NOT NULL;
-- purging asks for what lies in the bin
CREATE INDEX memories_in_bin ON memories (deleted_at) WHERE deleted_at IS NOT NULL;

-- Parents outlive their rows here: where a merged memory came from stays known.
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
);
CREATE INDEX chunks_of_memory ON chunks (memory, position);

-- Vectors live in a vec0 table per embedder, vectors_<id>, whose width depends on it: made by code.
CREATE TABLE embedders (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    name      TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL
);
-- A durable queue: chunks that lack a vector of that embedder. No index by chunk: it would cost
-- every insert, and only deleting a chunk while many wait would gain.
CREATE TABLE pending (
    embedder INTEGER NOT NULL REFERENCES embedders (id) ON DELETE CASCADE,
    chunk    INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    PRIMARY KEY (embedder, chunk)
) WITHOUT ROWID;
-- Which chunks' vectors or liveness changed, for copies in memory; older entries may be dropped.
CREATE TABLE vector_log (
    seq   INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk INTEGER NOT NULL
);
-- One row; goes up with every change that recall could notice.
CREATE TABLE revision (number INTEGER NOT NULL);
INSERT INTO revision VALUES (0);

-- What may be searched by words. Columns hold the text as it is indexed, not as it is shown
-- (speaker and date added, CJK runs cut into pairs). It stores its own copy: deleting from a
-- contentless table would leave the tokens in the file.
CREATE VIRTUAL TABLE words USING fts5 (
    content, subject, context,
    tokenize = "porter unicode61 remove_diacritics 2"
);
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);

-- Append-only: undo, audit, and a second copy of the texts. Erasing blanks before and after.
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
);
CREATE INDEX history_of_memory ON history (memory_id, seq);

CREATE TABLE summaries (
    id         INTEGER PRIMARY KEY,
    memory     INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    chunk      INTEGER REFERENCES chunks (id) ON DELETE CASCADE,
    scope      TEXT NOT NULL CHECK (scope IN ('chunk', 'memory')),
    text       TEXT NOT NULL,
    model      TEXT NOT NULL,                -- extractive, or a model's name
    tokens     INTEGER NOT NULL,
    created_at TEXT NOT NULL
);

-- The durable outbox of conversation turns.
CREATE TABLE turns (
    id         INTEGER PRIMARY KEY,
    session    TEXT NOT NULL,
    prompt_id  TEXT NOT NULL,
    role       TEXT NOT NULL,
    speaker    TEXT,
    text       TEXT NOT NULL,
    client     TEXT,
    said_at    TEXT NOT NULL,
    snapshot   INTEGER REFERENCES snapshots (id),
    learned_at TEXT,
    tries      INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, prompt_id, role)
);
CREATE TABLE snapshots (
    id         INTEGER PRIMARY KEY,
    session    TEXT NOT NULL,
    summary    TEXT NOT NULL,
    model      TEXT NOT NULL,
    first_turn INTEGER NOT NULL,
    last_turn  INTEGER NOT NULL,
    depth      INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
);

CREATE TABLE entities (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    type     TEXT NOT NULL,
    aliases  TEXT,                           -- JSON array
    salience REAL NOT NULL DEFAULT 0,
    metadata TEXT,
    UNIQUE (name, type)
);
CREATE TABLE relations (
    source        INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    target        INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    relation      TEXT NOT NULL,
    context_chunk INTEGER REFERENCES chunks (id) ON DELETE SET NULL,
    origin        TEXT NOT NULL DEFAULT 'auto',
    confidence    REAL NOT NULL,
    strength      REAL NOT NULL,
    evidence      INTEGER NOT NULL DEFAULT 1,
    verified_at   TEXT NOT NULL,
    PRIMARY KEY (source, target, relation)
) WITHOUT ROWID;
CREATE TABLE memory_entities (
    memory INTEGER NOT NULL REFERENCES memories (rowid) ON DELETE CASCADE,
    entity INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
    PRIMARY KEY (memory, entity)
) WITHOUT ROWID;
-- Between memories, by id: the other end may be in the other file.
CREATE TABLE links (
    source      TEXT NOT NULL,
    target      TEXT NOT NULL,
    relation    TEXT NOT NULL,
    weight      REAL NOT NULL,
    confidence  REAL NOT NULL,
    evidence    TEXT,
    verified_at TEXT NOT NULL,
    PRIMARY KEY (source, target, relation)
) WITHOUT ROWID;
CREATE TABLE tier_changes (
    id        INTEGER PRIMARY KEY,
    memory_id TEXT NOT NULL,
    from_tier TEXT NOT NULL,
    to_tier   TEXT NOT NULL,
    reason    TEXT NOT NULL,
    at        TEXT NOT NULL
);
CREATE TABLE conflicts (
    id       INTEGER PRIMARY KEY,
    newer    TEXT NOT NULL,
    older    TEXT NOT NULL,
    kind     TEXT NOT NULL,
    mode     TEXT NOT NULL,
    status   TEXT NOT NULL DEFAULT 'open',
    reason   TEXT,
    at       TEXT NOT NULL,
    UNIQUE (newer, older)
);

-- Leases: a job whose holder died is free again when its time is up.
CREATE TABLE jobs (
    name    TEXT PRIMARY KEY,
    holder  TEXT NOT NULL,
    until   TEXT NOT NULL,
    tries   INTEGER NOT NULL DEFAULT 0,
    note    TEXT
);
CREATE TABLE runs (
    id          INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL,
    started_at  TEXT NOT NULL,
    finished_at TEXT,
    report      TEXT                         -- JSON: counts per step, errors
);
