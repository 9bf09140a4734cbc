-- Version 2: conversations are kept and learned from. Nothing has written to these tables of
-- version 1 yet, so they are made anew; they are used in a Kin's own file only.

DROP TABLE turns;
DROP TABLE snapshots;
DROP TABLE conflicts;
DROP TABLE jobs;
DROP TABLE runs;

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
);
CREATE INDEX snapshots_of_session ON snapshots (session, first);

-- The durable outbox: one row for each message of a turn. The unique key makes observing the same
-- thing twice harmless, whichever client or process says it again.
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
    snapshot   INTEGER REFERENCES snapshots (id),
    UNIQUE (session, turn, role, part)
);
-- the worker asks for what is not learned, after every turn
CREATE INDEX turns_to_learn ON turns (id) WHERE learned_at IS NULL;
-- the context of a session, and whether it has grown too long
CREATE INDEX turns_of_session ON turns (session, id);
-- the same of a session of thousands of messages, of which all but the last are summarised
CREATE INDEX turns_unsummarised ON turns (session) WHERE snapshot IS NULL;
-- the last prompt, behind which thousands of tool outputs may stand
CREATE INDEX turns_by_role ON turns (session, role);
-- a summary that is folded into another is deleted: the foreign key asks who refers to it
CREATE INDEX turns_of_snapshot ON turns (snapshot) WHERE snapshot IS NOT NULL;

-- What a session was told of the memory, so that it is told once; text NULL: its context was
-- compacted since, and only the memory of having shown it is left.
CREATE TABLE shown (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    session  TEXT NOT NULL,
    turn     TEXT NOT NULL,
    text     TEXT,
    memories TEXT NOT NULL,                  -- JSON object: id -> version
    at       TEXT NOT NULL
);
CREATE INDEX shown_to_session ON shown (session, id);
CREATE INDEX shown_in_turn ON shown (session, turn);

CREATE TABLE conflicts (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    newer  TEXT NOT NULL,
    older  TEXT NOT NULL,
    kind   TEXT NOT NULL,
    mode   TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'open',
    reason TEXT NOT NULL,
    at     TEXT NOT NULL,
    UNIQUE (newer, older)
);

-- Proposals that were turned down: not made again for the same memories.
CREATE TABLE refusals (
    kind TEXT NOT NULL,
    ids  TEXT NOT NULL,                      -- JSON array, sorted
    at   TEXT NOT NULL,
    PRIMARY KEY (kind, ids)
) WITHOUT ROWID;

-- Leases: a job whose holder died is free again when its time is up.
CREATE TABLE jobs (
    name   TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until  TEXT NOT NULL
);
-- How far a step has come in vector_log of either file, by a name of its own.
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
);

-- Entities are one by folded name and type, which SQL cannot fold; none was stored before. Who
-- erases a memory asks who else is about its entities.
ALTER TABLE entities ADD COLUMN folded TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX entities_by_name ON entities (folded, type);
CREATE INDEX memories_of_entity ON memory_entities (entity);

-- Memories stored without being compared by meaning: asked for by the worker, at every turn.
CREATE INDEX memories_unsettled ON memories (kin) WHERE status = 'pending';

-- Memories that have just been moved into this file. The line goes when the old copy has left the
-- other file; while it is here, a copy there of a lower version is to be overlooked.
CREATE TABLE moves (
    memory  TEXT PRIMARY KEY,
    kin     TEXT NOT NULL,
    version INTEGER NOT NULL
) WITHOUT ROWID;
