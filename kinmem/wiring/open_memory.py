"""Opens the memory of a Kin: its store, its models, and the service over both."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from kinmem.clock import Clock, utc_now
from kinmem.llm.base import ChatModels, warm
from kinmem.llm.deadline import started
from kinmem.service import Service
from kinmem.settings import Settings, load
from kinmem.store.base import Store
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring.open_home import for_this_home, open_backups, open_store
from kinmem.wiring.pick_models import chat_models, embedders


def open_service(
    settings: Settings,
    *,
    clock: Clock = utc_now,
    patience: float | None = None,
    resident: bool = True,
) -> Service:
    """Open the memory of settings.general.kin. For `patience` and `resident`, see Service.

    The built-in embedder is loaded once per process, however many Kins are open.
    """
    store = open_store(settings, clock)
    settings = for_this_home(settings)
    try:
        models = chat_models(settings, clock)
        if resident:
            _warm(models)
        return Service(
            store,
            embedders(settings, store.index.coverage()),
            settings,
            models=models,
            clock=clock,
            patience=patience,
            resident=resident,
            backups=None if settings.general.store else open_backups(settings, clock=clock),
        )
    except BaseException:
        store.close()
        raise


def _warm(models: ChatModels) -> None:
    """Start loading what the models need, so that the first question does not wait for it."""
    named = [getattr(models, field.name) for field in fields(models)]
    for model in {id(model): model for model in named if model is not None}.values():
        started(partial(warm, model))


def open_kin(kin: str, home: str | Path | None = None) -> Service:
    """Open the memory of one Kin.

    `home` defaults to KINMEM_HOME; all else comes from the settings.
    """
    return open_service(load({"KINMEM_KIN": kin, "KINMEM_HOME": home}))


@contextmanager
def scratch_store(kin: str) -> Iterator[Store]:
    """Open an empty store that is deleted on leaving the block."""
    with (
        TemporaryDirectory(prefix="kinmem-") as folder,
        closing(SqliteStore(Path(folder), kin)) as store,
    ):
        yield store
