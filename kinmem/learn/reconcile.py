"""Stage 5 of learning: the rules that decide whether a statement is known or changes what is known.

They only decide. apply.py carries out the verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from kinmem.language import Clash, Kinship, Ladder, Pair, Period, Periods, Wording, claim, sentences
from kinmem.learn.occasion import (
    began_after,
    in_order,
    is_for_a_while,
    known_to_be_one,
    last_said,
    of_one,
    of_two_days,
    prolongs,
    same_occasion,
    states_as_much,
    was_over,
)
from kinmem.llm.relating import UNCHANGED, Judged, weighed
from kinmem.models import LIVE, ConflictMode, Memory
from kinmem.text import words

ConflictKind = Literal["contradiction", "update", "temporal", "partial"]
# What begins later than this is still to come; clocks and zones may differ by less.
AHEAD = timedelta(days=1)
# Characters of a merged text; if it would be longer, both are kept.
LONGEST_MERGED = 2000
SAME = (Kinship.SAME_TEXT, Kinship.DUPLICATE)


@dataclass(frozen=True)
class Keep:
    """It says something new."""


@dataclass(frozen=True)
class Skip:
    """It says nothing that `known` does not say."""

    known: Memory


@dataclass(frozen=True)
class Merge:
    """`known` gets a text that says what both say."""

    known: Memory
    content: str
    reason: str


@dataclass(frozen=True)
class Replace:
    """`outdated` held until this statement came."""

    outdated: tuple[Memory, ...]
    kind: ConflictKind
    reason: str


@dataclass(frozen=True)
class Outdated:
    """It is the older statement: it held until `by`."""

    by: Memory
    kind: ConflictKind
    reason: str
    before: tuple[Memory, ...] = ()
    """Memories that gave way to `by`, and in fact to this statement, which came in between."""


@dataclass(frozen=True)
class Doubt:
    """A memory that the statement may contradict."""

    known: Memory
    kind: ConflictKind
    reason: str
    is_later: bool
    """Whether it began later than the statement."""
    chance: float | None = None
    """As in Conflict."""


@dataclass(frozen=True)
class Flag:
    """It may contradict these, but only a person may decide."""

    doubts: tuple[Doubt, ...]


Verdict = Keep | Skip | Merge | Replace | Outdated | Flag
Neighbour = tuple[Memory, float]


def reconcile(
    new: Memory,
    neighbours: Sequence[Neighbour],
    ladder: Ladder,
    mode: ConflictMode,
    now: datetime,
    updates: str | None = None,
    judged: Judged | None = None,
) -> Verdict:
    """Return what is to become of a new memory beside its neighbours (with cosines, nearest first).

    Skip comes before Merge, and both before contradictions. Nothing is skipped or merged if an
    atom, the subject, the speaker or the occasion differs. What contradicts gives way as `mode`
    says if that is clear (language/change/clash.py). A memory that is another Kin's, of another
    scope or pinned never gives way: then, and in doubt, the verdict is Flag. `updates` is the id of
    a neighbour that the new memory is known to correct. `judged` is what the judge says about the
    neighbours; without a judge it is None, and the form of the texts decides alone. Dates in merged
    texts are in the zone of `now`.
    """
    others = [(known, cosine) for known, cosine in neighbours if known.id != new.id]
    return (
        _known(new, others, ladder, judged, updates)
        or _prolonged(new, others)
        or _merged(new, others, ladder, mode)
        or _contradicted(new, others, ladder, mode, now, updates, judged)
        or Keep()
    )


def _known(
    new: Memory,
    neighbours: Sequence[Neighbour],
    ladder: Ladder,
    judged: Judged | None,
    updates: str | None,
) -> Skip | None:
    for known, cosine in neighbours:
        if judged is not None and known.id in judged.same and states_as_much(known, new):
            if known.id != updates:
                return Skip(known)
            continue
        near = cosine >= ladder.near or known.content_hash == new.content_hash
        if near and states_as_much(known, new) and _says_all(known, new, cosine, ladder):
            return Skip(known)
    return None


def _says_all(known: Memory, new: Memory, cosine: float, ladder: Ladder) -> bool:
    claimed = claim(new.content)
    # What is true now and known to have been true before is no news.
    if claimed.corrects and not claimed.ends and not claimed.instead_of:
        return Pair(known.content, claimed.text).kinship(cosine, ladder) in SAME
    pair = Pair(known.content, new.content)
    match pair.kinship(cosine, ladder):
        case kinship if kinship in SAME:
            return True
        case Kinship.CONTAINED:
            return pair.known_says_all
        case _:
            return False


def _prolonged(new: Memory, neighbours: Sequence[Neighbour]) -> Replace | None:
    """A note that is given again from time to time, each time until later, is one note."""
    over = tuple(
        known for known, _ in neighbours if _may_change(new, known) and prolongs(new, known)
    )
    return Replace(over, "update", "says the same and lasts longer") if over else None


def _merged(
    new: Memory, neighbours: Sequence[Neighbour], ladder: Ladder, mode: ConflictMode
) -> Merge | None:
    for known, cosine in neighbours:
        if cosine < ladder.near or known.expires_at != new.expires_at:
            continue
        if not _may_change(new, known) or not same_occasion(known, new):
            continue
        pair = Pair(known.content, new.content)
        match pair.kinship(cosine, ladder):
            case Kinship.CONTAINED if Pair(new.content, known.content).known_says_all:
                return Merge(known, new.content, "says all of it and more")
            case Kinship.NEAR if mode == "merge":
                if (content := _joined(known.content, new.content)) is not None:
                    return Merge(known, content, "each says what the other does not")
    return None


def _joined(known: str, new: str) -> str | None:
    """Return the known text with the sentences that it lacks; None if that is too long."""
    more = [part for part in sentences(new) if not Pair(known, part).known_says_all]
    content = " ".join([_stopped(known), *more])
    return content if more and len(content) <= LONGEST_MERGED else None


def _stopped(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", "。")) else text + "."


def _may_change(new: Memory, known: Memory) -> bool:
    """Return whether the known memory may be changed without asking a person."""
    return (
        known.kin == new.kin
        and known.scope == new.scope
        and not known.pinned
        and known.state in LIVE
    )


def _contradicted(
    new: Memory,
    neighbours: Sequence[Neighbour],
    ladder: Ladder,
    mode: ConflictMode,
    now: datetime,
    updates: str | None,
    judged: Judged | None,
) -> Verdict | None:
    if was_over(new):
        return _ended(new, neighbours, judged, now)
    clashes = []
    for known, cosine in neighbours:
        if known.id == updates:
            forbidden = Pair(known.content, new.content).veto
            why = "corrects it" if forbidden is None else f"is said to correct it, but {forbidden}"
            clashes.append((known, Clash(forbidden is None, "update", why)))
        elif of_one(new, known) and not of_two_days(known, new):
            clash = _excluding(known, new, cosine, ladder, mode, now)
            if judged is not None:
                clash = weighed(
                    clash,
                    judged.relations.get(known.id),
                    *in_order(known, new, mode, now),
                    judged.of_one_kind.get(known.id),
                    judged.changed.get(known.id, UNCHANGED),
                )
            if clash is not None:
                clashes.append((known, clash))
    decidable = [
        (known, clash) for known, clash in clashes if _is_decidable(new, known, clash, mode, now)
    ]
    if not decidable:
        return _flagged(new, clashes, mode, now)
    known, clash = decidable[0]
    kind = _kind(new, known, clash)
    if mode == "merge":
        content = _dated(new, known, now)
        if len(content) <= LONGEST_MERGED:
            return Merge(known, content, clash.reason)
        return Flag((_doubt(new, known, kind, "too long to be merged", now),))
    later = [known for known, _ in decidable if _holds(known, new, mode, now)]
    if later:
        return Outdated(max(later, key=lambda known: known.holds_since), kind, clash.reason)
    return Replace(tuple(known for known, _ in decidable), kind, clash.reason)


def _excluding(
    known: Memory,
    new: Memory,
    cosine: float,
    ladder: Ladder,
    mode: ConflictMode,
    now: datetime,
) -> Clash | None:
    """Return how the later of the two excludes the earlier, whichever came first."""
    content, cosine = last_said(known), ladder.near if Periods.of(known.content) else cosine
    if mode in ("temporal", "merge") and began_after(known, new, now):
        clash = Pair(new.content, content).clash(cosine, ladder)
        if clash is not None and clash.clear:
            return clash
    return Pair(content, new.content).clash(cosine, ladder)


def may_be_compared(known: Memory, new: Memory) -> bool:
    """Return whether they may be about the same thing, so that the judge is worth asking."""
    return known.kin == new.kin and of_one(new, known)


def excludes(known: Memory, new: Memory, ladder: Ladder) -> bool:
    """Return whether the known one clearly gives way to the new one, both being about one thing."""
    if not of_one(new, known) or not known_to_be_one(new, known):
        return False
    clash = Pair(known.content, new.content).clash(ladder.near, ladder)
    return clash is not None and clash.clear


def _is_decidable(
    new: Memory, known: Memory, clash: Clash, mode: ConflictMode, now: datetime
) -> bool:
    return (
        mode != "ask"
        and clash.clear
        and _may_change(new, known)
        and known_to_be_one(new, known)
        and max(new.holds_since, known.holds_since) <= now + AHEAD
        and not is_for_a_while(new, known)
    )


def _ended(
    new: Memory, neighbours: Sequence[Neighbour], judged: Judged | None, now: datetime
) -> Replace | Flag | None:
    """Return the memories that still hold and that the new one says are over."""
    if Wording(new.content).is_of_others:
        return None
    over = tuple(
        known
        for known, _ in neighbours
        if known.valid_to is None and _may_change(new, known) and of_one(new, known)
        if known_to_be_one(new, known) and set(words(known.content)) < set(words(new.content))
    )
    if judged is not None and any(known.id not in judged.relations for known in over):
        why = "was so until then; not clear enough to decide"
        return Flag(tuple(_doubt(new, known, "update", why, now) for known in over))
    return Replace(over, "update", "was so until then") if over else None


def _flagged(
    new: Memory, clashes: Sequence[tuple[Memory, Clash]], mode: ConflictMode, now: datetime
) -> Flag | None:
    doubts = tuple(
        Doubt(
            known,
            _kind(new, known, clash),
            _why_open(new, known, clash, mode, now),
            began_after(known, new, now),
            clash.chance,
        )
        for known, clash in clashes
    )
    return Flag(doubts) if doubts else None


def _doubt(new: Memory, known: Memory, kind: ConflictKind, reason: str, now: datetime) -> Doubt:
    return Doubt(known, kind, reason, began_after(known, new, now))


def _why_open(new: Memory, known: Memory, clash: Clash, mode: ConflictMode, now: datetime) -> str:
    if known.kin != new.kin:
        return f"{clash.reason}; the other one is {known.kin}'s"
    if known.scope != new.scope:
        return f"{clash.reason}; one is private, the other shared"
    if known.pinned:
        return f"{clash.reason}; the other one is pinned"
    if not clash.clear:
        return f"{clash.reason}; not clear enough to decide"
    if mode == "ask":
        return f"{clash.reason}; KINMEM_CONFLICT_MODE is ask"
    if max(new.holds_since, known.holds_since) > now + AHEAD:
        return f"{clash.reason}; one is to come"
    if is_for_a_while(new, known):
        return f"{clash.reason}; one ends by itself"
    return f"{clash.reason}; said by different people"


def _kind(new: Memory, known: Memory, clash: Clash) -> ConflictKind:
    """Return the kind; temporal if both are dated, and each may have held in its time."""
    dated = new.occurred_at is not None and known.occurred_at is not None
    if clash.kind == "contradiction" and dated and new.occurred_at != known.occurred_at:
        return "temporal"
    return clash.kind


def _holds(known: Memory, new: Memory, mode: ConflictMode, now: datetime) -> bool:
    """Return whether the known one holds now. Of two that began together the new one does."""
    return mode == "keep_existing" or mode == "temporal" and began_after(known, new, now)


def _dated(new: Memory, known: Memory, now: datetime) -> str:
    """Return all in one text, in the order of time: Until 2026-03-05: ... Since then: ..."""
    ours, theirs = (memory.holds_since.astimezone(now.tzinfo).date() for memory in (new, known))
    added = Period(ours.isoformat(), _stopped(new.content))
    merged = Periods.of(known.content) or [Period("", _stopped(known.content))]
    if known.holds_since > new.holds_since:
        first, *more = merged
        return Periods(
            [added._replace(since=""), Period(theirs.isoformat(), first.said), *more]
        ).text
    # Of one day, in the order in which they came.
    return Periods(sorted([*merged, added], key=lambda period: period.since)).text
