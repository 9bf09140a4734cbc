"""Stage 2 of learning: what must not be learned as it is said.

Whatever somebody says in a tool's output or on a web page may be meant for a model. What reads so
by its signs, or to the judge of language, is kept apart, where a person can see the attempt.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from kinmem.errors import ModelError
from kinmem.language import order_in, redact, sentences
from kinmem.llm.base import Judge
from kinmem.models import ROLES, Note
from kinmem.models.turns import Message
from kinmem.text import content_words

MOST_ATTEMPTS = 3
"""Kept of one message."""
LONGEST_ATTEMPT = 600
"""Characters."""
NO_PERSON = frozenset(ROLES) - {"user"}
"""Speakers whose words may come from anywhere."""


SURELY = 0.7
"""Chance from which the judge's word is enough. Of commands-1, which training had not seen, signs
hold 10.7 % of the attacks and 2.7 % of the harmless texts, both 57 and 3 %; of 900 lines of our own
prose one. At 0.5 70 and 4 %, four lines (`python -m benchmarks judge`)."""


class Gate:
    """Told of statements that come from tools and pages; without a judge their signs decide."""

    def __init__(self, judge: Judge | None = None) -> None:
        self._judge = judge

    def why(self, statement: str) -> str | None:
        """Why it must not be recalled unseen; None if nothing speaks against it."""
        found = order_in(statement)
        if found or self._judge is None:
            return found
        chance = 0.0
        with suppress(ModelError):
            chance = self._judge.commands(statement)
        return f"wants to command an assistant (judge {chance:.2f})" if chance >= SURELY else None


def screened(notes: Sequence[Note], turn: Sequence[Message], gate: Gate) -> list[Note]:
    """The notes without secrets, suspicious ones quarantined, then the attempts in tool output.

    At most three notes per message of the turn are quarantined; further ones are dropped.
    """
    own = [_Own.of(message) for message in turn if notes and message.role == "user"]
    judged = [_judged(_bare(note), own, gate) for note in notes]
    free = [note for note in judged if note.quarantine is None]
    held = [note for note in judged if note.quarantine is not None]
    attempts = [note for message in turn if message.role == "tool" for note in _attempts(message)]
    known = {note.content for note in held}
    held += [note for note in attempts if note.content not in known]
    return free + held[: MOST_ATTEMPTS * len(turn)]


def _bare(note: Note) -> Note:
    """Turns come without secrets; a model may have put one together."""
    return replace(
        note,
        content=redact(note.content)[0],
        subject=note.subject and redact(note.subject)[0],
        source_context=note.source_context and redact(note.source_context)[0],
    )


class _Own(NamedTuple):
    """What a person said in the turn, by its words; each note is compared with all of it."""

    words: frozenset[str]
    parts: Sequence[tuple[str, frozenset[str]]]
    """Its sentences."""

    @classmethod
    def of(cls, message: Message) -> "_Own":
        parts = [(part, frozenset(content_words(part))) for part in sentences(message.text)]
        return cls(frozenset(content_words(message.text)), parts)


def _judged(note: Note, own: Sequence[_Own], gate: Gate) -> Note:
    """`own`: what people said in the turn. They may give orders, for themselves."""
    if note.quarantine is not None:
        return note
    return replace(note, quarantine=_why(note, own, gate))


def _why(note: Note, own: Sequence[_Own], gate: Gate) -> str | None:
    words = set(content_words(note.content))
    if note.speaker in NO_PERSON or not words:
        return gate.why(note.content)
    told = [message for message in own if words <= message.words]
    if not told:
        return gate.why(note.content)
    # A link in an order is no part of the note, but of what is asked.
    whole = [part for message in told for part, held in message.parts if words & held]
    found = (order_in(one, own=True) for one in [note.content, *whole])
    return next(filter(None, found), None)


def _attempts(message: Message) -> Iterator[Note]:
    """What a tool's output orders a model to do, sentence by sentence, else as a whole."""
    why = order_in(message.text)
    if why is None:
        return
    pieces = [(part.strip(), order_in(part)) for part in _pieces(message.text)]
    found = [(text, reason) for text, reason in pieces if reason is not None]
    for text, reason in (found or [(message.text.strip(), why)])[:MOST_ATTEMPTS]:
        yield Note(
            content=redact(text[:LONGEST_ATTEMPT])[0],
            category="context",
            source_context=f"in the output of {message.tool}" if message.tool else None,
            occurred_at=message.said_at,
            speaker="tool",
            channel="extraction",
            client=message.client,
            session=message.session,
            turns=(message.turn,),
            quarantine=reason,
        )


def _pieces(text: str) -> list[str]:
    """Its sentences; of a long one, which may be no prose, the parts."""
    return [
        part[start : start + LONGEST_ATTEMPT]
        for part in sentences(text)
        for start in range(0, len(part), LONGEST_ATTEMPT)
    ]
