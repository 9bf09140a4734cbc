"""What was said, found by words and by meaning. See Transcript; 0004_transcript.sql keeps it true.

Whatever changes a message takes its entries out of the indexes at once and lets it wait; what waits
is indexed here. So nothing is ever found by a text that is not there any more.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import apsw

from kinmem.language.evidence import evidence
from kinmem.language.orders.instructions import commands
from kinmem.language.time.when import spoken_date
from kinmem.models import ROLES, TURN, Asked, Candidate, Coverage, Filters, Found, Pending, Vectors
from kinmem.store.sessions import Cut, Learned
from kinmem.store.sqlite.erasing import ERASED, Turn, repeated_in, restates
from kinmem.store.sqlite.queries import (
    IN_IDS,
    IS_LIVE,
    RAISE,
    match_all,
    match_any,
    spread,
    time_text,
)
from kinmem.store.sqlite.sharing import KinFiles
from kinmem.store.sqlite.turn_rows import MESSAGE, message_of
from kinmem.store.sqlite.turn_vectors import TurnVectors
from kinmem.turns import Message

NEIGHBOUR = 200
"""Characters of each neighbour that are read with a message."""
READ = 4000
"""Characters of a message that scoring reads."""
MOST_PARTS = 12
"""Of one message that get a vector: what is longer was pasted, and its words find it."""
OPEN = timedelta(hours=1)
"""For which a prompt that nothing has followed is being answered."""

ANY = """
    SELECT rowid, -bm25(turn_words, 1.0, :weight) AS better FROM turn_words
    WHERE turn_words MATCH :words ORDER BY better DESC LIMIT :limit
    """
ALLOWED = """
    SELECT m.id, -bm25(turn_words, 1.0, :weight) AS better
    FROM turn_words CROSS JOIN turns m ON m.id = turn_words.rowid
    WHERE turn_words MATCH :words AND {} ORDER BY better DESC LIMIT :limit
    """
IS_OVER = """
    NOT (m.role = 'user' AND m.said_at > :recent AND NOT EXISTS (
        SELECT 1 FROM turn_neighbours n WHERE n.turn = m.id AND n.next IS NOT NULL
    ))
    """
CANDIDATE = f"""
    SELECT m.id, substr(m.text, 1, {READ}), w.context, coalesce(m.speaker, m.role), m.said_at,
        w.evidence, w.doubtful
    FROM turns m CROSS JOIN turn_words w ON w.rowid = m.id
    WHERE m.id {IN_IDS} AND {{}}
    """
WITH_NEIGHBOURS = f"""
    SELECT m.*, (SELECT substr(text, 1, {NEIGHBOUR}) FROM turns WHERE id = n.previous),
        (SELECT substr(text, 1, {NEIGHBOUR}) FROM turns WHERE id = n.next)
    FROM turns_to_index i CROSS JOIN turns m ON m.id = i.turn
    CROSS JOIN turn_neighbours n ON n.turn = m.id
    WHERE {{}}
    """
LATEST = "i.turn IN (SELECT turn FROM turns_to_index ORDER BY turn DESC LIMIT :limit)"


@dataclass(frozen=True)
class _Entry:
    """What the indexes hold of a message."""

    message: Message
    content: str
    context: str
    evidence: float
    doubtful: bool
    parts: Sequence[str]


class SqliteTranscript:
    """See Transcript."""

    def __init__(self, files: KinFiles) -> None:
        self._files = files
        self._database = files.own.database
        self._vectors = TurnVectors(self._database)

    # indexing

    def waiting(self) -> int:
        return int(self._database.rows("SELECT count(*) FROM turns_to_index")[0][0])

    def index(self, limit: int, cut: Cut) -> int:
        rows = self._waiting_rows(limit)
        entries = {row: _entry(row, cut) for row in rows}
        if rows:
            with self._database.writing() as db:
                ids = json.dumps([message.id for message, _ in rows])
                # As they are now: what was erased meanwhile must not come back.
                for row in self._rows_of(db, f"m.id {IN_IDS}", {"ids": ids}):
                    if row in entries:
                        _put(db, row[0], entries[row])
                db.execute(RAISE)
        return len(rows)

    def _waiting_rows(self, limit: int) -> list[tuple[Message, str]]:
        """The latest, and what stands before each: it is indexed with what follows it."""
        with self._database.reading() as db:
            return self._rows_of(db, LATEST, {"limit": limit})

    def _rows_of(
        self, db: apsw.Connection, which: str, bound: Mapping[str, Any]
    ) -> list[tuple[Message, str]]:
        columns = ", ".join(f"m.{name}" for name in MESSAGE)
        sql = WITH_NEIGHBOURS.format(which).replace("m.*", columns)
        rows: Any = db.execute(sql, bound).fetchall()
        return [
            (message_of(row[:-2]), "\n".join(text for text in row[-2:] if text)) for row in rows
        ]

    # searching

    def search(self, asked: Asked, filters: Filters, session: str | None = None) -> Found:
        allowed, bound = _conditions(filters, session)
        matches = dict(self._matching(asked, allowed, bound))
        nearest: list[int] = []
        if asked.vector is not None:
            nearest = self._vectors.nearest(
                asked.vector, asked.embedder, asked.nearest, allowed, bound
            )
        listed = [*nearest, *list(matches)[: asked.matching]]
        candidates = self._candidates(dict.fromkeys(listed), allowed, bound)
        cosines: Mapping[int, list[float]] = {}
        if asked.vector is not None:
            cosines = self._vectors.cosines(asked.vector, asked.embedder, candidates)
        return Found(
            list(candidates.values()),
            {_id(turn): near for turn, near in cosines.items()},
            [_id(turn) for turn in nearest if turn in candidates],
            {_id(turn): score for turn, score in matches.items() if turn in candidates},
        )

    def _matching(
        self, asked: Asked, allowed: str | None, bound: Mapping[str, Any]
    ) -> list[tuple[int, float]]:
        """(number, BM25, higher is better), best first."""
        any_of = match_any(asked.words)
        if not any_of:
            return []
        sql = ANY if allowed is None else ALLOWED.format(allowed)
        wanted = {**bound, "weight": asked.context, "limit": asked.listed}
        if asked.all_words_first:
            beginnings = match_all(asked.words, beginnings=True)
            if found := self._database.rows(sql, {**wanted, "words": beginnings}):
                return found
        return self._database.rows(sql, {**wanted, "words": any_of})

    def _candidates(
        self, turns: Iterable[int], allowed: str | None, bound: Mapping[str, Any]
    ) -> dict[int, Candidate]:
        where = IS_OVER if allowed is None else f"{allowed} AND {IS_OVER}"
        recent = time_text(self._files.clock() - OPEN)
        rows = self._database.rows(
            CANDIDATE.format(where), {**bound, "ids": json.dumps(list(turns)), "recent": recent}
        )
        return {row[0]: self._candidate(*row) for row in rows}

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
            id=_id(turn),
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
        turns = [id.removeprefix(TURN) for id in ids if id.startswith(TURN)]
        wanted = [int(turn) for turn in turns if turn.isascii() and turn.isdigit()]
        columns = ", ".join(MESSAGE)
        rows = self._database.rows(
            f"SELECT {columns} FROM turns WHERE id {IN_IDS}", {"ids": json.dumps(wanted)}
        )
        return {_id(message.id): message for message in map(message_of, rows)}

    def learned(self, messages: Collection[Message]) -> Mapping[int, Sequence[Learned]]:
        turns = {(one.session, one.turn) for one in messages}
        found: dict[tuple[str, str], list[Learned]] = {}
        for session, turn, *told in self._database.rows(
            """
            SELECT t.session, t.turn, m.state, m.speaker
            FROM json_each(:turns) CROSS JOIN memory_turns t
                ON t.session = value ->> 0 AND t.turn = value ->> 1
            CROSS JOIN memories m ON m.rowid = t.memory
            """,
            {"turns": json.dumps(list(turns))},
        ):
            found.setdefault((session, turn), []).append(Learned(*told))
        for session, turn, memory in self._repeated(turns):
            found.setdefault((session, turn), []).append(memory)
        forgotten = self._forgotten() if turns else []
        return {
            one.id: [
                *found.get((one.session, one.turn), ()),
                *(told for text, told in forgotten if restates(one.text, text)),
            ]
            for one in messages
        }

    def _repeated(self, turns: Collection[Turn]) -> list[tuple[str, str, Learned]]:
        """Session and turn of what these turns repeat of own memories, and what became of those."""
        told = repeated_in(self._database, turns) if turns else []
        states: dict[str, str] = dict(
            self._database.rows(
                f"SELECT id, state FROM memories WHERE id {IN_IDS}",
                {"ids": json.dumps([memory for _, _, memory, _ in told])},
            )
        )
        return [
            (session, turn, Learned(states[memory], role))
            for session, turn, memory, role in told
            if memory in states
        ]

    def _forgotten(self) -> list[tuple[str, Learned]]:
        """What own memories in the bin said, and none that lives says."""
        rows = self._database.rows(
            f"""
            SELECT d.content, d.state FROM memories d
            WHERE d.deleted_at IS NOT NULL AND d.state = 'deleted' AND NOT EXISTS (
                SELECT 1 FROM memories m WHERE m.content_hash = d.content_hash AND {IS_LIVE}
            )
            """
        )
        return [(content, Learned(state, None)) for content, state in rows]

    # leaving

    def drop(self, before: datetime, limit: int | None = None) -> int:
        bound = {"before": time_text(before), "limit": -1 if limit is None else limit}
        with self._database.writing() as db:
            db.execute(
                f"DELETE FROM turns WHERE id IN (SELECT id FROM turns WHERE {OLD} LIMIT :limit)",
                bound,
            )
            dropped = db.changes()
            if dropped:
                db.execute(
                    "DELETE FROM snapshots WHERE created_at < :before AND NOT EXISTS"
                    " (SELECT 1 FROM turns WHERE turns.session = snapshots.session)",
                    {"before": bound["before"]},
                )
                db.execute(RAISE)
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
        return self._vectors.is_filled(embedder)

    def pending(self, embedder: str, limit: int) -> list[Pending]:
        return self._vectors.pending(embedder, limit)

    def fill(self, embedder: str, chunks: Sequence[Pending], vectors: Vectors) -> None:
        with self._database.writing() as db:
            if self._vectors.put(db, embedder, [one.chunk for one in chunks], vectors):
                db.execute(RAISE)

    def close(self) -> None:
        """Let go of what is in memory."""
        self._vectors.close()


OLD = (
    "said_at < :before AND (learned_at IS NOT NULL OR parked OR role = 'system')"
    " AND NOT EXISTS (SELECT 1 FROM turns w WHERE w.session = turns.session"
    " AND w.turn = turns.turn AND w.learned_at IS NULL AND NOT w.parked AND w.role != 'system')"
)


def _id(turn: int) -> str:
    return f"{TURN}{turn}"


def _conditions(filters: Filters, session: str | None) -> tuple[str | None, dict[str, Any]]:
    """Times and session as a condition on `turns m`, None if there are none; and its bindings."""
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


def _entry(row: tuple[Message, str], cut: Cut) -> _Entry | None:
    """None for what was erased."""
    message, context = row
    if message.text == ERASED:
        return None
    said = [message.text, spoken_date(message.said_at)]
    if message.speaker and message.speaker not in ROLES:
        said.insert(0, message.speaker)
    return _Entry(
        message,
        spread("\n".join(said)),
        spread(context),
        evidence(message.text, message.who),
        commands(message.text, message.role),
        cut(message.text)[:MOST_PARTS],
    )


def _put(db: apsw.Connection, message: Message, entry: _Entry | None) -> None:
    """Words anew; parts if there are none, for a text that changes loses its own."""
    turn = message.id
    db.execute("DELETE FROM turns_to_index WHERE turn = ?", (turn,))
    db.execute("DELETE FROM turn_words WHERE rowid = ?", (turn,))
    if entry is None:
        return
    db.execute(
        "INSERT INTO turn_words (rowid, content, context, evidence, doubtful)"
        " VALUES (?, ?, ?, ?, ?)",
        (turn, entry.content, entry.context, entry.evidence, entry.doubtful),
    )
    if not db.execute("SELECT 1 FROM turn_chunks WHERE turn = ?", (turn,)).get:
        db.executemany(
            "INSERT INTO turn_chunks (turn, position, text) VALUES (?, ?, ?)",
            [
                (turn, position, None if part == message.text else part)
                for position, part in enumerate(entry.parts)
            ],
        )
