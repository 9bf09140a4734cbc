"""Stage 4 of learning: is it known, does it change what is known? Decides, does nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Literal

from kinmem.language import (
    Clash,
    Kinship,
    Ladder,
    Pair,
    Period,
    Wording,
    claim,
    join_periods,
    periods,
    sentences,
)
from kinmem.learn.occasion import (
    begins,
    of_one,
    of_two_days,
    same_occasion,
    speaker_of,
    states_as_much,
)
from kinmem.llm.relating import Judged, weighed
from kinmem.models import LIVE, ConflictMode, Memory
from kinmem.text import words

ConflictKind = Literal["contradiction", "update", "temporal", "partial"]
AHEAD = timedelta(days=1)
"""What begins later is still to come; clocks and zones may differ by less."""
LONGEST_MERGED = 2000
"""Characters; above, both are kept."""
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
    """`known` is to say what both say."""

    known: Memory
    content: str
    reason: str


@dataclass(frozen=True)
class Replace:
    """`outdated` was so until this came."""

    outdated: tuple[Memory, ...]
    kind: ConflictKind
    reason: str


@dataclass(frozen=True)
class Outdated:
    """It is the older statement: it was so until `by`."""

    by: Memory
    kind: ConflictKind
    reason: str
    before: tuple[Memory, ...] = ()
    """What was thought to be so until `by` came, and gave way to this one already."""


@dataclass(frozen=True)
class Flag:
    """It may not be so together with `against`, but nobody here may decide."""

    against: tuple[Memory, ...]
    kind: ConflictKind
    reason: str


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
    """What is to become of a new memory beside those near it, nearest first, with their cosines.

    Skip before Merge before what contradicts. Nothing is skipped or merged where an atom, the
    subject, the speaker or the occasion differs. What contradicts gives way as `mode` says, if
    that is clear (change/clash.py); it is never another Kin's, of the other scope or pinned: then,
    and in doubt, Flag. `updates` is the id of a neighbour that it is known to correct. `judged`:
    what the judge says of them; None: there is none, and form decides alone. Dates in merged texts
    are in the zone of `now`.
    """
    others = [(known, cosine) for known, cosine in neighbours if known.id != new.id]
    return (
        _known(new, others, ladder, judged, updates)
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
    said = claim(new.content)
    if said.corrects and not said.ends and not said.instead_of:  # it is so now: it was so before
        return Pair(known.content, said.text).kinship(cosine, ladder) in SAME
    pair = Pair(known.content, new.content)
    match pair.kinship(cosine, ladder):
        case kinship if kinship in SAME:
            return True
        case Kinship.CONTAINED:
            return pair.known_says_all
        case Kinship.NEAR:
            return pair.in_same_words
        case _:
            return False


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
            case kinship if mode == "merge" and (
                kinship is Kinship.NEAR or pair.resemble(close=True)
            ):
                if (content := _joined(known.content, new.content)) is not None:
                    return Merge(known, content, "each says what the other does not")
    return None


def _joined(known: str, new: str) -> str | None:
    """The known text and the sentences that it does not have; None if that grows too long."""
    more = [one for one in sentences(new) if not Pair(known, one).known_says_all]
    content = " ".join([_stopped(known), *more])
    return content if more and len(content) <= LONGEST_MERGED else None


def _stopped(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", "。")) else text + "."


def _may_change(new: Memory, known: Memory) -> bool:
    """Whether the known one may be changed unasked, because of the new one."""
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
    if _was_over(new):
        return _ended(new, neighbours, judged)
    clashes = []
    for known, cosine in neighbours:
        if known.id == updates:
            forbidden = Pair(known.content, new.content).veto
            told = "corrects it" if forbidden is None else f"is said to correct it, but {forbidden}"
            clashes.append((known, Clash(forbidden is None, "update", told)))
        elif of_one(new, known) and not of_two_days(known, new):
            found = _excluding(known, new, cosine, ladder, mode, now)
            if judged is not None:
                relation, one_kind = (
                    judged.relations.get(known.id),
                    judged.of_one_kind.get(known.id),
                )
                found = weighed(found, relation, *in_order(known, new, mode, now), one_kind)
            if found is not None:
                clashes.append((known, found))
    decidable = [
        (known, found) for known, found in clashes if _is_decidable(new, known, found, mode, now)
    ]
    if not decidable:
        return _flagged(new, clashes, mode, now)
    known, found = decidable[0]
    kind = _kind(new, known, found)
    if mode == "merge":
        content = _dated(new, known, now)
        if len(content) <= LONGEST_MERGED:
            return Merge(known, content, found.reason)
        return Flag((known,), kind, "too long to be merged")
    later = [known for known, _ in decidable if _holds(known, new, mode, now)]
    if later:
        return Outdated(max(later, key=begins), kind, found.reason)
    return Replace(tuple(known for known, _ in decidable), kind, found.reason)


def _excluding(
    known: Memory,
    new: Memory,
    cosine: float,
    ladder: Ladder,
    mode: ConflictMode,
    now: datetime,
) -> Clash | None:
    """How the later of the two excludes the earlier, whichever came first."""
    content, cosine = last_said(known), ladder.near if periods(known.content) else cosine
    if mode in ("temporal", "merge") and _began_after(known, new, now):
        found = Pair(new.content, content).clash(cosine, ladder)
        if found is not None and found.clear:
            return found
    return Pair(content, new.content).clash(cosine, ladder)


def may_be_compared(known: Memory, new: Memory) -> bool:
    """Whether they may be about the same one, so that it is worth asking what they are."""
    return known.kin == new.kin and of_one(new, known)


def last_said(known: Memory) -> str:
    """What it says to be so now; of a merged one the last period."""
    told = periods(known.content)
    return told[-1].said if told else known.content


def in_order(known: Memory, new: Memory, mode: ConflictMode, now: datetime) -> tuple[str, str]:
    """Their texts, that of the one that held first before the other's."""
    if mode == "temporal" and _began_after(known, new, now):
        return new.content, known.content
    return known.content, new.content


def excludes(known: Memory, new: Memory, ladder: Ladder) -> bool:
    """Whether the known one clearly gives way to the new one, said of the same one as it is."""
    if not of_one(new, known) or not _known_to_be_one(new, known):
        return False
    found = Pair(known.content, new.content).clash(ladder.near, ladder)
    return found is not None and found.clear


def _is_decidable(
    new: Memory, known: Memory, found: Clash, mode: ConflictMode, now: datetime
) -> bool:
    return (
        mode != "ask"
        and found.clear
        and _may_change(new, known)
        and _known_to_be_one(new, known)
        and max(begins(new), begins(known)) <= now + AHEAD
        and not _is_for_a_while(new, known)
    )


def _is_for_a_while(new: Memory, known: Memory) -> bool:
    """Whether the later one ends by itself, so that the other may hold again after it."""
    later = max(new, known, key=begins)
    return later.valid_to is not None and later.valid_to > begins(later)


def _ended(
    new: Memory, neighbours: Sequence[Neighbour], judged: Judged | None
) -> Replace | Flag | None:
    """What it says to be over, and was thought to be so still."""
    if Wording(new.content).is_of_others:
        return None
    over = tuple(
        known
        for known, _ in neighbours
        if known.valid_to is None and _may_change(new, known) and of_one(new, known)
        if _known_to_be_one(new, known) and set(words(known.content)) < set(words(new.content))
    )
    if judged is not None and any(known.id not in judged.relations for known in over):
        return Flag(over, "update", "was so until then; not clear enough to decide")
    return Replace(over, "update", "was so until then") if over else None


def _was_over(new: Memory) -> bool:
    """Whether it had ended by itself when it was said: then it changes nothing that is so."""
    return new.valid_to is not None and new.valid_to <= begins(new)


def _known_to_be_one(new: Memory, known: Memory) -> bool:
    """Two speakers may mean different ones where nobody says whom; a rule is its author's."""
    if speaker_of(new) == speaker_of(known):
        return True
    if Wording(known.content).is_rule:
        return False
    return new.subject is not None and known.subject is not None


def _flagged(
    new: Memory, clashes: Sequence[tuple[Memory, Clash]], mode: ConflictMode, now: datetime
) -> Flag | None:
    if not clashes:
        return None
    known, found = clashes[0]
    return Flag(
        tuple(known for known, _ in clashes),
        _kind(new, known, found),
        _why_open(new, known, found, mode, now),
    )


def _why_open(new: Memory, known: Memory, found: Clash, mode: ConflictMode, now: datetime) -> str:
    if known.kin != new.kin:
        return f"{found.reason}; the other one is {known.kin}'s"
    if known.scope != new.scope:
        return f"{found.reason}; one is private, the other shared"
    if known.pinned:
        return f"{found.reason}; the other one is pinned"
    if not found.clear:
        return f"{found.reason}; not clear enough to decide"
    if mode == "ask":
        return f"{found.reason}; KINMEM_CONFLICT_MODE is ask"
    if max(begins(new), begins(known)) > now + AHEAD:
        return f"{found.reason}; one is to come"
    if _is_for_a_while(new, known):
        return f"{found.reason}; one ends by itself"
    return f"{found.reason}; said by different people"


def _kind(new: Memory, known: Memory, found: Clash) -> ConflictKind:
    """temporal: both are dated, and each may have been so in its time."""
    dated = new.occurred_at is not None and known.occurred_at is not None
    if found.kind == "contradiction" and dated and new.occurred_at != known.occurred_at:
        return "temporal"
    return found.kind


def _holds(known: Memory, new: Memory, mode: ConflictMode, now: datetime) -> bool:
    """Whether the known one is so now; of two that begin together the new one is."""
    return mode == "keep_existing" or mode == "temporal" and _began_after(known, new, now)


def _began_after(known: Memory, new: Memory, now: datetime) -> bool:
    """Of two that begin on one day, and one of them at no known hour, the known one is earlier."""
    ours, theirs = (begins(one).astimezone(now.tzinfo) for one in (new, known))
    if ours.date() == theirs.date() and time.min in (ours.time(), theirs.time()):
        return False
    return theirs > ours


def _dated(new: Memory, known: Memory, now: datetime) -> str:
    """All in one text, in the order of time: Until 2026-03-05: ... Since then: ..."""
    ours, theirs = (begins(one).astimezone(now.tzinfo).date() for one in (new, known))
    said = Period(ours.isoformat(), _stopped(new.content))
    told = periods(known.content) or [Period("", _stopped(known.content))]
    if begins(known) > begins(new):
        first, *more = told
        return join_periods(
            [said._replace(since=""), Period(theirs.isoformat(), first.said), *more]
        )
    return join_periods(sorted([*told, said], key=lambda one: one.since))  # of one day as they came
