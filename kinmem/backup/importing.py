"""Import of JSONL: planned first, then stored in parts, each whole. Whatever is here stays."""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from kinmem.backup import jsonl
from kinmem.errors import InvalidInput
from kinmem.models import Memory, Progress, State
from kinmem.store.base import Store
from kinmem.store.records import (
    ErasedRecord,
    Header,
    Loading,
    MemoryRecord,
    MessageRecord,
    Record,
    ShownRecord,
    SnapshotRecord,
)
from kinmem.validation import (
    Border,
    HasSecret,
    Secrets,
    checked_content,
    checked_importance,
    checked_priority,
)

# Records that are stored in one transaction.
AT_ONCE = 100
LONGEST_ID = 100
# Beginning of the names of batches that imports make.
BATCH = "import-"


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that cannot be imported."""

    line: int
    why: str


@dataclass(slots=True)
class Import:
    """What an import would do, or has done."""

    batch: str
    kin: str
    """Whose memory the file holds."""
    memories: int = 0
    """Memories that are new here."""
    known: int = 0
    """Memories that are here with the same content."""
    in_bin: list[str] = field(default_factory=list)
    """Those of the known ones that are in the bin here; restore or undo brings them back."""
    conflicts: list[str] = field(default_factory=list)
    """Memories that are here with another content, which stays."""
    others: list[str] = field(default_factory=list)
    """Memories that are another Kin's here."""
    erased: list[str] = field(default_factory=list)
    """Memories that a person has erased here, which stay erased."""
    messages: int = 0
    """Messages that are new here."""
    problems: list[Problem] = field(default_factory=list)
    """Lines that are damaged, not valid, or hold a secret."""
    stored: int = 0
    """Records that were stored; 0 for a plan."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is new."""
        return not (self.memories or self.messages)

    def described(self) -> dict[str, Any]:
        """Return it as programs read it; lists that are empty are left out."""
        row = {
            "batch": self.batch,
            "kin": self.kin,
            "memories": self.memories,
            "messages": self.messages,
            "known": self.known,
            "stored": self.stored,
            "inBin": self.in_bin,
            "conflicts": self.conflicts,
            "othersShared": self.others,
            "erased": self.erased,
            "problems": [{"line": one.line, "why": one.why} for one in self.problems],
        }
        return {name: value for name, value in row.items() if value != []}


class JsonlImport:
    """One file, to be imported into one Kin's memory."""

    def __init__(self, store: Store, path: Path, secrets: Secrets) -> None:
        """Read the header. Raises InvalidInput for what is no export, or one of a newer kinmem."""
        self._store = store
        self._path = path
        self._border = Border(secrets)
        try:
            with path.open("rb") as file:
                self._header = jsonl.header(file)
                file.seek(0)
                self._batch = BATCH + hashlib.file_digest(file, "sha256").hexdigest()[:8]
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from None

    @property
    def total(self) -> int:
        """Number of records that the header announces."""
        return sum(self._header.counts.values())

    def plan(self, progress: Progress | None = None) -> Import:
        """Read the whole file and compare it with what is here. Nothing is stored."""
        plan = Import(self._batch, self._header.kin)
        seen: Counter[str] = Counter()
        done = 0
        for records in self._parts(plan.problems.append):
            self._compare(records, plan)
            seen.update(record.type for record in records)
            done += len(records)
            if progress:
                progress(done, self.total, "records read")
        if not plan.problems:
            plan.problems += _missing(self._header, seen)
        return plan

    def carry_out(self, plan: Import, progress: Progress | None = None) -> Import:
        """Store what is new, in transactions of 100 records.

        An interrupted import is continued by importing the file again.
        """
        left_out = {*plan.conflicts, *plan.others, *plan.erased}
        loading = Loading(self._batch, self._header.last)
        done = 0
        for records in self._parts(lambda problem: None):
            wanted = [one for one in records if _id(one) not in left_out]
            try:
                plan.stored += self._store.transfer.load(wanted, loading)
            except OverflowError as error:
                raise InvalidInput(
                    f"{self._path.name} has a number or a time that no memory can have ({error});"
                    f" {plan.stored:,} records were stored, and undo {plan.batch} takes them back"
                ) from None
            done += len(records)
            if progress:
                progress(done, self.total, "records")
        return plan

    def _parts(self, report: Callable[[Problem], None]) -> Iterator[list[Record]]:
        """Yield the valid records of the file; the others are reported."""
        with self._path.open("rb") as file:
            records = self._records(file, report)
            while part := list(islice(records, AT_ONCE)):
                yield part

    def _records(self, file: IO[bytes], report: Callable[[Problem], None]) -> Iterator[Record]:
        for number, values, problem in jsonl.lines(file):
            if values is None:
                report(Problem(number, problem or ""))
                continue
            try:
                record = jsonl.record(jsonl.passed(values, self._border))
                _check(record)
                _check_numbers(record, self._header)
                yield cast(Record, record)
            except HasSecret:
                report(Problem(number, "it holds a secret"))
            except InvalidInput as error:
                report(Problem(number, str(error)))
            except (KeyError, TypeError, AttributeError):
                report(Problem(number, "it is not a record"))

    def _compare(self, records: Sequence[Record], plan: Import) -> None:
        memories = {one.memory.id: one.memory for one in records if isinstance(one, MemoryRecord)}
        here = self._store.memories(memories)
        erased = self._erased(memories.keys() - here.keys())
        for id, memory in memories.items():
            known = here.get(id)
            if known is None:
                plan.memories += id not in erased
            elif known.kin != self._store.kin:
                plan.others.append(id)
            elif not _says_the_same(known, memory):
                plan.conflicts.append(id)
            else:
                plan.known += 1
                if known.state == State.DELETED and memory.state != State.DELETED:
                    plan.in_bin.append(id)
        plan.erased += sorted(erased)
        messages = (one.message for one in records if isinstance(one, MessageRecord))
        plan.messages += sum(self._store.turns.stored(one) is None for one in messages)

    def _erased(self, ids: Collection[str]) -> set[str]:
        """Return those of these memories that a person has erased here."""
        lines = self._store.past.about(ids) if ids else []
        return {line.memory_id for line in lines if line.action == "erased"}


def _check(record: Header | Record) -> None:
    """Raise InvalidInput for what the database could not hold."""
    if isinstance(record, Header):
        raise InvalidInput("it is a second header")
    if not isinstance(record, MemoryRecord):
        return
    memory = record.memory
    if not (memory.id.isascii() and memory.id.isprintable() and 0 < len(memory.id) <= LONGEST_ID):
        raise InvalidInput("memory.id: it is no id")
    checked_content(memory.content)
    checked_importance(memory.importance)
    checked_priority(memory.set_priority)
    times = [memory.created_at, memory.content_updated_at, memory.occurred_at, memory.expires_at]
    if any(time is not None and time.tzinfo is None for time in times):
        raise InvalidInput("memory: a time has no time zone")
    places = {chunk.place is None for chunk in record.chunks or ()}
    if len(places) > 1:
        raise InvalidInput("chunks: some have a place and some have none")


def _check_numbers(record: Header | Record, header: Header) -> None:
    """Raise InvalidInput for a number that the header does not announce: none is reserved for
    it."""
    match record:
        case MessageRecord():
            kind, numbers, least = "message", [record.message.id], 1
        case SnapshotRecord():
            kind, numbers, least = "snapshot", [record.snapshot.id], 1
        case ShownRecord():
            kind, numbers, least = "shown", [record.id], 1
        case MemoryRecord() | ErasedRecord():
            kind, numbers, least = "write", [line.write for line in record.history], 0
        case _:
            return
    last = header.last.get(kind, 0)
    if not all(least <= number <= last for number in numbers):
        raise InvalidInput(f"{kind}: a number is not between {least} and {last}, as announced")


def _id(record: Record) -> str:
    return record.memory.id if isinstance(record, MemoryRecord) else ""


def _says_the_same(one: Memory, other: Memory) -> bool:
    return (one.content, one.content_hash) == (other.content, other.content_hash)


def _missing(header: Header, seen: Counter[str]) -> Iterator[Problem]:
    """Yield what the header announces and the file does not have."""
    for type, count in header.counts.items():
        if seen[type] != count:
            yield Problem(1, f"the file has {seen[type]:,} of {count:,} records of type {type!r}")
