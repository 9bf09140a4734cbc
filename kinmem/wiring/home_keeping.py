"""How a home is kept: encrypted with which key, and on which engine; what changes the one or the
other.

A move reads its source only, and compares both afterwards. What is there already stays, so a move
that was cut short is continued by the same call, and one that is done changes nothing.
"""

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from kinmem.backup import jsonl
from kinmem.clock import Clock, utc_now
from kinmem.errors import ConfigError, InvalidInput, StoreError
from kinmem.llm.base import chunks_of
from kinmem.models import Coverage, Pending, Progress, Vector, id_of_message
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.store.records import Header, Loading, Record
from kinmem.store.sessions import Cut, Vectored
from kinmem.store.sqlite.driver import can_encrypt
from kinmem.store.sqlite.encryption import (
    KEYRING,
    TO_INSTALL,
    begin_change,
    end_change,
    place_of,
    read_marker,
    unlock,
)
from kinmem.store.sqlite.snapshot import SqliteHome
from kinmem.wiring.open_home import open_backups, open_store
from kinmem.wiring.open_memory import embedders

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
        found = [
            (one, vector) for one in chunks if (vector := _vector_of(vectors, one)) is not None
        ]
        without |= {one.chunk for one in chunks} - {one.chunk for one, _ in found}
        if found:
            there.fill(known.embedder, [one for one, _ in found], np.stack([v for _, v in found]))
            moved.vectors += len(found)


def _vector_of(vectors: Mapping[str, Mapping[str, Vector]], chunk: Pending) -> Vector | None:
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
    messages = [id_of_message(int(key[1])) for key in here if key[0] == "message"]
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


@dataclass(frozen=True, slots=True)
class KeyState:
    """How a home is encrypted."""

    key: str | None
    """Fingerprint of the key; None: the files are in the clear."""
    where: str | None
    """`keyring`, or the path of the file with the keys."""
    is_changing: bool = False
    """Whether a change was cut short."""


@dataclass(frozen=True, slots=True)
class KeyChange:
    """What a change of the key did."""

    state: KeyState
    files: int
    backup: Path | None
    """Made before the change."""
    in_the_clear: Sequence[Path]
    """Backups that are not encrypted, since they are from before."""


def key_state(settings: Settings) -> KeyState:
    """Return how the home is encrypted."""
    marker = read_marker(settings.home)
    if marker is None:
        return KeyState(None, None)
    return KeyState(marker.key, marker.where, marker.is_changing)


def set_key(settings: Settings, where: str | None = None) -> KeyChange:
    """Encrypt the home with a new key, kept in the keyring or in a file; if it is encrypted, change
    the key. Raises ConfigError, or StoreError while another process uses the home."""
    if not can_encrypt():
        raise ConfigError(TO_INSTALL)
    place = where or settings.general.key or key_state(settings).where or KEYRING
    return _change(settings, place_of(place))


def remove_key(settings: Settings) -> KeyChange:
    """Decrypt the home. Its keys stay where they are, for backups. Raises as set_key does."""
    return _change(settings, None)


def _change(settings: Settings, where: str | None) -> KeyChange:
    home, files = settings.home, SqliteHome()
    settings = replace(settings, general=replace(settings.general, key=None))
    before = key_state(settings)
    backups = open_backups(settings)
    made = None
    with files.alone(home) as held:  # nobody has it open; said before anything is made
        if held.unreadable:
            raise StoreError(
                f"{', '.join(sorted(held.unreadable))} cannot be read, and would keep the key it"
                " has; kinmem doctor --repair mends it. Nothing was changed",
                "storage_damaged",
            )
    if files.names(home) and not before.is_changing:
        made = backups.make("manual").path
    key = begin_change(home, where)
    unlock(home, None, can_encrypt=can_encrypt())
    count = files.encrypt(home, key)
    end_change(home)
    unlock(home, None, can_encrypt=can_encrypt())
    was_in_the_clear = before.key is None or before.is_changing
    earlier = [one.path for one in backups.listed() if not one.is_encrypted]
    is_now_encrypted = where is not None and was_in_the_clear
    return KeyChange(key_state(settings), count, made, earlier if is_now_encrypted else [])


def migrate(
    source: Settings,
    target: Settings,
    kins: Sequence[str],
    *,
    clock: Clock = utc_now,
    progress: Progress | None = None,
) -> Iterator[Moved]:
    """Move these Kins, one after the other. What others share is moved by who shares it.

    Raises InvalidInput if both are the same place.
    """
    if where_kept(source) == where_kept(target):
        raise InvalidInput(f"{where_kept(source)} is where memories are already")
    for kin in kins:
        with (
            closing(open_store(_of(source, kin), clock)) as here,
            closing(open_store(_of(target, kin), clock)) as there,
        ):
            [embedder, *_] = embedders(source, here.index.coverage())
            yield move(here, there, partial(chunks_of, embedder=embedder), progress)
        _copy_outputs(source, target, kin)


def where_kept(settings: Settings) -> str:
    """Return where memories are kept."""
    return settings.general.store or str(settings.home.resolve())


def _of(settings: Settings, kin: str) -> Settings:
    return replace(settings, general=replace(settings.general, kin=kin))


def _copy_outputs(source: Settings, target: Settings, kin: str) -> None:
    """Copy outputs of tools that were too long for a conversation, unless they are there."""
    folder = f"kins/{kin}-outputs"
    if source.home.resolve() != target.home.resolve() and (source.home / folder).is_dir():
        (target.home / "kins").mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copytree(source.home / folder, target.home / folder, dirs_exist_ok=True)
