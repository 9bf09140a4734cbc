"""Stage 1 of learning: what a caller says is checked and becomes the draft of a memory."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal

import uuid_utils

from kinmem.errors import InvalidInput
from kinmem.language import (
    appraise,
    content_hash,
    day_of_event,
    evidence,
    importance,
    keys_in,
    only_asks,
    redact,
    sentences,
    valid_until,
)
from kinmem.llm.base import Embedder
from kinmem.llm.naming import Naming, knowledge_of
from kinmem.llm.pieces import chunks_of
from kinmem.models import (
    LIVE,
    TOLD_AT,
    Category,
    Channel,
    Chunks,
    Draft,
    Memory,
    Note,
    State,
)
from kinmem.validation import (
    checked_category,
    checked_confidence,
    checked_content,
    checked_context,
    checked_expiry,
    checked_importance,
    checked_priority,
    checked_scope,
    checked_subject,
    checked_tags,
    checked_time,
)

# How far a memory is believed follows from the way it came in, never from what it says of itself.
TRUST: Mapping[Channel, float] = {
    "user": 1.0,
    "explicit": 0.8,
    "extraction": 0.6,
    "consolidation": 0.6,
    "import": 0.3,
}
Secrets = Literal["refuse", "redact", "allow"]
"""What becomes of a text with a key in it: KINMEM_SECRETS."""
OF_QUESTION = 1.0
"""Importance of a note that only asks: it is kept, since somebody wants it kept."""
LEAST_WORTH = 0.25
"""Chance of being worth it below which the kind of a text is a guess."""
SHORTEST_KEY = 14
"""Characters without a space, in any other format; most texts need not be searched for them."""
PEM = "-----BEGIN"


def draft_of(
    note: Note,
    kin: str,
    embedder: Embedder,
    now: datetime,
    zone: tzinfo,
    *,
    naming: Naming,
    fresh: bool = False,
) -> Draft:
    """The note as a memory of this Kin, chunked, without vectors. Raises InvalidInput.

    `fresh`: it will not be compared by meaning before it is stored.
    """
    occurred_at, told_at = _times(note, now, zone)
    memory = Memory(
        id=str(uuid_utils.uuid7()),
        occurred_at=occurred_at,
        kin=kin,
        state=State.QUARANTINED if note.quarantine else State.ACTIVE,
        status="pending" if fresh else "ingested",
        created_at=now,
        content_updated_at=now,
        **_told(note, now, zone),
        **_origin(note, told_at),
    )
    chunks = Chunks(chunks_of(memory.content, embedder))
    return Draft(memory, chunks, knowledge=knowledge_of(note, memory, naming))


def _told(note: Note, now: datetime, zone: tzinfo) -> dict[str, Any]:
    """What it says and about whom, checked."""
    content = checked_content(note.content)
    speaker = checked_subject(note.speaker)
    return {
        "scope": checked_scope(note.scope),
        "content": content,
        "content_hash": content_hash(content),
        "category": checked_category(note.category or "fact"),
        "subject": checked_subject(note.subject),
        "source_context": checked_context(note.source_context),
        "importance": checked_importance(note.importance),
        "manual_tags": checked_tags(note.tags),
        "expires_at": checked_expiry(note.expires, now, zone),
        "valid_to": valid_until(content, now.astimezone(zone)),
        "speaker": speaker,
        "evidence": evidence(content, speaker),
        "confidence": checked_confidence(note.confidence),
    }


def judged(note: Note) -> Note:
    """The note with the category and importance that its words speak for, unless they are given."""
    if note.category is not None and note.importance is not None:
        return note
    content = checked_content(note.content)
    category, weight = judgement(content)
    if note.category is not None:
        weight = importance(content, checked_category(note.category))
    return replace(
        note,
        category=note.category or category,
        importance=weight if note.importance is None else note.importance,
    )


def judgement(text: str) -> tuple[Category, float]:
    """Category and importance of a statement by its words, as of one that is said in a turn; of
    what only asks those of a fact that hardly matters."""
    told = [one for one in sentences(text) if not only_asks(one)]
    if not told:
        return "fact", OF_QUESTION
    best = max(map(appraise, told), key=lambda found: found.confidence)
    category = best.category if best.worth >= LEAST_WORTH else "fact"
    return category, importance(text, category)


def _times(note: Note, now: datetime, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """When it happened, and when it was said if its words name an earlier day.

    A time that is given counts, but for that of a turn, at which it was said. When a text that is
    imported was said is not known, and a model has read the day already.
    """
    given = checked_time(note.occurred_at, "occurredAt", zone, now=now)
    is_settled = note.model is not None or (given is not None and not note.turns)
    if is_settled or note.channel == "import":
        return given, None
    told_at = given or now
    day = day_of_event(note.content, told_at.astimezone(zone))
    if day is None:
        return given, None
    return checked_time(day.isoformat(), "occurredAt", zone), told_at


def _origin(note: Note, told_at: datetime | None) -> dict[str, Any]:
    """Where it comes from."""
    return {
        "channel": note.channel,
        "trust": TRUST[note.channel],
        "client": note.client,
        "session": note.session,
        "turn_id": note.turns[0] if note.turns else None,
        "model": note.model,
        "place": note.place or None,
        "source": "chat" if note.turns or note.channel in ("user", "extraction") else "tool",
        "metadata": _metadata(note, told_at),
    }


def _metadata(note: Note, told_at: datetime | None) -> dict[str, Any]:
    told: dict[str, Any] = {"turns": list(note.turns)} if len(note.turns) > 1 else {}
    if note.quarantine:
        told["quarantine"] = note.quarantine
    if told_at is not None:
        told[TOLD_AT] = told_at.astimezone(UTC).isoformat()
    return told


def unsecret(note: Note, secrets: Secrets) -> Note:
    """The note with its texts as far as they may be stored. Raises InvalidInput."""
    texts = {
        "content": allowed(note.content, "content", secrets),
        "subject": allowed(note.subject, "subject", secrets),
        "source_context": allowed(note.source_context, "sourceContext", secrets),
        "tags": allowed(note.tags, "tags", secrets) if note.tags else note.tags,
    }
    changed = {name: text for name, text in texts.items() if text is not getattr(note, name)}
    return replace(note, **changed) if changed else note


def allowed(text: Any, what: str, secrets: Secrets) -> Any:
    """The text or texts, or without their secrets; what is none is left to whoever checks it.

    Raises InvalidInput, which never repeats the secret.
    """
    if secrets != "allow" and isinstance(text, list | tuple):
        return tuple(allowed(one, what, secrets) for one in text)
    if secrets == "allow" or not isinstance(text, str):
        return text
    long = max(map(len, text.split()), default=0) >= SHORTEST_KEY or PEM in text
    if not long or not (kinds := keys_in(text)):
        return text
    if secrets == "redact":
        return redact(text)[0]
    raise InvalidInput(
        f"{what} holds a secret ({', '.join(kinds)}), and memories are no safe place for it;"
        " say where it is kept instead, or set KINMEM_SECRETS to redact or allow"
    )


def changed_fields(
    changes: Mapping[str, Any],
    old: Memory,
    now: datetime,
    zone: tzinfo,
    secrets: Secrets = "refuse",
) -> dict[str, Any]:
    """What update_memory was asked to change in `old`, as fields of Memory. Raises InvalidInput."""
    fields: dict[str, Any] = {}
    for name, value in sorted(changes.items(), key=_archived_first):
        fields |= _changed(name, allowed(value, name, secrets), old, now, zone)
    if "content" in fields and "occurred_at" not in changes:
        fields |= _dated_anew(fields["content"], old, now, zone)
    return fields


def _dated_anew(content: str, old: Memory, now: datetime, zone: tzinfo) -> dict[str, Any]:
    """When it happened, if the new words name an earlier day and the old ones did not name it so:
    what stands there as before is of the day on which it was told."""
    moment = now.astimezone(zone)
    day = day_of_event(content, moment)
    if day is None or day == day_of_event(old.content, moment):
        return {}
    metadata = {**old.metadata, TOLD_AT: now.astimezone(UTC).isoformat()}
    occurred_at = checked_time(day.isoformat(), "occurredAt", zone)
    return {"occurred_at": occurred_at, "metadata": metadata}


def _archived_first(change: tuple[str, Any]) -> bool:
    """What brings a memory back may end its expiry; a new one that is named as well counts."""
    return change[0] != "archived"


def _changed(name: str, value: Any, old: Memory, now: datetime, zone: tzinfo) -> dict[str, Any]:
    match name:
        case "content":
            content = checked_content(value)
            ends = valid_until(content, now.astimezone(zone)) if old.state in LIVE else old.valid_to
            return {
                "content": content,
                "valid_to": ends,
                "content_hash": content_hash(content),
                "evidence": evidence(content, old.speaker),
                **_told_by_hand(old),
            }
        case "tags":
            return {"manual_tags": checked_tags(value or ())}
        case "occurred_at":
            metadata = {name: told for name, told in old.metadata.items() if name != TOLD_AT}
            moment = checked_time(value, "occurredAt", zone, now=now)
            return {"occurred_at": moment, "metadata": metadata}
        case "expires":
            return {"expires_at": checked_expiry(value, now, zone)}
        case "priority":
            return {"set_priority": checked_priority(value)}
        case "archived" if value:
            return {"state": State.ARCHIVED, "deleted_at": None}
        case "archived":
            return _alive(old, now)
        case _ if name in CHECKED:
            return {name: CHECKED[name](value)}
        case _:
            raise InvalidInput(f"update_memory cannot change {name!r}")


def _told_by_hand(old: Memory) -> dict[str, Any]:
    """What is rewritten by hand is told by whoever does it, whoever said it before."""
    if old.channel not in ("extraction", "consolidation"):
        return {}
    return {"channel": "explicit", "trust": TRUST["explicit"]}


def _alive(old: Memory, now: datetime) -> dict[str, Any]:
    """What brings a memory back; one whose time was over is to last."""
    over = old.expires_at is not None and old.expires_at <= now
    return {
        "state": State.ACTIVE,
        "deleted_at": None,
        "superseded_by": None,
        "valid_to": None,
        **({"expires_at": None} if over else {}),
    }


CHECKED: Mapping[str, Callable[[Any], Any]] = {
    "category": checked_category,
    "subject": checked_subject,
    "scope": checked_scope,
    "importance": checked_importance,
    "source_context": checked_context,
    "pinned": bool,
    "place": lambda place: place or None,
}
"""Fields that a caller names as Memory does."""
