-- Version 5: what was learned in a project holds in that project.

-- The root of the repository; null: it holds everywhere. A path behind a question mark is the folder
-- of the turn that a memory of an earlier version was learned from: which repository that is, and
-- whether the memory is the repository's, is found out when the Kin is opened (service/parts.py).
ALTER TABLE memories ADD COLUMN place TEXT;
UPDATE memories SET place = '?' || (
    SELECT t.place FROM turns t
    WHERE t.session = memories.session AND t.turn = memories.turn_id AND t.place IS NOT NULL LIMIT 1
) WHERE turn_id IS NOT NULL AND channel = 'extraction';
-- which places there are is asked with every prompt
CREATE INDEX memories_by_place ON memories (place) WHERE place IS NOT NULL;
