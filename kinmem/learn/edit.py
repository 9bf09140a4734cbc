"""What update_memory was asked to change: checked, as fields of a memory, and compared anew."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from kinmem.errors import InvalidInput
from kinmem.language import Dates, Weight, content_hash
from kinmem.learn.compare import Compare
from kinmem.learn.drafting import TRUST
from kinmem.learn.reconcile import Flag, Keep, Neighbour, Outdated, Replace, Skip
from kinmem.llm.base import Embedder
from kinmem.llm.relating import SURE
from kinmem.models import DATE_GIVEN, LIVE, TOLD_AT, Chunks, ConflictMode, Memory, State
from kinmem.models.reports import LEFT, refusal
from kinmem.models.turns import Batch, Change, Conflict
from kinmem.store.base import REVIEW, Store
from kinmem.text import content_terms, late, words
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

# What drafting.with_dates writes: "tomorrow: 2026-03-05", "said on 2026-03-04".
DATED = late(r"(?:(?P<phrase>.+): |said on )\d{4}[-\d/]*")


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
    if fields.get("content_hash", old.content_hash) == old.content_hash:
        return fields  # no new word
    if "occurred_at" not in changes:
        fields |= _dated_anew(fields["content"], old, now, zone)
    if "source_context" not in changes:
        fields |= _in_context(fields["content"], old, now.astimezone(zone))
    return fields


def _dated_anew(content: str, old: Memory, now: datetime, zone: tzinfo) -> dict[str, Any]:
    """Return when what the new words tell happened, and that it was told now.

    If they name another day than the old words, it is that. If they name the same day, nothing
    changes: what was in the old text refers to the day on which that was said. If they name none, a
    date that somebody has given stays; one that was read from the old words stays if nothing but
    words was added or taken away; and the day on which the old words were said dates them alone.
    Either stays if only the spelling was corrected.
    """
    moment = now.astimezone(zone)
    day = Dates(content, moment).of_event
    is_given = DATE_GIVEN in old.metadata
    others = {name: data for name, data in old.metadata.items() if name != DATE_GIVEN}
    told_now = {"metadata": {**others, TOLD_AT: now.astimezone(UTC).isoformat()}}
    if day is not None:
        if day == Dates(old.content, moment).of_event:
            return {}
        return {"occurred_at": checked_time(day.isoformat(), "occurred_at", zone), **told_now}
    if old.occurred_at is None:
        return told_now
    if is_given:
        return {}
    is_said = TOLD_AT in old.metadata or old.channel in SAID_THEN
    if not is_said:
        return {}
    if _is_spelt_anew(old.content, content):
        return {"metadata": {**others, TOLD_AT: old.told_at.isoformat()}}
    if TOLD_AT in old.metadata:
        was, said = content_terms(old.content), content_terms(content)
        if said <= was or was <= said:
            return {}
    return {"occurred_at": None, **told_now}


# How alike a misspelt word and the right one are: one letter in five. Of words that mean something
# else fewer letters are the same ("nine" and "five", "Tuesday" and "Thursday"), or another letter
# comes first ("possible" and "impossible").
SPELT_ALIKE = 0.8


def _is_spelt_anew(was: str, said: str) -> bool:
    """Return whether two texts are the same word by word, but for how some are spelt. A number is
    never spelt otherwise."""
    from rapidfuzz.distance import OSA  # imported late: few edits ask for it

    pairs = list(zip(words(was), words(said), strict=False))
    return len(words(was)) == len(words(said)) and all(
        one == other
        or (one + other).isalpha()
        and one[0] == other[0]
        and OSA.normalized_similarity(one, other) >= SPELT_ALIKE
        for one, other in pairs
    )


def _in_context(content: str, old: Memory, moment: datetime) -> dict[str, Any]:
    """Return the context with the dates of the new words in place of those of the old ones. A time
    that both name was said with the old ones."""
    meant = Dates(content, moment).meant()
    is_same = meant == Dates(old.content, moment).meant()

    def is_kept(part: str) -> bool:
        dated = DATED.fullmatch(part)
        phrase = dated["phrase"] or "" if dated else None
        return phrase is None or phrase not in old.content or (is_same and phrase in content)

    parts = filter(None, (old.source_context or "").split(" | "))
    kept = [*filter(is_kept, parts), *([] if is_same else meant)]
    return {"source_context": " | ".join(kept) or None}


def _archived_first(change: tuple[str, Any]) -> bool:
    """Sort `archived` first: it may clear the expiry, and a new expiry must come after that."""
    return change[0] != "archived"


def _changed(name: str, value: Any, old: Memory, now: datetime, zone: tzinfo) -> dict[str, Any]:
    match name:
        case "content":
            content = checked_content(value)
            if content_hash(content) == old.content_hash:
                return {"content": content}  # the same words, by whoever said them
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
            moment = checked_time(value, "occurredAt", zone, now=now)
            metadata = {
                name: data
                for name, data in old.metadata.items()
                if name not in (TOLD_AT, DATE_GIVEN)
            }
            given = {} if moment is None else {DATE_GIVEN: True}
            return {"occurred_at": moment, "metadata": metadata | given}
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


# Channels of memories whose time is that at which they were said, unless their words name a day.
SAID_THEN = ("user", "extraction")
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


# Why no review asks about a memory again. It quotes none, see upkeep/reviewing.py.
EDITED = "edited: whoever edits it has the last word"


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
        """Settle what was in doubt about a memory that has just got another text than `former`.

        Whoever edits a memory has the last word: what was told before the edit makes it doubtful
        no longer, and is doubtful itself if it cannot be so beside the new text. If an undo brings
        back the text that was in doubt, the doubt comes back. What the memory itself has made
        doubtful stays so until its text clearly no longer speaks of it. Nothing ends, since only
        this memory was said to be wrong.
        """
        known = self._store.decisions.conflicts(all=True)
        near = self._near(memory)
        back = [one for one in known if self._is_in_doubt(memory, one)]
        doubtful = {one.newer for one in back}
        settles = {one.newer for one in known if one.older == memory.id} - doubtful
        conflicts = [
            one
            for one in self._conflicts(memory, near or ())
            if one.older not in doubtful and not self._were_kept(memory, one.older)
            if one.older not in settles or _is_plain(one.chance)
        ]
        fresh = {one.older for one in conflicts}
        settled = {one.id: "open" for one in back if one.status != "open"}
        for one in known:
            if one in back or memory.id not in (one.newer, one.older):
                continue
            other = one.other(memory.id)
            if one.newer == memory.id and other in fresh:
                settled[one.id] = "open"  # of an earlier text
            elif one.status == "open":
                status = self._settled(memory, former, one, near, doubtful)
                if status is not None:
                    settled[one.id] = status
        if conflicts or settled:
            self._store.apply(Batch(conflicts=conflicts, settled=settled))
        corrected = (one for one in known if settled.get(one.id) == "edited")
        self._let_stand(memory, {one.newer for one in corrected} - fresh)

    def _near(self, memory: Memory) -> Sequence[Neighbour] | None:
        """Return the memories to compare it with; None if it cannot be compared."""
        vectors = self._store.index.first_vectors(self._embedder.name, [memory.id])
        if memory.id not in vectors or memory.is_document or memory.state not in LIVE:
            return None
        chunks = Chunks((memory.content,), vectors[memory.id][None], self._embedder.name)
        return self._compare.near(self._compare.vectors_of(memory.content, chunks))

    def _is_in_doubt(self, memory: Memory, conflict: Conflict) -> bool:
        """Return whether the text of the older memory is the one that was found doubtful, and no
        person has said that it may stand."""
        return (
            conflict.older == memory.id
            and conflict.status in ("open", "edited")
            and conflict.at is not None
            and memory.content_updated_at <= conflict.at
            and not self._were_kept(memory, conflict.newer)
        )

    def _settled(
        self,
        memory: Memory,
        former: str,
        conflict: Conflict,
        near: Sequence[Neighbour] | None,
        doubtful: Collection[str],
    ) -> str | None:
        """Return how an open conflict ends with the former text; None if it stays open."""
        if conflict.older == memory.id:
            return "edited"
        if conflict.older in doubtful:
            return "undone"
        if near is None or not self._is_settled(memory, former, conflict.older, near):
            return None
        return "kept_both"

    def _let_stand(self, memory: Memory, others: Collection[str]) -> None:
        """Let no review ask again which of them holds, worded as they are now. It follows from the
        edit, so `kinmem undo` passes over it to the edit, but takes it back when it is named."""
        refused = [
            refusal("contradiction", [memory, other])
            for other in self._store.memories(others).values()
        ]
        if refused:
            left = Change(memory.id, {}, LEFT, EDITED, refused=refused)
            self._store.apply(Batch(changes=[left], name=f"settle {memory.id}"))

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
                against = [(one.known, one.kind, one.reason, one.chance) for one in doubts]
            case Replace(others, kind, reason):
                against = [(one, kind, reason, None) for one in others]
            case Outdated(by, kind, reason):
                against = [(by, kind, reason, None)]
            case _:
                return []
        return [
            Conflict(memory.id, one.id, kind, self._mode, why, chance=chance)
            for one, kind, why, chance in against
        ]


def _is_plain(chance: float | None) -> bool:
    """Return whether two memories surely cannot both be so. Somebody who has corrected the one
    because of the other is asked again only then."""
    return chance is None or chance >= SURE
