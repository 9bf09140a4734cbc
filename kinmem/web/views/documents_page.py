"""Documents and imports: the list, a file looked at before it is stored, one document's chunks."""

import secrets
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.datastructures import UploadFile

from kinmem.documents.document import FILE_BYTES, Given
from kinmem.errors import InvalidInput, TooLarge
from kinmem.models.reports import Coverage
from kinmem.service import Stats
from kinmem.store.history import batch_name
from kinmem.web.render import address
from kinmem.web.view import KEPT, Answer, Asked, Done, Notice, Shown, View, number_in

PATH = "/documents"
MOST_LISTED = 500
CHUNKS = 40
# Chunks that a preview shows.
PREVIEWED = 5
EXPORTED = (".jsonl", ".ndjson")
# Bytes of all files of one process that wait for a yes; the oldest give way.
MOST_WAITING = 2 * FILE_BYTES


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was chosen in the browser and is not stored yet."""

    session: str
    name: str
    data: bytes


class Uploads:
    """The files of one process that wait for a yes. May be called from any thread."""

    def __init__(self) -> None:
        self._waiting: dict[str, Upload] = {}
        self._lock = threading.Lock()

    def keep(self, upload: Upload) -> str:
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._waiting[key] = upload
            while sum(len(one.data) for one in self._waiting.values()) > MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
        return key

    def take(self, key: str, session: str) -> Upload:
        """Return the file of that session and keep it no longer. Raises InvalidInput."""
        with self._lock:
            found = self._waiting.get(key)
            if found is None or found.session != session:
                raise InvalidInput("that file no longer waits; choose it again", "file_gone")
            return self._waiting.pop(key)


UPLOADS = Uploads()


def show(asked: Asked) -> Answer:
    service = asked.service
    ids = KEPT.of(service, "documents", lambda: service.store.documents.listed(MOST_LISTED))
    known = service.store.memories(ids)
    waiting = _waiting(KEPT.of(service, "stats", service.stats))
    return Shown(
        "documents.html",
        {
            "documents": [known[id] for id in ids if id in known],
            # What was kept says whether any are made; how many there are is counted anew.
            "vectors": waiting and _waiting(service.stats()),
            "most": FILE_BYTES,
        },
    )


def _waiting(stats: Stats) -> Coverage | None:
    """Return how far the vectors are, if some of documents are still to be made."""
    mine = next((one for one in stats.embedders if one.embedder == stats.embedder), None)
    return mine if mine and mine.of_documents else None


def preview(asked: Asked) -> Answer:
    """Read a file and say what storing it would do."""
    file = asked.form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return Done(PATH, Notice("document.choose", is_problem=True))
    if (file.size or 0) > FILE_BYTES:
        raise TooLarge(file.filename, file.size or 0, FILE_BYTES)
    upload = Upload(asked.session.key, file.filename, file.file.read())
    shown = _exported(asked, upload) if _is_export(upload.name) else _document(asked, upload)
    return Shown("upload.html", {**shown, "file": upload.name, "key": UPLOADS.keep(upload)})


def _document(asked: Asked, upload: Upload) -> Mapping[str, Any]:
    plan = asked.service.documents.plan(_given(upload))
    chunks = plan.draft.chunks
    return {
        "plan": None,
        "known": plan.known,
        "replaces": plan.replaces,
        "held": plan.held,
        "memory": plan.draft.memory,
        "many": len(chunks.texts),
        "chunks": list(zip(chunks.places, chunks.texts, strict=True))[:PREVIEWED],
    }


def _exported(asked: Asked, upload: Upload) -> Mapping[str, Any]:
    if not asked.may("admin"):
        raise InvalidInput("an import takes a session of scope admin", "no_import")
    with tempfile.NamedTemporaryFile() as file:
        file.write(upload.data)
        file.flush()
        return {"plan": asked.service.import_(Path(file.name), dry_run=True)}


def store_upload(asked: Asked) -> Answer:
    upload = UPLOADS.take(asked.given("key") or "", asked.session.key)
    batch = batch_name("add")
    details = {
        "title": asked.given("title"),
        "scope": asked.given("scope") or "private",
        "trusted": asked.may("admin") and asked.given("trusted") is not None,
    }
    stored = asked.service.add(_given(upload, **details), batch)
    if stored.status == "duplicate_of":
        return Done(f"{PATH}/{stored.id}", Notice("document.known"))
    return Done(f"{PATH}/{stored.id}", Notice("document.stored", undo=(batch,)))


def import_upload(asked: Asked) -> Answer:
    upload = UPLOADS.take(asked.given("key") or "", asked.session.key)
    with tempfile.NamedTemporaryFile() as file:
        file.write(upload.data)
        file.flush()
        done = asked.service.import_(Path(file.name))
    undo = (done.batch,) if done.stored else ()
    return Done("/activity", Notice("document.imported", {"n": done.stored}, undo=undo))


def _is_export(name: str) -> bool:
    return name.casefold().endswith(EXPORTED)


def _given(upload: Upload, **details: Any) -> Given:
    # The same name again is a new version.
    return Given(data=upload.data, name=upload.name, source_ref=f"upload:{upload.name}", **details)


def one(asked: Asked) -> Answer:
    """Show a document chunk by chunk."""
    id = str(asked.path["id"])
    memory = asked.service.store.get(id)
    first = number_in(asked.given("from")) or 0
    parts = asked.service.store.documents.parts(id, first, CHUNKS + 1)
    more = len(parts) > CHUNKS
    return Shown(
        "document.html",
        {
            "memory": memory,
            "chunks": parts[:CHUNKS],
            "first": first,
            "previous": address(f"{PATH}/{id}", **{"from": first - CHUNKS}) if first else None,
            "next": address(f"{PATH}/{id}", **{"from": first + CHUNKS}) if more else None,
        },
    )


VIEW = View(
    "documents",
    PATH,
    show,
    pages={f"{PATH}/{{id}}": one},
    actions={f"{PATH}/preview": preview, f"{PATH}/store": store_upload},
    owner={f"{PATH}/import": import_upload},
    uploads=frozenset({f"{PATH}/preview"}),
    group="manage",
)
