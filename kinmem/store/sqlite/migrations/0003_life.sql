-- Version 3: memories have a life.

-- Null: since created_at.
ALTER TABLE memories ADD COLUMN state_at TEXT;
-- What a person has set; priority itself is computed.
ALTER TABLE memories ADD COLUMN set_priority REAL CHECK (set_priority BETWEEN 0 AND 1);
