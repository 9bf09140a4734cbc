-- Version 4: which processes live, and what belongs to a copy is changed by its author's login alone.

-- Servers that say every ten seconds that they live, so that nobody waits for what one of them has
-- left that was killed.
CREATE TABLE live_processes (
    process TEXT COLLATE "C" PRIMARY KEY,    -- store/base.py: this_process
    until   TIMESTAMPTZ NOT NULL
);
ALTER TABLE live_processes ENABLE ROW LEVEL SECURITY;
ALTER TABLE live_processes FORCE ROW LEVEL SECURITY;
CREATE POLICY of_servers ON live_processes USING (session_user NOT LIKE 'kinmem\_kin\_%');

-- Whether this login may change what belongs to a copy: whoever serves all Kins may, and a login
-- that is bound to a Kin unless another one has published it.
CREATE FUNCTION kinmem_may_change(which BIGINT) RETURNS BOOLEAN LANGUAGE sql STABLE AS $$
    SELECT session_user NOT LIKE 'kinmem\_kin\_%' OR NOT EXISTS (
        SELECT 1 FROM memories m
        WHERE m.kin_id = 0 AND m.rowid = which AND m.author_id IS DISTINCT FROM kinmem_self()
    )
$$;
CREATE FUNCTION kinmem_may_change_chunk(which BIGINT) RETURNS BOOLEAN LANGUAGE sql STABLE AS $$
    SELECT session_user NOT LIKE 'kinmem\_kin\_%' OR NOT EXISTS (
        SELECT 1 FROM chunks c
        WHERE c.kin_id = 0 AND c.id = which AND NOT kinmem_may_change(c.memory)
    )
$$;
-- Others make vectors of a copy with their embedder, and count its uses; all else is the author's.
DO $$
DECLARE
    part RECORD;
    action TEXT;
BEGIN
    FOR part IN SELECT * FROM (VALUES
        ('chunks', 'kinmem_may_change(memory)', 'INSERT,UPDATE,DELETE'),
        ('tags', 'kinmem_may_change(memory)', 'INSERT,UPDATE,DELETE'),
        ('memory_entities', 'kinmem_may_change(memory)', 'INSERT,UPDATE,DELETE'),
        ('relations', 'kinmem_may_change(memory)', 'INSERT,UPDATE,DELETE'),
        ('summaries', 'kinmem_may_change(memory)', 'INSERT,UPDATE,DELETE'),
        ('words', 'CASE WHEN rowid > 0 THEN kinmem_may_change(rowid)'
            ' ELSE kinmem_may_change_chunk(-rowid) END', 'INSERT,UPDATE,DELETE'),
        ('postings', 'CASE WHEN rowid > 0 THEN kinmem_may_change(rowid)'
            ' ELSE kinmem_may_change_chunk(-rowid) END', 'INSERT,UPDATE,DELETE'),
        ('vectors', 'kinmem_may_change_chunk(chunk)', 'UPDATE,DELETE'),
        ('lineage', 'kinmem_may_change((SELECT m.rowid FROM memories m'
            ' WHERE m.kin_id = 0 AND m.id = child))', 'INSERT,UPDATE,DELETE'),
        ('links', 'session_user NOT LIKE ''kinmem\_kin\_%'' OR kin = kinmem_name(kinmem_self())',
            'INSERT,UPDATE,DELETE'),
        ('embedders', 'session_user NOT LIKE ''kinmem\_kin\_%''', 'UPDATE,DELETE'),
        ('entities', 'session_user NOT LIKE ''kinmem\_kin\_%'' OR NOT EXISTS ('
            'SELECT 1 FROM memory_entities a WHERE a.kin_id = 0 AND a.entity = entities.id'
            ' AND NOT kinmem_may_change(a.memory))', 'UPDATE,DELETE')
    ) one (name, allowed, actions)
    LOOP
        FOREACH action IN ARRAY string_to_array(part.actions, ',') LOOP
            EXECUTE format(
                'CREATE POLICY %I ON %I AS RESTRICTIVE FOR %s %s (kin_id <> 0 OR (%s))',
                'authors_' || lower(action), part.name, action,
                CASE action WHEN 'INSERT' THEN 'WITH CHECK' ELSE 'USING' END, part.allowed
            );
        END LOOP;
    END LOOP;
END $$;

-- A login that is bound to one Kin learns no other's number.
CREATE OR REPLACE FUNCTION kinmem_kin(called TEXT) RETURNS BIGINT LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
    number BIGINT;
BEGIN
    SELECT kin_id INTO number FROM kins WHERE name = called
        AND (session_user NOT LIKE 'kinmem\_kin\_%' OR kin_id = kinmem_self());
    IF number IS NULL AND session_user NOT LIKE 'kinmem\_kin\_%' THEN
        INSERT INTO kins (name) VALUES (called) ON CONFLICT DO NOTHING;
        SELECT kin_id INTO number FROM kins WHERE name = called;
        PERFORM set_config('kinmem.owner', number::TEXT, TRUE);
        INSERT INTO revision (kin_id) VALUES (number) ON CONFLICT DO NOTHING;
    END IF;
    RETURN number;
END $$;
