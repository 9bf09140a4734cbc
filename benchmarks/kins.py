"""Kins to measure: at default settings whatever the environment says, and gone afterwards."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from kinmem.llm.base import Embedder
from kinmem.service import Service
from kinmem.settings import load
from kinmem.store.sqlite.store import SqliteStore
from kinmem.wiring import open_service


@contextmanager
def fresh_kin(embedder: Embedder | None = None, **variables: object) -> Iterator[Service]:
    """A Kin that knows nothing yet, with the built-in embedder or the one given."""
    with tempfile.TemporaryDirectory(prefix="kinmem-bench-") as home:
        settings = load({"KINMEM_KIN": "bench", "KINMEM_HOME": home, **variables}, environment={})
        if embedder is None:
            service = open_service(settings)
        else:
            service = Service(
                SqliteStore(settings.home, settings.general.kin), [embedder], settings
            )
        with service:
            yield service
