-- Version 12: how likely a conflict is stands in a column of its own. Until now whoever asked read it out of the
-- reason, where it stands in brackets: judged to have taken its place (0.72).
ALTER TABLE conflicts ADD COLUMN chance REAL; -- NULL: the form of the texts tells it
UPDATE conflicts SET chance = CAST(substr(reason, instr(reason, '(0.') + 1, 4) AS REAL)
WHERE reason GLOB '*(0.[0-9][0-9])*';
UPDATE conflicts SET chance = 1.0 WHERE chance IS NULL AND reason LIKE '%(1.00)%';
