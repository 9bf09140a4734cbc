-- Version 1: the tables of kinmem's SQLite files (store/sqlite/migrations, which say what each is
-- for), for all Kins together. A row belongs to the Kin `kin_id`, or to 0: the copies that are
-- shared. Every key begins with it, so that the tables can be distributed by it.
-- Times are UTC text of one width, as there; texts are compared byte by byte, as there.

CREATE TABLE kins (
    kin_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name   TEXT COLLATE "C" NOT NULL UNIQUE
);

-- Whether two texts are the same but for case, in any alphabet.
DO $$
BEGIN
    IF current_setting('server_version_num')::INTEGER >= 180000 THEN
        CREATE FUNCTION kinmem_folded(told TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN casefold(told COLLATE pg_unicode_fast);
    ELSE
        CREATE FUNCTION kinmem_folded(told TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN lower(told COLLATE "und-x-icu");
    END IF;
END $$;

-- Whose rows this transaction sees. A login named kinmem_kin_N is bound to Kin N, whatever it sets.
CREATE FUNCTION kinmem_owner() RETURNS BIGINT LANGUAGE sql STABLE PARALLEL SAFE RETURN CASE
    WHEN session_user LIKE 'kinmem\_kin\_%' AND current_setting('kinmem.owner', TRUE)
        NOT IN ('0', substr(session_user, 12)) THEN NULL
    ELSE nullif(current_setting('kinmem.owner', TRUE), '')::BIGINT
END;
-- Which Kin runs it: the author of what it shares.
CREATE FUNCTION kinmem_self() RETURNS BIGINT LANGUAGE sql STABLE PARALLEL SAFE RETURN CASE
    WHEN session_user LIKE 'kinmem\_kin\_%' THEN substr(session_user, 12)::BIGINT
    ELSE nullif(current_setting('kinmem.self', TRUE), '')::BIGINT
END;

-- One row for each owner. Who writes locks it first: of one owner's rows there is one writer at a
-- time, so that numbers, logs and revisions ascend in the order in which they become visible.
CREATE TABLE revision (
    kin_id        BIGINT PRIMARY KEY,
    number        BIGINT NOT NULL DEFAULT 0, -- goes up with every change that recall could notice
    documents     BIGINT NOT NULL DEFAULT 0, -- rows of `words`, and the tokens in them: for BM25
    tokens        BIGINT NOT NULL DEFAULT 0,
    said          BIGINT NOT NULL DEFAULT 0, -- the same of `turn_words`
    said_tokens   BIGINT NOT NULL DEFAULT 0
);
INSERT INTO revision (kin_id) VALUES (0);
-- The greatest number that a table of an owner ever held. Other tables have sequences.
CREATE TABLE counters (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    name   TEXT COLLATE "C" NOT NULL,
    value  BIGINT NOT NULL,
    PRIMARY KEY (kin_id, name)
);

CREATE TABLE memories (
    kin_id             BIGINT NOT NULL DEFAULT kinmem_owner(),
    rowid              BIGINT NOT NULL,
    author_id          BIGINT DEFAULT kinmem_self(), -- who has published a copy
    id                 TEXT COLLATE "C" NOT NULL,
    kin                TEXT COLLATE "C" NOT NULL,
    scope              TEXT COLLATE "C" NOT NULL CHECK (scope IN ('private', 'shared')),
    content            TEXT COLLATE "C" NOT NULL,
    category           TEXT COLLATE "C" NOT NULL,
    subject            TEXT COLLATE "C",
    source_context     TEXT COLLATE "C",
    content_hash       TEXT COLLATE "C" NOT NULL,
    language           TEXT COLLATE "C",
    importance         DOUBLE PRECISION CHECK (importance BETWEEN 1 AND 10),
    confidence         DOUBLE PRECISION NOT NULL DEFAULT 1,
    evidence           DOUBLE PRECISION NOT NULL DEFAULT 0,
    pinned             BOOLEAN NOT NULL DEFAULT FALSE,
    priority           DOUBLE PRECISION,
    set_priority       DOUBLE PRECISION CHECK (set_priority BETWEEN 0 AND 1),
    speaker            TEXT COLLATE "C",
    channel            TEXT COLLATE "C" NOT NULL,
    trust              DOUBLE PRECISION NOT NULL,
    client             TEXT COLLATE "C",
    session            TEXT COLLATE "C",
    turn_id            TEXT COLLATE "C",
    model              TEXT COLLATE "C",
    place              TEXT COLLATE "C",
    occurred_at        TEXT COLLATE "C",
    state              TEXT COLLATE "C" NOT NULL DEFAULT 'active',
    state_at           TEXT COLLATE "C",
    tier               TEXT COLLATE "C" NOT NULL DEFAULT 'warm',
    tier_reason        TEXT COLLATE "C",
    expires_at         TEXT COLLATE "C",
    valid_from         TEXT COLLATE "C",
    valid_to           TEXT COLLATE "C",
    superseded_by      TEXT COLLATE "C",
    recalled_count     BIGINT NOT NULL DEFAULT 0,
    recalled_at        TEXT COLLATE "C",
    created_at         TEXT COLLATE "C" NOT NULL,
    content_updated_at TEXT COLLATE "C" NOT NULL,
    scored_at          TEXT COLLATE "C",
    deleted_at         TEXT COLLATE "C",
    generation         BIGINT NOT NULL DEFAULT 0,
    manual_tags        TEXT COLLATE "C",
    auto_tags          TEXT COLLATE "C",
    title              TEXT COLLATE "C",
    description        TEXT COLLATE "C",
    source             TEXT COLLATE "C" NOT NULL DEFAULT 'tool',
    source_ref         TEXT COLLATE "C",
    status             TEXT COLLATE "C" NOT NULL DEFAULT 'ingested',
    metadata           TEXT COLLATE "C",
    ingest_metadata    TEXT COLLATE "C",
    tagged_at          TEXT COLLATE "C",
    linked_at          TEXT COLLATE "C",
    version            BIGINT NOT NULL DEFAULT 1,
    entities_read      BIGINT NOT NULL DEFAULT 0,
    sum                BYTEA NOT NULL DEFAULT '\x00', -- the server checks its pages: sums.BY_ENGINE
    PRIMARY KEY (kin_id, rowid),
    UNIQUE (kin_id, id)
);
CREATE INDEX memories_by_hash ON memories (kin_id, content_hash);
CREATE INDEX memories_by_time ON memories (kin_id, coalesce(occurred_at, created_at));
CREATE INDEX memories_by_speaker ON memories (kin_id, speaker) WHERE speaker IS NOT NULL;
CREATE INDEX memories_by_kin ON memories (kin_id, kin);
CREATE INDEX memories_by_subject ON memories (kin_id, subject) WHERE subject IS NOT NULL;
CREATE INDEX memories_by_expiry ON memories (kin_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX memories_by_end ON memories (kin_id, valid_to)
    WHERE valid_to IS NOT NULL AND state IN ('active', 'stale');
CREATE INDEX memories_in_bin ON memories (kin_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX memories_by_source ON memories (kin_id, source_ref) WHERE source_ref IS NOT NULL;
CREATE INDEX memories_by_tagging ON memories (kin_id, tagged_at);
CREATE INDEX memories_by_linking ON memories (kin_id, linked_at);
CREATE INDEX memories_of_session ON memories (kin_id, session) WHERE session IS NOT NULL;
CREATE INDEX memories_by_place ON memories (kin_id, place) WHERE place IS NOT NULL;
CREATE INDEX memories_to_read ON memories (kin_id, rowid) WHERE entities_read = 0;
CREATE INDEX memories_unsettled ON memories (kin_id, rowid) WHERE status = 'pending';
CREATE INDEX memories_shared ON memories (kin_id, kin) WHERE scope = 'shared';

CREATE TABLE lineage (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    child  TEXT COLLATE "C" NOT NULL,
    parent TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, child, parent)
);
CREATE TABLE chunks (
    kin_id   BIGINT NOT NULL DEFAULT kinmem_owner(),
    id       BIGINT NOT NULL,
    memory   BIGINT NOT NULL,
    position BIGINT NOT NULL,
    layer    TEXT COLLATE "C" NOT NULL DEFAULT 'warm',
    text     TEXT COLLATE "C",
    summary  TEXT COLLATE "C",
    metadata TEXT COLLATE "C",
    PRIMARY KEY (kin_id, id),
    FOREIGN KEY (kin_id, memory) REFERENCES memories ON DELETE CASCADE
);
CREATE INDEX chunks_of_memory ON chunks (kin_id, memory, position);

CREATE TABLE embedders (
    kin_id    BIGINT NOT NULL DEFAULT kinmem_owner(),
    id        BIGINT GENERATED BY DEFAULT AS IDENTITY,
    name      TEXT COLLATE "C" NOT NULL,
    dimension BIGINT NOT NULL,
    PRIMARY KEY (kin_id, id),
    UNIQUE (kin_id, name)
);
CREATE TABLE pending (
    kin_id   BIGINT NOT NULL DEFAULT kinmem_owner(),
    embedder BIGINT NOT NULL,
    chunk    BIGINT NOT NULL,
    PRIMARY KEY (kin_id, embedder, chunk),
    FOREIGN KEY (kin_id, embedder) REFERENCES embedders ON DELETE CASCADE,
    FOREIGN KEY (kin_id, chunk) REFERENCES chunks ON DELETE CASCADE
);
CREATE INDEX pending_by_chunk ON pending (kin_id, chunk);
-- Narrow: a Kin's vectors lie close together, and are compared one by one.
CREATE TABLE vectors (
    kin_id    BIGINT NOT NULL DEFAULT kinmem_owner(),
    embedder  BIGINT NOT NULL,
    chunk     BIGINT NOT NULL,
    embedding VECTOR NOT NULL,
    PRIMARY KEY (kin_id, embedder, chunk),
    FOREIGN KEY (kin_id, embedder) REFERENCES embedders ON DELETE CASCADE,
    FOREIGN KEY (kin_id, chunk) REFERENCES chunks ON DELETE CASCADE
);
CREATE INDEX vectors_by_chunk ON vectors (kin_id, chunk);
CREATE TABLE vector_log (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    seq    BIGINT NOT NULL,
    chunk  BIGINT NOT NULL,
    PRIMARY KEY (kin_id, seq)
);

-- Words, as FTS5's tokenizer makes them; BM25 is counted from them (postings.py). A memory has
-- its number, a chunk of a document the chunk's number below zero. B-trees, and no GIN: the latter's
-- operators may not be used by an index under row-level security.
CREATE TABLE words (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    rowid  BIGINT NOT NULL,
    length BIGINT NOT NULL,                  -- in tokens
    PRIMARY KEY (kin_id, rowid)
);
CREATE TABLE postings (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    term   TEXT COLLATE "C" NOT NULL,
    rowid  BIGINT NOT NULL,
    said   BIGINT NOT NULL,                  -- how often it is in content and subject
    aside  BIGINT NOT NULL,                  -- and in the context
    places INTEGER[] NOT NULL,               -- for phrases; each column begins at a million more
    PRIMARY KEY (kin_id, term, rowid),
    FOREIGN KEY (kin_id, rowid) REFERENCES words ON DELETE CASCADE
);
CREATE INDEX postings_of_rowid ON postings (kin_id, rowid);

CREATE TABLE history (
    kin_id    BIGINT NOT NULL DEFAULT kinmem_owner(),
    seq       BIGINT GENERATED BY DEFAULT AS IDENTITY,
    at        TEXT COLLATE "C" NOT NULL,
    kin       TEXT COLLATE "C" NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    action    TEXT COLLATE "C" NOT NULL,
    before    TEXT COLLATE "C",
    after     TEXT COLLATE "C",
    reason    TEXT COLLATE "C",
    batch     TEXT COLLATE "C",
    write     BIGINT NOT NULL DEFAULT 0,
    reverts   TEXT COLLATE "C",
    PRIMARY KEY (kin_id, seq)
);
CREATE INDEX history_of_memory ON history (kin_id, memory_id, seq);
CREATE INDEX history_by_write ON history (kin_id, kin, write);
CREATE INDEX history_of_batch ON history (kin_id, batch) WHERE batch IS NOT NULL;

CREATE TABLE summaries (
    kin_id     BIGINT NOT NULL DEFAULT kinmem_owner(),
    id         BIGINT GENERATED BY DEFAULT AS IDENTITY,
    memory     BIGINT NOT NULL,
    chunk      BIGINT,
    scope      TEXT COLLATE "C" NOT NULL CHECK (scope IN ('chunk', 'memory')),
    text       TEXT COLLATE "C" NOT NULL,
    model      TEXT COLLATE "C" NOT NULL,
    tokens     BIGINT NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    tier       TEXT COLLATE "C" NOT NULL DEFAULT 'warm',
    PRIMARY KEY (kin_id, id),
    FOREIGN KEY (kin_id, memory) REFERENCES memories ON DELETE CASCADE,
    FOREIGN KEY (kin_id, chunk) REFERENCES chunks ON DELETE CASCADE
);
CREATE INDEX summaries_of_memory ON summaries (kin_id, memory, scope, chunk);
CREATE INDEX summaries_of_chunk ON summaries (kin_id, chunk) WHERE chunk IS NOT NULL;
CREATE TABLE old_texts (
    kin_id       BIGINT NOT NULL DEFAULT kinmem_owner(),
    memory_id    TEXT COLLATE "C" NOT NULL,
    content_hash TEXT COLLATE "C" NOT NULL,
    base         TEXT COLLATE "C" NOT NULL,
    delta        BYTEA NOT NULL,
    at           TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, memory_id, content_hash)
);
CREATE TABLE tags (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    tag    TEXT COLLATE "C" NOT NULL,
    memory BIGINT NOT NULL,
    PRIMARY KEY (kin_id, tag, memory),
    FOREIGN KEY (kin_id, memory) REFERENCES memories ON DELETE CASCADE
);
CREATE INDEX tags_of_memory ON tags (kin_id, memory);
CREATE TABLE entities (
    kin_id   BIGINT NOT NULL DEFAULT kinmem_owner(),
    id       BIGINT GENERATED BY DEFAULT AS IDENTITY,
    name     TEXT COLLATE "C" NOT NULL,
    type     TEXT COLLATE "C" NOT NULL,
    metadata TEXT COLLATE "C",
    folded   TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (kin_id, id),
    UNIQUE (kin_id, name, type),
    UNIQUE (kin_id, folded, type)
);
CREATE TABLE memory_entities (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    memory BIGINT NOT NULL,
    entity BIGINT NOT NULL,
    alias  TEXT COLLATE "C",
    folded TEXT COLLATE "C",
    PRIMARY KEY (kin_id, memory, entity),
    FOREIGN KEY (kin_id, memory) REFERENCES memories ON DELETE CASCADE,
    FOREIGN KEY (kin_id, entity) REFERENCES entities ON DELETE CASCADE
);
CREATE INDEX memories_of_entity ON memory_entities (kin_id, entity);
CREATE INDEX entities_by_alias ON memory_entities (kin_id, folded) WHERE folded IS NOT NULL;
CREATE TABLE relations (
    kin_id      BIGINT NOT NULL DEFAULT kinmem_owner(),
    memory      BIGINT NOT NULL,
    source      BIGINT NOT NULL,
    relation    TEXT COLLATE "C" NOT NULL,
    target      BIGINT NOT NULL,
    chunk       BIGINT NOT NULL,
    origin      TEXT COLLATE "C" NOT NULL,
    confidence  DOUBLE PRECISION NOT NULL,
    verified_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, memory, source, relation, target),
    FOREIGN KEY (kin_id, memory) REFERENCES memories ON DELETE CASCADE,
    FOREIGN KEY (kin_id, source) REFERENCES entities ON DELETE CASCADE,
    FOREIGN KEY (kin_id, target) REFERENCES entities ON DELETE CASCADE
);
CREATE INDEX relations_from ON relations (kin_id, source);
CREATE INDEX relations_to ON relations (kin_id, target);
CREATE TABLE links (
    kin_id      BIGINT NOT NULL DEFAULT kinmem_owner(),
    source      TEXT COLLATE "C" NOT NULL,
    target      TEXT COLLATE "C" NOT NULL,
    relation    TEXT COLLATE "C" NOT NULL,
    kin         TEXT COLLATE "C" NOT NULL DEFAULT '',
    weight      DOUBLE PRECISION NOT NULL,
    confidence  DOUBLE PRECISION NOT NULL,
    evidence    TEXT COLLATE "C",
    verified_at TEXT COLLATE "C" NOT NULL,
    origin      TEXT COLLATE "C" NOT NULL DEFAULT 'auto',
    created_at  TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (kin_id, source, target, relation, kin)
);
CREATE INDEX links_by_target ON links (kin_id, target);
CREATE INDEX links_to_drop ON links (kin_id, verified_at)
    WHERE origin = 'auto' AND confidence <= 0.35;
CREATE TABLE tier_changes (
    kin_id    BIGINT NOT NULL DEFAULT kinmem_owner(),
    id        BIGINT GENERATED BY DEFAULT AS IDENTITY,
    memory_id TEXT COLLATE "C" NOT NULL,
    from_tier TEXT COLLATE "C" NOT NULL,
    to_tier   TEXT COLLATE "C" NOT NULL,
    reason    TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, id)
);
CREATE INDEX tier_changes_of_memory ON tier_changes (kin_id, memory_id);
CREATE TABLE conflicts (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    id     BIGINT GENERATED BY DEFAULT AS IDENTITY,
    newer  TEXT COLLATE "C" NOT NULL,
    older  TEXT COLLATE "C" NOT NULL,
    kind   TEXT COLLATE "C" NOT NULL,
    mode   TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL DEFAULT 'open',
    reason TEXT COLLATE "C" NOT NULL,
    at     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, id),
    UNIQUE (kin_id, newer, older)
);
CREATE TABLE refusals (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    kind   TEXT COLLATE "C" NOT NULL,
    ids    TEXT COLLATE "C" NOT NULL,
    at     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, kind, ids)
);
CREATE TABLE jobs (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    name   TEXT COLLATE "C" NOT NULL,
    holder TEXT COLLATE "C" NOT NULL,
    until  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, name)
);
CREATE TABLE marks (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    name   TEXT COLLATE "C" NOT NULL,
    value  BIGINT NOT NULL,
    PRIMARY KEY (kin_id, name)
);
CREATE TABLE runs (
    kin_id      BIGINT NOT NULL DEFAULT kinmem_owner(),
    id          BIGINT GENERATED BY DEFAULT AS IDENTITY,
    kind        TEXT COLLATE "C" NOT NULL,
    started_at  TEXT COLLATE "C" NOT NULL,
    finished_at TEXT COLLATE "C" NOT NULL,
    counts      TEXT COLLATE "C" NOT NULL,
    problems    TEXT COLLATE "C",
    seconds     TEXT COLLATE "C",
    PRIMARY KEY (kin_id, id)
);
CREATE TABLE others_uses (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    memory TEXT COLLATE "C" NOT NULL,
    count  BIGINT NOT NULL,
    at     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, memory)
);
CREATE TABLE published (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    seq    BIGINT GENERATED BY DEFAULT AS IDENTITY,
    memory TEXT COLLATE "C" NOT NULL,
    kin    TEXT COLLATE "C" NOT NULL,
    at     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, seq),
    UNIQUE (kin_id, memory)
);
CREATE TABLE outbox (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    seq    BIGINT GENERATED BY DEFAULT AS IDENTITY,
    memory TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, seq),
    UNIQUE (kin_id, memory)
);

CREATE TABLE snapshots (
    kin_id     BIGINT NOT NULL DEFAULT kinmem_owner(),
    id         BIGINT GENERATED BY DEFAULT AS IDENTITY,
    session    TEXT COLLATE "C" NOT NULL,
    summary    TEXT COLLATE "C" NOT NULL,
    model      TEXT COLLATE "C" NOT NULL,
    first      BIGINT NOT NULL,
    last       BIGINT NOT NULL,
    seen       BIGINT NOT NULL,
    turns      BIGINT NOT NULL,
    depth      BIGINT NOT NULL DEFAULT 0,
    created_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, id)
);
CREATE INDEX snapshots_of_session ON snapshots (kin_id, session, first);
CREATE TABLE turns (
    kin_id     BIGINT NOT NULL DEFAULT kinmem_owner(),
    id         BIGINT GENERATED BY DEFAULT AS IDENTITY,
    session    TEXT COLLATE "C" NOT NULL,
    turn       TEXT COLLATE "C" NOT NULL,
    role       TEXT COLLATE "C" NOT NULL,
    part       TEXT COLLATE "C" NOT NULL DEFAULT '',
    text       TEXT COLLATE "C" NOT NULL,
    speaker    TEXT COLLATE "C",
    tool       TEXT COLLATE "C",
    spill      TEXT COLLATE "C",
    client     TEXT COLLATE "C",
    place      TEXT COLLATE "C",
    said_at    TEXT COLLATE "C" NOT NULL,
    learned_at TEXT COLLATE "C",
    tries      BIGINT NOT NULL DEFAULT 0,
    due_at     TEXT COLLATE "C",
    parked     BOOLEAN NOT NULL DEFAULT FALSE,
    problem    TEXT COLLATE "C",
    snapshot   BIGINT,
    PRIMARY KEY (kin_id, id),
    UNIQUE (kin_id, session, turn, role, part),
    FOREIGN KEY (kin_id, snapshot) REFERENCES snapshots
);
CREATE INDEX turns_to_learn ON turns (kin_id, id) WHERE learned_at IS NULL;
CREATE INDEX turns_of_session ON turns (kin_id, session, id);
CREATE INDEX turns_unsummarised ON turns (kin_id, session) WHERE snapshot IS NULL;
CREATE INDEX turns_by_role ON turns (kin_id, session, role, id);
CREATE INDEX turns_of_snapshot ON turns (kin_id, snapshot) WHERE snapshot IS NOT NULL;
CREATE INDEX turns_by_time ON turns (kin_id, said_at);
CREATE TABLE shown (
    kin_id   BIGINT NOT NULL DEFAULT kinmem_owner(),
    id       BIGINT GENERATED BY DEFAULT AS IDENTITY,
    session  TEXT COLLATE "C" NOT NULL,
    turn     TEXT COLLATE "C" NOT NULL,
    text     TEXT COLLATE "C",
    memories TEXT COLLATE "C" NOT NULL,
    at       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, id)
);
CREATE INDEX shown_to_session ON shown (kin_id, session, id);
CREATE INDEX shown_in_turn ON shown (kin_id, session, turn);
CREATE TABLE turns_to_index (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    turn   BIGINT NOT NULL,
    PRIMARY KEY (kin_id, turn),
    FOREIGN KEY (kin_id, turn) REFERENCES turns ON DELETE CASCADE
);
CREATE TABLE turn_words (
    kin_id   BIGINT NOT NULL DEFAULT kinmem_owner(),
    rowid    BIGINT NOT NULL,                -- turns.id
    length   BIGINT NOT NULL,
    context  TEXT COLLATE "C" NOT NULL,
    evidence DOUBLE PRECISION NOT NULL,
    doubtful BOOLEAN NOT NULL,
    PRIMARY KEY (kin_id, rowid)
);
CREATE TABLE turn_postings (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    term   TEXT COLLATE "C" NOT NULL,
    rowid  BIGINT NOT NULL,
    said   BIGINT NOT NULL,
    aside  BIGINT NOT NULL,
    places INTEGER[] NOT NULL,
    PRIMARY KEY (kin_id, term, rowid),
    FOREIGN KEY (kin_id, rowid) REFERENCES turn_words ON DELETE CASCADE
);
CREATE INDEX turn_postings_of_rowid ON turn_postings (kin_id, rowid);
CREATE TABLE turn_chunks (
    kin_id   BIGINT NOT NULL DEFAULT kinmem_owner(),
    id       BIGINT GENERATED BY DEFAULT AS IDENTITY,
    turn     BIGINT NOT NULL,
    position BIGINT NOT NULL,
    text     TEXT COLLATE "C",
    PRIMARY KEY (kin_id, id),
    FOREIGN KEY (kin_id, turn) REFERENCES turns ON DELETE CASCADE
);
CREATE INDEX chunks_of_turn ON turn_chunks (kin_id, turn, position);
CREATE TABLE turn_vectors (
    kin_id    BIGINT NOT NULL DEFAULT kinmem_owner(),
    embedder  BIGINT NOT NULL,
    chunk     BIGINT NOT NULL,
    embedding VECTOR NOT NULL,
    PRIMARY KEY (kin_id, embedder, chunk),
    FOREIGN KEY (kin_id, embedder) REFERENCES embedders ON DELETE CASCADE,
    FOREIGN KEY (kin_id, chunk) REFERENCES turn_chunks ON DELETE CASCADE
);
CREATE INDEX turn_vectors_by_chunk ON turn_vectors (kin_id, chunk);
CREATE TABLE turn_pending (
    kin_id   BIGINT NOT NULL DEFAULT kinmem_owner(),
    embedder BIGINT NOT NULL,
    chunk    BIGINT NOT NULL,
    PRIMARY KEY (kin_id, embedder, chunk),
    FOREIGN KEY (kin_id, embedder) REFERENCES embedders ON DELETE CASCADE,
    FOREIGN KEY (kin_id, chunk) REFERENCES turn_chunks ON DELETE CASCADE
);
CREATE INDEX turn_pending_by_chunk ON turn_pending (kin_id, chunk);
CREATE TABLE memory_turns (
    kin_id  BIGINT NOT NULL DEFAULT kinmem_owner(),
    session TEXT COLLATE "C" NOT NULL,
    turn    TEXT COLLATE "C" NOT NULL,
    memory  BIGINT NOT NULL,
    PRIMARY KEY (kin_id, session, turn, memory),
    FOREIGN KEY (kin_id, memory) REFERENCES memories ON DELETE CASCADE
);
CREATE INDEX turns_of_memory ON memory_turns (kin_id, memory);
CREATE TABLE repetitions (
    kin_id  BIGINT NOT NULL DEFAULT kinmem_owner(),
    session TEXT COLLATE "C" NOT NULL,
    turn    TEXT COLLATE "C" NOT NULL,
    memory  TEXT COLLATE "C" NOT NULL,
    role    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kin_id, session, turn, memory, role)
);
CREATE INDEX repetitions_of_memory ON repetitions (kin_id, memory);

-- The messages of people and assistants right before and right after one, in its session.
CREATE VIEW turn_neighbours WITH (security_invoker = TRUE) AS
SELECT t.kin_id, t.id AS turn, (
        SELECT max(p.id) FROM turns p WHERE p.kin_id = t.kin_id AND p.session = t.session
            AND p.role IN ('user', 'assistant') AND p.id < t.id
    ) AS previous, (
        SELECT min(n.id) FROM turns n WHERE n.kin_id = t.kin_id AND n.session = t.session
            AND n.role IN ('user', 'assistant') AND n.id > t.id
    ) AS next
FROM turns t;

-- What SQLite's triggers do. A function names the Kin itself: it may run for a cascade, which no
-- policy restricts.

CREATE FUNCTION kinmem_publish(whose BIGINT, which TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    IF whose <> 0 THEN
        DELETE FROM outbox WHERE kin_id = whose AND memory = which;
        INSERT INTO outbox (kin_id, memory) VALUES (whose, which);
    END IF;
END $$;

CREATE FUNCTION kinmem_memory_tags(told memories) RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO tags (kin_id, tag, memory)
    SELECT told.kin_id, value, told.rowid
    FROM jsonb_array_elements_text(coalesce(told.manual_tags, '[]')::JSONB
        || coalesce(told.auto_tags, '[]')::JSONB) AS one (value)
    ON CONFLICT DO NOTHING
$$;

CREATE FUNCTION kinmem_memory_turns(told memories) RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO memory_turns (kin_id, session, turn, memory)
    SELECT told.kin_id, told.session, turn, told.rowid FROM (
        SELECT told.turn_id AS turn
        UNION SELECT jsonb_array_elements_text(coalesce(told.metadata::JSONB -> 'turns', '[]'))
    ) which WHERE told.session IS NOT NULL AND turn IS NOT NULL
    ON CONFLICT DO NOTHING
$$;

CREATE FUNCTION kinmem_memory_added() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF new.manual_tags IS NOT NULL OR new.auto_tags IS NOT NULL THEN
        PERFORM kinmem_memory_tags(new);
    END IF;
    IF new.session IS NOT NULL AND new.turn_id IS NOT NULL THEN
        PERFORM kinmem_memory_turns(new);
    END IF;
    IF new.scope = 'shared' THEN
        PERFORM kinmem_publish(new.kin_id, new.id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_added AFTER INSERT ON memories
FOR EACH ROW EXECUTE FUNCTION kinmem_memory_added();

-- A copy is its author's: others count its uses, and that its vectors are made.
CREATE FUNCTION kinmem_guard_copy() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    free TEXT[] := ARRAY['recalled_count', 'recalled_at', 'status'];
BEGIN
    IF old.author_id IS DISTINCT FROM kinmem_self()
        AND to_jsonb(old) - free IS DISTINCT FROM to_jsonb(new) - free
    THEN
        RAISE insufficient_privilege USING MESSAGE = 'a shared memory is changed by its author';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER copy_guarded BEFORE UPDATE ON memories
FOR EACH ROW WHEN (old.kin_id = 0) EXECUTE FUNCTION kinmem_guard_copy();

-- What was read out of a content before says nothing of it now.
CREATE FUNCTION kinmem_content_changed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM relations WHERE kin_id = new.kin_id AND memory = new.rowid;
    DELETE FROM memory_entities WHERE kin_id = new.kin_id AND memory = new.rowid;
    new.entities_read := 0;
    RETURN new;
END $$;
CREATE TRIGGER content_changed BEFORE UPDATE OF content_hash ON memories
FOR EACH ROW WHEN (new.content_hash IS DISTINCT FROM old.content_hash)
EXECUTE FUNCTION kinmem_content_changed();

CREATE FUNCTION kinmem_memory_changed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF new.manual_tags IS DISTINCT FROM old.manual_tags
        OR new.auto_tags IS DISTINCT FROM old.auto_tags
    THEN
        DELETE FROM tags WHERE kin_id = new.kin_id AND memory = new.rowid;
        PERFORM kinmem_memory_tags(new);
    END IF;
    IF new.session IS DISTINCT FROM old.session OR new.turn_id IS DISTINCT FROM old.turn_id
        OR new.metadata IS DISTINCT FROM old.metadata
    THEN
        DELETE FROM memory_turns WHERE kin_id = new.kin_id AND memory = new.rowid;
        PERFORM kinmem_memory_turns(new);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_changed AFTER UPDATE OF manual_tags, auto_tags, session, turn_id, metadata
ON memories FOR EACH ROW EXECUTE FUNCTION kinmem_memory_changed();

CREATE FUNCTION kinmem_shared_changed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kinmem_publish(old.kin_id, old.id);
    RETURN NULL;
END $$;
CREATE TRIGGER shared_changed AFTER UPDATE OF
    scope, content, category, subject, source_context, content_hash, language, importance,
    confidence, evidence, pinned, priority, set_priority, speaker, channel, trust, client, session,
    turn_id, place, model, occurred_at, state, state_at, tier, tier_reason, expires_at, valid_from,
    valid_to, superseded_by, recalled_count, recalled_at, content_updated_at, deleted_at,
    generation, manual_tags, auto_tags, title, description, source, source_ref, status, metadata,
    ingest_metadata, version
ON memories FOR EACH ROW WHEN (new.kin_id <> 0 AND (new.scope = 'shared' OR old.scope = 'shared'))
EXECUTE FUNCTION kinmem_shared_changed();
CREATE TRIGGER shared_erased AFTER DELETE ON memories
FOR EACH ROW WHEN (old.kin_id <> 0 AND old.scope = 'shared')
EXECUTE FUNCTION kinmem_shared_changed();

-- Whatever belongs to a shared memory is published with it. TG_ARGV[0]: the column that names it.
CREATE FUNCTION kinmem_part_of_shared() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    part JSONB := to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN old ELSE new END);
    whose BIGINT := part ->> 'kin_id';
    which TEXT;
BEGIN
    IF whose <> 0 THEN
        SELECT id INTO which FROM memories m
        WHERE m.kin_id = whose AND m.rowid = (part ->> 'memory')::BIGINT AND m.scope = 'shared';
        IF FOUND THEN
            PERFORM kinmem_publish(whose, which);
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER chunk_of_shared AFTER INSERT OR DELETE ON chunks
FOR EACH ROW EXECUTE FUNCTION kinmem_part_of_shared();
CREATE TRIGGER summary_of_shared AFTER INSERT OR DELETE ON summaries
FOR EACH ROW EXECUTE FUNCTION kinmem_part_of_shared();
CREATE TRIGGER entity_of_shared AFTER INSERT OR UPDATE OR DELETE ON memory_entities
FOR EACH ROW EXECUTE FUNCTION kinmem_part_of_shared();
CREATE TRIGGER relation_of_shared AFTER INSERT OR DELETE ON relations
FOR EACH ROW EXECUTE FUNCTION kinmem_part_of_shared();

CREATE FUNCTION kinmem_vector_of_shared() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kinmem_publish(m.kin_id, m.id) FROM chunks c
    JOIN memories m ON m.kin_id = c.kin_id AND m.rowid = c.memory
    WHERE c.kin_id = old.kin_id AND c.id = old.chunk AND m.scope = 'shared';
    RETURN NULL;
END $$;
CREATE TRIGGER vector_of_shared AFTER DELETE ON pending
FOR EACH ROW WHEN (old.kin_id <> 0) EXECUTE FUNCTION kinmem_vector_of_shared();

-- what was of no certain type is of one now
CREATE FUNCTION kinmem_named_by_shared() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kinmem_publish(m.kin_id, m.id) FROM memory_entities a
    JOIN memories m ON m.kin_id = a.kin_id AND m.rowid = a.memory
    WHERE a.kin_id = new.kin_id AND a.entity = new.id AND m.scope = 'shared';
    RETURN NULL;
END $$;
CREATE TRIGGER named_by_shared AFTER UPDATE ON entities
FOR EACH ROW WHEN (new.kin_id <> 0) EXECUTE FUNCTION kinmem_named_by_shared();

CREATE FUNCTION kinmem_parent_of_shared() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kinmem_publish(kin_id, id) FROM memories
    WHERE kin_id = new.kin_id AND id = new.child AND scope = 'shared';
    RETURN NULL;
END $$;
CREATE TRIGGER parent_of_shared AFTER INSERT ON lineage
FOR EACH ROW WHEN (new.kin_id <> 0) EXECUTE FUNCTION kinmem_parent_of_shared();

CREATE FUNCTION kinmem_link_of_shared() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    one links := CASE WHEN TG_OP = 'DELETE' THEN old ELSE new END;
BEGIN
    PERFORM kinmem_publish(kin_id, id) FROM memories
    WHERE kin_id = one.kin_id AND id IN (one.source, one.target) AND scope = 'shared';
    RETURN NULL;
END $$;
CREATE TRIGGER link_of_shared AFTER INSERT OR UPDATE OR DELETE ON links
FOR EACH ROW EXECUTE FUNCTION kinmem_link_of_shared();

-- An entity is there as long as a memory is about it.
CREATE FUNCTION kinmem_entity_alone() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM entities WHERE kin_id = old.kin_id AND id = old.entity AND NOT EXISTS (
        SELECT 1 FROM memory_entities WHERE kin_id = old.kin_id AND entity = old.entity
    );
    RETURN NULL;
END $$;
CREATE TRIGGER entity_alone AFTER DELETE ON memory_entities
FOR EACH ROW EXECUTE FUNCTION kinmem_entity_alone();

-- Sizes of the word indexes, which BM25 divides by.
CREATE FUNCTION kinmem_words_counted() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    sign BIGINT := CASE WHEN TG_OP = 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    IF TG_TABLE_NAME = 'words' THEN
        UPDATE revision r SET documents = documents + sign * n, tokens = tokens + sign * total
        FROM (SELECT kin_id, count(*) AS n, sum(length) AS total FROM moved GROUP BY kin_id) s
        WHERE r.kin_id = s.kin_id;
    ELSE
        UPDATE revision r SET said = said + sign * n, said_tokens = said_tokens + sign * total
        FROM (SELECT kin_id, count(*) AS n, sum(length) AS total FROM moved GROUP BY kin_id) s
        WHERE r.kin_id = s.kin_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER words_added AFTER INSERT ON words
REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION kinmem_words_counted();
CREATE TRIGGER words_removed AFTER DELETE ON words
REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION kinmem_words_counted();
CREATE TRIGGER turn_words_added AFTER INSERT ON turn_words
REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION kinmem_words_counted();
CREATE TRIGGER turn_words_removed AFTER DELETE ON turn_words
REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION kinmem_words_counted();

-- What was said.
CREATE FUNCTION kinmem_index_turns(whose BIGINT, which BIGINT[]) RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO turns_to_index (kin_id, turn)
    SELECT whose, turn FROM unnest(which) AS one (turn) WHERE turn IS NOT NULL
    ON CONFLICT DO NOTHING
$$;
CREATE FUNCTION kinmem_turn_said() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kinmem_index_turns(new.kin_id, ARRAY[new.id, previous]) FROM turn_neighbours
    WHERE kin_id = new.kin_id AND turn = new.id;
    RETURN NULL;
END $$;
CREATE TRIGGER turn_said AFTER INSERT ON turns
FOR EACH ROW WHEN (new.role IN ('user', 'assistant')) EXECUTE FUNCTION kinmem_turn_said();

CREATE FUNCTION kinmem_turn_changed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    beside turn_neighbours;
BEGIN
    SELECT * INTO beside FROM turn_neighbours WHERE kin_id = old.kin_id AND turn = old.id;
    DELETE FROM turn_words WHERE kin_id = old.kin_id
        AND rowid IN (old.id, beside.previous, beside.next);
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM turn_chunks WHERE kin_id = old.kin_id AND turn = old.id;
        PERFORM kinmem_index_turns(old.kin_id, ARRAY[old.id, beside.previous, beside.next]);
        RETURN NULL;
    END IF;
    PERFORM kinmem_index_turns(old.kin_id, ARRAY[beside.previous, beside.next]);
    RETURN old;
END $$;
CREATE TRIGGER turn_changed AFTER UPDATE OF text, speaker ON turns
FOR EACH ROW WHEN (old.role IN ('user', 'assistant')
    AND (old.text IS DISTINCT FROM new.text OR old.speaker IS DISTINCT FROM new.speaker))
EXECUTE FUNCTION kinmem_turn_changed();
CREATE TRIGGER turn_deleted BEFORE DELETE ON turns
FOR EACH ROW WHEN (old.role IN ('user', 'assistant')) EXECUTE FUNCTION kinmem_turn_changed();

CREATE FUNCTION kinmem_turn_renamed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO repetitions (kin_id, session, turn, memory, role)
    SELECT kin_id, new.session, new.turn, memory, role FROM repetitions
    WHERE kin_id = old.kin_id AND session = old.session AND turn = old.turn
    ON CONFLICT DO NOTHING;
    DELETE FROM repetitions
    WHERE kin_id = old.kin_id AND session = old.session AND turn = old.turn;
    RETURN NULL;
END $$;
CREATE TRIGGER turn_renamed AFTER UPDATE OF session, turn ON turns
FOR EACH ROW WHEN (new.session <> old.session OR new.turn <> old.turn)
EXECUTE FUNCTION kinmem_turn_renamed();

CREATE FUNCTION kinmem_turn_gone() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM repetitions r
    WHERE r.kin_id = old.kin_id AND r.session = old.session AND r.turn = old.turn AND NOT EXISTS (
        SELECT 1 FROM turns t
        WHERE t.kin_id = old.kin_id AND t.session = old.session AND t.turn = old.turn
    );
    RETURN NULL;
END $$;
CREATE TRIGGER turn_gone AFTER DELETE ON turns
FOR EACH ROW EXECUTE FUNCTION kinmem_turn_gone();

CREATE FUNCTION kinmem_turn_chunk_pending() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'embedders' THEN
        INSERT INTO turn_pending (kin_id, embedder, chunk)
        SELECT kin_id, new.id, id FROM turn_chunks WHERE kin_id = new.kin_id;
    ELSE
        INSERT INTO turn_pending (kin_id, embedder, chunk)
        SELECT kin_id, id, new.id FROM embedders WHERE kin_id = new.kin_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER turn_chunk_pending AFTER INSERT ON turn_chunks
FOR EACH ROW EXECUTE FUNCTION kinmem_turn_chunk_pending();
CREATE TRIGGER turn_chunks_of_new_embedder AFTER INSERT ON embedders
FOR EACH ROW EXECUTE FUNCTION kinmem_turn_chunk_pending();

-- A Kin's number; a name that is not known gets one. The only way to `kins` for those who serve.
CREATE FUNCTION kinmem_kin(called TEXT) RETURNS BIGINT LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
    number BIGINT;
BEGIN
    SELECT kin_id INTO number FROM kins WHERE name = called;
    IF number IS NULL AND session_user NOT LIKE 'kinmem\_kin\_%' THEN
        INSERT INTO kins (name) VALUES (called) ON CONFLICT DO NOTHING;
        SELECT kin_id INTO number FROM kins WHERE name = called;
        PERFORM set_config('kinmem.owner', number::TEXT, TRUE);
        INSERT INTO revision (kin_id) VALUES (number) ON CONFLICT DO NOTHING;
    END IF;
    RETURN number;
END $$;

CREATE FUNCTION kinmem_names() RETURNS SETOF TEXT LANGUAGE sql STABLE SECURITY DEFINER
SET search_path FROM CURRENT AS $$
    SELECT name FROM kins WHERE session_user NOT LIKE 'kinmem\_kin\_%'
        OR kin_id = kinmem_self() ORDER BY name
$$;

-- Each Kin sees its own rows, and the shared ones when it asks for them; nothing without saying so.
DO $$
DECLARE
    name TEXT;
BEGIN
    FOR name IN
        SELECT table_name FROM information_schema.columns
        WHERE table_schema = current_schema AND column_name = 'kin_id'
            AND table_name NOT IN ('kins', 'turn_neighbours', 'memories')
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY owned ON %I USING (kin_id = kinmem_owner())', name);
    END LOOP;
END $$;
ALTER TABLE memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE memories FORCE ROW LEVEL SECURITY;
CREATE POLICY owned ON memories USING (kin_id = kinmem_owner());
CREATE POLICY published ON memories AS RESTRICTIVE FOR INSERT
    WITH CHECK (kin_id <> 0 OR author_id = kinmem_self());
CREATE POLICY withdrawn ON memories AS RESTRICTIVE FOR DELETE
    USING (kin_id <> 0 OR author_id = kinmem_self());
