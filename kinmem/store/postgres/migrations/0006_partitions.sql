-- Version 6: the vectors of a Kin that has very many get a partition of their own (pgvectors.py makes it), so
-- that they lie together, and neither they nor their index are in the way of all other Kins' vectors.
ALTER TABLE vectors RENAME TO vectors_of_many;
ALTER INDEX vectors_pkey RENAME TO vectors_of_many_pkey;
ALTER INDEX vectors_by_chunk RENAME TO vectors_of_many_by_chunk;
CREATE TABLE vectors (
    kin_id    BIGINT NOT NULL DEFAULT kinmem_owner(),
    embedder  BIGINT NOT NULL,
    chunk     BIGINT NOT NULL,
    embedding VECTOR NOT NULL,
    PRIMARY KEY (kin_id, embedder, chunk),
    FOREIGN KEY (kin_id, embedder) REFERENCES embedders ON DELETE CASCADE,
    FOREIGN KEY (kin_id, chunk) REFERENCES chunks ON DELETE CASCADE
) PARTITION BY LIST (kin_id);
CREATE INDEX vectors_by_chunk ON vectors (kin_id, chunk);
ALTER TABLE vectors ATTACH PARTITION vectors_of_many DEFAULT;

-- The same policies as before, of the whole. A partition has none: named directly it has no rows for anybody.
DO $$
DECLARE
    policy RECORD;
BEGIN
    FOR policy IN
        SELECT * FROM pg_policies
        WHERE schemaname = current_schema AND tablename = 'vectors_of_many'
    LOOP
        EXECUTE format(
            'CREATE POLICY %I ON vectors AS %s FOR %s %s %s', policy.policyname, policy.permissive,
            policy.cmd, 'USING (' || policy.qual || ')', 'WITH CHECK (' || policy.with_check || ')'
        );
        EXECUTE format('DROP POLICY %I ON vectors_of_many', policy.policyname);
    END LOOP;
END $$;
ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE vectors FORCE ROW LEVEL SECURITY;
