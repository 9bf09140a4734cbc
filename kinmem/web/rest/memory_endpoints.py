"""Memories: recall them, list, store, change, forget and restore them. And documents: files that
recall finds chunk by chunk."""

from base64 import b64decode
from binascii import Error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, Any

from pydantic import Field

from kinmem.conversation.sanitize import ESCAPED, disarmed, restored
from kinmem.documents.document import Given
from kinmem.errors import InvalidInput
from kinmem.http.lanes import UnderWay, answered
from kinmem.knowledge import Connection
from kinmem.models import Answer, Forgotten, Hit, Memory, Mode, Note, Page, Stored
from kinmem.models.draft import is_document
from kinmem.models.record import Relation
from kinmem.upkeep.ageing import Vitals
from kinmem.upkeep.lifecycle import Forecast
from kinmem.validation import MOST_LINKS
from kinmem.web.rest.declaration import (
    LEFT_OUT,
    Asked,
    BatchName,
    Call,
    Details,
    Group,
    Ids,
    Made,
    Paged,
    Priority,
    Sort,
    Tags,
    Text,
    Trusted,
    Where,
)

memories = Group("Memories")
documents = Group("Documents")
under_way = UnderWay()


class Question(Where):
    query: Text
    limit: Annotated[int, Field(ge=1, le=100)] = LEFT_OUT
    mode: Annotated[Mode, Field(description="a ranking profile")] = LEFT_OUT
    session: Annotated[str, Field(description="the conversation of a follow-up")] = LEFT_OUT


@memories("POST", "/recall", "read")
def recall(call: Call, asked: Question) -> Answer:
    """Search by meaning and words, best first; each hit with its score and the reasons for it."""
    return call.service.recall(**asked.given())


@memories("GET", "/recall", "read")
def recall_by_address(call: Call, asked: Question) -> Answer:
    """Do the same as POST /recall, for clients that can only send an address."""
    return call.service.recall(**asked.given())


class Listing(Where, Paged):
    sort: Sort = "newest"


@memories("GET", "/memories", "read")
def list_memories(call: Call, asked: Listing) -> Page:
    """Return one page of memories; next_cursor leads to the next one."""
    return call.service.list_memories(**asked.given())


# Bytes of a request with the longest text, 8 MiB, whose line ends and quotes are escaped.
TEXT_BYTES = 17 << 20


class New(Made):
    content: Annotated[str, Field(description="one self-contained statement")]


@memories("POST", "/memories", "write", takes_key=True, body_bytes=TEXT_BYTES)
def memorize(call: Call, asked: New) -> Stored:
    """Store one memory. What is known is not stored twice; the status says what became of it. If
    the server still works on a long text (code deadline), the same request again waits for it."""
    if not is_document(asked.content):
        return _stored(call, asked)
    what = ("memorize", call.key, asked.digest)
    return answered(under_way.result(call.service, what, Stored, lambda _: _stored(call, asked)))


def _stored(call: Call, asked: New) -> Stored:
    _may_store(call, [(call.key, asked)])
    fields = {"client": call.client, **asked.given()}
    return call.service.memorize(fields.pop("content"), idempotency_key=call.key, **fields)


class Batch(Asked):
    items: Annotated[tuple[New, ...], Field(min_length=1, max_length=100)]
    batch: BatchName = None


@dataclass(frozen=True)
class Outcomes:
    """What became of each item, in order."""

    items: Sequence[Stored]


@memories("POST", "/memories/batch", "write", takes_key=True, body_bytes=TEXT_BYTES)
def memorize_many(call: Call, asked: Batch) -> Outcomes:
    """Store up to 100 memories. An item that may not be stored (a secret, an empty text) is refused
    alone. If an item has an unknown field or a value out of range, nothing is stored. If the server
    still works on them (code deadline), the same request again waits for its end."""
    what = ("memorize_many", call.key, asked.digest)
    return answered(
        under_way.result(call.service, what, Outcomes, lambda _: _all_stored(call, asked))
    )


def _all_stored(call: Call, asked: Batch) -> Outcomes:
    notes = [{"client": call.client, **item.given()} for item in asked.items]
    if call.key is None:
        _may_store(call, [(None, item) for item in asked.items])
        named = [Note(**note) for note in notes]
        return Outcomes(call.service.memorize_many(named, batch=asked.batch))
    if asked.batch is not None:
        raise InvalidInput("items with an Idempotency-Key are undone one by one; leave out batch")
    keys = [_key_of_item(call.key, at) for at in range(len(notes))]
    _may_store(call, list(zip(keys, asked.items, strict=True)))
    return Outcomes([_once(call, key, note) for key, note in zip(keys, notes, strict=True)])


def _key_of_item(key: str, at: int) -> str:
    """Return a key that is as long for every key, and that no header can hold."""
    return f"{blake2b(key.encode(), digest_size=32).hexdigest()} → {at}"


def _once(call: Call, key: str, note: dict[str, Any]) -> Stored:
    try:
        return call.service.memorize(note.pop("content"), idempotency_key=key, **note)
    except InvalidInput as error:
        return Stored("refused", reason=str(error))


def _may_store(call: Call, items: Sequence[tuple[str | None, New]]) -> None:
    """Check who may say that a person has looked, and count what is shared and was not before, by
    the keys of the items."""
    for _, item in items:
        call.trusts(item.trusted)
    shared = [(key, item.content) for key, item in items if item.scope == "shared"]
    if count := sum(not (key and call.service.is_done(key, text)) for key, text in shared):
        call.service.share(count)


@memories("GET", "/memories/{id}", "read")
def get(call: Call) -> Memory:
    """Return a memory in any state, with its version as ETag; reading counts as use. The content of
    a document is its beginning, /text has all of it."""
    return call.service.get(call.id)


@dataclass(frozen=True)
class Said:
    text: str


@memories("GET", "/memories/{id}/text", "read")
def text(call: Call) -> Said:
    """Return the whole text of a memory or document."""
    store = call.service.store
    said = store.documents.readable(call.id)
    if store.get(call.id).is_held:
        said = "\n".join(disarmed(line, len(line) + 1) for line in said.split("\n"))
    return Said(said)


class Part(Asked):
    number: Annotated[int, Field(ge=1, le=10_000_000, description="from 1")]


@memories("GET", "/memories/{id}/chunk", "read")
def chunk(call: Call, asked: Part) -> Said:
    """Return one chunk of a document, as recall names it."""
    return Said(call.service.chunk(call.id, asked.number))


class LinkTo(Asked):
    id: Text
    relation: Annotated[Relation | None, Field(description="null unlinks")] = "related_to"


class Changes(Details):
    content: str = LEFT_OUT
    tags: Tags | None = None
    pinned: Annotated[bool, Field(description="never fades")] = LEFT_OUT
    priority: Priority | None = None
    archived: Annotated[bool, Field(description="kept, but not recalled")] = LEFT_OUT
    links: Annotated[tuple[LinkTo, ...], Field(max_length=MOST_LINKS)] = LEFT_OUT
    reason: Annotated[str | None, Field(description="for the history")] = None
    batch: BatchName = None
    trusted: Trusted = False


@memories("PATCH", "/memories/{id}", "write", is_guarded=True)
def update_memory(call: Call, asked: Changes) -> Memory:
    """Change what is named; null clears a field that may be empty. With If-Match only if nobody has
    changed it since."""
    service, changes = call.service, asked.given()
    call.trusts(asked.trusted)
    if changes.get("scope") == "shared" or service.is_shared(call.id):
        service.share(1)
    if "links" in changes:
        changes["links"] = [{"id": link.id, "relation": link.relation} for link in asked.links]
    if ESCAPED in str(changes):
        changes = restored(changes, service.get(call.id))
    return service.update_memory(call.id, if_version=call.if_version, **changes)


@memories("DELETE", "/memories/{id}", "write")
def forget(call: Call) -> Forgotten:
    """Take a memory out of use. It can be restored for a while."""
    return call.service.forget(call.id)


@memories("POST", "/memories/{id}/erase", "admin")
def erase(call: Call) -> Forgotten:
    """Remove a memory for good, with its history and what was said in the turns it was learned
    from."""
    return call.service.forget(call.id, erase=True)


@memories("POST", "/memories/{id}/restore", "write")
def restore(call: Call) -> Memory:
    """Bring back a memory that is forgotten, archived or superseded."""
    return call.service.restore(call.id)


@memories("POST", "/memories/{id}/confirm", "admin")
def confirm(call: Call) -> Memory:
    """Vouch for what another Kin shares."""
    return call.service.confirm(call.id)


@dataclass(frozen=True)
class Life:
    """How long a memory is kept; empty if it is not live or another Kin's."""

    vitals: Vitals | None = None


@memories("GET", "/memories/{id}/vitals", "read")
def vitals(call: Call) -> Life:
    """Return retention, tier with its reason, priority, and how its tier has changed."""
    return Life(call.service.vitals(call.id))


@dataclass(frozen=True)
class Future:
    """What becomes of a memory that nobody uses; empty if it is not live or another Kin's."""

    forecast: Forecast | None = None


@memories("GET", "/memories/{id}/forecast", "read")
def forecast(call: Call) -> Future:
    """Return how a memory fades from now on, and what happens when."""
    return Future(call.service.forecast(call.id))


class Few(Asked):
    limit: Annotated[int, Field(ge=1, le=50)] = 5


@dataclass(frozen=True)
class Hits:
    """Memories that were found, the best first."""

    hits: Sequence[Hit]


@memories("GET", "/memories/{id}/similar", "read")
def similar(call: Call, asked: Few) -> Hits:
    """Return memories that say something like this one."""
    return Hits(call.service.similar(call.id, **asked.given()))


class Missed(Few):
    query: Text


@memories("GET", "/left-out", "read")
def left_out(call: Call, asked: Missed) -> Hits:
    """Return what fits a question, but is archived, superseded, held back or forgotten."""
    return Hits(call.service.left_out(**asked.given()))


class Some(Asked):
    ids: Ids


@dataclass(frozen=True)
class Linked:
    """The connections of each memory that has any, by id."""

    links: Mapping[str, Sequence[Connection]]


@memories("GET", "/links", "read")
def links(call: Call, asked: Some) -> Linked:
    """Return what each of these memories is connected with. Repeat `ids` for several."""
    return Linked(call.service.links(*asked.ids))


@dataclass(frozen=True)
class Newer:
    """By id of a memory that may no longer hold: the newer one that contradicts it."""

    newer: Mapping[str, str]


@memories("GET", "/newer", "read")
def newer(call: Call, asked: Some) -> Newer:
    """Return which of these memories may have been superseded by a newer one."""
    return Newer(call.service.newer(*asked.ids))


# A file of 16 MiB in base64, with its details.
FILE_BYTES = 22 * 1024 * 1024


class Document(Made):
    text: Annotated[str, Field(description="Markdown, text or HTML")] = LEFT_OUT
    base64: Annotated[str, Field(description="instead: the bytes of the file, as of a PDF")] = (
        LEFT_OUT
    )
    name: Annotated[str, Field(description="of the file; its extension tells the kind")] = ""
    source_ref: Annotated[
        str | None, Field(description="a path or address; another text from there is a new version")
    ] = None
    title: str | None = None
    batch: BatchName = None
    description: str | None = None


@documents("POST", "/documents", "write", body_bytes=FILE_BYTES)
def add_document(call: Call, asked: Document) -> Stored:
    """Store a file in chunks. The same text again is a duplicate. If the server still works on it
    (code deadline), the same request again waits for its end."""
    what = ("add_document", asked.digest)
    return answered(
        under_way.result(call.service, what, Stored, lambda _: _stored_document(call, asked))
    )


def _stored_document(call: Call, asked: Document) -> Stored:
    call.trusts(asked.trusted)
    if asked.scope == "shared":
        call.service.share(1)
    details = {"client": call.client, **asked.given()}
    batch = details.pop("batch", None)
    text, encoded = details.pop("text", None), details.pop("base64", None)
    if (text is None) == (encoded is None):
        raise InvalidInput("give either text or base64")
    data = text if encoded is None else _bytes(encoded)
    return call.service.add(Given(data=data, **details), batch)


def _bytes(encoded: str) -> bytes:
    try:
        return b64decode(encoded, validate=True)
    except (Error, ValueError) as error:
        raise InvalidInput(f"base64: {error}") from None
