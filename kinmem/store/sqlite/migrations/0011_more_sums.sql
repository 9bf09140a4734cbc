-- Version 11: what had no sum has one: vectors, which are most of a file, and rows that are made from
-- memories and turns. Without, a changed bit in them was found only where it disagreed with an index.

-- The vectors of memories are in tables of vec0, which have no triggers: whoever stores one stores its
-- sum. What was stored before gets it in housekeeping; until then it is taken as it is.
CREATE TABLE vector_sums (
    chunk    INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    embedder INTEGER NOT NULL REFERENCES embedders (id) ON DELETE CASCADE,
    sum      BLOB NOT NULL,
    PRIMARY KEY (chunk, embedder)
) WITHOUT ROWID;
ALTER TABLE turn_vectors ADD COLUMN sum BLOB;
UPDATE turn_vectors SET sum = kinmem_sum(
    embedder, chunk, embedding
);

-- As in version 8.
DROP TRIGGER link_of_shared_changed; -- a sum is nothing to publish
CREATE TRIGGER link_of_shared_changed AFTER UPDATE OF
    source, target, relation, kin, weight, confidence, evidence, verified_at, origin, created_at
ON links BEGIN
    INSERT INTO unpublished
    SELECT id FROM memories WHERE id IN (new.source, new.target) AND scope = 'shared';
END;
ALTER TABLE links ADD COLUMN sum BLOB;
UPDATE links SET sum = kinmem_sum(
    CAST(source AS BLOB), CAST(target AS BLOB), CAST(relation AS BLOB), CAST(kin AS BLOB), weight,
    confidence, CAST(evidence AS BLOB), CAST(verified_at AS BLOB), CAST(origin AS BLOB),
    CAST(created_at AS BLOB)
);
CREATE TRIGGER link_summed AFTER INSERT ON links BEGIN
    UPDATE links SET sum = kinmem_sum(
        CAST(source AS BLOB), CAST(target AS BLOB), CAST(relation AS BLOB), CAST(kin AS BLOB),
        weight, confidence, CAST(evidence AS BLOB), CAST(verified_at AS BLOB), CAST(origin AS BLOB),
        CAST(created_at AS BLOB)
    ) WHERE source = new.source AND target = new.target AND relation = new.relation AND kin = new.kin;
END;
CREATE TRIGGER link_summed_again AFTER UPDATE OF
    source, target, relation, kin, weight, confidence, evidence, verified_at, origin, created_at
ON links WHEN new.sum IS old.sum BEGIN
    UPDATE links SET sum = kinmem_sum(
        CAST(source AS BLOB), CAST(target AS BLOB), CAST(relation AS BLOB), CAST(kin AS BLOB),
        weight, confidence, CAST(evidence AS BLOB), CAST(verified_at AS BLOB), CAST(origin AS BLOB),
        CAST(created_at AS BLOB)
    ) WHERE source = new.source AND target = new.target AND relation = new.relation AND kin = new.kin
    AND old.sum IS kinmem_sum(
        CAST(old.source AS BLOB), CAST(old.target AS BLOB), CAST(old.relation AS BLOB), CAST(old.kin
        AS BLOB), old.weight, old.confidence, CAST(old.evidence AS BLOB), CAST(old.verified_at AS
        BLOB), CAST(old.origin AS BLOB), CAST(old.created_at AS BLOB)
    );
END;

DROP TRIGGER named_by_shared_changed; -- a sum is nothing to publish
CREATE TRIGGER named_by_shared_changed AFTER UPDATE OF
    name, type, metadata, folded
ON entities BEGIN
    INSERT INTO unpublished
    SELECT m.id FROM memory_entities a JOIN memories m ON m.rowid = a.memory
    WHERE a.entity = new.id AND m.scope = 'shared';
END;
ALTER TABLE entities ADD COLUMN sum BLOB;
UPDATE entities SET sum = kinmem_sum(
    CAST(name AS BLOB), CAST(type AS BLOB), CAST(metadata AS BLOB), CAST(folded AS BLOB)
);
CREATE TRIGGER entity_summed AFTER INSERT ON entities BEGIN
    UPDATE entities SET sum = kinmem_sum(
        CAST(name AS BLOB), CAST(type AS BLOB), CAST(metadata AS BLOB), CAST(folded AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER entity_summed_again AFTER UPDATE OF
    name, type, metadata, folded
ON entities WHEN new.sum IS old.sum BEGIN
    UPDATE entities SET sum = kinmem_sum(
        CAST(name AS BLOB), CAST(type AS BLOB), CAST(metadata AS BLOB), CAST(folded AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        CAST(old.name AS BLOB), CAST(old.type AS BLOB), CAST(old.metadata AS BLOB), CAST(old.folded
        AS BLOB)
    );
END;

ALTER TABLE relations ADD COLUMN sum BLOB;
UPDATE relations SET sum = kinmem_sum(
    memory, source, CAST(relation AS BLOB), target, chunk, CAST(origin AS BLOB), confidence,
    CAST(verified_at AS BLOB)
);
CREATE TRIGGER relation_summed AFTER INSERT ON relations BEGIN
    UPDATE relations SET sum = kinmem_sum(
        memory, source, CAST(relation AS BLOB), target, chunk, CAST(origin AS BLOB), confidence,
        CAST(verified_at AS BLOB)
    ) WHERE memory = new.memory AND source = new.source AND relation = new.relation AND target =
    new.target;
END;
CREATE TRIGGER relation_summed_again AFTER UPDATE OF
    memory, source, relation, target, chunk, origin, confidence, verified_at
ON relations WHEN new.sum IS old.sum BEGIN
    UPDATE relations SET sum = kinmem_sum(
        memory, source, CAST(relation AS BLOB), target, chunk, CAST(origin AS BLOB), confidence,
        CAST(verified_at AS BLOB)
    ) WHERE memory = new.memory AND source = new.source AND relation = new.relation AND target =
    new.target AND old.sum IS kinmem_sum(
        old.memory, old.source, CAST(old.relation AS BLOB), old.target, old.chunk, CAST(old.origin
        AS BLOB), old.confidence, CAST(old.verified_at AS BLOB)
    );
END;

ALTER TABLE summaries ADD COLUMN sum BLOB;
UPDATE summaries SET sum = kinmem_sum(
    memory, chunk, CAST(scope AS BLOB), CAST(text AS BLOB), CAST(model AS BLOB), tokens,
    CAST(created_at AS BLOB), CAST(tier AS BLOB)
);
CREATE TRIGGER summary_summed AFTER INSERT ON summaries BEGIN
    UPDATE summaries SET sum = kinmem_sum(
        memory, chunk, CAST(scope AS BLOB), CAST(text AS BLOB), CAST(model AS BLOB), tokens,
        CAST(created_at AS BLOB), CAST(tier AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER summary_summed_again AFTER UPDATE OF
    memory, chunk, scope, text, model, tokens, created_at, tier
ON summaries WHEN new.sum IS old.sum BEGIN
    UPDATE summaries SET sum = kinmem_sum(
        memory, chunk, CAST(scope AS BLOB), CAST(text AS BLOB), CAST(model AS BLOB), tokens,
        CAST(created_at AS BLOB), CAST(tier AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        old.memory, old.chunk, CAST(old.scope AS BLOB), CAST(old.text AS BLOB), CAST(old.model AS
        BLOB), old.tokens, CAST(old.created_at AS BLOB), CAST(old.tier AS BLOB)
    );
END;

ALTER TABLE snapshots ADD COLUMN sum BLOB;
UPDATE snapshots SET sum = kinmem_sum(
    CAST(session AS BLOB), CAST(summary AS BLOB), CAST(model AS BLOB), first, last, seen, turns,
    depth, CAST(created_at AS BLOB)
);
CREATE TRIGGER snapshot_summed AFTER INSERT ON snapshots BEGIN
    UPDATE snapshots SET sum = kinmem_sum(
        CAST(session AS BLOB), CAST(summary AS BLOB), CAST(model AS BLOB), first, last, seen, turns,
        depth, CAST(created_at AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER snapshot_summed_again AFTER UPDATE OF
    session, summary, model, first, last, seen, turns, depth, created_at
ON snapshots WHEN new.sum IS old.sum BEGIN
    UPDATE snapshots SET sum = kinmem_sum(
        CAST(session AS BLOB), CAST(summary AS BLOB), CAST(model AS BLOB), first, last, seen, turns,
        depth, CAST(created_at AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        CAST(old.session AS BLOB), CAST(old.summary AS BLOB), CAST(old.model AS BLOB), old.first,
        old.last, old.seen, old.turns, old.depth, CAST(old.created_at AS BLOB)
    );
END;

ALTER TABLE tier_changes ADD COLUMN sum BLOB;
UPDATE tier_changes SET sum = kinmem_sum(
    CAST(memory_id AS BLOB), CAST(from_tier AS BLOB), CAST(to_tier AS BLOB), CAST(reason AS BLOB),
    CAST(at AS BLOB)
);
CREATE TRIGGER move_summed AFTER INSERT ON tier_changes BEGIN
    UPDATE tier_changes SET sum = kinmem_sum(
        CAST(memory_id AS BLOB), CAST(from_tier AS BLOB), CAST(to_tier AS BLOB), CAST(reason AS
        BLOB), CAST(at AS BLOB)
    ) WHERE id = new.id;
END;
CREATE TRIGGER move_summed_again AFTER UPDATE OF
    memory_id, from_tier, to_tier, reason, at
ON tier_changes WHEN new.sum IS old.sum BEGIN
    UPDATE tier_changes SET sum = kinmem_sum(
        CAST(memory_id AS BLOB), CAST(from_tier AS BLOB), CAST(to_tier AS BLOB), CAST(reason AS
        BLOB), CAST(at AS BLOB)
    ) WHERE id = new.id AND old.sum IS kinmem_sum(
        CAST(old.memory_id AS BLOB), CAST(old.from_tier AS BLOB), CAST(old.to_tier AS BLOB),
        CAST(old.reason AS BLOB), CAST(old.at AS BLOB)
    );
END;
