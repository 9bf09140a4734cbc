"""What a model may answer when it is asked for findings, and what is made of each of its fields.

The shape is forgiving, so that one bad field does not cost the other findings; nothing it says of
speakers or times is taken on trust.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Any, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from kinmem.errors import InvalidInput
from kinmem.language import stored_relation
from kinmem.llm.reply import fitting
from kinmem.models import CATEGORIES, ROLES, THE_USER, Entity, EntityType, Relation
from kinmem.models.turns import Message
from kinmem.text import clean, folded
from kinmem.validation import checked_context, checked_subject, checked_time

STATEMENT_BYTES = 2 * 1024
"""One statement; what is longer is a text that was copied."""
NAME_BYTES = 128
MOST_ENTITIES = 12
MOST_RELATIONS = 12
EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
LEAST_SURE = 0.5
"""Confidence that a relation needs."""
UNTOLD = 0.7
"""Confidence where the model names none."""


def _as_list(value: Any) -> Any:
    """Some models write "m1, m2" for a list of two."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return [] if value is None else value


def _as_named(value: Any) -> Any:
    """Some models write the name alone."""
    return {"name": value} if isinstance(value, str) else value


def _choices(*names: str) -> dict[str, Any]:
    """Told to the model, but not insisted on."""
    return {"enum": list(names)}


class Named(BaseModel):
    """Somebody or something that a finding is about."""

    name: str
    type: str | None = Field(None, json_schema_extra=_choices(*get_args(EntityType)))


class Told(BaseModel):
    """How two of them stand to each other."""

    source: str
    relation: str
    target: str
    confidence: float | None = Field(None, json_schema_extra={"minimum": 0, "maximum": 1})


def _as_told(value: Any) -> Any:
    """What is no relation is left out, and costs nothing else."""
    kept = []
    for one in value if isinstance(value, list) else ():
        try:
            kept.append(Told.model_validate(one))
        except ValidationError:
            continue
    return kept


class Finding(BaseModel):
    """One thing worth remembering, as a model tells it."""

    model_config = ConfigDict(populate_by_name=True)

    action: str | None = Field(None, json_schema_extra=_choices("add", "update"))
    content: str
    category: str | None = Field(None, json_schema_extra=_choices(*CATEGORIES))
    subject: str | None = None
    importance: float | None = Field(None, json_schema_extra={"minimum": 1, "maximum": 10})
    confidence: float | None = Field(None, json_schema_extra={"minimum": 0, "maximum": 1})
    source_context: str | None = Field(None, alias="sourceContext")
    speaker: str | None = None
    turn: Annotated[list[str], BeforeValidator(_as_list)] = []
    updates: str | None = None
    entities: Annotated[
        list[Annotated[Named, BeforeValidator(_as_named)]], BeforeValidator(_as_list)
    ] = []
    relations: Annotated[list[Told], BeforeValidator(_as_told)] = []
    occurred_at: str | None = Field(None, alias="occurredAt")


class Findings(BaseModel):
    """What a model finds in one turn."""

    items: Annotated[list[Finding], BeforeValidator(fitting(Finding))]


def citing(known: Collection[str], speakers: Collection[str]) -> type[Findings]:
    """Findings as an answer that may be mended: where none cites an id that is known, or one of
    the speakers, the model has lost what it was shown."""

    class Cited(Findings):
        @model_validator(mode="after")
        def _cites(self) -> Self:
            if self.items and not any(map(is_cited, self.items)):
                raise ValueError(f"turn must hold ids of the turn: {', '.join(known)[:200]}")
            return self

    def is_cited(one: Finding) -> bool:
        ids = {id.strip().casefold() for id in one.turn}
        return not ids.isdisjoint(known) or one.speaker in speakers

    Cited.__name__ = Findings.__name__
    return Cited


def content_of(told: str) -> str:
    """Raises InvalidInput if it is no statement of a memory."""
    return clean(told, "content", STATEMENT_BYTES)


def category_of(told: str | None) -> str:
    """fact, for what is none of the categories."""
    told = (told or "").strip().casefold()
    return told if told in CATEGORIES else "fact"


def subject_of(told: str | None) -> str | None:
    """A role says nothing: the speaker is known."""
    try:
        subject = checked_subject(told)
    except InvalidInput:
        return None
    return None if subject is None or subject.casefold() in ROLES | {"the user"} else subject


def context_of(told: str | None) -> str | None:
    """None for what does not fit."""
    try:
        return checked_context(told)
    except InvalidInput:
        return None


def speaker_of(told: str | None, cited: Sequence[Message]) -> str:
    """Who said one of the cited messages."""
    return next((message.who for message in cited if message.who == told), cited[0].who)


def importance_of(told: float | None) -> float | None:
    """Between 1 and 10; None: not told."""
    return _between(told, 1.0, 10.0)


def _between(value: float | None, least: float, most: float) -> float | None:
    if value is None or math.isnan(value):
        return None
    return max(least, min(most, value))


def confidence_of(told: float | None, most: float) -> float:
    """Between 0 and `most`."""
    value = _between(told, 0.0, most)
    return min(UNTOLD, most) if value is None else value


def occurred_of(told: str | None, said_at: datetime, zone: tzinfo) -> datetime:
    """The moment it was said, unless it happened on an earlier day; what is to come has not."""
    try:
        moment = checked_time(told or None, "occurredAt", zone)
    except InvalidInput:
        moment = None
    if moment is None or not EARLIEST <= moment <= said_at - timedelta(hours=1):
        return said_at
    return said_at if moment.astimezone(zone).date() == said_at.astimezone(zone).date() else moment


TYPES: Mapping[str, EntityType] = {type: type for type in get_args(EntityType)}


def entities_of(told: Sequence[Named]) -> tuple[Entity, ...]:
    """Each name once, as far as it is one."""
    entities: dict[str, Entity] = {}
    for one in told:
        try:
            name = " ".join(clean(one.name, "a name", NAME_BYTES).split())
        except InvalidInput:
            continue
        entities.setdefault(name.casefold(), Entity(name, TYPES.get(one.type or "", "other")))
    return tuple(entities.values())[:MOST_ENTITIES]


def relations_of(
    told: Sequence[Told], content: str, entities: Sequence[Entity], speaker: str | None
) -> tuple[Relation, ...]:
    """Each once, between what the statement names, its speaker and the user; others are made up."""
    said, names = folded(content), {folded(one.name): one.name for one in entities}
    names |= {"user": THE_USER, THE_USER: THE_USER}
    if speaker is not None and speaker not in ROLES:
        names[folded(speaker)] = speaker
    found: dict[tuple[str, str, str], Relation] = {}
    for one in told:
        source, target = (_end(name, said, names) for name in (one.source, one.target))
        sure = confidence_of(one.confidence, 1.0)
        if source is None or target is None or sure < LEAST_SURE:
            continue
        if relation := stored_relation(source, one.relation, target, sure):
            found.setdefault((relation.source, relation.relation, relation.target), relation)
    return tuple(found.values())[:MOST_RELATIONS]


def _end(name: str, said: str, names: Mapping[str, str]) -> str | None:
    plain = folded(name)
    if plain in names:
        return names[plain]
    return name.strip() if plain and len(plain) <= NAME_BYTES and plain in said else None
