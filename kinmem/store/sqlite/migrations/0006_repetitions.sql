-- Version 6: what a turn repeats of a memory that was not learned from it, in whatever words.

-- Written by learning, in the Kin's own file: what a turn says goes with the memory that it repeats.
CREATE TABLE repetitions (
    session TEXT NOT NULL,
    turn    TEXT NOT NULL,
    memory  TEXT NOT NULL,                   -- an id, not a reference: it may be in the other file
    role    TEXT NOT NULL,                   -- of who repeats it
    PRIMARY KEY (session, turn, memory, role)
) WITHOUT ROWID;
CREATE INDEX repetitions_of_memory ON repetitions (memory);
CREATE TRIGGER repetitions_of_renamed AFTER UPDATE OF session, turn ON turns
WHEN new.session IS NOT old.session OR new.turn IS NOT old.turn
BEGIN
    UPDATE OR REPLACE repetitions SET session = new.session, turn = new.turn
    WHERE session = old.session AND turn = old.turn;
END;
CREATE TRIGGER repetitions_of_deleted AFTER DELETE ON turns
WHEN NOT EXISTS (SELECT 1 FROM turns WHERE session = old.session AND turn = old.turn)
BEGIN
    DELETE FROM repetitions WHERE session = old.session AND turn = old.turn;
END;
