-- What gave way to a memory is asked for by its page and its timeline, which read every row for it.
CREATE INDEX memories_superseded ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
