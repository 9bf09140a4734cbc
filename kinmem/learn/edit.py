"""What update_memory was asked to change: checked, as fields of a memory, and compared anew."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from kinmem.errors import InvalidInput
from kinmem.language import Dates, Weight, content_hash
from kinmem.learn.compare import Compare
from kinmem.learn.drafting import TRUST
from kinmem.learn.reconcile import Flag, Keep, Neighbour, Outdated, Replace, Skip
from kinmem.llm.base import Embedder
from kinmem.models import LIVE, TOLD_AT, Chunks, ConflictMode, Memory, State
from kinmem.models.turns import Batch, Conflict
from kinmem.store.base import REVIEW, Store
from kinmem.text import content_terms
from kinmem.validation import (
    Border,
    checked_category,
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


def changed_fields(
    changes: Mapping[str, Any],
    old: Memory,
    now: datetime,
    zone: tzinfo,
    border: Border,
) -> dict[str, Any]:
    """Return the fields of `old` to set. Raises InvalidInput."""
    fields: dict[str, Any] = {}
    for name, value in sorted(border.passed(changes).items(), key=_archived_first):
        fields |= _changed(name, value, old, now, zone)
    if "content" in fields and "occurred_at" not in changes:
        fields |= _dated_anew(fields["content"], old, now, zone)
    return fields


def _dated_anew(content: str, old: Memory, now: datetime, zone: tzinfo) -> dict[str, Any]:
    """Return when it happened, if the new words name an earlier day and the old words did not name
    it already: what was in the old text refers to the day on which that was said."""
    moment = now.astimezone(zone)
    day = Dates(content, moment).of_event
    if day is None or day == Dates(old.content, moment).of_event:
        return {}
    metadata = {**old.metadata, TOLD_AT: now.astimezone(UTC).isoformat()}
    occurred_at = checked_time(day.isoformat(), "occurredAt", zone)
    return {"occurred_at": occurred_at, "metadata": metadata}


def _archived_first(change: tuple[str, Any]) -> bool:
    """Sort `archived` first: it may clear the expiry, and a new expiry must come after that."""
    return change[0] != "archived"


def _changed(name: str, value: Any, old: Memory, now: datetime, zone: tzinfo) -> dict[str, Any]:
    match name:
        case "content":
            content = checked_content(value)
            ends = Dates(content, now.astimezone(zone)).end if old.state in LIVE else old.valid_to
            return {
                "content": content,
                "valid_to": ends,
                "content_hash": content_hash(content),
                "evidence": Weight(content).evidence(old.speaker),
                **_origin_by_hand(old),
            }
        case "tags":
            return {"manual_tags": checked_tags(value or ())}
        case "occurred_at":
            metadata = {name: data for name, data in old.metadata.items() if name != TOLD_AT}
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


def _origin_by_hand(old: Memory) -> dict[str, Any]:
    """Return the origin of a text that is rewritten by hand: it is stated by whoever rewrites it,
    whoever said it before."""
    if old.channel not in ("extraction", "consolidation"):
        return {}
    return {"channel": "explicit", "trust": TRUST["explicit"]}


def _alive(old: Memory, now: datetime) -> dict[str, Any]:
    """Return what brings a memory back. If it had expired, it no longer expires."""
    is_over = old.expires_at is not None and old.expires_at <= now
    return {
        "state": State.QUARANTINED if old.is_held else State.ACTIVE,
        "deleted_at": None,
        "superseded_by": None,
        "valid_to": None,
        **({"expires_at": None} if is_over else {}),
    }


# Fields that have the same name in update_memory and in Memory.
CHECKED: Mapping[str, Callable[[Any], Any]] = {
    "category": checked_category,
    "subject": checked_subject,
    "scope": checked_scope,
    "importance": checked_importance,
    "source_context": checked_context,
    "pinned": bool,
    "place": lambda place: place or None,
}


class Correction:
    """Compares a memory with the stored ones again, after its text was changed by hand."""

    def __init__(
        self, store: Store, embedder: Embedder, compare: Compare, mode: ConflictMode
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._compare = compare
        self._mode: ConflictMode = mode

    def __call__(self, memory: Memory, former: str) -> None:
        """Compare a memory that has just got another text than `former` with the stored ones, as
        Learn.note would have compared that text. A review asks about what cannot be so beside it,
        and no longer about what clearly only its former text spoke against; nothing ends, since
        only this one was said to be wrong."""
        vectors = self._store.index.first_vectors(self._embedder.name, [memory.id])
        if memory.id not in vectors or memory.is_document or memory.state not in LIVE:
            return
        chunks = Chunks((memory.content,), vectors[memory.id][None], self._embedder.name)
        near = self._compare.near(self._compare.vectors_of(memory.content, chunks))
        conflicts = [
            one
            for one in self._conflicts(memory, near)
            if not self._were_kept(memory, one.other(memory.id))
        ]
        now = {(one.newer, one.older) for one in conflicts}
        settled = {}
        for stored in self._store.decisions.conflicts(all=True):
            if (stored.newer, stored.older) in now:
                settled[stored.id] = "open"  # of an earlier text
            elif (
                stored.status == "open"
                and memory.id in (stored.newer, stored.older)
                and self._is_settled(memory, former, stored.other(memory.id), near)
            ):
                settled[stored.id] = "kept_both"
        if conflicts or settled:
            self._store.apply(Batch(conflicts=conflicts, settled=settled))

    def _were_kept(self, memory: Memory, other: str) -> bool:
        """Return whether a person has refused to call both a contradiction, worded as they are
        now."""
        worded = (one.wording for one in (memory, *self._store.memories([other]).values()))
        return frozenset({"contradiction", *worded}) in self._store.decisions.refused(REVIEW)

    def _is_settled(
        self, memory: Memory, former: str, other: str, near: Sequence[Neighbour]
    ) -> bool:
        """Return whether nothing is left to ask about a memory and the `other`. What was only
        worded otherwise or added to may escape the comparison, so the question stays while the new
        text has a word that only the former one had, or all that the two had in common. Words that
        carry no meaning by themselves do not count."""
        alone = [neighbour for neighbour in near if neighbour[0].id == other]
        verdict = self._compare.verdict(memory, alone)
        if not isinstance(verdict, Keep):
            return isinstance(verdict, Skip)
        against = self._store.memories([other]).get(other)
        if against is None:
            return True
        known, said, was = map(content_terms, (against.content, memory.content, former))
        common = was & known
        return not (said & (was - known) or (common and common <= said))

    def _conflicts(self, memory: Memory, near: Sequence[Neighbour]) -> list[Conflict]:
        """Return with which of its neighbours a memory cannot be so."""
        match self._compare.verdict(memory, near):
            case Flag(doubts):
                against = [(doubt.known, doubt.kind, doubt.reason) for doubt in doubts]
            case Replace(others, kind, reason):
                against = [(one, kind, reason) for one in others]
            case Outdated(by, kind, reason):
                against = [(by, kind, reason)]
            case _:
                return []
        return [Conflict(memory.id, one.id, kind, self._mode, why) for one, kind, why in against]
