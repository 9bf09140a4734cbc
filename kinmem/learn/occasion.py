"""Whether two statements are about the same one, by the same speaker, of the same time.

Unknown means: may be the same. `states_as_much` is what a store compares before it stores a
statement twice (store/sql/memory_file.py says it again in SQL).
"""

from datetime import datetime, timedelta

from kinmem.language import Wording, atoms, claim, day_of_event
from kinmem.models import OF_ITS_TIME, TOLD_AT, Memory
from kinmem.text import folded, words

ONE_TALK = timedelta(hours=12)
"""What is said twice in one session within this time was said on one occasion."""


def same_subject(a: Memory, b: Memory) -> bool:
    """Not known to be about different things."""
    return a.subject is None or b.subject is None or folded(a.subject) == folded(b.subject)


def speaker_of(memory: Memory) -> str | None:
    """Whose words they are: a folded name, or None for whoever uses this memory."""
    name = folded(memory.speaker or "")
    return None if name in ("", "user") else name


def of_one(a: Memory, b: Memory) -> bool:
    """Whether they may be about the same: `I` is not the same for two speakers."""
    if not same_subject(a, b):
        return False
    ours, theirs = speaker_of(a), speaker_of(b)
    if ours == theirs or a.subject is not None and b.subject is not None:
        return True
    return ours is None or theirs is None or not (_of_self(a) or _of_self(b))


def worded_otherwise(a: Memory, b: Memory) -> bool:
    """Whether they may be about the same although their subjects differ: Clara, Clara Meyer.

    home and residence are one where both texts say of whom: of Clara, or both of the one speaker.
    """
    ours, theirs = (frozenset(words(one.subject or "")) for one in (a, b))
    said = frozenset(words(a.content)).intersection(words(b.content))
    if not same_speaker(a, b):
        return False
    return (
        any(one <= other for one, other in ((ours, theirs), (theirs, ours)))
        or any(one <= said for one in (ours, theirs))
        or bool(atoms(a.content).names & atoms(b.content).names)
        or _of_self(a)
        and _of_self(b)
    )


def _of_self(memory: Memory) -> bool:
    return Wording(memory.content).begins_with_speaker


def same_speaker(a: Memory, b: Memory) -> bool:
    """Not known to be said by different ones."""
    ours, theirs = speaker_of(a), speaker_of(b)
    return ours is None or theirs is None or ours == theirs


def same_time(a: Memory, b: Memory) -> bool:
    """Of one moment, or said in one talk."""
    if a.occurred_at == b.occurred_at:
        return True
    if a.occurred_at is None or b.occurred_at is None:
        return False
    one_talk = a.session is not None and a.session == b.session
    return one_talk and abs(a.occurred_at - b.occurred_at) <= ONE_TALK


def same_occasion(a: Memory, b: Memory) -> bool:
    """As far as is known; symmetric."""
    return same_time(a, b) and same_subject(a, b) and same_speaker(a, b)


def says_again(known: Memory, new: Memory) -> bool:
    """Whether the new one may be no more than a repetition, although it was said at another time.

    The time of what is learned from a conversation is that of the saying, unless its words name a
    day. Who memorizes something and names a time means the time.
    """
    learned = new.channel in ("user", "extraction") and TOLD_AT not in new.metadata
    learned = learned or new.occurred_at is None
    return learned and OF_ITS_TIME.isdisjoint((known.category, new.category))


def may_be_one(earlier: Memory, later: Memory) -> bool:
    """Whether both may be one statement: of the same by the same, and not of two days."""
    is_once = same_time(earlier, later) or says_again(earlier, later)
    return is_once and same_subject(earlier, later) and same_speaker(earlier, later)


def states_as_much(known: Memory, new: Memory) -> bool:
    """Whether, their texts being the same, `known` makes `new` superfluous.

    Nothing that is known of the new one may be missing in the known one, and it must last as long.
    """
    return (
        (same_time(new, known) or says_again(known, new))
        and _lasts_as_long(known, new)
        and (new.subject is None or folded(new.subject) == folded(known.subject or ""))
        and (new.speaker is None or speaker_of(new) == speaker_of(known))
    )


def _lasts_as_long(known: Memory, new: Memory) -> bool:
    if known.expires_at is None:
        return True
    return new.expires_at is not None and known.expires_at >= new.expires_at


def of_two_days(known: Memory, new: Memory) -> bool:
    """Whether each tells what happened on a day of its own, and the later corrects nothing: "we
    tested the backup on 4 May", "we upgraded it on 9 May"."""
    days = {day_of_event(one.content, one.told_at) for one in (known, new)}
    return None not in days and len(days) > 1 and not claim(new.content).corrects


def begins(memory: Memory) -> datetime:
    """From when on it is so, as far as it is known: what is told later is newer, though it may tell
    of an earlier day."""
    return memory.valid_from or memory.told_at
