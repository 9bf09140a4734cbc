-- Version 8: damage is noticed. The functions that begin with kinmem_ are store/sql/sums.py's: only
-- kinmem can write these tables.

-- Of what matters of each row, computed by the database itself, so that no way of writing can forget
-- it. Texts go in as bytes: a function is not called with text that is no UTF-8. A row that is
-- damaged keeps the sum that tells so, whatever else is written to it; who mends one sets its sum.
ALTER TABLE memories ADD COLUMN sum BLOB;
UPDATE memories SET sum = kinmem_sum(
    CAST(id AS BLOB), CAST(kin AS BLOB), CAST(scope AS BLOB), CAST(content AS BLOB),
    CAST(category AS BLOB), CAST(subject AS BLOB), CAST(source_context AS BLOB),
    CAST(content_hash AS BLOB), CAST(language AS BLOB), importance, confidence, evidence,
    pinned, set_priority, CAST(speaker AS BLOB), CAST(channel AS BLOB), trust, CAST(client AS
    BLOB), CAST(session AS BLOB), CAST(turn_id AS BLOB), CAST(model AS BLOB), CAST(place AS
    BLOB), CAST(occurred_at AS BLOB), CAST(state AS BLOB), CAST(state_at AS BLOB),
    CAST(expires_at AS BLOB), CAST(valid_from AS BLOB), CAST(valid_to AS BLOB),
    CAST(superseded_by AS BLOB), CAST(created_at AS BLOB), CAST(content_updated_at AS BLOB),
    CAST(deleted_at AS BLOB), generation, CAST(manual_tags AS BLOB), CAST(auto_tags AS BLOB),
    CAST(title AS BLOB), CAST(description AS BLOB), CAST(source AS BLOB), CAST(source_ref AS
    BLOB), CAST(metadata AS BLOB), CAST(ingest_metadata AS BLOB), version
);
CREATE TRIGGER memory_summed AFTER INSERT ON memories BEGIN
    UPDATE memories SET sum = kinmem_sum(
        CAST(id AS BLOB), CAST(kin AS BLOB), CAST(scope AS BLOB), CAST(content AS BLOB),
        CAST(category AS BLOB), CAST(subject AS BLOB), CAST(source_context AS BLOB),
        CAST(content_hash AS BLOB), CAST(language AS BLOB), importance, confidence,
        evidence, pinned, set_priority, CAST(speaker AS BLOB), CAST(channel AS BLOB), trust,
        CAST(client AS BLOB), CAST(session AS BLOB), CAST(turn_id AS BLOB), CAST(model AS
        BLOB), CAST(place AS BLOB), CAST(occurred_at AS BLOB), CAST(state AS BLOB),
        CAST(state_at AS BLOB), CAST(expires_at AS BLOB), CAST(valid_from AS BLOB),
        CAST(valid_to AS BLOB), CAST(superseded_by AS BLOB), CAST(created_at AS BLOB),
        CAST(content_updated_at AS BLOB), CAST(deleted_at AS BLOB), generation,
        CAST(manual_tags AS BLOB), CAST(auto_tags AS BLOB), CAST(title AS BLOB),
        CAST(description AS BLOB), CAST(source AS BLOB), CAST(source_ref AS BLOB),
        CAST(metadata AS BLOB), CAST(ingest_metadata AS BLOB), version
    ) WHERE rowid = new.rowid;
END;
CREATE TRIGGER memory_summed_again AFTER UPDATE OF
    id, kin, scope, content, category, subject, source_context, content_hash, language,
    importance, confidence, evidence, pinned, set_priority, speaker, channel, trust, client,
    session, turn_id, model, place, occurred_at, state, state_at, expires_at, valid_from,
    valid_to, superseded_by, created_at, content_updated_at, deleted_at, generation,
    manual_tags, auto_tags, title, description, source, source_ref, metadata, ingest_metadata,
    version
ON memories WHEN new.sum IS old.sum BEGIN
    UPDATE memories SET sum = kinmem_sum(
        CAST(id AS BLOB), CAST(kin AS BLOB), CAST(scope AS BLOB), CAST(content AS BLOB),
        CAST(category AS BLOB), CAST(subject AS BLOB), CAST(source_context AS BLOB),
        CAST(content_hash AS BLOB), CAST(language AS BLOB), importance, confidence,
        evidence, pinned, set_priority, CAST(speaker AS BLOB), CAST(channel AS BLOB), trust,
        CAST(client AS BLOB), CAST(session AS BLOB), CAST(turn_id AS BLOB), CAST(model AS
        BLOB), CAST(place AS BLOB), CAST(occurred_at AS BLOB), CAST(state AS BLOB),
        CAST(state_at AS BLOB), CAST(expires_at AS BLOB), CAST(valid_from AS BLOB),
        CAST(valid_to AS BLOB), CAST(superseded_by AS BLOB), CAST(created_at AS BLOB),
        CAST(content_updated_at AS BLOB), CAST(deleted_at AS BLOB), generation,
        CAST(manual_tags AS BLOB), CAST(auto_tags AS BLOB), CAST(title AS BLOB),
        CAST(description AS BLOB), CAST(source AS BLOB), CAST(source_ref AS BLOB),
        CAST(metadata AS BLOB), CAST(ingest_metadata AS BLOB), version
    ) WHERE rowid = new.rowid AND old.sum IS kinmem_sum(
        CAST(old.id AS BLOB), CAST(old.kin AS BLOB), CAST(old.scope AS BLOB),
        CAST(old.content AS BLOB), CAST(old.category AS BLOB), CAST(old.subject AS BLOB),
        CAST(old.source_context AS BLOB), CAST(old.content_hash AS BLOB), CAST(old.language
        AS BLOB), old.importance, old.confidence, old.evidence, old.pinned,
        old.set_priority, CAST(old.speaker AS BLOB), CAST(old.channel AS BLOB), old.trust,
        CAST(old.client AS BLOB), CAST(old.session AS BLOB), CAST(old.turn_id AS BLOB),
        CAST(old.model AS BLOB), CAST(old.place AS BLOB), CAST(old.occurred_at AS BLOB),
        CAST(old.state AS BLOB), CAST(old.state_at AS BLOB), CAST(old.expires_at AS BLOB),
        CAST(old.valid_from AS BLOB), CAST(old.valid_to AS BLOB), CAST(old.superseded_by AS
        BLOB), CAST(old.created_at AS BLOB), CAST(old.content_updated_at AS BLOB),
        CAST(old.deleted_at AS BLOB), old.generation, CAST(old.manual_tags AS BLOB),
        CAST(old.auto_tags AS BLOB), CAST(old.title AS BLOB), CAST(old.description AS BLOB),
        CAST(old.source AS BLOB), CAST(old.source_ref AS BLOB), CAST(old.metadata AS BLOB),
        CAST(old.ingest_metadata AS BLOB), old.version
    );
END;

ALTER TABLE chunks ADD COLUMN sum BLOB;
UPDATE chunks SET sum = kinmem_sum(
    memory, position, CAST(text AS BLOB), CAST(metadata AS BLOB)
);
CREATE TRIGGER part_summed AFTER INSERT ON chunks BEGIN
    UPDATE chunks SET sum = kinmem_sum(
        memory, position, CAST(text AS BLOB), CAST(metadata AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER part_summed_again AFTER UPDATE OF
    memory, position, text, metadata
ON chunks WHEN new.sum IS old.sum BEGIN
    UPDATE chunks SET sum = kinmem_sum(
        memory, position, CAST(text AS BLOB), CAST(metadata AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        old.memory, old.position, CAST(old.text AS BLOB), CAST(old.metadata AS BLOB)
    );
END;

ALTER TABLE turns ADD COLUMN sum BLOB;
UPDATE turns SET sum = kinmem_sum(
    CAST(session AS BLOB), CAST(turn AS BLOB), CAST(role AS BLOB), CAST(part AS BLOB), CAST(text
    AS BLOB), CAST(speaker AS BLOB), CAST(tool AS BLOB), CAST(spill AS BLOB), CAST(client AS
    BLOB), CAST(place AS BLOB), CAST(said_at AS BLOB)
);
CREATE TRIGGER message_summed AFTER INSERT ON turns BEGIN
    UPDATE turns SET sum = kinmem_sum(
        CAST(session AS BLOB), CAST(turn AS BLOB), CAST(role AS BLOB), CAST(part AS BLOB),
        CAST(text AS BLOB), CAST(speaker AS BLOB), CAST(tool AS BLOB), CAST(spill AS BLOB),
        CAST(client AS BLOB), CAST(place AS BLOB), CAST(said_at AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER message_summed_again AFTER UPDATE OF
    session, turn, role, part, text, speaker, tool, spill, client, place, said_at
ON turns WHEN new.sum IS old.sum BEGIN
    UPDATE turns SET sum = kinmem_sum(
        CAST(session AS BLOB), CAST(turn AS BLOB), CAST(role AS BLOB), CAST(part AS BLOB),
        CAST(text AS BLOB), CAST(speaker AS BLOB), CAST(tool AS BLOB), CAST(spill AS BLOB),
        CAST(client AS BLOB), CAST(place AS BLOB), CAST(said_at AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        CAST(old.session AS BLOB), CAST(old.turn AS BLOB), CAST(old.role AS BLOB),
        CAST(old.part AS BLOB), CAST(old.text AS BLOB), CAST(old.speaker AS BLOB),
        CAST(old.tool AS BLOB), CAST(old.spill AS BLOB), CAST(old.client AS BLOB),
        CAST(old.place AS BLOB), CAST(old.said_at AS BLOB)
    );
END;

-- Each line of the history is chained to the one before it. The seal of a line is a salt, the sum of
-- the salted line, its link, and, if it was rewritten, one byte more; see sums.py.
ALTER TABLE history ADD COLUMN seal BLOB;
-- Lines that are gone, as stretches: what was erased must not break the chain.
CREATE TABLE erased_lines (
    last  INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    link  BLOB NOT NULL                      -- of the last of them
);
-- in the order of the lines, which an UPDATE does not promise
CREATE TABLE sealing (seq INTEGER PRIMARY KEY, seal BLOB);
CREATE TRIGGER sealing_next AFTER INSERT ON sealing BEGIN
    UPDATE sealing SET seal = (
        SELECT kinmem_seal(
            (SELECT substr(seal, 33, 16) FROM sealing WHERE seq < new.seq ORDER BY seq DESC LIMIT 1),
            CAST(h.at AS BLOB), CAST(h.kin AS BLOB), CAST(h.memory_id AS BLOB),
            CAST(h.action AS BLOB), CAST(h.before AS BLOB), CAST(h.after AS BLOB),
            CAST(h.reason AS BLOB), CAST(h.batch AS BLOB), h.write, CAST(h.reverts AS
            BLOB)
        ) FROM history h WHERE h.seq = new.seq
    ) WHERE seq = new.seq;
END;
INSERT INTO sealing (seq) SELECT seq FROM history ORDER BY seq;
UPDATE history SET seal = (SELECT s.seal FROM sealing s WHERE s.seq = history.seq);
DROP TABLE sealing;
CREATE TRIGGER line_sealed AFTER INSERT ON history BEGIN
    UPDATE history SET seal = kinmem_seal(
        coalesce(
            (SELECT link FROM erased_lines WHERE last = new.seq - 1),
            (SELECT substr(seal, 33, 16) FROM history WHERE seq < new.seq ORDER BY seq DESC LIMIT 1)
        ),
        CAST(at AS BLOB), CAST(kin AS BLOB), CAST(memory_id AS BLOB), CAST(action AS BLOB),
        CAST(before AS BLOB), CAST(after AS BLOB), CAST(reason AS BLOB), CAST(batch AS
        BLOB), write, CAST(reverts AS BLOB)
    ) WHERE seq = new.seq;
END;
CREATE TRIGGER line_rewritten AFTER UPDATE OF
    at, kin, memory_id, action, before, after, reason, batch, write, reverts
ON history WHEN new.seal IS old.seal BEGIN
    UPDATE history SET seal = kinmem_rewrite(
        old.seal,
        CAST(at AS BLOB), CAST(kin AS BLOB), CAST(memory_id AS BLOB), CAST(action AS BLOB),
        CAST(before AS BLOB), CAST(after AS BLOB), CAST(reason AS BLOB), CAST(batch AS
        BLOB), write, CAST(reverts AS BLOB)
    ) WHERE seq = new.seq;
END;
CREATE TRIGGER line_erased AFTER DELETE ON history WHEN old.seal IS NOT NULL BEGIN
    INSERT INTO erased_lines (last, count, link) VALUES (
        old.seq,
        1 + coalesce((SELECT count FROM erased_lines WHERE last = old.seq - 1), 0),
        substr(old.seal, 33, 16)
    );
    DELETE FROM erased_lines WHERE last = old.seq - 1;
    -- the stretch right behind it takes in the one that ends here
    UPDATE erased_lines
    SET count = count + (SELECT count FROM erased_lines WHERE last = old.seq)
    WHERE last = (SELECT min(last) FROM erased_lines WHERE last > old.seq)
        AND last - count = old.seq;
    DELETE FROM erased_lines
    WHERE last = old.seq AND EXISTS (
        SELECT 1 FROM erased_lines
        WHERE last = (SELECT min(last) FROM erased_lines WHERE last > old.seq)
            AND last - count < old.seq
    );
END;
