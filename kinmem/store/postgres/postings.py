"""The words of one owner as rows: which token is where, by FTS5's own tokenizer, and BM25 counted
from it as FTS5 does."""

import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import apsw

from kinmem.models import Memory, Passage
from kinmem.store.sql.database import Database, Transaction
from kinmem.store.sql.hybrid_search import Listing, Sought, Term, all_of
from kinmem.store.sql.memory_rows import IS_LIVE, VISIBLE, View, indexed, spread
from kinmem.store.sql.turn_queue import Entry, TurnWords

LAST_CHARACTER = "\U0010ffff"
PUT_POSTINGS = """
    INSERT INTO {} (term, rowid, said, aside, places) SELECT term, rowid, said, aside, places
    FROM json_to_recordset(CAST(:postings AS json)) AS one (
        term text, rowid bigint, said bigint, aside bigint, places integer[]
    )
"""
HITS = "SELECT {0} AS term, {1} AS times, p.rowid, {2} AS freq FROM {3} p WHERE {4}"
FREQUENCY = "p.said + CAST(:context AS double precision) * p.aside"
# All in double precision, as in FTS5; NUMERIC is exact, and many times slower.
RANKED = """
    WITH hits AS MATERIALIZED ({hits}), worth AS MATERIALIZED (
        SELECT h.term, r.size / CAST(r.{tokens} AS double precision) AS per_length,
            greatest(ln((r.size - h.found + half) / (h.found + half)), 0.000001) AS idf
        FROM (SELECT term, count(*) AS found FROM hits GROUP BY term) h CROSS JOIN (
            SELECT *, CAST({total} AS double precision) AS size,
                CAST(0.5 AS double precision) AS half FROM revision
        ) r
    ), ranked AS MATERIALIZED (
        SELECT h.rowid AS number, sum(h.times * w.idf * h.freq * 2.2 / (
                h.freq + 1.2 * (0.25 + 0.75 * d.length * w.per_length)
            )) AS better, CASE WHEN count(*) = :terms THEN 1 ELSE 0 END AS has_all
        FROM hits h JOIN worth w ON w.term = h.term JOIN {words} d ON d.rowid = h.rowid
        GROUP BY h.rowid {having}
    )
"""
"""FTS5's bm25: k1 1.2, b 0.75, and no term counts less than nothing."""
HOLDING = f"""
    SELECT m.id FROM memories m WHERE m.rowid IN (SELECT rowid FROM ({{}}) hits)
        AND {VISIBLE} AND {IS_LIVE} ORDER BY m.rowid LIMIT :most
"""


class WordTables:
    """The tables of one index, and statements about them."""

    def __init__(self, words: str, postings: str, total: str, tokens: str) -> None:
        self.words = words
        self.postings = postings
        self._total = total
        self._tokens = tokens

    def put(self, db: Transaction, rows: Sequence[tuple[int, Sequence[str], str]]) -> None:
        """Add rows as (number, what is said, context), whose lengths are stored already or now."""
        counted = [(row, *postings(row, said, aside)) for row, said, aside in rows]
        if self.words == "words":
            db.run(
                "INSERT INTO words (rowid, length) SELECT rowid, length"
                " FROM json_to_recordset(CAST(:rows AS json)) AS one (rowid bigint, length bigint)",
                {"rows": as_json({"rowid": row, "length": n} for row, n, _ in counted)},
            )
        told = as_json(one for _, _, some in counted for one in some)
        db.run(PUT_POSTINGS.format(self.postings), {"postings": told})

    def ranked(self, sought: Sought, context: float) -> tuple[str, dict[str, Any]]:
        """Return the beginning of a statement with a table `ranked` (number, better, has_all), and
        its bindings."""
        parts, bound = self.hits(sought.terms)
        sql = RANKED.format(
            hits=" UNION ALL ".join(parts),
            total=self._total,
            tokens=self._tokens,
            words=self.words,
            having="HAVING count(*) = :terms" if sought.needs_all else "",
        )
        return sql, {**bound, "context": context, "terms": len(parts)}

    def hits(self, terms: Sequence[Term]) -> tuple[list[str], dict[str, Any]]:
        """Return a statement for the rows of each term, and the bindings; the same tokens twice
        are one that counts twice."""
        wanted = Counter(
            (tuple(tokens(" ".join(t.tokens), asked=True, begins=t.begins)), t.begins)
            for t in terms
        )
        parts: list[str] = []
        bound: dict[str, Any] = {}
        for number, ((found, begins), times) in enumerate(wanted.items()):
            bound |= {f"t{number}_{at}": token for at, token in enumerate(found)}
            parts.append(self._hits_of(number, len(found), times, begins=begins))
        return parts, bound

    def _hits_of(self, number: int, count: int, times: int, *, begins: bool) -> str:
        tests = [_is(f"t{number}_{at}", begins and at == count - 1) for at in range(count)]
        table = self.postings
        if count == 0:
            return HITS.format(number, times, "CAST(0 AS double precision)", table, "FALSE")
        if count == 1 and not begins:
            return HITS.format(number, times, FREQUENCY, table, tests[0].format("p"))
        if count == 1:
            where = f"{tests[0].format('p')} GROUP BY p.rowid"
            return HITS.format(number, times, f"sum({FREQUENCY})", table, where)
        freq = (
            "sum(CASE WHEN at.place >= 2000000 THEN CAST(:context AS double precision) ELSE 1 END)"
        )
        followed = " AND ".join(
            f"EXISTS (SELECT 1 FROM {table} n WHERE n.rowid = p.rowid AND {test.format('n')}"
            f" AND at.place + {at} = ANY (n.places))"
            for at, test in enumerate(tests[1:], 1)
        )
        where = f"{tests[0].format('p')} AND {followed} GROUP BY p.rowid"
        source = f"{table} p CROSS JOIN unnest(p.places) AS at (place)"
        return HITS.replace("{3} p", "{3}").format(number, times, freq, source, where)


def _is(name: str, begins: bool) -> str:
    """Return the condition for a token, whose table is to be filled in."""
    if not begins:
        return f"{{0}}.term = :{name}"
    return f"{{0}}.term >= :{name} AND {{0}}.term < :{name} || '{LAST_CHARACTER}'"


class WordIndex:
    """See Words. A memory's row has its number; that of a chunk has the chunk's number below
    zero."""

    def __init__(self) -> None:
        self._tables = WordTables("words", "postings", "documents", "tokens")

    def put(self, db: Transaction, rows: Sequence[int], memories: Sequence[Memory]) -> None:
        texts = [(row, indexed(memory)) for row, memory in zip(rows, memories, strict=True)]
        if texts:
            self._tables.put(db, [(row, told[:2], told[2]) for row, told in texts])

    def replace(self, db: Transaction, row: int, memory: Memory) -> None:
        self.remove(db, row)
        self.put(db, [row], [memory])

    def remove(self, db: Transaction, row: int) -> None:
        db.run("DELETE FROM words WHERE rowid = ?", (row,))

    def put_parts(self, db: Transaction, chunks: Iterable[tuple[int, str, Passage]]) -> None:
        texts = [
            (-id, (spread(text), spread(place.heading)), "")
            for id, text, place in chunks
            if not place.held
        ]
        if texts:
            self._tables.put(db, texts)

    def remove_parts(self, db: Transaction, chunks: Sequence[int]) -> None:
        db.run_each("DELETE FROM words WHERE rowid = ?", [(-chunk,) for chunk in chunks])

    def listed(self, listing: Listing) -> tuple[str, Mapping[str, Any]]:
        ranked, bound = self._tables.ranked(listing.sought, listing.context)
        source = "ranked r"
        if listing.allowed is not None:
            source += (
                " JOIN memories m ON m.rowid = CASE WHEN r.number > 0 THEN r.number"
                " ELSE (SELECT memory FROM chunks WHERE id = -r.number) END"
                f" AND ({listing.allowed})"
            )
        spans = [(">", listing.limit), *([("<", listing.parts)] if listing.parts else [])]
        rows = [
            f"(SELECT r.number, r.better, r.has_all FROM {source} WHERE r.number {side} 0"
            f" ORDER BY r.better DESC, r.number LIMIT {limit:d})"
            for side, limit in spans
        ]
        return f"{ranked} {' UNION ALL '.join(rows)}", bound

    def holding(self, database: Database, word: str, view: View, most: int) -> list[str]:
        parts, bound = self._tables.hits(all_of([word]).terms)
        if not parts:
            return []
        in_content = "EXISTS (SELECT 1 FROM unnest(p.places) AS c (place) WHERE c.place < 1000000)"
        hits = " INTERSECT ".join(
            f"SELECT rowid FROM ({part.replace(' WHERE ', f' WHERE {in_content} AND ', 1)}) one"
            for part in parts
        )
        rows = database.rows(HOLDING.format(hits), {**bound, "context": 1.0, "most": most, **view})
        return [id for (id,) in rows]


class SaidWords(TurnWords):
    """The words of what was said, by the numbers of the messages."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._tables = WordTables("turn_words", "turn_postings", "said", "said_tokens")

    def listed(self, listing: Listing) -> tuple[str, Mapping[str, Any]]:
        ranked, bound = self._tables.ranked(listing.sought, listing.context)
        source = "ranked r"
        if listing.allowed is not None:
            source += f" JOIN turns m ON m.id = r.number AND ({listing.allowed})"
        return (
            f"{ranked} SELECT r.number, r.better, r.has_all FROM {source}"
            f" ORDER BY r.better DESC, r.number LIMIT {listing.limit:d}",
            bound,
        )

    def remove(self, db: Transaction, turn: int) -> None:
        db.run("DELETE FROM turn_words WHERE rowid = ?", (turn,))

    def put(self, db: Transaction, entry: Entry) -> None:
        turn = entry.message.id
        length, _ = postings(turn, [entry.content], entry.context)
        db.run(
            "INSERT INTO turn_words (rowid, length, context, evidence, doubtful)"
            " VALUES (?, ?, ?, ?, ?)",
            (turn, length, entry.context, entry.evidence, entry.doubtful),
        )
        self._tables.put(db, [(turn, [entry.content], entry.context)])


TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
"""As in the tables `words` and `turn_words` of SQLite."""
ASIDE = 2_000_000
"""Places of tokens in the context begin here; those of the subject a million before."""
_lock = threading.Lock()


@cache
def _tokenizer() -> tuple[apsw.Connection, Any]:
    connection = apsw.Connection(":memory:")  # the tokenizer lives as long as it does
    return connection, connection.fts5_tokenizer(*TOKENIZER)


def tokens(text: str, *, asked: bool = False, begins: bool = False) -> list[str]:
    """Return the tokens of a text that is stored, or `asked` for; the last may only begin one."""
    reason = apsw.FTS5_TOKENIZE_QUERY if asked else apsw.FTS5_TOKENIZE_DOCUMENT
    if begins:
        reason |= apsw.FTS5_TOKENIZE_PREFIX
    with _lock:
        found = _tokenizer()[1](text.encode(), reason, None, include_offsets=False)
    return [together[0] for together in found]


def postings(row: int, said: Sequence[str], aside: str) -> tuple[int, list[dict[str, Any]]]:
    """Return how many tokens a row has, and by token where it occurs: in what is `said`, column by
    column, and in its context."""
    places: dict[str, list[int]] = {}
    length = 0
    begins = [at * (ASIDE // 2) for at in range(len(said))]
    for start, text in (*zip(begins, said, strict=True), (ASIDE, aside)):
        for at, token in enumerate(tokens(text)):
            places.setdefault(token, []).append(start + at)
            length += 1
    return length, [
        {
            "term": term,
            "rowid": row,
            "said": sum(place < ASIDE for place in found),
            "aside": sum(place >= ASIDE for place in found),
            "places": found,
        }
        for term, found in places.items()
    ]


def as_json(rows: Iterable[dict[str, Any]]) -> str:
    return json.dumps(list(rows), ensure_ascii=False)
