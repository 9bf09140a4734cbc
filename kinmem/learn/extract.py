"""Stage 1 of learning without a model: what is worth keeping of a turn, as it was said.

A note is a slice of a message: one sentence, or several that stand side by side. Nothing is
reworded, inserted or left out within it. The question that it answers and the dates that it means
stand in its source context. What assistants and tools say is context, never fact. What is worth
keeping is judged by learn/worth.py; benchmarks/talk.py and replay.py measure what that finds.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from kinmem.language import (
    Judgement,
    Setting,
    Statement,
    Wording,
    appraise,
    importance,
    in_json,
    names_in,
    own_places,
    own_prose,
    relative_dates,
    sentences,
    statements,
    unkept,
    without_unkept,
)
from kinmem.learn.worth import Sentence, judgements
from kinmem.llm.base import Judge
from kinmem.models import CATEGORIES, ROLES, Category, Entity, Note
from kinmem.models.turns import Message
from kinmem.text import words

LEAST = 1.4
"""How telling a sentence must be among people. On LoCoMo 1.2 finds 0.9 points more recall@10 and
keeps 48 % of the text instead of 44; 1.7 finds 1.1 less and keeps 41."""
LEAST_ANSWER = 0.9
"""The same for what answers a question, which says what it is about."""
LEAST_FRAGMENT = 0.01
FRAGMENT = 8
"""Words; so short an answer without a verb is understood only beside its question."""
OF_OTHERS = 0.7
"""What is told of somebody or something else is short as a rule: "Ana likes dogs"."""
CUED = 0.4
LIKED = frozenset({"identity", "preference", "decision"})
SURELY = 0.8
"""Among people only these kinds count more, and only where the wording leaves no doubt: "I prefer
trains to planes" is short and still worth keeping."""
LOOKED_AT = 800
"""Characters of the end of the message before: a question stands last."""
QUESTION = 120
"""Characters of a question that are kept; a longer one is cut at a word."""
CONTEXT = 160
"""Characters of what stands before a statement that tell what it is about."""
LONG = 600
"""Characters after which a new note begins; embedders read about 800 at once."""
MOST = 80
"""Sentences of a user's message that are looked at, half of them at either end: what people paste
stands between their own words. The others are found in the conversation only."""
BRIDGED = 80
"""Characters between two sentences of a person's turn that are kept with them."""
HE = re.compile(r"\b[Hh]e\b")
"""An English he is no Spanish "he"."""


@dataclass(frozen=True, slots=True)
class Question:
    """What tells what a statement is about, and which turn it is from."""

    text: str
    turn: str


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence that is worth keeping."""

    statement: Statement
    at: int
    """Its number in the message."""
    category: Category
    confidence: float
    is_order: bool
    """It says what is to be done, so it begins with no name."""

    @property
    def subject(self) -> str | None:
        """Of whom or what it is."""
        text = self.statement.text
        return Wording(text).subject(named=not (self.is_order or _is_said_by_me(text)))


@dataclass(frozen=True, slots=True)
class Talk:
    """A message cut into sentences, and what it answers."""

    message: Message
    parts: list[Statement]
    last: Message | None
    """What stands before it."""
    question: Question | None
    names: frozenset[str]
    unkept: frozenset[int] = frozenset()
    """The numbers of the sentences that are not to be kept."""

    @property
    def person(self) -> str | None:
        """The name of whoever speaks; a role is no name."""
        return None if self.message.speaker in ROLES else self.message.speaker


def extract(
    turn: Sequence[Message], before: Sequence[Message], zone: tzinfo, judge: Judge | None = None
) -> list[Note]:
    """What the people of a turn say that will matter later, in order; of most turns none or one.

    `before`: what was said last in the session, oldest first. Relative dates are read in `zone`.
    Without a `judge`, or where it fails, rules decide alone.
    """
    people = (one.speaker for one in (*before, *turn) if one.speaker not in ROLES)
    names = frozenset(name for name in people if name)
    notes: list[Note] = []
    last = before[-1] if before else None
    for message in turn:
        if message.role == "user":
            notes += _notes(message, last, names, zone, judge)
        last = message
    return notes


def _notes(
    message: Message,
    last: Message | None,
    names: frozenset[str],
    zone: tzinfo,
    judge: Judge | None,
) -> Iterator[Note]:
    """What is worth keeping of one message."""
    if (texts := in_json(message.text)) is not None:
        yield from _of_program(message, texts, names, zone, judge)
        return
    parts = statements(own_places(message.text))
    question = _asked(last) if last and last.who != message.who else None
    talk = Talk(message, parts, last, question, names, unkept(parts, message.text))
    for group in _groups(list(_worth(talk, judge)), talk):
        yield _note(talk, group, zone)


def _of_program(
    message: Message,
    texts: Sequence[tuple[str, str | None]],
    names: frozenset[str],
    zone: tzinfo,
    judge: Judge | None,
) -> Iterator[Note]:
    """Each text in a program's message is one statement; its type says what it is, if it is one."""
    told = [
        (Statement(text.strip(), max(0, message.text.find(text.strip()))), type)
        for text, type in texts
        if not Wording(text).asks
    ][:MOST]
    found = judgements([Sentence(part, Setting()) for part, _ in told], message, None, judge)
    for (part, type), judged in zip(told, found, strict=True):
        known = next((one for one in CATEGORIES if one == type), None)
        if judged.is_worth or known:
            talk = Talk(message, [part], None, None, names)
            yield _note(talk, [_told(part, 0, judged, known)], zone)


def _asked(last: Message) -> Question | None:
    """The question at the end of a message, unless it is one of politeness or an offer."""
    if last.role not in ("user", "assistant"):
        return None
    end = last.text[-LOOKED_AT:]
    if len(end) < len(last.text):
        end = "".join(sentences(end)[1:])
    parts = statements(own_places(end))
    asked = next((one.text for one in reversed(parts) if Wording(one.text).asks), None)
    if asked is None or Wording(asked).is_small_question:
        return None
    if last.role == "assistant" and Wording(asked).is_offer:
        return None
    return Question(_cut(asked, QUESTION), last.turn)


def _worth(talk: Talk, judge: Judge | None) -> Iterator[Told]:
    """The sentences that are worth keeping, in order."""
    said = [
        (at, one)
        for at, one in enumerate(talk.parts)
        if at not in talk.unkept and _states(one.text)
    ]
    if talk.person:
        yield from filter(None, (_of_person(one, at, talk) for at, one in said))
        return
    said = said if len(said) <= MOST else said[: MOST // 2] + said[-MOST // 2 :]
    sentences = [Sentence(one, _setting(at, talk)) for at, one in said]
    for (at, one), found in zip(
        said, judgements(sentences, talk.message, talk.last, judge), strict=True
    ):
        if found.is_worth:
            yield _told(one, at, found)


def _states(text: str) -> bool:
    """Whether it may be worth keeping, or its writer asks to keep it."""
    wording = Wording(text)
    if wording.asking_to_keep:
        return True
    return not (wording.asks or wording.is_quotation) and bool(words(text))


def _told(one: Statement, at: int, found: Judgement, category: Category | None = None) -> Told:
    known = category or found.category
    return Told(one, at, known, found.confidence, found.kind == "rule")


def _setting(at: int, talk: Talk) -> Setting:
    parts = talk.parts
    return Setting(
        before=parts[at - 1].text if at else "",
        after=parts[at + 1].text if at + 1 < len(parts) else "",
        asked=talk.question.text if talk.question and at == 0 else "",
        first=at == 0,
        last=at + 1 == len(parts),
        lines=talk.message.text.count("\n") + 1,
    )


def _of_person(one: Statement, at: int, talk: Talk) -> Told | None:
    """Among people, who tell much for the sake of talking, what is told must be telling."""
    text, wording = one.text, Wording(one.text)
    value, found = wording.telling, appraise(text)
    if not wording.is_instruction and found.is_unreal and not wording.is_own:
        return None
    if found.worth >= SURELY:
        value += OF_OTHERS * (wording.subject() is not None and not wording.is_own)
        value += CUED * (found.category in LIKED)
    least = LEAST_ANSWER if talk.question else LEAST
    if at == 0 and _is_fragment_of_answer(text, talk.question):
        least = LEAST_FRAGMENT
    return _told(one, at, found) if value >= least else None


def _is_fragment_of_answer(text: str, question: Question | None) -> bool:
    """Whether it says something, to somebody who was asked about himself, but is no sentence."""
    wording = Wording(text)
    if question is None or not Wording(question.text).addresses_somebody or wording.is_own:
        return False
    return len(words(text)) <= FRAGMENT and not wording.has_verb


def _groups(told: Sequence[Told], talk: Talk) -> Iterator[list[Told]]:
    """What is told together: sentences side by side, a user's only of one kind and subject."""
    group: list[Told] = []
    for one in told:
        if group and not _belongs(one, group, talk):
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def _belongs(one: Told, group: Sequence[Told], talk: Talk) -> bool:
    last, first = group[-1], group[0]
    if one.statement.end - first.statement.start > LONG:
        return False
    if talk.person:
        between = range(last.at + 1, one.at)
        gap = one.statement.start - last.statement.end
        is_parted = any(at in talk.unkept or Wording(talk.parts[at].text).asks for at in between)
        return gap <= BRIDGED and not is_parted
    if one.at != last.at + 1 or one.category != last.category:
        return False
    return Wording(one.statement.text).refers_back or one.subject == last.subject


def _note(talk: Talk, group: Sequence[Told], zone: tzinfo) -> Note:
    message = talk.message
    content = _content(talk, group)
    best = max(group, key=lambda one: one.confidence)
    category = best.category
    context = _context(talk, group)
    said = message.said_at.astimezone(zone)
    dates = relative_dates(content, said)
    named = names_in(content, talk.names)
    return Note(
        content=content,
        category=category,
        subject=_subject(content, group, talk, named),
        importance=importance(content, category),
        source_context=_joined(context, [f"{one.phrase}: {one.date}" for one in dates]),
        occurred_at=message.said_at,
        speaker=message.who,
        channel="user",
        session=message.session,
        client=message.client,
        confidence=round(best.confidence, 2),
        turns=_turns(message, context),
        entities=named,
    )


def _content(talk: Talk, group: Sequence[Told]) -> str:
    """The slice of the message, without the words that ask to keep it: "Remember that ..."."""
    first, last = group[0].statement, group[-1].statement
    if first is last and talk.parts == [first]:
        text = first.text
    else:
        text = talk.message.text[first.start : last.end]
    asking = Wording(text).asking_to_keep
    if asking in (0, len(text)):
        return text
    return text[asking:].rstrip("? ").strip()


def _context(talk: Talk, group: Sequence[Told]) -> Question | None:
    """What tells what a statement is about: the question it answers; what the same message asks or
    says before it; where "she" and "it" need it, what somebody else said before."""
    first, parts = group[0], talk.parts
    if first.at == 0 and talk.question:
        return talk.question
    kept = (one.text for at, one in enumerate(parts) if at not in talk.unkept)
    request = next((one for one in kept if Wording(one).asks_help), None)
    if not talk.person and request and request != first.statement.text:
        return Question(_cut(request, CONTEXT), talk.message.turn)
    if first.at - 1 in talk.unkept:
        return None
    if first.at and (not talk.person or Wording(first.statement.text).refers_back):
        return Question(_cut(parts[first.at - 1].text, CONTEXT), talk.message.turn)
    if first.at or talk.last is None or talk.last.role not in ("user", "assistant"):
        return talk.question
    if not Wording(first.statement.text).refers_back:
        return None
    end = without_unkept(talk.last.text)[-LOOKED_AT:]
    told = [one for one in sentences(own_prose(end)) if words(one)]
    return Question(_cut(told[-1].strip(), CONTEXT), talk.last.turn) if told else None


def _joined(context: Question | None, dates: Sequence[str]) -> str | None:
    parts = [context.text] if context else []
    return " | ".join([*parts, *dates]) or None


def _is_said_by_me(text: str) -> bool:
    return Wording(HE.sub("", text)).is_own


def _turns(message: Message, context: Question | None) -> tuple[str, ...]:
    if context is None or context.turn == message.turn:
        return (message.turn,)
    return (message.turn, context.turn)


def _subject(
    content: str, group: Sequence[Told], talk: Talk, named: Collection[Entity]
) -> str | None:
    """The speaker, if known by name, of what is said about oneself; else whom or what it begins
    with. A user without a name is no subject: that it is his is known by the speaker."""
    own = any(_is_said_by_me(one.statement.text) for one in group)
    if talk.person and (own or _is_fragment(talk, group)):
        return talk.person
    if (about := group[0].subject) is not None or own:
        return about
    return next((one.name for one in named if content.startswith(one.name)), None)


def _is_fragment(talk: Talk, group: Sequence[Told]) -> bool:
    """Whether it answers what the speaker was asked about himself."""
    return (
        group[0].at == 0
        and talk.question is not None
        and Wording(talk.question.text).addresses_somebody
        and group[0].subject is None
    )


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " …"
