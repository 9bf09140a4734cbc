"""Whether two statements may be about the same thing: subject, speaker, time and order.

What is not known may be the same. `states_as_much` is what a store compares before it stores a
statement twice (store/sql/memory_file.py has it in SQL).
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from math import sqrt

from kinmem.language import Dates, Periods, Wording, atoms, claim
from kinmem.models import OF_ITS_TIME, TOLD_AT, ConflictMode, Memory
from kinmem.text import UNSPACED, folded, pairs_of, words

# What is said twice in one session within this time was said on one occasion.
ONE_TALK = timedelta(hours=12)

# Which stored statements the judge reads beside a new one. A pair costs 3 to 6 ms of a processor,
# and of a hundred neighbours two or three matter. Chosen with the 1,005 cards of training/, in
# files of about 110 memories: of what says the same, replaces or contradicts a memory 98.0, 73.3
# and 94.7 % are read, with 2.1 to 4.8 pairs a statement. The nearest eight were 98.2, 75.4 and
# 92.6 %.
MOST_JUDGED = 6
# Weight of the share of words that two texts have in common; that of their cosine is 1.
SHARED = 0.5
# Below this sum a pair is neither near nor has words in common.
LEAST_SUM = 0.2
# How far the sum may be behind the highest.
MOST_BEHIND = 0.4
WORD = re.compile(r"[^\W_]+")
# Texts whose words are kept: a statement is compared with many.
REMEMBERED = 1024
# Letters by which a word is compared, since endings say little.
BEGINNING = 6


def same_subject(a: Memory, b: Memory) -> bool:
    """Return whether the memories are not known to be about different things."""
    return a.subject is None or b.subject is None or folded(a.subject) == folded(b.subject)


def speaker_of(memory: Memory) -> str | None:
    """Return whose words they are: a folded name, or None for the user of this memory."""
    name = folded(memory.speaker or "")
    return None if name in ("", "user") else name


def of_one(a: Memory, b: Memory) -> bool:
    """Return whether they may be about the same thing. "I" differs between two speakers."""
    if not same_subject(a, b):
        return False
    ours, theirs = speaker_of(a), speaker_of(b)
    if ours == theirs or a.subject is not None and b.subject is not None:
        return True
    return ours is None or theirs is None or not (_of_self(a) or _of_self(b))


def worded_otherwise(a: Memory, b: Memory) -> bool:
    """Return whether they may be about the same thing although their subjects differ: Clara, Clara
    Meyer. Home and residence may be the same if both texts say whose: Clara's, or the speaker's.
    """
    ours, theirs = (frozenset(words(memory.subject or "")) for memory in (a, b))
    shared = frozenset(words(a.content)).intersection(words(b.content))
    if not same_speaker(a, b):
        return False
    return (
        ours <= theirs
        or theirs <= ours
        or ours <= shared
        or theirs <= shared
        or bool(atoms(a.content).names & atoms(b.content).names)
        or _of_self(a)
        and _of_self(b)
    )


def _of_self(memory: Memory) -> bool:
    return Wording(memory.content).begins_with_speaker


def same_speaker(a: Memory, b: Memory) -> bool:
    """Return whether they are not known to be said by different people."""
    ours, theirs = speaker_of(a), speaker_of(b)
    return ours is None or theirs is None or ours == theirs


def same_time(a: Memory, b: Memory) -> bool:
    """Return whether they are of one moment, or were said in one talk."""
    if a.occurred_at == b.occurred_at:
        return True
    if a.occurred_at is None or b.occurred_at is None:
        return False
    one_talk = a.session is not None and a.session == b.session
    return one_talk and abs(a.occurred_at - b.occurred_at) <= ONE_TALK


def same_occasion(a: Memory, b: Memory) -> bool:
    """Return whether time, subject and speaker may be the same. Symmetric."""
    if mean_other_days(a, b):
        return False
    return same_time(a, b) and same_subject(a, b) and same_speaker(a, b)


def mean_other_days(a: Memory, b: Memory) -> bool:
    """Return whether their relative times mean different days: "dentist tomorrow at 8", said in
    November and in January, are two visits."""
    ours, theirs = a.days_meant, b.days_meant
    return bool(ours and theirs) and ours != theirs


def says_again(known: Memory, new: Memory) -> bool:
    """Return whether the new one may be a mere repetition, although it was said at another time.

    What is learned from a conversation has the time at which it was said, unless its words name a
    day. A caller who memorizes something and names a time means that time.
    """
    learned = new.channel in ("user", "extraction") and TOLD_AT not in new.metadata
    learned = learned or new.occurred_at is None
    return learned and OF_ITS_TIME.isdisjoint((known.category, new.category))


def may_be_one(earlier: Memory, later: Memory) -> bool:
    """Return whether both may be one statement: same subject, same speaker, not of two days."""
    if mean_other_days(earlier, later):
        return False
    is_once = same_time(earlier, later) or says_again(earlier, later)
    return is_once and same_subject(earlier, later) and same_speaker(earlier, later)


def states_as_much(known: Memory, new: Memory) -> bool:
    """Return whether `known` makes `new` superfluous, given that their texts say the same.

    It must have everything that is known of the new one, mean the same days, and last as long.
    """
    return (
        new.days_meant in (frozenset(), known.days_meant)
        and (same_time(new, known) or says_again(known, new))
        and _lasts_as_long(known, new)
        and (new.subject is None or folded(new.subject) == folded(known.subject or ""))
        and (new.speaker is None or speaker_of(new) == speaker_of(known))
    )


def prolongs(new: Memory, known: Memory) -> bool:
    """Return whether the new one is `known` again, word for word and with all that is known of it,
    and both end, the new one later."""
    ends = known.expires_at, new.expires_at
    return (
        ends[0] is not None
        and ends[1] is not None
        and ends[0] < ends[1]
        and known.content_hash == new.content_hash
        and {*known.manual_tags} <= {*new.manual_tags}
        and states_as_much(new, known)
    )


def _lasts_as_long(known: Memory, new: Memory) -> bool:
    if known.expires_at is None:
        return True
    return new.expires_at is not None and known.expires_at >= new.expires_at


def of_two_days(known: Memory, new: Memory) -> bool:
    """Return whether they report events of different days, and the later corrects nothing: "we
    tested the backup on 4 May", "we upgraded it on 9 May"."""
    days = {Dates(memory.content, memory.told_at).of_event for memory in (known, new)}
    return None not in days and len(days) > 1 and not claim(new.content).corrects


def last_said(memory: Memory) -> str:
    """Return what a memory says is true now: of a merged text, the last period."""
    merged = Periods.of(memory.content)
    return merged[-1].said if merged else memory.content


def in_turn(memories: Iterable[Memory], now: datetime) -> list[Memory]:
    """Return what held first first. Of what began on one day, go by the hours if all of them are
    known, otherwise by when it was stored: so the order does not depend on that of `memories`."""
    began = [(memory.holds_since.astimezone(now.tzinfo), memory) for memory in memories]
    without_hours = {at.date() for at, _ in began if at.time() == time.min}

    def order(one: tuple[datetime, Memory]) -> tuple[date, float, datetime, str]:
        at, memory = one
        moment = 0.0 if at.date() in without_hours else at.timestamp()
        return at.date(), moment, memory.created_at, memory.id

    return [memory for _, memory in sorted(began, key=order)]


def in_order(known: Memory, new: Memory, mode: ConflictMode, now: datetime) -> tuple[str, str]:
    """Return both texts, first that of the memory that held first."""
    if mode == "temporal" and began_after(known, new, now):
        return new.content, known.content
    return known.content, new.content


def began_after(known: Memory, new: Memory, now: datetime) -> bool:
    """Return whether the known one began later. If both began on one day, and the hour of either is
    not known, the known one is the earlier."""
    ours, theirs = (memory.holds_since.astimezone(now.tzinfo) for memory in (new, known))
    if ours.date() == theirs.date() and time.min in (ours.time(), theirs.time()):
        return False
    return theirs > ours


def was_over(new: Memory) -> bool:
    """Return whether it had ended by itself when it was said, and so changes nothing that holds."""
    return new.valid_to is not None and new.valid_to <= new.holds_since


def is_for_a_while(new: Memory, known: Memory) -> bool:
    """Return whether the later one ends by itself, so that the other may hold again after it."""
    later = max(new, known, key=lambda memory: memory.holds_since)
    return later.valid_to is not None and later.valid_to > later.holds_since


def known_to_be_one(new: Memory, known: Memory) -> bool:
    """Return whether they are surely about the same thing: two speakers may mean different ones if
    neither names a subject, and a rule is about its author."""
    if speaker_of(new) == speaker_of(known):
        return True
    if Wording(known.content).is_rule:
        return False
    return new.subject is not None and known.subject is not None


def worth_judging(
    new: str, near: Sequence[tuple[str, float]], most: int = MOST_JUDGED, least: float = LEAST_SUM
) -> list[int]:
    """Return the positions in `near` of the texts that could say the same as the new one or exclude
    it, the likeliest first and at most `most`.

    `near` holds texts with their cosines to the new one, on the scale of Calibration.scaled.
    """
    sums = [cosine + SHARED * share_of_words(new, text) for text, cosine in near]
    floor = max(least, max(sums, default=0.0) - MOST_BEHIND)
    order = sorted(range(len(near)), key=lambda at: -sums[at])
    return [at for at in order if sums[at] >= floor][:most]


@lru_cache(REMEMBERED)
def _beginnings(text: str) -> frozenset[str]:
    """Return the beginnings of the words; in scripts without spaces, pairs of characters."""
    found: set[str] = set()
    for word in WORD.findall(text):
        if UNSPACED.search(word):
            found.update(pairs_of(word))
        else:
            found.add(word.casefold()[:BEGINNING])
    return frozenset(found)


def share_of_words(one: str, other: str) -> float:
    """Return the share of words that two texts have in common: the cosine of their sets, 0 to 1."""
    ours, theirs = _beginnings(one), _beginnings(other)
    if not ours or not theirs:
        return 0.0
    return len(ours & theirs) / sqrt(len(ours) * len(theirs))
