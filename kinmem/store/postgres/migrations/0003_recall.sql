-- Version 3: what a recall asks costs the server less.

-- As a subquery, whose rows are seen is found out once for a statement, not for every row.
DO $$
DECLARE
    name TEXT;
BEGIN
    FOR name IN
        SELECT tablename FROM pg_policies
        WHERE schemaname = current_schema AND policyname = 'owned'
    LOOP
        EXECUTE format(
            'ALTER POLICY owned ON %I USING (kin_id = (SELECT kinmem_owner()))', name
        );
    END LOOP;
END $$;

-- What every call asks first: the fields of file_state.FileState. A function, since the server keeps
-- its plan as long as a connection lasts: to plan it takes several times as long as to run it.
-- Copies of vectors in memory are SQLite's alone; hence two zeros.
CREATE FUNCTION kinmem_state() RETURNS TABLE (
    revision BIGINT, first_change BIGINT, last_change BIGINT, last_memory BIGINT, last_chunk BIGINT,
    has_documents BOOLEAN, last_turn_vector BIGINT, turn_vectors_lost BIGINT, has_turns BOOLEAN,
    has_open_conflicts BOOLEAN, first_expiry TEXT, first_end TEXT, embedders TEXT
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT r.number,
        (SELECT min(l.seq) FROM vector_log l),
        (SELECT max(l.seq) FROM vector_log l),
        (SELECT max(m.rowid) FROM memories m),
        (SELECT max(c.id) FROM chunks c),
        EXISTS (SELECT 1 FROM words w WHERE w.rowid < 0),
        0::BIGINT, 0::BIGINT,
        EXISTS (SELECT 1 FROM turn_words),
        EXISTS (SELECT 1 FROM conflicts c WHERE c.status = 'open'),
        (SELECT m.expires_at FROM memories m
            WHERE m.expires_at IS NOT NULL AND m.state IN ('active', 'stale')
            ORDER BY m.expires_at LIMIT 1),
        (SELECT m.valid_to FROM memories m
            WHERE m.valid_to IS NOT NULL AND m.state IN ('active', 'stale')
            ORDER BY m.valid_to LIMIT 1),
        (SELECT coalesce(json_agg(json_build_array(e.name, e.id, e.dimension,
            NOT EXISTS (SELECT 1 FROM pending p WHERE p.embedder = e.id),
            NOT EXISTS (SELECT 1 FROM turn_pending p WHERE p.embedder = e.id))), '[]')
            FROM embedders e)::TEXT
    FROM revision r;
END $$;
