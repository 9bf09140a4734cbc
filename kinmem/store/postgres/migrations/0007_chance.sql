-- Version 7: how likely a conflict is stands in a column of its own. Until now whoever asked read it out of the
-- reason, where it stands in brackets: judged to have taken its place (0.72).
ALTER TABLE conflicts ADD COLUMN chance DOUBLE PRECISION; -- NULL: the form of the texts tells it
-- Rows of all Kins, which the owner of a table sees only while its policies do not bind him.
ALTER TABLE conflicts NO FORCE ROW LEVEL SECURITY;
UPDATE conflicts SET chance = substring(reason FROM '\((\d\.\d\d)\)')::DOUBLE PRECISION;
ALTER TABLE conflicts FORCE ROW LEVEL SECURITY;
