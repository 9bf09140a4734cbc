"""The tokens of a text, as the word index of SQLite has them: by FTS5's own tokenizer."""

import json
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import apsw

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
