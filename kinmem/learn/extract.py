"""Stage 1 of learning without a model: what is worth keeping of a turn, in its speaker's words.

Nothing is invented or reworded: a note is sentences that somebody said, without the empty ones,
with dates beside relative times. What assistants and tools say is context, never fact. What that
finds and keeps is measured by benchmarks/replay.py.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from kinmem.models import ROLES, Category, Entity, Note
from kinmem.rules.importance import importance
from kinmem.rules.names.naming import entities
from kinmem.rules.talk import talk_words
from kinmem.rules.talk.about import about, is_unreal, refers_back
from kinmem.rules.talk.cues import category_of, without_asking
from kinmem.rules.talk.prose import own_prose
from kinmem.rules.talk.talk import (
    ADDRESSED,
    SURE,
    Said,
    asks_help,
    is_offer,
    is_own,
    is_small,
    said,
)
from kinmem.rules.time.dated import dated
from kinmem.text import sentences, words
from kinmem.turns import Message

LEAST = 1.4
"""How telling a sentence must be among people. On LoCoMo 1.2 finds 0.9 points more recall@10 and
keeps 48 % of the text instead of 44; 1.7 finds 1.1 less and keeps 41."""
LEAST_ANSWER = 0.9
"""The same for what answers a question, which says what it is about."""
LEAST_OF_USER = 1.1
"""The same for what is told an assistant, who is told little for the sake of talking."""
OF_OTHERS = 0.7
"""What lasts of somebody or something else that is named is short as a rule: "Ana likes dogs"."""
CUED = 0.4
LASTING = frozenset({"identity", "preference", "decision", "relationship", "plan", "event"})
"""Kinds whose cues make what a user tells more worth keeping."""
LIKED = frozenset({"identity", "preference", "decision"})
SURELY = 0.8
"""Among people only these kinds count more, and only where the wording leaves no doubt: "I prefer
trains to planes" is short and still worth keeping."""
LOOKED_AT = 800
"""Characters of the end of the message before: a question stands last."""
QUESTION = 120
"""Characters of a question that are kept; a longer one is cut at a word."""
REQUEST = 160
CONTEXT = 160
"""Characters of what stands before a statement that tell what it is about."""
LONGEST = 600
"""Characters after which a new note begins; embedders read about 800 at once."""
MARKS = '.!?…:;,"”»)'
ASKER = re.compile(r"\b(?:I|me|my)\b")
"""Who asks what he himself should do asks nothing about the other."""
HE = re.compile(r"\b[Hh]e\b")
"""An English he is no Spanish "he"."""
FRAGMENT = 8
"""Words; so short an answer without a verb is understood only behind its question."""


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked right before, or in the same breath."""

    text: str
    turn: str


def extract(turn: Sequence[Message], before: Sequence[Message], zone: tzinfo) -> list[Note]:
    """What the people of a turn say that will matter later, in order; of most turns none or one.

    `before`: what was said last in the session, oldest first. Relative dates are read in `zone`.
    """
    names = {name for one in (*before, *turn) if (name := _person(one))}
    listener = _Listener(names, zone)
    notes: list[Note] = []
    last = before[-1] if before else None
    for message in turn:
        if message.role == "user":
            notes += listener.notes(message, last)
        last = message
    return notes


class _Listener:
    """Follows a talk; knows who talks."""

    def __init__(self, names: Collection[str], zone: tzinfo) -> None:
        self._names = names
        self._zone = zone

    def notes(self, message: Message, last: Message | None) -> Iterator[Note]:
        """What is worth keeping of the message; `last` stands before it."""
        parts = said(own_prose(message.text), self._names)
        stated = [one for one in parts if not one.asks]
        question = self._asked(last) if last and last.who != message.who else None
        short = question is not None and _is_fragment(stated[:1], question)
        telling = [
            one
            for at, one in enumerate(stated)
            if _is_worth(one, message, question) or (short and at == 0)
        ]
        groups = _groups(telling, message)
        if question and (first := next(groups, None)):
            yield self._note(message, first, question, led=short or bool(_person(message)))
        for group in groups:
            context = _own_request(message, parts) or _said_before(group[0], message, parts, last)
            yield self._note(message, group, context)

    def _asked(self, last: Message) -> Question | None:
        """The question at the end of a message, unless it is one of politeness."""
        if last.role not in ("user", "assistant"):
            return None
        end = last.text[-LOOKED_AT:]
        if len(end) < len(last.text):
            end = "".join(sentences(end)[1:])
        parts = said(own_prose(end), self._names)
        asked = next((one.text for one in reversed(parts) if one.asks and "?" in one.text), None)
        if asked is None or is_small(asked):
            return None
        if last.role == "assistant" and (is_offer(asked) or not ADDRESSED.search(asked)):
            return None
        return Question(_cut(asked, QUESTION), last.turn)

    def _note(
        self,
        message: Message,
        group: Sequence[Said],
        question: Question | None,
        *,
        led: bool = False,
    ) -> Note:
        """`led`: the question stands before the answer; else it is told as the source context."""
        statement = _joined([without_asking(one.text) for one in group])
        content = f"{question.text} {statement}" if question and led else statement
        category, confidence = _kind(group)
        if category == "knowledge" and about(statement).lasts:
            category = "fact"
        named = entities(content, self._names)
        return Note(
            content=dated(content, message.said_at.astimezone(self._zone)),
            category=category,
            subject=_subject(statement, led or any(map(_is_of_self, group)), message, named),
            importance=importance(statement, category),
            source_context=None if led or question is None else question.text,
            occurred_at=message.said_at,
            speaker=message.who,
            channel="user",
            session=message.session,
            client=message.client,
            confidence=confidence,
            turns=_turns(message, question),
            entities=named,
        )


def _person(message: Message) -> str | None:
    """The name of somebody who talks; a role is no name."""
    return None if message.speaker in ROLES else message.speaker


def _own(one: Said) -> bool:
    return is_own(one.text)


def _is_of_self(one: Said) -> bool:
    """Whether it speaks of the speaker and of nobody else by name."""
    return _is_said_by_me(one) and not about(one.text).lasts


def _is_said_by_me(one: Said) -> bool:
    return is_own(HE.sub("", one.text))


def _kind(group: Sequence[Said]) -> tuple[Category, float]:
    """That of its surest sentence, and how sure it is."""
    kinds = (category_of(one.text, _own(one)) for one in group)
    category, confidence = max(kinds, key=lambda kind: kind[1])
    return category, round(confidence, 2)


def _joined(texts: Sequence[str]) -> str:
    """As sentences, though lines of a list may lack their mark."""
    ended = [text if text[-1] in MARKS else text + "." for text in texts[:-1]]
    return " ".join([*ended, texts[-1]])


def _is_worth(one: Said, message: Message, question: Question | None) -> bool:
    own = _own(one)
    if one.telling < SURE and is_unreal(one.text, one.whole, own=_is_said_by_me(one)):
        return False
    category, confidence = category_of(one.text, own)
    value = one.telling
    if about(one.text).lasts and not (_person(message) and refers_back(one.text)):
        value += OF_OTHERS
    if _person(message):
        sure = category in LIKED and confidence >= SURELY
        return value + CUED * sure >= (LEAST_ANSWER if question else LEAST)
    return value + CUED * (category in LASTING) >= LEAST_OF_USER


def _is_fragment(first: Sequence[Said], question: Question) -> bool:
    """Whether it says something, to somebody who was asked about himself, but is no sentence."""
    if not first or not ADDRESSED.search(question.text) or ASKER.search(question.text):
        return False
    found = words(first[0].whole)
    is_sentence = len(found) > FRAGMENT or not talk_words.VERBS.isdisjoint(found)
    return not is_sentence and not _own(first[0]) and first[0].telling > 0


def _groups(telling: Sequence[Said], message: Message) -> Iterator[list[Said]]:
    """What is told together: a named person's turn; of a user's, sentences of one kind and of the
    same one."""
    group: list[Said] = []
    kind: tuple[Category, str | None] | None = None
    for one in telling:
        new = None if _person(message) else _of_what(one, kind)
        if group and (new != kind or sum(len(other.text) for other in group) > LONGEST):
            yield group
            group = []
        group.append(one)
        kind = new
    if group:
        yield group


def _of_what(one: Said, before: tuple[Category, str | None] | None) -> tuple[Category, str | None]:
    """Its kind, and whom it is about: he is who was spoken of right before."""
    subject = before[1] if before and refers_back(one.text) else about(one.text).subject
    return category_of(one.text, _own(one))[0], subject


def _said_before(
    first: Said, message: Message, parts: Sequence[Said], last: Message | None
) -> Question | None:
    """What tells what a statement is about: a user's sentence before it; where "she" and "it" need
    it, that of whoever spoke before."""
    at = next(at for at, one in enumerate(parts) if one is first)
    if at and (not _person(message) or refers_back(first.text)):
        return Question(_cut(parts[at - 1].text, CONTEXT), message.turn)
    if at or last is None or last.role not in ("user", "assistant"):
        return None
    if not refers_back(first.text):
        return None
    told = [one for one in said(own_prose(last.text[-LOOKED_AT:])) if words(one.text)]
    return Question(_cut(told[-1].text, CONTEXT), last.turn) if told else None


def _own_request(message: Message, parts: Sequence[Said]) -> Question | None:
    """What a user asked for in the same breath; among people the next one answers it."""
    asked = [one.text for one in parts if one.asks and asks_help(one.text)]
    if _person(message) or not asked:
        return None
    return Question(_cut(asked[0], REQUEST), message.turn)


def _turns(message: Message, question: Question | None) -> tuple[str, ...]:
    if question is None or question.turn == message.turn:
        return (message.turn,)
    return (message.turn, question.turn)


def _subject(statement: str, own: bool, message: Message, named: Sequence[Entity]) -> str | None:
    """The speaker, if known by name, of what is said about oneself; else whom or what it begins
    with. A user without a name is no subject: that it is his is known by the speaker."""
    if own and (person := _person(message)):
        return person
    if (subject := about(statement).subject) is not None or own:
        return subject
    return next((one.name for one in named if statement.startswith(one.name)), None)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " …"
