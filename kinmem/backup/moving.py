"""Moves all that a Kin remembers to another store, and compares both afterwards.

The source is read only. What is there already stays, so a move that was cut short is continued by
the same call, and one that is done changes nothing.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, cast

import numpy as np

from kinmem.backup import jsonl
from kinmem.errors import InvalidInput
from kinmem.models import TURN, Coverage, Pending, Progress, Vector
from kinmem.store.base import Store
from kinmem.store.records import Header, Loading, Record
from kinmem.store.sessions import Cut, Vectored

AT_ONCE = 100
"""Records of a transaction, and chunks whose vectors are."""
BATCH = "migrate-"
"""How the name begins under which the history records it, and `undo` takes it back."""
IDENTITY = {
    "link": ("source", "target", "relation"),
    "conflict": ("newer", "older"),
    "message": ("id",),
    "snapshot": ("id",),
    "memory": ("id",),
}
"""By type of record with a part of that name: the fields that say which it is."""
Key = tuple[str, ...]
Contents = dict[Key, bytes]


@dataclass(slots=True)
class Moved:
    """What has become of one Kin's memory."""

    kin: str
    records: Mapping[str, int] = field(default_factory=dict)
    """What the source has, by type."""
    stored: int = 0
    """Records that were not there yet."""
    vectors: int = 0
    """Vectors that were stored."""
    without_vector: int = 0
    """Texts for which the source has no vector either; they are made in the background."""
    differing: list[str] = field(default_factory=list)
    """What is not the same in both, as "type id"; empty if everything is."""

    @property
    def is_whole(self) -> bool:
        """Whether both hold the same."""
        return not self.differing


def move(source: Store, target: Store, cut: Cut, progress: Progress | None = None) -> Moved:
    """Move the memory of `source.kin`. `cut` divides what was said into parts that get vectors.

    Raises InvalidInput if the target has something that the source has not, and changes nothing.
    """
    moved = Moved(source.kin)
    _refuse_others(contents(source), contents(target), target.kin)
    records = source.transfer.records()
    header = cast(Header, next(records))
    moved.records = header.counts
    loading = Loading(BATCH + source.kin, header.last)
    done, total = 0, sum(header.counts.values())
    while part := list(islice(cast("Iterator[Record]", records), AT_ONCE)):
        moved.stored += target.transfer.load(part, loading)
        done += len(part)
        if progress:
            progress(done, total, f"records of {source.kin}")
    for other in source.others.confirmed() - target.others.confirmed():
        target.others.confirm(other)
    for kin in source.others.muted() - target.others.muted():
        target.others.mute(kin)
    while target.transcript.index(AT_ONCE, cut):
        pass
    _move_vectors(source, target, moved)
    moved.differing = _differing(source, target)
    return moved


def contents(store: Store) -> Contents:
    """Return a digest of every record that a store holds, by type and id."""
    records = store.transfer.records()
    next(records)
    found: Contents = {}
    for record in cast("Iterator[Record]", records):
        values = jsonl.as_values(record)
        found[_key(values)] = hashlib.blake2b(jsonl.as_line(values), digest_size=16).digest()
    return found


def _key(values: Mapping[str, Any]) -> Key:
    type = str(values["type"])
    part = values.get(type, values)
    ids = [part[name] for name in IDENTITY[type]] if type in IDENTITY else _own_ids(values)
    return (type, *map(str, ids))


def _own_ids(values: Mapping[str, Any]) -> Sequence[Any]:
    return (values["kind"], *values["ids"]) if "ids" in values else (values["id"],)


def _refuse_others(here: Contents, there: Contents, kin: str) -> None:
    """Raise InvalidInput unless all that is there may have come from here."""
    others = there.keys() - here.keys()
    if others:
        raise InvalidInput(
            f"{kin} has {len(others):,} records there that are not here, such as"
            f" {' '.join(min(others))}: it was used since, or is another memory. Nothing of it was"
            " moved; name an empty place"
        )


def _move_vectors(source: Store, target: Store, moved: Moved) -> None:
    for here, there in ((source.index, target.index), (source.transcript, target.transcript)):
        for known in here.coverage():
            if known.done:
                there.enroll(known.embedder, known.dimension)
                _fill(here, there, known, moved)


def _fill(here: Vectored, there: Vectored, known: Coverage, moved: Moved) -> None:
    """Give every chunk that waits there the vector that the same text of the same memory has
    here."""
    without: set[int] = set()
    while True:
        waiting = there.pending(known.embedder, len(without) + AT_ONCE)
        chunks = [one for one in waiting if one.is_own and one.chunk not in without]
        if not chunks:
            moved.without_vector += len(without)
            return
        vectors = here.vectors_of(known.embedder, {one.memory_id for one in chunks})
        found = [(one, vector) for one in chunks if (vector := _of(vectors, one)) is not None]
        without |= {one.chunk for one in chunks} - {one.chunk for one, _ in found}
        if found:
            there.fill(known.embedder, [one for one, _ in found], np.stack([v for _, v in found]))
            moved.vectors += len(found)


def _of(vectors: Mapping[str, Mapping[str, Vector]], chunk: Pending) -> Vector | None:
    return vectors.get(chunk.memory_id, {}).get(chunk.text)


def _differing(source: Store, target: Store) -> list[str]:
    """Return what is not the same in both: records, decisions about others, vectors."""
    here, there = contents(source), contents(target)
    found = [
        " ".join(key)
        for key in sorted(here.keys() | there.keys())
        if here.get(key) != there.get(key)
    ]
    if not source.others.confirmed() <= target.others.confirmed():
        found.append("what was confirmed")
    if not source.others.muted() <= target.others.muted():
        found.append("who is muted")
    memories = [key[1] for key in here if key[0] == "memory"]
    messages = [f"{TURN}{key[1]}" for key in here if key[0] == "message"]
    for mine, theirs, ids, parts_may_differ in (
        (source.index, target.index, memories, False),
        # These are cut for the embedder that is configured now.
        (source.transcript, target.transcript, messages, True),
    ):
        for start in range(0, len(ids), AT_ONCE):
            some = ids[start : start + AT_ONCE]
            found += _other_vectors(mine, theirs, some, parts_may_differ=parts_may_differ)
    return found


def _other_vectors(
    here: Vectored, there: Vectored, ids: Sequence[str], *, parts_may_differ: bool
) -> Iterator[str]:
    """Yield whose vectors are not those of the same texts here."""
    for known in here.coverage():
        kept = there.vectors_of(known.embedder, ids)
        for id, vectors in here.vectors_of(known.embedder, ids).items():
            theirs = kept.get(id, {})
            texts = vectors.keys() & theirs.keys() if parts_may_differ else vectors.keys()
            if not all(
                text in theirs and np.array_equal(theirs[text], vectors[text]) for text in texts
            ):
                yield f"vectors {id}"
