"""The order in which a document becomes a memory: read, cut, compare, store. Each line of `plan` is
a stage."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import uuid_utils

from kinmem.clock import Clock
from kinmem.documents.cut import chunked, freed
from kinmem.documents.document import HELD, Document, Given, opening, released
from kinmem.documents.read import read, title_of
from kinmem.language import content_hash, order_in
from kinmem.llm.base import Embedder
from kinmem.models import (
    HELD_BACK,
    QUARANTINE,
    Channel,
    Chunks,
    Draft,
    Memory,
    Progress,
    State,
    Stored,
)
from kinmem.models.draft import REFERENCE_BYTES
from kinmem.settings import Settings
from kinmem.store.base import Store
from kinmem.text import clean
from kinmem.text import cut as shortened
from kinmem.validation import (
    Border,
    checked_category,
    checked_context,
    checked_expiry,
    checked_importance,
    checked_scope,
    checked_subject,
    checked_tags,
    checked_time,
)

DESCRIPTION_BYTES = 2048
# As in learn/drafting.py: an imported file is trusted less than what somebody states.
TRUST: Mapping[Channel, float] = {"import": 0.3, "explicit": 0.8}
# Share of its text and of its chunks, from which a document that reads like instructions to a model
# is quarantined as a whole.
MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class Planned:
    """What adding a document would do."""

    draft: Draft
    known: str | None
    """The memory that already has this text."""
    replaces: Memory | None
    """The Kin's own document from the same source, if its text differs."""
    held: int
    """Number of chunks that are never recalled, since they read like instructions to a model."""
    trusted: bool = False
    """Whether somebody has said that they may be recalled."""


class Documents:
    """Adds documents for one Kin."""

    def __init__(self, store: Store, embedder: Embedder, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._border = Border(settings.learn.secrets)
        self._clock = clock

    def plan(self, given: Given, progress: Progress | None = None) -> Planned:
        """Read a document and look up what is known of it. Nothing is stored.

        Raises InvalidInput (Unreadable and TooLarge included) for a document or details that are
        not valid.
        """
        document = _passed(read(given), self._border)
        given = replace(self._border.passed(replace(given, data="")), data=given.data)
        draft, held = self._draft(document, given, progress)
        old = self._store.documents.by_source(given.source_ref) if given.source_ref else None
        known = self._store.same_statements([_as_text_alone(draft)])[0]
        if old is not None and old.content_hash == draft.memory.content_hash:
            known = old.id
        return Planned(draft, known, None if known else old, held, given.trusted)

    def add(
        self, given: Given, batch: str | None = None, progress: Progress | None = None
    ) -> Stored:
        """Store a document or its new version. Its vectors are made in the background.

        Raises InvalidInput like plan.
        """
        return self.carry_out(self.plan(given, progress), batch)

    def carry_out(self, planned: Planned, batch: str | None = None) -> Stored:
        """Store what was planned."""
        memory = planned.draft.memory
        if planned.known is not None:
            return Stored("duplicate_of", planned.known, self._trusted(planned, batch))
        reason = f"{planned.held} chunks read like instructions to a model and are held back"
        if (old := planned.replaces) is not None:
            fields = _version(memory, old)
            self._store.update(
                old.id,
                fields,
                chunks=planned.draft.chunks,
                reason="a new version",
                batch=batch,
            )
            return Stored("updated", old.id, reason if planned.held else None)
        [id] = self._store.add([planned.draft], batch=batch)
        if id != memory.id:
            return Stored("duplicate_of", id)
        if memory.state == State.QUARANTINED:
            return Stored("quarantined", id, str(memory.metadata[QUARANTINE]))
        return Stored("created", id, reason if planned.held else None)

    def _trusted(self, planned: Planned, batch: str | None) -> str | None:
        """Release what is held back of the Kin's own known document if it is trusted now."""
        known = self._store.get(planned.known or "")
        if not planned.trusted or not known.holds_back or known.kin != self._store.kin:
            return None
        self._store.update(
            known.id,
            released(known, self._store.documents.text(known.id)),
            action="released",
            reason="trusted",
            batch=batch,
        )
        return "what was held back of it may be recalled now"

    def rewritten(self, old: Memory, text: str) -> tuple[dict[str, Any], Chunks]:
        """Return a memory's fields and chunks for a new text. Raises InvalidInput."""
        given = Given(data=text, name=old.title or "", title=old.title)
        kind = old.metadata.get("type", "text")
        document = _passed(read(given), self._border)
        document = replace(document, kind="markdown" if kind == "html" else kind)
        draft, _ = self._draft(document, given)
        return _fields_of_text(draft.memory), draft.chunks

    def _draft(
        self, document: Document, given: Given, progress: Progress | None = None
    ) -> tuple[Draft, int]:
        """Return the memory with its chunks, and the number of chunks that are held back."""
        now, zone = self._clock(), self._settings.general.zone
        chunks = chunked(document, self._embedder, progress)
        if given.trusted:
            chunks = freed(chunks)
        held = [place.held for place in chunks.places if place.held]
        quarantine = held[0] if is_mostly_held(chunks) else None
        memory = Memory(
            id=str(uuid_utils.uuid7()),
            kin=self._store.kin,
            scope="private" if quarantine else checked_scope(given.scope),
            category=checked_category(given.category),
            subject=checked_subject(given.subject),
            importance=checked_importance(given.importance),
            source_context=checked_context(given.source_context),
            occurred_at=checked_time(given.occurred_at, "occurredAt", zone, now=now),
            expires_at=checked_expiry(given.expires, now, zone),
            speaker=checked_subject(given.speaker),
            place=given.place,
            manual_tags=checked_tags(given.tags),
            content=_opening(chunks),
            content_hash=content_hash(document.text),
            title=title_of(document, given),
            description=_described(document, given),
            source=given.source,
            source_ref=clean(given.source_ref, "source", REFERENCE_BYTES)
            if given.source_ref
            else None,
            channel=given.channel,
            trust=TRUST[given.channel],
            client=given.client,
            state=State.QUARANTINED if quarantine else State.ACTIVE,
            status="pending",
            metadata=_metadata(document, len(chunks.texts), quarantine),
            ingest_metadata=_ingested(document, len(held)),
            created_at=now,
            content_updated_at=now,
        )
        return Draft(memory, chunks), len(held)


def is_mostly_held(chunks: Chunks) -> bool:
    """Return whether too little of a document is left to be recalled."""
    placed = list(zip(chunks.texts, chunks.places, strict=True))
    held = [len(text.strip()) for text, place in placed if place.held]
    all = [len(text.strip()) for text, _ in placed]
    return len(held) > MOSTLY * len(all) and sum(held) > MOSTLY * sum(all)


def _as_text_alone(draft: Draft) -> Draft:
    """Drop subject and speaker, so that the same text counts as known whatever else is said of
    it."""
    return replace(draft, memory=replace(draft.memory, subject=None, speaker=None))


def _fields_of_text(memory: Memory) -> dict[str, Any]:
    """Return the fields that depend on the text."""
    names = ("content", "content_hash", "metadata", "ingest_metadata", "status")
    return {name: getattr(memory, name) for name in names}


def _version(new: Memory, old: Memory) -> dict[str, Any]:
    """Return the fields that change with a new version.

    What the document was given by hand stays.
    """
    tags = old.manual_tags + tuple(tag for tag in new.manual_tags if tag not in old.manual_tags)
    state = {"state": new.state} if State.QUARANTINED in (new.state, old.state) else {}
    return _fields_of_text(new) | state | {"title": new.title, "manual_tags": tags}


def _metadata(document: Document, parts: int, quarantine: str | None) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "type": document.kind,
        "bytes": document.size,
        "characters": len(document.text),
        "parts": parts,
    }
    if document.pages:
        metadata["pages"] = len(document.pages)
    if quarantine:
        metadata[QUARANTINE] = quarantine
    return metadata


def _ingested(document: Document, held: int) -> dict[str, Any]:
    metadata: dict[str, Any] = dict(document.notes)
    if document.pages:
        metadata["page_starts"] = list(document.pages)
    if held:
        metadata[HELD_BACK] = held
    return metadata


def _described(document: Document, given: Given) -> str | None:
    text = given.description or document.description
    if not text or not text.strip():
        return None
    if given.description is None and not given.trusted and order_in(text):
        return None
    if given.description is None:
        text = shortened(text, 300)
    return " ".join(clean(text, "description", DESCRIPTION_BYTES).split())


def _opening(chunks: Chunks) -> str:
    """Return how the document begins, without what is held back."""
    free = (text for text, place in zip(chunks.texts, chunks.places, strict=True) if not place.held)
    return opening(next(free, HELD))


def _passed(document: Document, border: Border) -> Document:
    """Return the document as it may be stored, with adjusted page starts. Raises InvalidInput."""
    passed = border.passed(document, "the document")
    if passed.text is document.text or not document.pages:
        return passed
    ends = [*document.pages[1:], len(document.text)]
    pages = [
        border.passed(document.text[start:end], "the document")
        for start, end in zip(document.pages, ends, strict=False)
    ]
    starts = [0, *accumulate(map(len, pages))][:-1]
    if "".join(pages) != passed.text:  # something is private across pages
        return replace(passed, pages=())
    return replace(passed, pages=tuple(starts))
