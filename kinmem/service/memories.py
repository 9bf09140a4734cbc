"""Service: memories: the six tools, and documents."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from kinmem.documents.document import Given, as_given, is_document
from kinmem.errors import InvalidInput
from kinmem.learn.prepare import changed_fields
from kinmem.learn.projects import project_of
from kinmem.llm.naming import reread
from kinmem.llm.pieces import chunks_of
from kinmem.models import (
    Answer,
    Chunks,
    Forgotten,
    Memory,
    Note,
    Page,
    Progress,
    Review,
    State,
    Stored,
)
from kinmem.models.links import checked_links
from kinmem.models.places import meant, named, same_place
from kinmem.recall.question import Request
from kinmem.service.components import QUERY_BYTES, Parts
from kinmem.store.history import batch_name
from kinmem.store.memory import Sort
from kinmem.text import clean, storable
from kinmem.undo.forget_about import Forgetting
from kinmem.upkeep.summarize_memories import summarize_these
from kinmem.validation import Where, checked_filters

BATCH = 100
PLACE_BYTES = 4096
# Fields that priority and tier depend on.
RANKED = frozenset({"priority", "importance", "tags", "pinned", "archived", "links"})


class Memories(Parts):
    """Recall, memorize, change, forget, list and review memories."""

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        mode: str | None = None,
        place: str | None = None,
        session: str | None = None,
        **where: Unpack[Where],
    ) -> Answer:
        """Return what is remembered about the question, best first. Every hit says why it was
        found.

        `limit` is 1-100 and defaults to MEMORY_MAX_RELEVANT; `mode` names a ranking profile.
        `place` is a project's name or path and restricts the search to it. `session` is the
        conversation that a follow-up belongs to; by default the only one of the last ten minutes.
        `where` may have category, subject, scope, tags, since, until, as_of and include_archived.
        Hits count as used, weak ones do not.

        After the memories come hits with `is_turn`: messages that no memory was learned from. They
        match times and, if one is named, the `session`; any other filter excludes them.
        """
        query = clean(query, "query", QUERY_BYTES)
        limit = self.settings.recall.max_relevant if limit is None else limit
        if not 1 <= limit <= 100:
            raise InvalidInput(f"limit {limit} is not between 1 and 100")
        filters = checked_filters(
            self.settings.general.zone,
            now=self.clock(),
            places=self._places(place),
            here=self._at_hand(),
            **where,
        )
        self._background.await_ready()
        request = Request(query, limit, filters, mode, turns=True, session=session)
        answer = self._recall(request, partial(self._conversation.recent, session))
        used = [hit.memory.id for hit in answer.hits if not (hit.weak or hit.is_turn)]
        self.store.count_use(used, self.clock())
        return answer

    def memorize(self, content: str, *, progress: Progress | None = None, **fields: Any) -> Stored:
        """Store one memory. The fields are those of Note. What is known is not stored twice.

        A text over 64 KiB is stored as a document; see add_document. Only that takes long enough to
        report `progress`.
        """
        self._background.await_ready()
        note = self._placed(_note({"content": content, **fields}))
        if is_document(content):
            return self.add(as_given(note), progress=progress)
        return self._memorize.one(note)

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
        stored = self.documents.add(given, batch, progress)
        if stored.id and stored.status in ("created", "updated") and not self._summary_model:
            summarize_these(self.store, [stored.id], None)
        self._background.wake()
        return stored

    def memorize_many(
        self,
        items: Iterable[Note | Mapping[str, Any] | str],
        *,
        progress: Progress | None = None,
    ) -> list[Stored]:
        """Store several memories, and return the outcome of each, in order.

        They are stored in transactions of 100. Vectors and the search for semantic duplicates
        follow in the background (see settle). An item that cannot be stored is refused without
        affecting the others.
        """
        notes = [self._placed(_note(item)) for item in items]
        batch = batch_name("many")
        stored: list[Stored] = []
        for start in range(0, len(notes), BATCH):
            self._background.wake()
            stored += self._many(notes[start : start + BATCH], batch, _from(start, notes, progress))
        self._background.wake()
        return stored

    def _placed(self, note: Note) -> Note:
        """Return the note with the path of the project that it names, or else that it is about.

        A document that names none gets none, since it is about many things.
        """
        if note.place is not None:
            return replace(note, place=self._place(note.place))
        if is_document(note.content):
            return note
        if self.here:
            with suppress(InvalidInput):  # storing it will report the error
                note = self._memorize.judged(note)
        about = note.category, note.content, note.subject
        return replace(note, place=project_of(*about, self.here, self._embedder))

    def _place(self, wanted: str) -> str | None:
        """Return the path of a project; None for an empty name, which means everywhere.

        Raises InvalidInput.
        """
        if not wanted:
            return None
        found = meant(clean(wanted, "place", PLACE_BYTES), self.store.places())
        if found is None:
            raise InvalidInput(f"place {wanted!r} is no project known, and in no git repository")
        return found

    def _places(self, wanted: str | None) -> tuple[str, ...] | None:
        if wanted is None:
            return None
        return named(clean(wanted, "place", PLACE_BYTES), self.store.places())

    def _at_hand(self) -> tuple[str, ...] | None:
        here = self.here
        if here is None:
            return None
        return (here, *(one for one in self.store.places() if same_place(one, here)))

    def _many(
        self, notes: Sequence[Note], batch: str, progress: Callable[[int], None]
    ) -> list[Stored]:
        """Store long notes as documents and the others together; return the outcome of each, in
        order."""
        short = [note for note in notes if not is_document(note.content)]
        outcomes = iter(self._memorize.many(short, batch, progress))
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

    def update_memory(
        self, memory_id: str, *, if_version: int | None = None, **changes: Any
    ) -> Memory:
        """Change content, category, subject, scope, importance, tags, source_context, occurred_at,
        pinned, priority, expires, place or archived. None clears a field that may be empty. `links`
        adds links to other memories, {id, relation} each, and removes those whose relation is None.

        Raises MemoryNotFound unless this Kin is the author, VersionConflict if somebody has changed
        the memory since `if_version`.
        """
        asked = checked_links(changes["links"] or (), memory_id) if "links" in changes else []
        if not changes:
            raise InvalidInput("nothing to change; name at least one field")
        old = self.store.get(memory_id)
        if old.state == State.DELETED and changes.get("archived") is not False:
            raise InvalidInput(
                f"memory {memory_id} is forgotten; archived=false brings it back first"
            )
        given = {name: value for name, value in changes.items() if name != "links"}
        if "place" in given:
            given["place"] = self._place(given["place"] or "")
        fields, chunks = self._checked(old, given)  # all of it, before anything is written
        batch = batch_name("update") if asked and fields else None
        if asked:
            linked = self.store.links.change(memory_id, asked, if_version, batch=batch)
            self.store.life.renew({one.id for one in asked})
            if_version = linked.version if if_version is not None and fields else None
        changed = self.store.update(
            memory_id,
            fields,
            chunks=chunks,
            if_version=if_version,
            knowledge=reread(old, fields, self._naming),
            batch=batch,
        )
        if "content" in changes:
            self._told_anew([memory_id], tags=old.tagged_at is not None)
            changed = self.store.get(memory_id)
        return self._renewed(memory_id) if RANKED & changes.keys() else changed

    def _checked(self, old: Memory, given: dict[str, Any]) -> tuple[dict[str, Any], Chunks | None]:
        """Return the fields to change, and the chunks of new content."""
        zone, secrets = self.settings.general.zone, self.settings.learn.secrets
        as_document = "content" in given and (old.is_document or is_document(given["content"]))
        text = given.pop("content") if as_document else None
        fields = changed_fields(given, old, self.clock(), zone, secrets)
        if text is not None:
            rewritten, chunks = self.documents.rewritten(old, text)
            return fields | rewritten, chunks
        if "content" not in fields:
            return fields, None
        self._background.await_ready()
        texts = chunks_of(fields["content"], self._embedder)
        return fields, self._memorize.embedded(Chunks(texts))

    def forget(self, memory_id: str, *, erase: bool = False) -> Forgotten:
        """Take a memory out of use, restorable for KINMEM_PURGE_DAYS; with `erase` remove it for
        good."""
        if erase:
            self.store.erase(memory_id)
            self._recall.clear()
            return Forgotten(memory_id, "erased")
        memory = self.store.get(memory_id)
        if memory.state != State.DELETED:
            gone = {"state": State.DELETED, "deleted_at": self.clock()}
            memory = self.store.update(memory_id, gone, action="forgotten")
        since = memory.deleted_at or self.clock()
        return Forgotten(memory.id, "forgotten", since + self._bin_time)

    def forget_about(self, name: str) -> Forgetting:
        """Find all that is remembered about a person or thing.

        The result's `erase` removes it for good.
        """
        return Forgetting(self.store, self.settings.home, storable(name), self._recall.clear)

    def list_memories(
        self,
        *,
        place: str | None = None,
        sort: Sort = "newest",
        limit: int = 50,
        cursor: str | None = None,
        **where: Unpack[Where],
    ) -> Page:
        """Return one page of visible memories, live ones unless a state is named.

        `limit` is 1-200. `where` may have category, subject, scope, tags, state, since and until.
        """
        if not 1 <= limit <= 200:
            raise InvalidInput(f"limit {limit} is not between 1 and 200")
        filters = checked_filters(
            self.settings.general.zone, now=self.clock(), places=self._places(place), **where
        )
        return self.store.page(filters, sort, limit, cursor)

    def review_memories(
        self,
        *,
        subject: str | None = None,
        scope: str | None = None,
        apply: Iterable[str] = (),
        refuse: Iterable[str] = (),
        keep: str | None = None,
        progress: Progress | None = None,
    ) -> Review:
        """Find contradictions, duplicates, and quarantined, stale, expired and cluttering memories.

        Nothing is changed unless `apply` or `refuse` names the ids of issues from an earlier
        review: those are done as suggested, or never proposed again. `keep` names the memory that
        stays.
        """
        filters = checked_filters(self.settings.general.zone, subject=subject, scope=scope)
        return self._review(
            filters, apply=tuple(apply), refuse=tuple(refuse), keep=keep, progress=progress
        )


def _from(start: int, notes: Sequence[Note], progress: Progress | None) -> Callable[[int], None]:
    """Return a callback that reports how many of all notes are done, in a batch that begins at
    `start`."""
    if progress is None:
        return lambda done: None
    return lambda done: progress(start + done, len(notes), "memories")


def _note(item: Note | Mapping[str, Any] | str) -> Note:
    if isinstance(item, Note):
        return item
    if isinstance(item, str):
        return Note(content=item)
    try:
        return Note(**item)
    except TypeError as error:
        raise InvalidInput(f"an item of memorize_many: {error}") from error
