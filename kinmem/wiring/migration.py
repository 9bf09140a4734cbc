"""Moves a home between engines: each Kin's memory, and the tool outputs in files."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from kinmem.clock import Clock, utc_now
from kinmem.errors import InvalidInput
from kinmem.llm.prompts import chunks_of
from kinmem.models import Progress
from kinmem.settings import Settings
from kinmem.transfer.moving import Moved, move
from kinmem.wiring.open_home import open_store
from kinmem.wiring.pick_models import embedders


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
    if place_of(source) == place_of(target):
        raise InvalidInput(f"{place_of(source)} is where memories are already")
    for kin in kins:
        with (
            closing(open_store(_of(source, kin), clock)) as here,
            closing(open_store(_of(target, kin), clock)) as there,
        ):
            [embedder, *_] = embedders(source, here.index.coverage())
            yield move(here, there, partial(chunks_of, embedder=embedder), progress)
        _copy_outputs(source, target, kin)


def place_of(settings: Settings) -> str:
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
