"""Everything that one Kin's memory holds of a name, as far as it is found alike on every engine:
which columns may hold it, and how it is taken out of each."""

import json
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from kinmem.errors import MemoryNotFound
from kinmem.models import Memory
from kinmem.store.history import Mention, Traces
from kinmem.store.sql.database import Database
from kinmem.store.sql.document_rows import SqlDocuments, delta
from kinmem.store.sql.erasing import turns_of
from kinmem.store.sql.memory_rows import FIELDS, as_text
from kinmem.store.sql.sharing import KinFiles


class Version(NamedTuple):
    """What a document said before, as it can be told from old_texts."""

    memory: str
    version: str
    at: str
    text: str
    is_whole: bool
    """Else it can be told no more, and `text` is the words of it that are stored."""


class SqlForgetting:
    """See Forgetting. An engine says how it asks all texts of all tables for a name."""

    def __init__(
        self,
        files: KinFiles[Any],
        documents: SqlDocuments,
        erase: Callable[[Collection[str]], int],
    ) -> None:
        """`erase`: see Forgetting."""
        self._files = files
        self._own = files.own.database
        self._documents = documents
        self.erase = erase

    def traces(self, mention: Mention) -> Traces:
        memories = self._naming(self._own, mention)
        shared = self._naming(self._files.shared.database, mention)
        others = [copy.id for copy in shared if copy.kin != self._files.kin]
        visible = self._files.memories(others).keys()
        return Traces(
            memories,
            sorted(visible),
            self.counts(mention, memories),
            self._spills(mention, memories),
            self._kept(mention),
        )

    def counts(self, mention: Mention, memories: Sequence[Memory]) -> Mapping[str, int]:
        raise NotImplementedError

    def _naming(self, database: Any, mention: Mention) -> list[Memory]:
        """Return the memories of a file that mention the name anywhere, the oldest first."""
        raise NotImplementedError

    def _spills(self, mention: Mention, memories: Sequence[Memory]) -> tuple[str, ...]:
        raise NotImplementedError

    def _kept(self, mention: Mention) -> tuple[str, ...]:
        """Return table.column of those columns in kinmem's own words in which the name occurs,
        sorted."""
        raise NotImplementedError

    def _turns_of(self, memories: Sequence[Memory]) -> str:
        """Return the turns that are blanked with these memories, as the binding of IN_TURNS."""
        learned = [(m.session, turn) for m in memories if m.session for turn in m.turns]
        repeating = turns_of(self._own, [m.id for m in memories])
        return json.dumps([*learned, *repeating])

    def _versions(self) -> Iterator[Version]:
        own: Database = self._own
        rows = own.rows("SELECT memory_id, content_hash, at, delta FROM old_texts")
        for id, version, at, change in rows:
            try:
                text, is_whole = self._documents.text(id, version), True
            except MemoryNotFound:  # the version that it is told by is gone
                text, is_whole = "\n".join(_words_of(change)), False
            yield Version(id, version, at, text, is_whole)

    def _versions_naming(self, mention: Mention) -> int:
        return sum(mention.is_in(version.text) for version in self._versions())

    def _drop_versions(self, mention: Mention) -> None:
        """Drop earlier versions of own documents that name it."""
        naming = {(one.memory, one.version) for one in self._versions() if mention.is_in(one.text)}
        for id in {id for id, _ in naming}:
            self._tell_anew(id, {version for memory, version in naming if memory == id})

    def _tell_anew(self, id: str, dropped: Collection[str]) -> None:
        """Drop these versions of a document. Others that were stored as a difference from them
        become differences from the present text."""
        versions = [one for one in self._versions() if one.memory == id]
        try:
            base = self._files.get(id).content_hash
            text = self._documents.text(id, base)
            kept = [
                (one, delta(text, one.text))
                for one in versions
                if one.is_whole and one.version not in dropped
            ]
        except MemoryNotFound:
            kept = []
        with self._files.own.changing() as db:
            db.run_each(
                "DELETE FROM old_texts WHERE memory_id = ? AND content_hash = ?",
                [(id, one.version) for one in versions],
            )
            db.run_each(
                "INSERT INTO old_texts (memory_id, content_hash, base, delta, at)"
                " VALUES (?, ?, ?, ?, ?)",
                [(id, one.version, base, how, one.at) for one, how in kept],
            )


def _words_of(change: bytes) -> list[str]:
    """Return the texts that a stored difference contains."""
    return [step for step in json.loads(zlib.decompress(change)) if isinstance(step, str)]


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
