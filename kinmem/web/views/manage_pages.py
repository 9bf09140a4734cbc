"""What is managed: documents and imports, with a file looked at before it is stored and a
document's chunks; settings in force with where each comes from; and, for the owner, Kins and
tokens."""

import re
import secrets
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from starlette.datastructures import UploadFile

from kinmem.documents.document import FILE_BYTES, Given
from kinmem.errors import InvalidInput, TooLarge
from kinmem.http.tokens import SCOPES, Token, tokens_of
from kinmem.models.reports import Coverage
from kinmem.service import Stats
from kinmem.settings import HOME_VARIABLE, KIN_NAME, knobs
from kinmem.store.history import batch_name
from kinmem.web.render import address
from kinmem.web.view import Answer, Asked, Done, Notice, Shown, View, number_in
from kinmem.wiring.open_home import kins_on_the_server

DOCUMENTS = "/documents"
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


def show_documents(asked: Asked) -> Answer:
    service = asked.service
    ids = asked.kept("documents", lambda: service.store.documents.listed(MOST_LISTED))
    known = service.store.memories(ids)
    waiting = _waiting(asked.kept("stats", service.stats))
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
        return Done(DOCUMENTS, Notice("document.choose", is_problem=True))
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
        return Done(f"{DOCUMENTS}/{stored.id}", Notice("document.known"))
    return Done(f"{DOCUMENTS}/{stored.id}", Notice("document.stored", undo=(batch,)))


def import_upload(asked: Asked) -> Answer:
    upload = UPLOADS.take(asked.given("key") or "", asked.session.key)
    with tempfile.NamedTemporaryFile() as file:
        file.write(upload.data)
        file.flush()
        done = asked.service.import_(Path(file.name))
    undo = (done.batch,) if done.stored else ()
    told = Notice("document.imported", done.stored, undo=undo)
    return Done("/activity", told)


def _is_export(name: str) -> bool:
    return name.casefold().endswith(EXPORTED)


def _given(upload: Upload, **details: Any) -> Given:
    # The same name again is a new version.
    return Given(data=upload.data, name=upload.name, source_ref=f"upload:{upload.name}", **details)


def show_document(asked: Asked) -> Answer:
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
            "previous": address(f"{DOCUMENTS}/{id}", **{"from": first - CHUNKS}) if first else None,
            "next": address(f"{DOCUMENTS}/{id}", **{"from": first + CHUNKS}) if more else None,
        },
    )


DOCUMENTS_VIEW = View(
    "documents",
    DOCUMENTS,
    show_documents,
    is_certain=True,
    pages={f"{DOCUMENTS}/{{id}}": show_document},
    actions={f"{DOCUMENTS}/preview": preview, f"{DOCUMENTS}/store": store_upload},
    owner={f"{DOCUMENTS}/import": import_upload},
    uploads=frozenset({f"{DOCUMENTS}/preview"}),
    group="manage",
)


SETTINGS, KINS = "/settings", "/kins"
# Who logs in with a name and password in an address.
IN_ADDRESS = re.compile(r"//[^/@\s]*@")


class Row(NamedTuple):
    """One setting in force."""

    variable: str
    value: str
    origin: str
    told: str


def settings(asked: Asked) -> Answer:
    changed = asked.given("changed") is not None
    found = asked.service.settings
    sections: dict[str, list[Row]] = {}
    home = Row(
        HOME_VARIABLE, str(found.home), "home", "Folder that holds everything kinmem stores."
    )
    if not changed:
        sections["general"] = [home]
    for knob in knobs():
        origin = found.origins.get(knob.variable, "default")
        if changed and origin == "default":
            continue
        value = getattr(getattr(found, knob.section), knob.name)
        row = Row(knob.variable, _told(value), origin, knob.description)
        sections.setdefault(knob.section, []).append(row)
    for name, provider in found.providers.items():
        told = " ".join(filter(None, (provider.type, provider.base_url, provider.api_key_env)))
        row = Row(f"[providers.{name}]", _told(told), "config.toml", "A provider of models.")
        sections.setdefault("model", []).append(row)
    return Shown("settings.html", {"sections": sections, "changed": changed})


def _told(value: object) -> str:
    if isinstance(value, list | tuple | set | frozenset):
        value = ", ".join(map(str, value))
    return "" if value is None else IN_ADDRESS.sub("//…@", str(value))


def kins(asked: Asked, made: str | None = None) -> Answer:
    listed = [asked.service.kin]
    if _is_at_the_machine(asked) and asked.service.settings.general.store:
        listed = kins_on_the_server(asked.service.settings)
    elif _is_at_the_machine(asked):
        files = (asked.service.settings.home / "kins").glob("*.db")
        listed = sorted({file.stem for file in files if KIN_NAME.fullmatch(file.stem)})
    return Shown(
        "kins.html",
        {
            "kins": listed,
            "tokens": _tokens(asked),
            "made": made,
            "may_add": _is_at_the_machine(asked),
            "scopes": SCOPES,
            "at_of": datetime.fromisoformat,
        },
    )


def _is_at_the_machine(asked: Asked) -> bool:
    """Return whether the session began with a link of this machine, not with a token.

    A token speaks for one Kin, maybe for a while: it must not make others that reach further.
    """
    return asked.session.token is None


def _tokens(asked: Asked) -> Sequence[Token]:
    """Return the tokens that the session may see, the latest first."""
    found = tokens_of(asked.service.settings, asked.service.clock).tokens()
    return [
        token
        for token in reversed(found)
        if token.kin == asked.service.kin or _is_at_the_machine(asked)
    ]


def add_token(asked: Asked) -> Answer:
    if not _is_at_the_machine(asked):
        told = "only who has opened the page with kinmem web makes tokens"
        raise InvalidInput(told, "not_at_the_machine")
    given, scope = asked.given("days"), asked.given("scope")
    days = number_in(given)
    if given is not None and days is None:
        raise InvalidInput(f"{given[:40]!r} is no number of days", "no_days")
    tokens = tokens_of(asked.service.settings, asked.service.clock)
    made = tokens.add(
        asked.given("kin") or asked.service.kin,
        asked.given("note"),
        days,
        next((one for one in SCOPES if one == scope), "write"),
    )
    return kins(asked, made)


def revoke_token(asked: Asked) -> Answer:
    id = asked.given("id") or ""
    if id not in {token.id for token in _tokens(asked)}:
        raise InvalidInput(f"no token has the id {id!r}", "no_token", given=id)
    tokens_of(asked.service.settings, asked.service.clock).revoke(id)
    return Done(KINS, Notice("kins.is_revoked"))


SETTINGS_VIEW = View("settings", SETTINGS, settings, is_certain=True, group="manage")
KINS_VIEW = View(
    "kins",
    KINS,
    kins,
    is_certain=True,
    owner={f"{KINS}/add": add_token, f"{KINS}/revoke": revoke_token},
    group="manage",
    needs="admin",
)
