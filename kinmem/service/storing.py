"""Service: storing notes and documents, and changing them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from math import ceil
from typing import Any

from kinmem.documents.document import Given, as_given, released
from kinmem.errors import InvalidInput, KeySpent, StoreError, TooManyShared
from kinmem.language import sentences
from kinmem.learn.edit import changed_fields
from kinmem.llm.base import chunks_of, embedded
from kinmem.llm.naming import reread
from kinmem.models import Chunks, Memory, Note, Progress, State, Stored
from kinmem.models.draft import checked_sizes, is_document
from kinmem.service.components import Components, Ground
from kinmem.store.history import batch_name, is_of_erased, keyed_name, of_key, repeated_call
from kinmem.text import storable
from kinmem.validation import checked_key, checked_links

BATCH = 100
AGAIN = "this call was done before; nothing was stored again"
# Shared writes of a model that one Kin may make in a minute: what is shared is told to all.
SHARED_WRITES, MOST_SHARED, MINUTE = "shared writes", 30, 60.0
# Fields that priority and tier depend on.
RANKED = frozenset({"priority", "importance", "tags", "pinned", "archived", "links"})


class Storing:
    """Memorize notes, add documents, and update memories."""

    def __init__(self, ground: Ground, components: Components) -> None:
        self._store = ground.store
        self._embedder = ground.embedder
        self._settings = ground.settings
        self._border = ground.border
        self._clock = ground.clock
        self._learn = components.learn
        self._documents = components.documents
        self._naming = components.naming
        self._renewal = components.renewal
        self._place = components.current_place
        self._background = components.background

    def share(self, count: int) -> None:
        """Count shared writes of a model. Raises TooManyShared if it has made 30 in a minute."""
        if count > MOST_SHARED:
            raise InvalidInput(f"at most {MOST_SHARED} memories may be shared in one call")
        if wait := self._store.jobs.spend(SHARED_WRITES, count, MOST_SHARED, MINUTE):
            raise TooManyShared(MOST_SHARED, max(1, ceil(wait)))

    def is_shared(self, memory_id: str) -> bool:
        """Return whether it is one of the Kin's own memories that others read."""
        known = self._store.memories([memory_id]).get(memory_id)
        return known is not None and known.kin == self._store.kin and known.scope == "shared"

    def memorize(
        self,
        content: str,
        *,
        idempotency_key: str | None = None,
        progress: Progress | None = None,
        **fields: Any,
    ) -> Stored:
        """Store one memory. The fields are those of Note. What is known is not stored twice.

        A call with the same `idempotency_key` and content is done once: repeat it after an error
        that leaves open whether it was done, and nothing is stored again, even if the memory has
        been changed or forgotten since. Once it is erased, the key is spent: every call under it is
        refused, since nothing is left that tells whether the text is the same. A text over 64 KiB
        is stored as a document; see add_document. Only that takes long enough to report `progress`.
        """
        checked_sizes({"content": content, **fields})
        self._background.await_ready()
        note = self._place.placed(_note({"content": content, **fields}))
        batch = None if idempotency_key is None else _named_by(idempotency_key, content)
        if batch and (done := self._done_before(batch)):
            return done
        try:
            if is_document(content):
                added = self.add(as_given(note), batch, progress=progress)
                self._note_repetition(batch, added)
                return added
            stored = self._learn.note(note, batch)
            self._note_repetition(batch, stored)
            return self._released(stored) if note.trusted else stored
        except StoreError as error:
            in_doubt = batch if error.leaves_open else None
            if in_doubt and (done := self._done_before(in_doubt)):
                return done
            raise

    def is_done(self, idempotency_key: str, content: str) -> bool:
        """Return whether memorize would store nothing, since it was called so before."""
        try:
            return self._done_before(_named_by(idempotency_key, content)) is not None
        except KeySpent:
            return True

    def _done_before(self, batch: str) -> Stored | None:
        """Return what became of a call under this name; None if it has not been done. Raises
        KeySpent."""
        names = self._store.past.batches(of_key(batch))
        found = next((name for name in names if name.startswith(repeated_call(batch, ""))), None)
        if found is not None:
            return Stored("duplicate_of", found.removeprefix(repeated_call(batch, "")), AGAIN)
        if batch not in names:
            if any(map(is_of_erased, names)):
                raise KeySpent
            return None
        lines = self._store.past.batch(batch)
        made = next((line for line in lines if line.action == "created"), None)
        if made is None:
            changed = next((line for line in lines if line.action == "updated"), None)
            return None if changed is None else Stored("updated", changed.memory_id, AGAIN)
        ended = tuple(line.memory_id for line in lines if line.action == "superseded")
        return Stored("created", made.memory_id, AGAIN, supersedes=ended)

    def _note_repetition(self, batch: str | None, stored: Stored) -> None:
        """Remember that a call with a key found its memory stored: no line of the history says
        so."""
        if batch is not None and stored.id is not None and stored.status == "duplicate_of":
            self._store.jobs.set_mark(repeated_call(batch, stored.id), 1)

    def _released(self, stored: Stored) -> Stored:
        """Release what a person says again that is held back."""
        if stored.id is not None and stored.status == "duplicate_of":
            known = self._store.get(stored.id)
            if known.is_held and known.kin == self._store.kin:
                fields = released(known, self._store.documents.text(known.id))
                self._store.update(known.id, fields, action="released", reason="trusted")
        return stored

    def memorize_many(
        self,
        items: Iterable[Note | Mapping[str, Any] | str],
        *,
        batch: str | None = None,
        progress: Progress | None = None,
    ) -> list[Stored]:
        """Store several memories, and return the outcome of each, in order.

        They are stored in transactions of 100, and undone together by the name of their `batch`.
        Vectors and the search for semantic duplicates follow in the background (see settle). An
        item that cannot be stored is refused without affecting the others.
        """
        checked_sizes({"batch": batch})
        placed = [self._placed(_note(item)) for item in items]
        notes = [one for one in placed if isinstance(one, Note)]
        batch = self._border.passed(batch, "batch") if batch else batch_name("many")
        stored: list[Stored] = []
        for start in range(0, len(notes), BATCH):
            self._background.wake()
            part, done = notes[start : start + BATCH], _from(start, notes, progress)
            stored += self._many(part, batch, done, is_few=len(notes) <= BATCH)
        self._background.wake()
        outcomes = iter(stored)
        return [next(outcomes) if isinstance(one, Note) else one for one in placed]

    def _placed(self, note: Note) -> Note | Stored:
        try:
            checked_sizes(note)
            return self._place.placed(note)
        except InvalidInput as error:
            return Stored("refused", reason=str(error))

    def add_document(self, data: bytes | str, **details: Any) -> Stored:
        """Store a file: Markdown, text, HTML or PDF, up to 8 MiB of text, in chunks that recall
        finds one by one. The details are those of documents.document.Given.

        The same text again is a duplicate; another text with the same `source_ref` replaces the
        earlier one. Vectors are made in the background. Raises Unreadable or TooLarge.
        """
        return self.add(Given(data=data, **details))

    def add(
        self, given: Given, batch: str | None = None, progress: Progress | None = None
    ) -> Stored:
        """Store a document. Documents with the same `batch` are undone together."""
        checked_sizes(given)
        checked_sizes({"batch": batch})
        if given.place is not None:
            given = replace(given, place=storable(given.place))
        stored = self._documents.add(given, batch, progress)
        if stored.id and stored.status in ("created", "updated"):
            self._renewal.of_new_document(stored.id)
        self._background.wake()
        return stored

    def update_memory(
        self,
        memory_id: str,
        *,
        if_version: int | None = None,
        reason: str | None = None,
        batch: str | None = None,
        trusted: bool = False,
        **changes: Any,
    ) -> Memory:
        """Change content, category, subject, scope, importance, tags, source_context, occurred_at,
        pinned, priority, expires, place or archived. None clears a field that may be empty. `links`
        adds links to other memories, {id, relation} each, and removes those whose relation is None.
        The history records `reason` and `batch`.

        A memory that is held back is changed only if a person says so (`trusted`), which releases
        it; so is what would read like an order to an assistant. What cannot be so beside a new text
        stays, ranks behind it, and is asked about in a review.

        Raises MemoryNotFound unless this Kin is the author, VersionConflict if somebody has changed
        the memory since `if_version`.
        """
        checked_sizes({**changes, "reason": reason, "batch": batch})
        asked = checked_links(changes["links"] or (), memory_id) if "links" in changes else []
        if not changes:
            raise InvalidInput("nothing to change; name at least one field")
        reason, batch = self._border.passed((reason, batch), "reason")
        old = self._changeable(memory_id, changes, trusted=trusted)
        given = {name: value for name, value in changes.items() if name != "links"}
        if "place" in given:
            given["place"] = self._place.meant(given["place"] or "")
        fields, chunks = self._checked(old, given)  # all of it, before anything is written
        if old.is_held:
            fields |= released(old, self._store.documents.text(old.id))
        batch = batch or (batch_name("update") if asked and fields else None)
        if asked:
            linked = self._store.links.change(memory_id, asked, if_version, batch=batch)
            self._store.life.renew({link.id for link in asked})
            if_version = linked.version if if_version is not None and fields else None
        changed = self._store.update(
            memory_id,
            fields,
            chunks=chunks,
            if_version=if_version,
            knowledge=reread(old, fields, self._naming),
            reason=reason,
            batch=batch,
        )
        if "content" in changes:
            self._renewal.of_texts([memory_id], tags=old.tagged_at is not None)
            changed = self._store.get(memory_id)
            if changed.content != old.content and changed.content_hash != old.content_hash:
                self._learn.corrected(changed, old.content)
        return self._renewal.of_rank(memory_id) if RANKED & changes.keys() else changed

    def _changeable(self, id: str, changes: Mapping[str, Any], *, trusted: bool) -> Memory:
        """Return the memory as it is. Raises InvalidInput if it may not be changed so."""
        old = self._store.get(id)
        if old.state == State.DELETED and changes.get("archived") is not False:
            raise InvalidInput(
                f"memory {id} is forgotten; archived=false brings it back first", "forgotten"
            )
        if not trusted:
            self._refuse_orders(old, changes)
        return old

    def _many(
        self, notes: Sequence[Note], batch: str, progress: Callable[[int], None], *, is_few: bool
    ) -> list[Stored]:
        """Store long notes as documents and the others together; return the outcome of each, in
        order."""
        short = [note for note in notes if not is_document(note.content)]
        outcomes = iter(self._learn.notes(short, batch, progress, is_few=is_few))
        stored = []
        for done, note in enumerate(notes, 1):
            stored.append(self._long(note) if is_document(note.content) else next(outcomes))
            if len(short) < len(notes):
                progress(done)
        return stored

    def _long(self, note: Note) -> Stored:
        try:
            return self.add(as_given(note))
        except InvalidInput as error:
            return Stored("refused", reason=str(error))

    def _refuse_orders(self, old: Memory, changes: Mapping[str, Any]) -> None:
        if old.is_held:
            raise InvalidInput(
                f"memory {old.id} is held back until a person has looked at it: kinmem review, or"
                " kinmem update --trust. Tell your user",
                "held_back",
            )
        why = self._learn.why_held(self._border.passed(changes))
        was = {"content": old.content, "subject": old.subject, "tags": old.manual_tags}
        # A person may have accepted that it reads so; that holds for what the person has seen.
        accepted = why and self._learn.why_held(was)
        if why and not (accepted and not self._learn.why_held(_fresh(old, changes))):
            raise InvalidInput(
                f"the new text {why}, and would be obeyed by whoever recalls it; the memory stays"
                " as it was. Tell your user: kinmem update --trust changes it all the same",
                "reads_like_an_order",
            )

    def _checked(self, old: Memory, given: dict[str, Any]) -> tuple[dict[str, Any], Chunks | None]:
        """Return the fields to change, and the chunks of new content."""
        zone = self._settings.general.zone
        as_document = "content" in given and (old.is_document or is_document(given["content"]))
        text = given.pop("content") if as_document else None
        fields = changed_fields(given, old, self._clock(), zone, self._border)
        if text is not None:
            rewritten, chunks = self._documents.rewritten(old, text)
            return fields | rewritten, chunks
        if "content" not in fields:
            return fields, None
        self._background.await_ready()
        texts = chunks_of(fields["content"], self._embedder)
        return fields, embedded(Chunks(texts), self._embedder)


def _from(start: int, notes: Sequence[Note], progress: Progress | None) -> Callable[[int], None]:
    """Return a callback that reports how many of all notes are done, in a batch that begins at
    `start`."""
    if progress is None:
        return lambda done: None
    return lambda done: progress(start + done, len(notes), "memories")


def _fresh(old: Memory, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a change says that the memory does not say."""
    said = str(changes.get("content") or "").replace(old.content, " ")
    parts = [part for part in sentences(said) if part not in old.content]
    for known in sentences(old.content):
        parts = [part.replace(known, " ") for part in parts]
    fresh = {"content": " ".join(parts)}
    tags = [tag for tag in changes.get("tags") or () if tag not in old.manual_tags]
    others = {
        name: changes[name]
        for name in ("subject", "source_context")
        if name in changes and changes[name] != getattr(old, name)
    }
    return fresh | others | {"tags": tags}


def _named_by(key: str, content: str) -> str:
    """Return a name for the writes of a call. The same key with another text is another call, which
    must not be lost. Erasing takes the text's part of it, so that nobody can guess the text and
    try."""
    key = checked_key(key)
    call = f"{key}\0{content}".encode("utf-8", "surrogatepass")
    known = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return keyed_name(known, blake2b(call, digest_size=12).hexdigest())


def _note(item: Note | Mapping[str, Any] | str) -> Note:
    if isinstance(item, Note):
        return item
    if isinstance(item, str):
        return Note(content=item)
    try:
        return Note(**item)
    except TypeError as error:
        raise InvalidInput(f"an item of memorize_many: {error}") from error
