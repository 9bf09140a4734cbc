"""Whether two statements are about the same one, by the same speaker, of the same time.

Unknown means: may be the same. `states_as_much` is what a store compares before it stores a
statement twice (store/sqlite/book.py says it again in SQL).
"""

from datetime import datetime, timedelta

from kinmem.models import Memory
from kinmem.text import folded

ONE_TALK = timedelta(hours=12)
"""What is said twice in one session within this time was said on one occasion."""


def same_subject(a: Memory, b: Memory) -> bool:
    """Not known to be about different things."""
    return a.subject is None or b.subject is None or folded(a.subject) == folded(b.subject)


def speaker_of(memory: Memory) -> str | None:
    """Whose words they are: a folded name, or None for whoever uses this memory."""
    name = folded(memory.speaker or "")
    return None if name in ("", "user") else name


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


def states_as_much(known: Memory, new: Memory) -> bool:
    """Whether, their texts being the same, `known` makes `new` superfluous.

    Nothing that is known of the new one may be missing in the known one, and it must last as long.
    """
    return (
        same_time(new, known)
        and _lasts_as_long(known, new)
        and (new.subject is None or folded(new.subject) == folded(known.subject or ""))
        and (new.speaker is None or speaker_of(new) == speaker_of(known))
    )


def _lasts_as_long(known: Memory, new: Memory) -> bool:
    if known.expires_at is None:
        return True
    return new.expires_at is not None and known.expires_at >= new.expires_at


def begins(memory: Memory) -> datetime:
    """From when on it is so."""
    return memory.valid_from or memory.said_at
