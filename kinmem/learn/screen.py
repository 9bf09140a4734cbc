"""Stage 2 of learning: hold back what must not be learned as it stands.

Secrets stop at the border (validation.py). The notes of a turn pass three checks. The output of
tools and web pages may contain orders for a model: what reads like one, by its signs or to the
judge, is quarantined, so that a person can see the attempt. What only repeats kinmem's own notes is
dropped. What a model made up, without any ground in the conversation, is quarantined as well.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from math import exp, log
from typing import NamedTuple

from kinmem.errors import ModelError
from kinmem.language import Echoes, order_in, sentences
from kinmem.learn.compare import Compare
from kinmem.learn.reconcile import Neighbour
from kinmem.llm.base import Embedder, Judge
from kinmem.models import ROLES, Note, Vectors
from kinmem.models.turns import Message, Repetition
from kinmem.store.base import Store
from kinmem.text import content_terms
from kinmem.validation import Border

# Attempts to command a model that are kept of one message, and characters of each.
MOST_ATTEMPTS = 3
LONGEST_ATTEMPT = 600
# Speakers whose words may come from anywhere.
NO_PERSON = frozenset(ROLES) - {"user"}
# How much the score of the examples counts beside the judge's log odds, and the log odds from
# which a text commands. With 3 and 5 the area under the curve is the same. Of two sets by writers
# who saw neither rules nor other sets, 200 attacks and 400 harmless texts each: from .5 on 96 and
# 92 % of the attacks are held and 2.2 and 6.5 % of the harmless texts, from 1 on 94 and 90 % and
# 1.8 and 5.8 %; the harmless texts of the second set were written to look like attacks.
OF_EXAMPLES = 3.0
SURELY = 1.0
# Chances are kept that far from 0 and 1.
LEAST = 1e-9
# Longer runs of Latin letters are codes, not words.
WORDS = re.compile(r"(?<!\w)(?![A-Za-z]{31})[^\W\d_]{2,}(?![\d_])")
# Share of its characters that are in words, from which the judge reads a text.
PROSE = 0.5
# Sentences of one text that the judge reads.
MOST_READ = 8

# Share of a text's content words that must have been said (Keyoku's bound for one subject).
SPOKEN_OF = 0.3
# Characters of a message that are compared with a note by meaning.
READ_OF_MESSAGE = 2000


class Gate:
    """Recognises orders to an assistant, by their signs and with the judge.

    Beside the judge stand examples, read by the embedder if such were learned for it: two networks
    that err in different places.
    """

    def __init__(self, judge: Judge | None = None, embedder: Embedder | None = None) -> None:
        self._judge = judge
        self._embedder = embedder

    def why(self, statement: str, *, own: bool = False) -> str | None:
        """Return why it must not be recalled before a person has seen it; None if it may be.

        `own`: it may be a person's wish to their own assistant.
        """
        return order_in(statement, own=own) or self._judged(statement)

    def why_note(self, note: Note) -> str | None:
        """Return the same for a note that somebody handed over, for whoever it may be."""
        tags = note.tags if isinstance(note.tags, list | tuple) else ()
        beside = [note.subject, note.source_context, *tags]
        texts = [text for text in (note.content, *beside) if isinstance(text, str) and text]
        if sign := next(filter(None, (order_in(text, own=True) for text in texts)), None):
            return sign
        parts = sentences(note.content) if isinstance(note.content, str) else []
        read = [note.content] if len(parts) < 2 else [note.content, *parts[:MOST_READ]]
        return next(filter(None, map(self._judged, read)), None)

    def _judged(self, text: str) -> str | None:
        if self._judge is None or not _is_prose(text):
            return None
        with suppress(ModelError):
            chance = min(max(self._judge.commands(text), LEAST), 1 - LEAST)
            odds = log(chance / (1 - chance)) + OF_EXAMPLES * self._score(text)
            if odds >= SURELY:
                return f"wants to command an assistant (chance {1 / (1 + exp(-odds)):.2f})"
        return None

    def _score(self, text: str) -> float:
        embedder = self._embedder
        if embedder is None or (examples := embedder.calibration.commands) is None:
            return 0.0
        with suppress(ModelError):  # the judge alone decides
            return examples.score(embedder.embed([text])[0])
        return 0.0


def _is_prose(text: object) -> bool:
    """Return whether most of a text is words, which is all that the judge can read."""
    signs = "".join(text.split()) if isinstance(text, str) else ""
    told = sum(len(run) for run in WORDS.findall(str(text)))
    return bool(signs) and told >= PROSE * len(signs)


def screened(
    notes: Sequence[Note], turn: Sequence[Message], gate: Gate, border: Border
) -> list[Note]:
    """Return the notes without secrets, suspicious ones quarantined, and the attempts to command a
    model in the output of tools.

    At most three notes per message of the turn are quarantined; further ones are dropped.
    """
    people = [_Words.of(message) for message in turn if notes and message.role == "user"]
    # Turns hold no secrets, but a model may have put one together.
    checked = [_quarantine(border.passed(note), people, gate) for note in notes]
    free = [note for note in checked if note.quarantine is None]
    held = [note for note in checked if note.quarantine is not None]
    attempts = [note for message in turn if message.role == "tool" for note in _attempts(message)]
    attempts = [border.passed(note) for note in attempts]
    known = {note.content for note in held}
    held += [note for note in attempts if note.content not in known]
    return free + held[: MOST_ATTEMPTS * len(turn)]


class _Words(NamedTuple):
    """The words of what a person said in the turn; each note is compared with all of them."""

    words: frozenset[str]
    parts: Sequence[tuple[str, frozenset[str]]]
    """The sentences, each with its words."""

    @classmethod
    def of(cls, message: Message) -> "_Words":
        parts = [(part, content_terms(part)) for part in sentences(message.text)]
        return cls(content_terms(message.text), parts)


def _quarantine(note: Note, people: Sequence[_Words], gate: Gate) -> Note:
    """Quarantine a suspicious note. People may give orders, for themselves."""
    if note.quarantine is not None:
        return note
    return replace(note, quarantine=_why_suspicious(note, people, gate))


def _why_suspicious(note: Note, people: Sequence[_Words], gate: Gate) -> str | None:
    words = content_terms(note.content)
    if note.speaker in NO_PERSON or not words:
        return gate.why(note.content)
    sources = [message for message in people if words <= message.words]
    if not sources:
        return gate.why(note.content)
    # A link in an order is no part of the note, but of what is asked.
    whole = [part for message in sources for part, held in message.parts if words & held]
    signs = (order_in(text, own=True) for text in [note.content, *whole])
    return next(filter(None, signs), None)


def _attempts(message: Message) -> Iterator[Note]:
    """Yield what a tool's output orders a model to do, by sentence, or else as a whole."""
    why = order_in(message.text)
    if why is None:
        return
    pieces = [(part.strip(), order_in(part)) for part in _pieces(message.text)]
    orders = [(text, reason) for text, reason in pieces if reason is not None]
    for text, reason in (orders or [(message.text.strip(), why)])[:MOST_ATTEMPTS]:
        yield Note(
            content=text[:LONGEST_ATTEMPT],
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
    """Return its sentences, long ones in parts, since they may be no prose."""
    return [
        part[start : start + LONGEST_ATTEMPT]
        for part in sentences(text)
        for start in range(0, len(part), LONGEST_ATTEMPT)
    ]


class Screened(NamedTuple):
    """The notes of a turn that are learned from."""

    notes: list[Note]
    repeated: list[Repetition]
    """What the other notes repeat of the Kin's own memories."""
    echoes: int
    """How many other notes there were."""


class Screen:
    """Checks the notes that were found in a turn."""

    def __init__(self, store: Store, compare: Compare, gate: Gate, border: Border) -> None:
        self._store = store
        self._compare = compare
        self._gate = gate
        self._border = border.when_overheard

    def __call__(
        self, found: Sequence[Note], turn: Sequence[Message], before: Sequence[Message]
    ) -> Screened:
        """Quarantine orders and what a model made up, and drop what only repeats kinmem's notes.

        `before` is what was said before the turn.
        """
        notes = screened(found, turn, self._gate, self._border)
        news, repeated = self._without_echoes(notes, turn)
        return Screened(self._grounded(news, [*before, *turn]), repeated, len(notes) - len(news))

    def _without_echoes(
        self, notes: Sequence[Note], turn: Sequence[Message]
    ) -> tuple[list[Note], list[Repetition]]:
        """Return the notes that do not only repeat the memories that the session was shown, and
        which of the Kin's own memories the others repeat."""
        if not notes:
            return [], []
        shown = self._store.memories(self._store.shown.ids(turn[0].session))
        people = {message.speaker for message in turn if message.role == "user" and message.speaker}
        echoes = Echoes(
            (memory.content for memory in shown.values()),
            names=people - ROLES if len(people) == 1 else (),
        )
        news, repeated = [], list[Repetition]()
        for note in notes:
            sources = None if note.quarantine else echoes.sources(note.content)
            if sources is None:
                news.append(note)
                continue
            for memory in shown.values():
                if memory.kin == self._store.kin and memory.content in sources:
                    repeated += Repetition.of(note, memory.id)
        return news, repeated

    def _grounded(self, notes: Sequence[Note], talk: Sequence[Message]) -> list[Note]:
        """Quarantine the notes that a model made up: their words were not said, and nothing that
        was said is near them."""
        words = content_terms(" ".join(f"{message.who}: {message.text}" for message in talk))
        vectors = cache(partial(self._vectors_of, talk))
        return [
            note
            if note.model is None
            or note.quarantine
            or _share_said(note.content, words) >= SPOKEN_OF
            or self._is_near(note.content, vectors)
            else replace(note, quarantine="nothing that was said speaks of it")
            for note in notes
        ]

    def _is_near(self, content: str, talk: Callable[[], list[Vectors]]) -> bool:
        own = self._compare.chunks(content).vectors
        if own is None:
            return True  # there is no way to tell
        return any((other @ own.T).max() >= self._compare.ladder.related for other in talk())

    def _vectors_of(self, talk: Sequence[Message]) -> list[Vectors]:
        texts = [message.text[:READ_OF_MESSAGE] for message in talk if _is_speech(message)]
        vectors = (self._compare.chunks(text).vectors for text in texts)
        return [each for each in vectors if each is not None]

    def correction(
        self,
        note: Note,
        near: Sequence[Neighbour],
        ended: Collection[str],
        turn: Sequence[Message],
    ) -> str | None:
        """Return the memory that a model says the note corrects: one of the Kin's own private
        memories that the turn has not `ended`.

        The model is believed only if the note is near the memory, or if the turn speaks of it: a
        text may have told the model to say so.
        """
        if note.updates is None or note.updates in ended:
            return None
        known = self._store.memories([note.updates]).get(note.updates)
        if known is None or known.kin != self._store.kin or known.scope != "private":
            return None
        if any(memory.id == known.id for memory, _ in self._compare.close(near)):
            return known.id
        said = content_terms(" ".join(message.text for message in turn if _is_speech(message)))
        return known.id if _share_said(known.content, said) >= SPOKEN_OF else None


def _is_speech(message: Message) -> bool:
    return message.role in ("user", "assistant")


def _share_said(text: str, said: frozenset[str]) -> float:
    """Return the share of a text's content words that were said."""
    words = [word for word in content_terms(text) if word not in ROLES]
    return sum(word in said for word in words) / len(words) if words else 0.0
