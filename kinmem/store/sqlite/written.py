"""Which columns and fields hold what people wrote, and how a name is taken out of them."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from kinmem.rules.names.mention import Mention
from kinmem.store.sqlite.rows import FIELDS, as_text

SAID = (
    *("content", "subject", "source_context", "title", "description"),
    *("manual_tags", "metadata", "source_ref"),
)
"""Columns of a memory that hold what somebody wrote, as they wrote it."""
ROLES = frozenset({"user", "assistant", "tool"})
"""Speakers that are nobody's name."""
CHANGES = {
    "session": "removed",
    "turn_id": "removed",
    "place": "removed",
    "speaker": "speaker",
    "metadata": "metadata",
    "ingest_metadata": "told",
}
"""Fields of a memory of which not all is blanked: see `changes`."""
OTHERS_WORDS = {*SAID, *CHANGES, "auto_tags"}
OWN_FIELDS = {*FIELDS, "links"} - OTHERS_WORDS
"""What lines of the history tell of a memory in kinmem's own words."""


class Written(NamedTuple):
    """A column that may name somebody."""

    table: str
    column: str
    change: str
    """The SQL function that gives the text without the name; of DROPPED the row goes."""

    @property
    def names_it(self) -> str:
        return f"{self.column} IS NOT {self.change}({self.column})"


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
"""Every column that may, but for what goes with its memory. No word of kinmem's own is changed,
such as a state, an action, the Kin's or an embedder's name: without these nothing would work."""
DROPPED = frozenset({"entities"})
SHARED = frozenset({"memories", "history"})
"""Tables of shared.db in which some rows are this Kin's."""
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
"""What goes with its memory, or with what was said."""


def changes(mention: Mention) -> dict[str, Callable[[str], str]]:
    """What takes the name out of a text, by its name in SQL."""
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
    """The first word of a batch's name says what it was."""
    kind, blank, rest = name.partition(" ")
    return kind + blank + mention.removed(rest)


def _line(mention: Mention, stored: str) -> str:
    """Fields of a memory, as a line of the history tells them."""
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
    """What is told of a document is kinmem's own words; see documents.pipeline."""
    is_document = {"type", "characters", "parts"} <= json.loads(stored).keys()
    return stored if is_document else mention.blanked(stored)


def _told(mention: Mention, stored: str) -> str:
    """A JSON object whose keys are kinmem's own words."""
    told: dict[str, Any] = json.loads(stored)
    left = {name: _changed(mention.blanked, value) for name, value in told.items()}
    return stored if left == told else as_text(left)


def _changed(change: Callable[[str], str], value: Any) -> Any:
    return change(value) if isinstance(value, str) else json.loads(change(as_text(value)))
