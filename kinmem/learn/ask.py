"""Stage 1 of learning, with a model: what it is shown of a turn, what it finds worth keeping, and
which messages support that."""

import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any, TypeVar

from kinmem.errors import InvalidInput, ModelError
from kinmem.language import UNIMPORTANT, Prose, order_in
from kinmem.learn import findings as read
from kinmem.learn.findings import Finding, Findings, citing
from kinmem.llm.base import ChatModel, Embedder
from kinmem.llm.prompts import render
from kinmem.models import LIVE, Filters, Memory, Note
from kinmem.models.turns import Message
from kinmem.store.base import Store
from kinmem.text import content_terms

logger = logging.getLogger(__name__)

# Memories near a turn that the model is shown, and characters of the turn by which they are found.
MOST_NEAR, READ_FOR_KNOWN = 10, 2000
MOST_FINDINGS = 20
# Turns that a note names.
MOST_TURNS = 3
# Highest confidence of what neither a person nor an assistant said.
DOUBTFUL = 0.5
OF_PEOPLE = frozenset({"identity", "preference", "relationship"})
OF_THE_USER = re.compile(r"\W*(?:the )?user\b|\W*(?:I|my|me)\b", re.IGNORECASE)


def ask_about(
    turn: Sequence[Message],
    before: Sequence[Message],
    model: ChatModel,
    store: Store,
    embedder: Embedder,
    zone: tzinfo,
) -> list[Note]:
    """Return what the model finds in the turn, shown with the memories that it may be about."""
    turn, before = _without_unkept(turn), _without_unkept(before)
    return ask(model, turn, before, _known(turn, store, embedder), zone) if turn else []


def _without_unkept(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without what people ask not to keep, and without the answers of such a
    turn, which may repeat it."""
    kept: list[Message] = []
    turns: set[str] = set()
    for message in messages:
        text = Prose(message.text).kept if message.role == "user" else message.text
        if text != message.text:
            turns.add(message.turn)
        if text and (message.role == "user" or message.turn not in turns):
            kept.append(replace(message, text=text))
    return kept


def _known(turn: Sequence[Message], store: Store, embedder: Embedder) -> list[Memory]:
    """Return the live memories near the turn, then those that its session was shown."""
    speech = " ".join(message.text for message in turn if message.role in ("user", "assistant"))
    ids: list[str] = []
    if speech and embedder.ready:
        with suppress(ModelError):
            vector = embedder.embed([speech[:READ_FOR_KNOWN]])[0]
            near = store.index.nearest(vector, embedder.name, MOST_NEAR, Filters())
            ids = [id for id, _ in sorted(near, key=lambda scored: -scored[1])][:MOST_NEAR]
    shown = sorted(store.shown.versions(turn[0].session, latest=100))
    memories = store.memories([*ids, *shown])
    ordered = [memories[id] for id in dict.fromkeys([*ids, *shown]) if id in memories]
    return [memory for memory in ordered if memory.state in LIVE]


def ask(
    model: ChatModel,
    turn: Sequence[Message],
    before: Sequence[Message],
    known: Sequence[Memory],
    zone: tzinfo,
) -> list[Note]:
    """Return what the model finds in the turn. It is not asked if neither a person nor an assistant
    spoke.

    `before` and `known` explain the turn and are not learned from. A finding that cites nothing of
    the turn, or exceeds the limits of a memory, is left out. Raises ModelError.
    """
    if not any(message.role in ("user", "assistant") for message in turn):
        return []
    case = _Case.of(turn, before, known)
    findings = model.answer(case.prompt(zone), case.shape)
    notes = []
    for finding in findings.items[:MOST_FINDINGS]:
        try:
            note = case.note(finding, model.name, zone)
        except InvalidInput:
            continue
        if note is not None:
            notes.append(note)
    if len(notes) < len(findings.items):
        lost = len(findings.items) - len(notes)
        logger.info("%d of %d findings of %s left out", lost, len(findings.items), model.name)
    return notes


@dataclass(frozen=True)
class _Case:
    """What the model is asked about, under the short ids that it is shown."""

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
        """The shape of the answer."""
        return citing([*self.turn, *self.before], {message.who for message in self.turn.values()})

    def prompt(self, zone: tzinfo) -> str:
        return render(
            "extract",
            before=before_lines(self.before, zone),
            turn=turn_lines(self.turn, zone),
            known=known_lines(self.known, zone),
        )

    def note(self, finding: Finding, model: str, zone: tzinfo) -> Note | None:
        """Return the finding as a note, or None if it cites nothing of the turn.

        Raises InvalidInput.
        """
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
        doubt = doubt or (ONLY_A_TOOL if doubtful else None)
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
        """Return the messages that it cites, one of the turn first; if none, one by its speaker."""
        ids = [id.strip().casefold() for id in finding.turn]
        main = [self.turn[id] for id in ids if id in self.turn]
        if not main:
            main = [message for message in self.turn.values() if message.who == finding.speaker][:1]
        return main + [self.before[id] for id in ids if id in self.before] if main else []

    def _updated(self, finding: Finding) -> str | None:
        if finding.action != "update" or not finding.updates:
            return None
        memory = self.known.get(finding.updates.strip().casefold())
        return memory.id if memory else None


def _is_said_by_person(speaker: str, cited: Sequence[Message]) -> bool:
    return any(message.role == "user" and message.who == speaker for message in cited)


# What a model's finding really rests on, whatever it cites: whose words it has.
# Share of its words by which a finding must be nearer to a tool's output than to what was said.
CLEARLY = 0.3
ONLY_A_TOOL = "is said by a tool's output only"


class Grounds:
    """The words of a turn, by who said them."""

    def __init__(self, turn: Sequence[Message], before: Sequence[Message]) -> None:
        speech = [message for message in (*turn, *before) if message.role != "tool"]
        self._said = _words_of(speech)
        self._by_people = _words_of([message for message in speech if message.role == "user"])
        self._tools = [
            (message, _words_of([message])) for message in turn if message.role == "tool"
        ]

    def of(self, content: str, cited: Sequence[Message]) -> list[Message]:
        """Return the messages it rests on, the main one first: those it cites, unless its words are
        a tool's.

        A page that a tool read may tell the model to say that the user said so.
        """
        tools = self._nearer(content, self._said)
        return tools[:1] if cited and tools else list(cited)

    def doubt(self, content: str, grounds: Sequence[Message]) -> str | None:
        """Return why a person must see it before it is recalled; None if it may be recalled.

        That is so if its words are a tool's and no person's, even if an assistant repeated them,
        and the tool's text reads like an instruction to a model, or the finding itself if it rests
        on nothing else.
        """
        texts = [tool.text for tool in self._nearer(content, self._by_people)]
        if all(message.role == "tool" for message in grounds):
            texts += [content, *(message.text for message in grounds)]
        return next((reason for text in texts if (reason := order_in(text))), None)

    def _nearer(self, content: str, known: frozenset[str]) -> list[Message]:
        """Return the tool outputs that share clearly more of its words, the nearest first."""
        words = content_terms(content)
        least = _share_of(words, known) + CLEARLY
        shares = [(_share_of(words, tool), message) for message, tool in self._tools]
        near = sorted((pair for pair in shares if pair[0] >= least), key=lambda pair: -pair[0])
        return [message for _, message in near]


def _words_of(messages: Sequence[Message]) -> frozenset[str]:
    """Return the words, and the names of who spoke unless it is a tool: "Ana likes tea"."""
    names = [message.who for message in messages if message.role != "tool"]
    return content_terms(" ".join([*names, *(message.text for message in messages)]))


def _share_of(words: frozenset[str], known: frozenset[str]) -> float:
    return len(words & known) / len(words) if words else 0.0


# A turn as a model is shown it: one JSON object a line, so that no text can pose as another's.
Thing = TypeVar("Thing")

# In characters: a turn with all its tools stays near 8,000 tokens.
SHOWN: Mapping[str, int] = {"user": 8000, "assistant": 4000, "tool": 2000, "system": 2000}
SHOWN_BEFORE, SHOWN_KNOWN = 600, 300
MOST_MESSAGES, MOST_TOOLS, MOST_BEFORE, MOST_KNOWN = 40, 10, 6, 20
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def shown(turn: Sequence[Message]) -> list[Message]:
    """Return the messages that are sent: what was said, and the latest tool outputs."""
    tools = [message for message in turn if message.role == "tool"][-MOST_TOOLS:]
    speech = [message for message in turn if message.role in ("user", "assistant")][-MOST_MESSAGES:]
    kept = {id(message) for message in (*tools, *speech)}
    return [message for message in turn if id(message) in kept]


def aliased(letter: str, things: Sequence[Thing]) -> dict[str, Thing]:
    """Name things m1, m2 ... in order, so that no real id is shown and none can be invented."""
    return {f"{letter}{number}": thing for number, thing in enumerate(things, start=1)}


def turn_lines(messages: Mapping[str, Message], zone: tzinfo) -> str:
    return _lines(
        {"id": id, "who": message.who, "role": message.role, "at": _day(message.said_at, zone)}
        | {"text": _cut(message.text, SHOWN[message.role])}
        for id, message in messages.items()
    )


def before_lines(messages: Mapping[str, Message], zone: tzinfo) -> str:
    return _lines(
        {"id": id, "who": message.who, "at": _day(message.said_at, zone)}
        | {"text": _cut(message.text, SHOWN_BEFORE)}
        for id, message in messages.items()
    )


def known_lines(memories: Mapping[str, Memory], zone: tzinfo) -> str:
    return _lines(
        {"id": id, "category": known.category, "subject": known.subject, "who": known.speaker}
        | {"at": _day(known.said_at, zone), "text": _cut(known.content, SHOWN_KNOWN)}
        for id, known in memories.items()
    )


def _lines(objects: Iterable[Mapping[str, Any]]) -> str:
    lines = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in objects]
    return "\n".join(lines) or "(nothing)"


def _day(moment: datetime, zone: tzinfo) -> str:
    local = moment.astimezone(zone)
    return f"{WEEKDAYS[local.weekday()]} {local:%Y-%m-%d %H:%M}"


def _cut(text: str, most: int) -> str:
    """Return the beginning and the end of a text that is too long."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end]} [...] {text[-end:]}"
