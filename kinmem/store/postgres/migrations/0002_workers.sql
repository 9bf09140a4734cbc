-- Version 2: what the processes that serve one database share (docs/postgres.md).

-- Bearer tokens of HTTP, of all Kins. A login that is bound to one Kin sees none of them.
CREATE SEQUENCE token_changes;
CREATE TABLE tokens (
    id         TEXT COLLATE "C" PRIMARY KEY,
    kin        TEXT COLLATE "C" NOT NULL,
    digest     TEXT COLLATE "C" NOT NULL,    -- of the whole text, which is stored nowhere
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C",
    revoked_at TEXT COLLATE "C",
    note       TEXT COLLATE "C",
    scope      TEXT COLLATE "C" NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    change     BIGINT NOT NULL DEFAULT nextval('token_changes')
);
-- Servers ask each second for what is later than the last change they have seen.
CREATE INDEX tokens_by_change ON tokens (change);
ALTER TABLE tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY of_servers ON tokens USING (session_user NOT LIKE 'kinmem\_kin\_%');

-- Uses of what a Kin may use only so often, in the last minutes.
CREATE TABLE uses (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    name   TEXT COLLATE "C" NOT NULL,
    at     TEXT COLLATE "C" NOT NULL,
    count  BIGINT NOT NULL,
    PRIMARY KEY (kin_id, name, at)
);
ALTER TABLE uses ENABLE ROW LEVEL SECURITY;
ALTER TABLE uses FORCE ROW LEVEL SECURITY;
CREATE POLICY owned ON uses USING (kin_id = kinmem_owner());

-- Kins with something to learn or to embed. A process takes one with FOR UPDATE SKIP LOCKED, so that
-- what a process has left that was killed is done although nobody calls for that Kin.
CREATE TABLE waiting_kins (
    kin_id BIGINT PRIMARY KEY,
    since  TIMESTAMPTZ NOT NULL DEFAULT now(),
    until  TIMESTAMPTZ NOT NULL DEFAULT now() + INTERVAL '1 minute', -- when it may be taken
    tries  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX waiting_kins_by_time ON waiting_kins (until);
ALTER TABLE waiting_kins ENABLE ROW LEVEL SECURITY;
ALTER TABLE waiting_kins FORCE ROW LEVEL SECURITY;
CREATE POLICY of_servers ON waiting_kins
    USING (session_user NOT LIKE 'kinmem\_kin\_%' OR kin_id = kinmem_owner());

CREATE FUNCTION kinmem_waits() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO waiting_kins (kin_id) SELECT DISTINCT kin_id FROM added WHERE kin_id <> 0
    ON CONFLICT (kin_id) DO UPDATE SET tries = 0 WHERE waiting_kins.tries > 0;
    RETURN NULL;
END $$;
CREATE TRIGGER turns_wait AFTER INSERT ON turns
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION kinmem_waits();
CREATE TRIGGER chunks_wait AFTER INSERT ON pending
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION kinmem_waits();
INSERT INTO waiting_kins (kin_id) SELECT kin_id FROM kins;

CREATE FUNCTION kinmem_name(number BIGINT) RETURNS TEXT LANGUAGE sql STABLE SECURITY DEFINER
SET search_path FROM CURRENT AS $$
    SELECT name FROM kins WHERE kin_id = number
        AND (session_user NOT LIKE 'kinmem\_kin\_%' OR kin_id = kinmem_self())
$$;
