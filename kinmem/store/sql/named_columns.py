"""Which columns of a file may hold a name, and how it is taken out of each."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from kinmem.store.history import Mention
from kinmem.store.sql.memory_rows import FIELDS, as_text

# Columns of a memory that hold what somebody wrote, unchanged.
SAID = (
    *("content", "subject", "source_context", "title", "description"),
    *("manual_tags", "metadata", "source_ref"),
)
# Speakers that are not names.
ROLES = frozenset({"user", "assistant", "tool"})
# Fields of a memory that are blanked only in part: see `changes`.
CHANGES = {
    "session": "removed",
    "turn_id": "removed",
    "place": "removed",
    "speaker": "speaker",
    "metadata": "metadata",
    "ingest_metadata": "told",
}
OTHERS_WORDS = {*SAID, *CHANGES, "auto_tags"}
# Fields of history lines that are in kinmem's own words.
OWN_FIELDS = {*FIELDS, "links"} - OTHERS_WORDS


class Written(NamedTuple):
    """A column that may mention somebody."""

    table: str
    column: str
    change: str
    """The SQL function that returns the text without the name; with DROPPED the row is deleted."""

    @property
    def names_it(self) -> str:
        return f"{self.column} IS NOT {self.change}({self.column})"


# Every column that may, except those that are deleted with their memory. kinmem's own words, such
# as a state, an action, or the name of the Kin or an embedder, are never changed: nothing would
# work without them.
WRITTEN = (
    *(
        Written("memories", name, CHANGES[name])
        for name in ("session", "turn_id", "place", "ingest_metadata")
    ),
    *(Written("turns", column, "removed") for column in ("session", "turn", "part", "place")),
    Written("turns", "speaker", "speaker"),
    Written("turns", "text", "blanked"),
    Written("turns", "problem", "blanked"),
    Written("snapshots", "session", "removed"),
    Written("snapshots", "summary", "blanked"),
    Written("shown", "session", "removed"),
    Written("shown", "turn", "removed"),
    Written("shown", "text", "blanked"),
    Written("history", "before", "line"),
    Written("history", "after", "line"),
    Written("history", "reason", "blanked"),
    Written("history", "batch", "batch"),
    Written("entities", "name", "removed"),
    Written("entities", "folded", "removed"),
    Written("entities", "metadata", "blanked"),
    Written("links", "evidence", "blanked"),
    Written("conflicts", "reason", "blanked"),
    Written("runs", "problems", "blanked"),
)
DROPPED = frozenset({"entities"})
# What is erased together with its memory, or with what was said.
WITH_MEMORIES = frozenset(
    {
        *(("memories", column) for column in (*SAID, "speaker", "auto_tags")),
        *(("chunks", column) for column in ("text", "summary", "metadata")),
        *(("memory_entities", column) for column in ("alias", "folded")),
        ("summaries", "text"),
        ("tags", "tag"),
        *(("memory_turns", column) for column in ("session", "turn")),
        *(("repetitions", column) for column in ("session", "turn")),
        ("turn_chunks", "text"),
    }
)


def changes(mention: Mention) -> dict[str, Callable[[str], str]]:
    """Return the functions that remove the name from a text, by their names in SQL."""
    return {
        "removed": mention.removed,
        "blanked": mention.blanked,
        "speaker": lambda name: name if name in ROLES else mention.removed(name),
        "batch": partial(_batch, mention),
        "line": partial(_line, mention),
        "metadata": partial(_metadata, mention),
        "told": partial(_told, mention),
    }


def _batch(mention: Mention, name: str) -> str:
    """Keep the first word of a batch's name, which says what kind of batch it was."""
    kind, blank, rest = name.partition(" ")
    return kind + blank + mention.removed(rest)


def _line(mention: Mention, stored: str) -> str:
    """Remove the name from a memory's fields in a history line."""
    known = changes(mention)
    fields: dict[str, Any] = json.loads(stored)
    left = {
        name: value
        if value is None or name in OWN_FIELDS
        else _changed(known[CHANGES.get(name, "blanked")], value)
        for name, value in fields.items()
    }
    return stored if left == fields else as_text(left)


def _metadata(mention: Mention, stored: str) -> str:
    """Remove the name from metadata. A document's metadata is in kinmem's own words, see
    documents.pipeline."""
    is_document = {"type", "characters", "parts"} <= json.loads(stored).keys()
    return stored if is_document else mention.blanked(stored)


def _told(mention: Mention, stored: str) -> str:
    """Remove the name from the values of a JSON object whose keys are kinmem's own words."""
    told: dict[str, Any] = json.loads(stored)
    left = {name: _changed(mention.blanked, value) for name, value in told.items()}
    return stored if left == told else as_text(left)


def _changed(change: Callable[[str], str], value: Any) -> Any:
    return change(value) if isinstance(value, str) else json.loads(change(as_text(value)))
