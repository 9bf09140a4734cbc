"""Stage 1 of learning with a model: what it is shown of the turn, what it finds worth
keeping, and what that rests on."""

import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, TypeVar

from kinmem.errors import InvalidInput
from kinmem.language import order_in
from kinmem.learn import findings as read
from kinmem.learn.findings import Finding, Findings, citing
from kinmem.llm.base import ChatModel
from kinmem.llm.prompts import render
from kinmem.models import Memory, Note
from kinmem.models.turns import Message
from kinmem.text import content_words

logger = logging.getLogger(__name__)

MOST_FINDINGS = 20
MOST_TURNS = 3
DOUBTFUL = 0.5
"""Most confidence in what neither person nor assistant said."""
UNIMPORTANT = 5.0
"""And the most importance: what a page says opens no session."""
OF_PEOPLE = frozenset({"identity", "preference", "relationship"})
OF_THE_USER = re.compile(r"\W*(?:the )?user\b|\W*(?:I|my|me)\b", re.IGNORECASE)


def ask(
    model: ChatModel,
    turn: Sequence[Message],
    before: Sequence[Message],
    known: Sequence[Memory],
    zone: tzinfo,
) -> list[Note]:
    """What the model finds in the turn; nothing, unasked, where neither person nor assistant spoke.

    `before` and `known` explain the turn and are not learned from. A finding that cites nothing of
    the turn, or does not fit the limits of a memory, is left out. Raises ModelError.
    """
    if not any(message.role in ("user", "assistant") for message in turn):
        return []
    case = _Case.of(turn, before, known)
    found = model.answer(case.prompt(zone), case.shape)
    notes = []
    for finding in found.items[:MOST_FINDINGS]:
        try:
            note = case.note(finding, model.name, zone)
        except InvalidInput:
            continue
        if note is not None:
            notes.append(note)
    if len(notes) < len(found.items):
        lost = len(found.items) - len(notes)
        logger.info("%d of %d findings of %s left out", lost, len(found.items), model.name)
    return notes


@dataclass(frozen=True)
class _Case:
    """What one question is about, under the short names that the model knows it by."""

    turn: Mapping[str, Message]
    before: Mapping[str, Message]
    known: Mapping[str, Memory]
    grounds: "Grounds"

    @classmethod
    def of(
        cls, turn: Sequence[Message], before: Sequence[Message], known: Sequence[Memory]
    ) -> "_Case":
        messages = shown(turn)
        return cls(
            aliased("m", messages),
            aliased("b", before[-MOST_BEFORE:]),
            aliased("k", known[:MOST_KNOWN]),
            Grounds(messages, before),
        )

    @property
    def shape(self) -> type[Findings]:
        """What may be answered."""
        return citing([*self.turn, *self.before], {one.who for one in self.turn.values()})

    def prompt(self, zone: tzinfo) -> str:
        return render(
            "extract",
            before=before_lines(self.before, zone),
            turn=turn_lines(self.turn, zone),
            known=known_lines(self.known, zone),
        )

    def note(self, finding: Finding, model: str, zone: tzinfo) -> Note | None:
        """The finding as far as it holds; None if the turn does not. Raises InvalidInput."""
        content = read.content_of(finding.content)
        cited = self.grounds.of(content, self._cited(finding))
        if not cited:
            return None
        main = cited[0]
        speaker = read.speaker_of(finding.speaker, cited)
        entities = read.entities_of(finding.entities)
        doubtful = main.role == "tool"
        category = read.category_of(finding.category)
        importance = read.importance_of(finding.importance)
        doubt = self.grounds.doubt(content, cited)
        if doubtful and (category in OF_PEOPLE or OF_THE_USER.match(content)):
            doubt = doubt or "a tool's output says so of a person"
        return Note(
            content=content,
            category=category,
            subject=read.subject_of(finding.subject),
            importance=min(importance or UNIMPORTANT, UNIMPORTANT) if doubtful else importance,
            confidence=read.confidence_of(finding.confidence, DOUBTFUL if doubtful else 1.0),
            source_context=read.context_of(finding.source_context),
            occurred_at=read.occurred_of(finding.occurred_at, main.said_at, zone),
            speaker=speaker,
            channel="user" if _is_said_by_person(speaker, cited) else "extraction",
            client=main.client,
            session=main.session,
            turns=tuple(dict.fromkeys(message.turn for message in cited))[:MOST_TURNS],
            model=model,
            entities=entities,
            relations=read.relations_of(finding.relations, content, entities, speaker),
            quarantine=doubt,
            updates=self._updated(finding),
        )

    def _cited(self, finding: Finding) -> list[Message]:
        """The messages that it cites, one of the turn first; by its speaker if it cites none."""
        ids = [id.strip().casefold() for id in finding.turn]
        main = [self.turn[id] for id in ids if id in self.turn]
        if not main:
            main = [one for one in self.turn.values() if one.who == finding.speaker][:1]
        return main + [self.before[id] for id in ids if id in self.before] if main else []

    def _updated(self, finding: Finding) -> str | None:
        if finding.action != "update" or not finding.updates:
            return None
        memory = self.known.get(finding.updates.strip().casefold())
        return memory.id if memory else None


def _is_said_by_person(speaker: str, cited: Sequence[Message]) -> bool:
    return any(message.role == "user" and message.who == speaker for message in cited)


# What a model's finding rests on, whatever it cites: whose words it has, and if they may count.
CLEARLY = 0.3
"""By how much of its words a finding has to be nearer to a tool's output than to what was said."""


class Grounds:
    """The words of a turn, by whom they come from."""

    def __init__(self, turn: Sequence[Message], before: Sequence[Message]) -> None:
        said = [message for message in (*turn, *before) if message.role != "tool"]
        self._said = _words_of(said)
        self._by_people = _words_of([message for message in said if message.role == "user"])
        self._tools = [
            (message, _words_of([message])) for message in turn if message.role == "tool"
        ]

    def of(self, content: str, cited: Sequence[Message]) -> list[Message]:
        """The messages it rests on, the main one first: those cited, unless its words are a tool's.

        A page that a tool read may tell the model to say that the user said so.
        """
        tools = self._nearer(content, self._said)
        return tools[:1] if cited and tools else list(cited)

    def doubt(self, content: str, grounds: Sequence[Message]) -> str | None:
        """Why it must not be recalled unseen; None if nothing speaks against it.

        Its words are a tool's and no person's, even if an assistant repeated them, and the tool's
        text, or the finding where it rests on nothing else, reads like an instruction to a model.
        """
        texts = [tool.text for tool in self._nearer(content, self._by_people)]
        if all(message.role == "tool" for message in grounds):
            texts += [content, *(message.text for message in grounds)]
        return next((reason for text in texts if (reason := order_in(text))), None)

    def _nearer(self, content: str, known: set[str]) -> list[Message]:
        """The tools that have clearly more of its words, the nearest first."""
        words = set(content_words(content))
        least = _share_of(words, known) + CLEARLY
        shares = [(_share_of(words, tool), message) for message, tool in self._tools]
        near = sorted((one for one in shares if one[0] >= least), key=lambda one: -one[0])
        return [message for _, message in near]


def _words_of(messages: Sequence[Message]) -> set[str]:
    """With the names of who spoke, unless it is a tool: "Ana likes tea"."""
    names = [message.who for message in messages if message.role != "tool"]
    return set(content_words(" ".join([*names, *(message.text for message in messages)])))


def _share_of(words: set[str], known: set[str]) -> float:
    return len(words & known) / len(words) if words else 0.0


# A turn as a model is shown it: one JSON object a line, so that no text can pose as another's.
Thing = TypeVar("Thing")

# In characters: a turn with all its tools stays near 8,000 tokens.
SHOWN: Mapping[str, int] = {"user": 8000, "assistant": 4000, "tool": 2000, "system": 2000}
SHOWN_BEFORE, SHOWN_KNOWN = 600, 300
MOST_MESSAGES, MOST_TOOLS, MOST_BEFORE, MOST_KNOWN = 40, 10, 6, 20
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def shown(turn: Sequence[Message]) -> list[Message]:
    """What is sent of a turn: the latest tools, and what was said."""
    tools = [message for message in turn if message.role == "tool"][-MOST_TOOLS:]
    said = [message for message in turn if message.role in ("user", "assistant")][-MOST_MESSAGES:]
    kept = {id(message) for message in (*tools, *said)}
    return [message for message in turn if id(message) in kept]


def aliased(letter: str, things: Sequence[Thing]) -> dict[str, Thing]:
    """m1, m2 ... in their order: no id of ours is shown, and none can be invented."""
    return {f"{letter}{number}": thing for number, thing in enumerate(things, start=1)}


def turn_lines(messages: Mapping[str, Message], zone: tzinfo) -> str:
    return _lines(
        {"id": id, "who": one.who, "role": one.role, "at": _day(one.said_at, zone)}
        | {"text": _cut(one.text, SHOWN[one.role])}
        for id, one in messages.items()
    )


def before_lines(messages: Mapping[str, Message], zone: tzinfo) -> str:
    return _lines(
        {"id": id, "who": one.who, "at": _day(one.said_at, zone)}
        | {"text": _cut(one.text, SHOWN_BEFORE)}
        for id, one in messages.items()
    )


def known_lines(memories: Mapping[str, Memory], zone: tzinfo) -> str:
    return _lines(
        {"id": id, "category": one.category, "subject": one.subject, "who": one.speaker}
        | {"at": _day(one.said_at, zone), "text": _cut(one.content, SHOWN_KNOWN)}
        for id, one in memories.items()
    )


def _lines(objects: Iterable[Mapping[str, Any]]) -> str:
    lines = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in objects]
    return "\n".join(lines) or "(nothing)"


def _day(moment: datetime, zone: tzinfo) -> str:
    local = moment.astimezone(zone)
    return f"{WEEKDAYS[local.weekday()]} {local:%Y-%m-%d %H:%M}"


def _cut(text: str, most: int) -> str:
    """The beginning and the end of what is too long."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end]} [...] {text[-end:]}"
