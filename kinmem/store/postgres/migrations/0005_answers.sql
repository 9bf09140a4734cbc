-- Version 5: a long call goes on when its client is told to come again, and any process may be the one
-- that the client comes to.

-- What such calls have answered while nobody waited. Whoever asks first takes it.
CREATE TABLE answers (
    kin_id BIGINT NOT NULL DEFAULT kinmem_owner(),
    call   TEXT COLLATE "C" NOT NULL,        -- a hash of what was asked
    answer TEXT COLLATE "C" NOT NULL,        -- JSON
    until  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (kin_id, call)
);
ALTER TABLE answers ENABLE ROW LEVEL SECURITY;
ALTER TABLE answers FORCE ROW LEVEL SECURITY;
CREATE POLICY owned ON answers USING (kin_id = (SELECT kinmem_owner()));
