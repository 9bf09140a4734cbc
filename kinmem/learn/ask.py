"""Stage 1 of learning with a model: what it finds worth keeping, held against the turn."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from kinmem.errors import InvalidInput
from kinmem.learn import findings as read
from kinmem.learn.findings import Finding, Findings, citing
from kinmem.learn.grounds import Grounds
from kinmem.learn.told import (
    MOST_BEFORE,
    MOST_KNOWN,
    aliased,
    before_lines,
    known_lines,
    shown,
    turn_lines,
)
from kinmem.llm.base import ChatModel
from kinmem.llm.prompts import render
from kinmem.models import Memory, Note
from kinmem.turns import Message

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
    grounds: Grounds

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
