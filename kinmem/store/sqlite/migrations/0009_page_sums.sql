-- Version 9: each page ends with a sum, where the driver can write them (page_sums.py). The tables
-- stay as they are; the number keeps a kinmem away that would write pages without their sums.

-- Names of calls that were made under a key held a hash of key and text: what was erased could be
-- guessed. The new names can be cut (store/history.py).
UPDATE history SET batch = 'key-' || hex(randomblob(12))
WHERE batch LIKE 'key-%' AND action = 'created' AND memory_id NOT IN (SELECT id FROM memories);
