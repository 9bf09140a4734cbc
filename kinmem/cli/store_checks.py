"""What doctor looks at in the memory itself: files, versions, counts, vectors, times."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from kinmem.cli.checks import Check
from kinmem.cli.life_checks import life
from kinmem.errors import KinmemError
from kinmem.settings import Settings

if TYPE_CHECKING:
    from kinmem.llm.base import Embedder
    from kinmem.models import Health
    from kinmem.service import Service

SLACK = timedelta(minutes=5)
BYTES = 4
"""Of a number in a vector."""
DAMAGED = "stop every kinmem, keep a copy of the file, and restore a backup"
OUT_OF_STEP = "report it with this line; recall may miss memories"


def memory(settings: Settings) -> Iterator[Check]:
    """This Kin's memory and the shared one; what does not exist is not made."""
    from kinmem.wiring import open_service

    kin = settings.general.kin
    if not (settings.home / "kins" / f"{kin}.db").exists():
        yield Check("memory", "ok", f"{kin} has none yet; it is made when it is first opened")
        return
    try:
        service = open_service(settings)
    except KinmemError as error:
        yield Check("memory", "error", f"{error.code}: {error}", "do what the message says")
        return
    with service:
        states = service.stats().counts["state"]
        told = ", ".join(f"{count:,} {state}" for state, count in states.items())
        yield Check("memory", "ok", f"{kin} sees {told or 'nothing yet'}")
        yield from _files(service.store.health())
        yield from _vectors(service)
        yield from _transcript(service)
        yield from _times(service)
        yield from life(service, _embedder_here(settings, service))


def _embedder_here(settings: Settings, service: "Service") -> "Embedder | None":
    """The configured one, unless it asks a network."""
    from kinmem.wiring import asks_network, embedders

    if settings.embedding.model and asks_network(settings.embedding.model, settings):
        return None
    return embedders(settings, service.store.coverage())[0]


def _files(files: "list[Health]") -> Iterator[Check]:
    """Each database file: what it is, and whether its parts hold the same memories."""
    for engine in dict.fromkeys(file.engine for file in files):
        yield Check("engine", "ok", engine)
    for file in files:
        told = (
            f"schema {file.version}, {file.memories:,} memories, {file.words:,} in the word index"
        )
        off = [
            f"{name}: {count + file.pending.get(name, 0):,} of {file.chunks:,} chunks"
            for name, count in file.vectors.items()
            if count + file.pending.get(name, 0) != file.chunks
        ]
        if file.damage:
            yield Check(file.file, "error", f"{told}; {'; '.join(file.damage)}", DAMAGED)
        elif file.memories != file.words or off:
            yield Check(file.file, "error", "; ".join([told, *off]), OUT_OF_STEP)
        else:
            yield Check(file.file, "ok", f"{told}, {file.chunks:,} chunks, undamaged")


def _vectors(service: "Service") -> Iterator[Check]:
    found = service.stats()
    if all(one.embedder != found.embedder for one in found.embedders):
        told = (
            f"none by {found.embedder}, which is configured; recall does with others or with words"
        )
        yield Check("vectors", "warning", told, "kinmem reembed makes them, and says why it cannot")
    complete = any(
        one.embedder == found.embedder and one.done == one.total for one in found.embedders
    )
    for one in found.embedders:
        told = f"{one.done:,} of {one.total:,} by {one.embedder}"
        if one.embedder == found.embedder and one.done < one.total:
            yield Check("vectors", "warning", told, "kinmem reembed makes the others")
        elif one.embedder != found.embedder and complete:
            size = one.done * one.dimension * BYTES / 1e6
            told = f"{told}, needed no more, {size:.1f} MB"
            yield Check("vectors", "ok", told, f"kinmem reembed --drop {one.embedder}")
        else:
            yield Check("vectors", "ok", told)


def _transcript(service: "Service") -> Iterator[Check]:
    """How much of what was said recall finds."""
    if not service.settings.recall.turns:
        yield Check("transcript", "ok", "what was said is not searched (KINMEM_RECALL_TURNS)")
        return
    found = service.stats()
    said, waiting = found.conversations["messages"], found.conversations["unindexed"]
    if not said:
        return
    told = f"{said:,} messages, {waiting:,} of them still to be indexed"
    lacking = [one for one in found.turns if one.embedder == found.embedder and one.share < 1]
    told += "".join(f"; {one.done:,} of {one.total:,} vectors" for one in lacking)
    if waiting or lacking:
        hint = "a running server does it, or kinmem sleep embed"
        yield Check("transcript", "ok", told, hint)
    else:
        yield Check("transcript", "ok", f"{said:,} messages, all indexed")


def _times(service: "Service") -> Iterator[Check]:
    newest = service.list_memories(sort="newest", limit=1).memories
    if newest and newest[0].created_at > service.clock() + SLACK:
        told = f"the newest memory is from {newest[0].created_at:%Y-%m-%d %H:%M} UTC, in the future"
        yield Check("times", "warning", told, "set the system's clock; until then ages are wrong")
