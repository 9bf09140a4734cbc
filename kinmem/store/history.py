"""The interface of the database for undoing writes, and for erasing every mention of a name."""

import json
import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from kinmem.models import Event, Memory
from kinmem.models.reports import memories_of
from kinmem.text import INVISIBLE, folded, late

ERASED = "[erased]"
OWN_ENDS = late(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts that write words without blanks between them, or endings right behind a name."""
GENITIVE = r"(?:['’]?s)?"
NO_WIDTH = "\u200b"
PARTING = frozenset("\u200b\u115f\u1160\u3164\uffa0")
"""Characters without width that may stand between two words as well as within one."""
SHORTEST = 2


class Mention:
    """One name. It is found as whole words, whatever its case and accents: Bob in "bob's", not in
    "bobsled"; in scripts without blanks wherever it stands. Invisible characters do not hide it."""

    def __init__(self, name: str) -> None:
        self.name = " ".join(INVISIBLE.sub("", name).split())
        self._plain = folded(self.name)
        self._in_folded = _pattern(self._plain, NO_WIDTH)
        self._as_written = _pattern(self.name, INVISIBLE.pattern)

    def is_in(self, text: str | None) -> bool:
        """Whether the text names it."""
        if not text:
            return False
        if text.isascii():
            return self._in_folded.search(text.lower()) is not None
        return self._in_folded.search(folded(INVISIBLE.sub(_parting, text))) is not None

    def removed(self, text: str) -> str:
        """The text without the name; all of it is gone where the name is spelled otherwise."""
        left = self._as_written.sub(ERASED, text)
        return ERASED if self.is_in(left) else left

    def blanked(self, stored: str) -> str:
        """A text that names it is blanked as a whole; of a JSON text the values that do."""
        if not self.is_in(stored):
            return stored
        if stored[:1] in "{[":
            try:
                value = json.loads(stored)
            except ValueError:
                return ERASED
            left = json.dumps(self._blanked(value), ensure_ascii=False)
            return ERASED if self.is_in(left) else left
        return ERASED

    def spellings(self) -> tuple[str, ...]:
        """As it may stand in a file: as it is, folded, in other cases."""
        name = self.name
        forms = (name, self._plain, name.lower(), name.upper(), name.title(), name.casefold())
        return tuple(dict.fromkeys(forms))

    def _blanked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.blanked(value)
        if isinstance(value, list):
            return [self._blanked(one) for one in value]
        if isinstance(value, dict):
            return {self.removed(key): self._blanked(one) for key, one in value.items()}
        return value


def _parting(hit: re.Match[str]) -> str:
    return NO_WIDTH if hit.group() in PARTING else ""


def _pattern(name: str, unseen: str) -> re.Pattern[str]:
    """`unseen` matches a character that may stand between any two."""
    parts = (f"{unseen}*".join(map(re.escape, word)) for word in name.split())
    words = rf"(?:\s|{unseen})+".join(parts)
    if OWN_ENDS.search(name):
        return late(words, re.IGNORECASE)
    return late(rf"(?<!\w){words}{GENITIVE}(?!\w)", re.IGNORECASE)


# Fields of Memory that follow from use and upkeep: they change without a line in the history.
COMPUTED = frozenset(
    {
        "recalled_count",
        "recalled_at",
        "priority",
        "tier",
        "tier_reason",
        "status",
        "auto_tags",
        "tagged_at",
        "linked_at",
    }
)


REFUSALS = "refusals"
"""What a history line keeps beside fields: in `after` the refusals of review issues that it has
made, in `before` those that it has taken back."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What one write has done, in short."""

    write: int
    lines: Sequence[Event]
    """Its latest lines, the latest first: all of them if it is not long, without damaged ones."""
    actions: Mapping[str, int]
    """How many lines it has of each action."""
    many: int
    """How many memories it changed, erased ones included."""
    reverts: frozenset[tuple[str, int]]
    """Of which memories it takes back which writes."""


class Past(Protocol):
    """What this Kin has done to its own memories, as history lines. A write is one transaction's
    lines."""

    def writes(
        self, limit: int, *, before: int | None = None, memory: str | None = None
    ) -> list[Event]:
        """Return the lines of the latest `limit` writes, each whole, the latest first. `before`:
        only writes with lower numbers; `memory`: only writes that changed this memory, which may be
        gone."""
        ...

    def outlines(self, limit: int, *, before: int | None = None) -> list[Outline]:
        """Return the latest `limit` writes, the latest first, without reading all lines of a long
        one. `before`: only writes with lower numbers."""
        ...

    def write(self, number: int) -> list[Event]:
        """Return the lines of one write, in order; none if there is no such write."""
        ...

    def batch(self, name: str) -> list[Event]:
        """Return the lines of all writes of a batch, in order."""
        ...

    def batches(self, beginning: str) -> list[str]:
        """Return the names of batches that begin so, and of calls that found their memory stored
        (`repeated_call`)."""
        ...

    def about(self, ids: Collection[str]) -> list[Event]:
        """Return all lines about these memories, in order."""
        ...

    def superseded_by(self, ids: Collection[str]) -> list[str]:
        """Return own memories that were superseded by these."""
        ...

    def fields(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the `before` or `after` of a line to values of Memory's fields."""
        ...

    def stored(self, memory: Memory, names: Collection[str]) -> dict[str, Any]:
        """Return these fields of a memory in the form in which a line stores them."""
        ...

    def as_of(self, write: int, *, after: str = "", limit: int | None = None) -> dict[str, Memory]:
        """Return every own memory by id as it was after that write, reconstructed from the lines
        alone; in the order of ids, `after` one, if there is a limit.

        Fields in COMPUTED have their initial values. Erased memories are missing.
        """
        ...


EPOCH = 1 << 24
"""Revisions in the life of a file. What replaces it, a backup for example, begins at another
multiple of it, at random: so a position tells whether it comes from these files."""


def new_epoch() -> int:
    """Return the revision at which a file begins that takes the place of another."""
    return secrets.randbelow(1 << 32) * EPOCH


@dataclass(frozen=True, slots=True)
class Position:
    """How far a Kin's memory has come. As long as its files stay the same, no number decreases
    but that of turns, when the last ones are deleted, and one at least increases with whatever any
    process changes that a reader could notice."""

    line: int = 0
    """The latest history line."""
    revision: int = 0
    """That of the own file; see Store.revision."""
    turn: int = 0
    """The latest message."""
    published: int = 0
    """The revision of what Kins share."""
    shared: int = 0
    """The latest number of a memory that was shared, changed or withdrawn."""


@dataclass(frozen=True, slots=True)
class Published:
    """What has become of a memory that another Kin shares, or has shared."""

    number: int
    memory_id: str
    kin: str
    """The author."""
    at: datetime
    is_visible: bool
    """Whether it can be seen now."""


class Changes(Protocol):
    """What has changed since a position. Asking for it again and again is cheap."""

    def position(self) -> Position:
        """Return the present position, in one statement for each file."""
        ...

    def lines(self, after: int, limit: int) -> list[Event]:
        """Return this Kin's history lines after that one, in order."""
        ...

    def shared(self, after: int, limit: int) -> list[Published]:
        """Return what other Kins have shared, changed or taken back after that number, in order;
        each memory once, with its latest number. Without that of Kins that are muted."""
        ...


@dataclass(frozen=True)
class Traces:
    """Where a name occurs."""

    memories: list[Memory]
    """Own memories about the name: by their text, tags, parts, or an entity."""
    others: list[str]
    """Ids of other Kins' shared memories that mention it; only those Kins may change them."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """By table, how many other rows mention it."""
    spills: tuple[str, ...] = ()
    """Files below the home folder with tool outputs of turns that will be blanked."""
    kept: tuple[str, ...] = ()
    """table.column where the name is one of kinmem's own words, or the Kin's name; these stay."""


class Forgetting(Protocol):
    """Finds and removes what one Kin's memory holds about a name; others' memories stay."""

    def traces(self, mention: Mention) -> Traces:
        """Return where it occurs now."""
        ...

    def erase(self, ids: Collection[str]) -> int:
        """Do Memories.erase for many memories; returns how many there were."""
        ...

    def counts(self, mention: Mention, memories: Sequence[Memory]) -> Mapping[str, int]:
        """Return by table how many other rows mention it, or are erased with these memories."""
        ...

    def blank(self, mention: Mention) -> None:
        """Remove the name from everything but memories."""
        ...

    def blank_everywhere(self, mention: Mention) -> None:
        """Remove it from every text of the Kin's own file, kinmem's own words included; call it
        after `blank`."""
        ...

    @property
    def keeps_versions(self) -> bool:
        """Whether storage keeps what is erased until `compact` is called."""
        ...

    def compact(self) -> Sequence[str]:
        """Rewrite what held erased content, so that no page does. Returns what may hold some all
        the same and cannot be rewritten here, each in a sentence."""
        ...

    def remains(self, mention: Mention) -> Mapping[str, int]:
        """Return by file or table how many stored texts mention it that a byte scan of the home
        cannot see: those on a server, earlier versions of documents."""
        ...

    def holds(self, text: str) -> bool:
        """Return whether any text in either file contains this one."""
        ...

    def words_with(self, parts: Collection[str]) -> Iterator[str]:
        """Yield the words in both files' texts that contain one of these parts, in lower case."""
        ...


KEYED = "key-"
"""How names of writes begin that a caller named with a key. A hash of the key follows, then one of
key and text."""
KEYED_NAME = re.compile(r"key-[0-9a-f]{16}-[0-9a-f]{24}")
OF_ERASED = re.compile(r"key-[0-9a-f]{16}-(?:erased-.+|[0-9a-f]{2})")
"""Names of calls whose memory is erased; before schema 9 two digits of the second hash stayed."""


def keyed_name(of_key: str, of_call: str) -> str:
    """Return the name of what is written by a call with a key."""
    return f"{KEYED}{of_key}-{of_call}"


def of_key(name: str) -> str:
    """Return how the names of all calls with the same key begin."""
    return name[: len(KEYED) + 17]


def erased_call(name: str, memory: str) -> str:
    """Return the name that the writes of a call get when the memory that it has stored is erased:
    it tells that the key was used, and nothing of the text."""
    return f"{of_key(name)}erased-{memory}"


def is_of_call(name: object) -> bool:
    """Return whether it is the name of what a call with a key has written, erased or not: hashes
    that look like a secret and are none."""
    return isinstance(name, str) and name.startswith(KEYED)


def repeated_call(name: str, memory: str) -> str:
    """Return the name of the mark of a call that found its memory stored already."""
    return f"{name} {memory}"


def is_of_erased(name: str) -> bool:
    return OF_ERASED.fullmatch(name) is not None


def batch_name(what: str) -> str:
    """Return a new name for writes that belong together, short enough to type."""
    import uuid_utils  # imported late: 5 ms that a hook need not spend

    return f"{what}-{str(uuid_utils.uuid7())[-8:]}"


def components(lines: Sequence[Event], ids: Collection[str]) -> list[Event]:
    """Return those lines of a write that are about these memories or related ones. A memory is
    related to the one that superseded it, and to those that one refusal names with it."""
    reached = set(ids)
    while True:
        more = {
            id
            for line in lines
            if reached.intersection(about := {line.memory_id, *heirs(line), *_refused_with(line)})
            for id in about
        }
        if more <= reached:
            return [line for line in lines if line.memory_id in reached]
        reached |= more


def heirs(line: Event) -> list[str]:
    """Return what superseded the memory, if the line says so."""
    id = line.after.get("superseded_by")
    return [id] if id else []


def _refused_with(line: Event) -> set[str]:
    """Return the memories that the line's refusals are about."""
    refusals = [*line.after.get(REFUSALS, ()), *line.before.get(REFUSALS, ())]
    return {id for refusal in refusals for id in memories_of(refusal)}
