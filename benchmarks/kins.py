"""Kins to measure: at default settings whatever the environment says, and gone afterwards.

Only secrets are kept: the door codes and passwords of the texts are made up.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kinmem.clock import Clock, utc_now
from kinmem.llm.base import Embedder, warm
from kinmem.service import Service
from kinmem.settings import Settings, load
from kinmem.wiring.open_home import open_store
from kinmem.wiring.open_memory import chat_models, open_service

PREFIX = "kinmem-bench-"


@contextmanager
def fresh_kin(
    embedder: Embedder | None = None,
    clock: Clock = utc_now,
    folder: str | None = None,
    **variables: object,
) -> Iterator[Service]:
    """A Kin that knows nothing yet, with the built-in embedder or the one given, and the judge.

    `folder`: below which its home is made; None: where temporary files are.
    """
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=folder) as home,
        kin_at(home, embedder, clock, **variables) as service,
    ):
        yield service


@contextmanager
def kin_at(
    home: str | Path,
    embedder: Embedder | None = None,
    clock: Clock = utc_now,
    **variables: object,
) -> Iterator[Service]:
    """The same in a home that is there, and stays."""
    settings = _settings(home, variables)
    if judge := chat_models(settings).judge:
        warm(judge)  # recall does not wait for it; each process has one
    if embedder is None:
        service = open_service(settings, clock=clock)
    else:
        service = Service(
            open_store(settings, clock),
            [embedder],
            settings,
            models=chat_models(settings, clock),
            clock=clock,
        )
    with service:
        yield service


@contextmanager
def quiet_kin(**variables: object) -> Iterator[Service]:
    """One in which nothing is done in the background."""
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX) as home,
        open_service(_settings(home, variables), resident=False) as service,
    ):
        yield service


def _settings(home: str | Path, variables: Mapping[str, object]) -> Settings:
    known = {"KINMEM_KIN": "bench", "KINMEM_HOME": home, "KINMEM_SECRETS": "keep"}
    return load({**known, **variables}, environment={})
