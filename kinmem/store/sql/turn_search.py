"""What was said, found by words and by meaning. See Transcript; an engine's triggers keep it so."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from kinmem.errors import StoreError
from kinmem.models import (
    TURN,
    Asked,
    Candidate,
    Coverage,
    Filters,
    Found,
    Pending,
    Vector,
    Vectors,
    id_of_message,
)
from kinmem.models.turns import Message
from kinmem.store.sessions import Learned
from kinmem.store.sql.chunk_queue import by_text
from kinmem.store.sql.damage import Row, again, readable
from kinmem.store.sql.database import embedder_of, state_of
from kinmem.store.sql.forgetting import restates
from kinmem.store.sql.hybrid_search import Listing, Sought, all_of, any_of
from kinmem.store.sql.memory_rows import ALL, IN_NUMBERS, IS_LIVE, RAISE, time_text
from kinmem.store.sql.sharing import Files
from kinmem.store.sql.turn_queue import TurnQueue, TurnWords
from kinmem.store.sql.turn_rows import OF_TURN, message_of

# Characters of a message that scoring reads.
READ = 4000
# Parts that are requested for each message that is wanted.
EXPECTED = 3
# Time during which a prompt without any reply counts as not answered yet.
OPEN = timedelta(hours=1)

NONE = "SELECT 0 AS number, 0.0 AS better, 0 AS has_all WHERE FALSE"
IS_OVER = """
    NOT (m.role = 'user' AND m.said_at > :recent AND NOT EXISTS (
        SELECT 1 FROM turn_neighbours n WHERE n.turn = m.id AND n.next IS NOT NULL
    ))
    """
SEARCH = f"""
    WITH listed AS MATERIALIZED ({{listed}})
    SELECT number, better{", NULL" * 6} FROM listed
    UNION ALL
    SELECT m.id, NULL, substr(m.text, 1, {READ}), w.context, coalesce(m.speaker, m.role), m.said_at,
        w.evidence, w.doubtful
    FROM (
        SELECT number FROM (
            SELECT number FROM listed ORDER BY better DESC LIMIT :matching
        ) best
        UNION SELECT value FROM NUMBERED(:ids) near
    ) wanted ORDERED JOIN turns m ON m.id = wanted.number
    ORDERED JOIN turn_words w ON w.rowid = m.id
    WHERE {{allowed}} AND {IS_OVER}
    """
REPLIES = f"""
    SELECT {OF_TURN}, n.turn FROM turn_neighbours n
    JOIN turns m ON m.id = n.next JOIN turns asked ON asked.id = n.turn
    WHERE n.turn {IN_NUMBERS} AND {{allowed}} AND {IS_OVER}
        AND (m.role != asked.role OR coalesce(m.speaker, '') != coalesce(asked.speaker, ''))
    """
# What became of what was learned from turns or repeated in them, and what lies in the bin.
LEARNED = f"""
    SELECT t.session, t.turn, m.state, m.speaker, NULL
    FROM PAIRED(:turns) asked ORDERED JOIN memory_turns t
        ON t.session = asked.one AND t.turn = asked.other
    ORDERED JOIN memories m ON m.rowid = t.memory
    UNION ALL
    SELECT r.session, r.turn, m.state, r.role, NULL
    FROM PAIRED(:turns) asked ORDERED JOIN repetitions r
        ON r.session = asked.one AND r.turn = asked.other
    ORDERED JOIN memories m ON m.id = r.memory
    UNION ALL
    SELECT NULL, NULL, d.state, NULL, d.content FROM memories d
    WHERE d.deleted_at IS NOT NULL AND d.state = 'deleted' AND NOT EXISTS (
        SELECT 1 FROM memories m WHERE m.content_hash = d.content_hash AND {IS_LIVE}
    )
    """


class SqlTranscript:
    """See Transcript."""

    def __init__(self, files: Files, words: TurnWords, vectors: TurnQueue) -> None:
        self._files = files
        self._database = files.own.database
        self._vectors = vectors
        self._words = words
        self.waiting = words.waiting
        self.index = words.index

    # searching

    def search(self, asked: Asked, filters: Filters, session: str | None = None) -> Found:
        if not state_of(self._database).has_turns:
            return Found([], {}, [], {})
        allowed, bound = _conditions(filters, session)
        nearest: list[int] = []
        if asked.vector is not None:
            nearest = self._nearest(asked.vector, asked, allowed, bound)
        matches, candidates = self._read(asked, nearest, allowed, bound)
        cosines: Mapping[int, list[float]] = {}
        if asked.vector is not None:
            cosines = self._cosines(asked.vector, asked.embedder, candidates)
        return Found(
            list(candidates.values()),
            {id_of_message(turn): near for turn, near in cosines.items()},
            [id_of_message(turn) for turn in nearest if turn in candidates],
            {id_of_message(turn): score for turn, score in matches.items() if turn in candidates},
        )

    def _nearest(
        self, vector: Vector, asked: Asked, allowed: str | None, bound: Mapping[str, Any]
    ) -> list[int]:
        """Return the numbers of the nearest messages, nearest first. `allowed` is a condition on
        `turns m`."""
        known = embedder_of(self._database, asked.embedder)
        if known is None:
            return []
        limit = EXPECTED * asked.nearest
        turns = self._vectors.nearest_parts(known, vector, limit, allowed, bound)
        return list(dict.fromkeys(turns))[: asked.nearest]

    def _cosines(
        self, vector: Vector, embedder: str, turns: Collection[int]
    ) -> dict[int, list[float]]:
        """Return the cosines of each message's parts, in text order; no key if there are no
        vectors."""
        known = embedder_of(self._database, embedder)
        if known is None or not turns:
            return {}
        result: dict[int, list[float]] = {}
        for turn, cosine in self._vectors.part_cosines(known, vector, turns):
            result.setdefault(turn, []).append(cosine)
        return result

    def _read(
        self, asked: Asked, nearest: Sequence[int], allowed: str | None, bound: Mapping[str, Any]
    ) -> tuple[dict[int, float], dict[int, Candidate]]:
        """Return BM25 by number of a message, best first; and the candidates: the best of those,
        and the nearest."""
        wanted = {
            **bound,
            "matching": asked.matching,
            "ids": json.dumps(nearest),
            "recent": time_text(self._files.clock() - OPEN),
        }
        tried = [any_of(asked.words)]
        if asked.all_words_first and tried[0].terms:
            tried.insert(0, all_of(asked.words, beginnings=True))
        for sought in tried:
            rows = self._matching(Listing(sought, asked.context, asked.listed, 0, allowed), wanted)
            matches = {row[0]: row[1] for row in rows if row[1] is not None}
            if matches:
                break
        candidates = {
            turn: self._candidate(turn, *told) for turn, better, *told in rows if better is None
        }
        return matches, candidates

    def _matching(self, listing: Listing, bound: Mapping[str, Any]) -> list[Row]:
        """Run the statement; without words if their index is damaged."""
        has_terms = bool(listing.sought.terms)
        listed, more = self._words.listed(listing) if has_terms else (NONE, {})
        sql = SEARCH.format(listed=listed, allowed=listing.allowed or "TRUE")
        try:
            return self._database.rows(sql, {**bound, **more})
        except StoreError as error:
            if not has_terms or error.code != "storage_damaged":
                raise
            self._database.damage.note("turn_words", None, str(error))
            return self._matching(replace(listing, sought=Sought(())), bound)

    def _candidate(
        self,
        turn: int,
        text: str,
        context: str,
        speaker: str,
        said_at: str,
        worth: float,
        doubtful: int,
    ) -> Candidate:
        return Candidate(
            id=id_of_message(turn),
            content=text,
            source_context=context or None,
            category="context",
            subject=None,
            speaker=speaker,
            kin=self._files.kin,
            scope="private",
            state="active",
            importance=None,
            confidence=1.0,
            trust=0.0 if doubtful else 1.0,
            evidence=worth,
            recalled_count=0,
            said_at=said_at,
            content_updated_at=said_at,
            recalled_at=None,
        )

    # reading

    def messages(self, ids: Collection[str]) -> dict[str, Message]:
        rows = self._database.rows(
            f"SELECT {OF_TURN} FROM turns m WHERE m.id {IN_NUMBERS}", _of(ids)
        )
        found = readable(rows, message_of, "turns", self._database.damage)
        return {id_of_message(message.id): message for message in found}

    def replies(
        self, ids: Collection[str], filters: Filters, session: str | None = None
    ) -> dict[str, Message]:
        allowed, bound = _conditions(filters, session)
        wanted = {**bound, **_of(ids), "recent": time_text(self._files.clock() - OPEN)}
        rows = self._database.rows(REPLIES.format(allowed=allowed or "TRUE"), wanted)
        found = readable(rows, _reply, "turns", self._database.damage)
        return {id_of_message(turn): message for turn, message in found}

    def learned(self, messages: Collection[Message]) -> Mapping[int, Sequence[Learned]]:
        turns = {(one.session, one.turn) for one in messages}
        found: dict[tuple[str, str], list[Learned]] = {}
        forgotten: list[tuple[str, Learned]] = []
        bound = {"turns": json.dumps(list(turns))}
        for session, turn, state, who, text in self._database.rows(LEARNED, bound) if turns else ():
            if text is None:
                found.setdefault((session, turn), []).append(Learned(state, who))
            else:
                forgotten.append((text, Learned(state, None)))
        return {
            one.id: [
                *found.get((one.session, one.turn), ()),
                *(told for text, told in forgotten if restates(one.text, text)),
            ]
            for one in messages
        }

    # leaving

    def drop(self, before: datetime, limit: int | None = None) -> int:
        bound = {"before": time_text(before), "limit": ALL if limit is None else limit}
        with self._database.writing() as db:
            dropped = db.run(
                f"DELETE FROM turns WHERE id IN (SELECT id FROM turns WHERE {OLD} LIMIT :limit)",
                bound,
            )
            if dropped:
                db.run(
                    "DELETE FROM snapshots WHERE created_at < :before AND NOT EXISTS"
                    " (SELECT 1 FROM turns WHERE turns.session = snapshots.session)",
                    {"before": bound["before"]},
                )
                db.run(RAISE)
        return dropped

    def old(self, before: datetime) -> int:
        bound = {"before": time_text(before)}
        return int(self._database.rows(f"SELECT count(*) FROM turns WHERE {OLD}", bound)[0][0])

    # vectors

    def enroll(self, embedder: str, dimension: int) -> None:
        self._files.own.vectors.enroll(embedder, dimension)

    def coverage(self) -> list[Coverage]:
        return sorted(self._vectors.coverage(), key=lambda one: -one.share)

    def is_filled(self, embedder: str) -> bool:
        known = state_of(self._database).embedders.get(embedder)
        if known is None:
            return not self._database.rows("SELECT 1 FROM turn_chunks LIMIT 1")
        return known.turns_are_filled

    def pending(self, embedder: str, limit: int) -> list[Pending]:
        return self._vectors.pending(embedder, limit)

    @again
    def vectors_of(self, embedder: str, ids: Collection[str]) -> dict[str, dict[str, Vector]]:
        numbers = [int(id.removeprefix(TURN)) for id in ids]
        rows = self._vectors.texts(embedder, numbers)
        return by_text((id_of_message(turn), text, vector) for turn, text, vector in rows)

    def fill(self, embedder: str, chunks: Sequence[Pending], vectors: Vectors) -> None:
        with self._database.writing() as db:
            if self._vectors.put(db, embedder, [one.chunk for one in chunks], vectors):
                db.run(RAISE)

    def close(self) -> None:
        """Stop loading and release what is in memory."""
        self._vectors.close()


OLD = (
    "said_at < :before AND (learned_at IS NOT NULL OR parked OR role = 'system')"
    " AND NOT EXISTS (SELECT 1 FROM turns w WHERE w.session = turns.session"
    " AND w.turn = turns.turn AND w.learned_at IS NULL AND NOT w.parked AND w.role != 'system')"
)


def _of(ids: Collection[str]) -> dict[str, Any]:
    """Return the numbers of messages as IN_NUMBERS takes them; others' ids are left out."""
    turns = [id.removeprefix(TURN) for id in ids if id.startswith(TURN)]
    return {"ids": json.dumps([int(turn) for turn in turns if turn.isascii() and turn.isdigit()])}


def _reply(row: Row) -> tuple[int, Message]:
    return row[-1], message_of(row[:-1])


def _conditions(filters: Filters, session: str | None) -> tuple[str | None, dict[str, Any]]:
    """Return times and session as a condition on `turns m` (None if there are none), and its
    bindings."""
    parts, bound = [], {}
    latest = min(filter(None, (filters.until, filters.as_of)), default=None)
    if filters.since:
        parts.append("m.said_at >= :since")
        bound["since"] = time_text(filters.since)
    if latest:
        parts.append("m.said_at < :until")
        bound["until"] = time_text(latest)
    if session is not None:
        parts.append("m.session = :session")
        bound["session"] = session
    return " AND ".join(parts) or None, bound
