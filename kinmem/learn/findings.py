"""What a model may answer when it is asked for findings, and how each field is read.

The shape is lenient, so that one bad field does not cost the other findings. Nothing that it says
about speakers or times is taken on trust.
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

# One statement; what is longer is a text that was copied.
STATEMENT_BYTES = 2 * 1024
NAME_BYTES = 128
MOST_ENTITIES = 12
MOST_RELATIONS = 12
EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
# Confidence that a relation needs.
LEAST_SURE = 0.5
# Confidence if the model gives none.
UNSTATED = 0.7


def _as_list(value: Any) -> Any:
    """Some models write "m1, m2" for a list of two."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return [] if value is None else value


def _as_named(value: Any) -> Any:
    """Some models write the name alone."""
    return {"name": value} if isinstance(value, str) else value


def _choices(*names: str) -> dict[str, Any]:
    """Tell the model the choices without insisting on them."""
    return {"enum": list(names)}


class Named(BaseModel):
    """A person or thing that a finding is about."""

    name: str
    type: str | None = Field(None, json_schema_extra=_choices(*get_args(EntityType)))


class StatedRelation(BaseModel):
    """How two of them are related."""

    source: str
    relation: str
    target: str
    confidence: float | None = Field(None, json_schema_extra={"minimum": 0, "maximum": 1})


def _as_relations(value: Any) -> Any:
    """Leave out what is no relation, and keep the others."""
    kept = []
    for item in value if isinstance(value, list) else ():
        try:
            kept.append(StatedRelation.model_validate(item))
        except ValidationError:
            continue
    return kept


class Finding(BaseModel):
    """One thing worth remembering, as the model puts it."""

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
    relations: Annotated[list[StatedRelation], BeforeValidator(_as_relations)] = []
    occurred_at: str | None = Field(None, alias="occurredAt")


class Findings(BaseModel):
    """What a model finds in one turn."""

    items: Annotated[list[Finding], BeforeValidator(fitting(Finding))]


def citing(known: Collection[str], speakers: Collection[str]) -> type[Findings]:
    """Return the shape of findings that are refused, and asked for again, if none cites a known id
    or a speaker: then the model has lost what it was shown."""

    class Cited(Findings):
        @model_validator(mode="after")
        def _cites(self) -> Self:
            if self.items and not any(map(is_cited, self.items)):
                raise ValueError(f"turn must hold ids of the turn: {', '.join(known)[:200]}")
            return self

    def is_cited(finding: Finding) -> bool:
        ids = {id.strip().casefold() for id in finding.turn}
        return not ids.isdisjoint(known) or finding.speaker in speakers

    Cited.__name__ = Findings.__name__
    return Cited


def content_of(stated: str) -> str:
    """Return the statement. Raises InvalidInput if it exceeds the limits of a memory."""
    return clean(stated, "content", STATEMENT_BYTES)


def category_of(stated: str | None) -> str:
    """Return the category; "fact" for an unknown one."""
    category = (stated or "").strip().casefold()
    return category if category in CATEGORIES else "fact"


def subject_of(stated: str | None) -> str | None:
    """Return the subject; None for a role, since the speaker is known."""
    try:
        subject = checked_subject(stated)
    except InvalidInput:
        return None
    return None if subject is None or subject.casefold() in ROLES | {"the user"} else subject


def context_of(stated: str | None) -> str | None:
    """Return the context; None if it exceeds the limits."""
    try:
        return checked_context(stated)
    except InvalidInput:
        return None


def speaker_of(stated: str | None, cited: Sequence[Message]) -> str:
    """Return the stated speaker of one of the cited messages, else the speaker of the first."""
    return next((message.who for message in cited if message.who == stated), cited[0].who)


def importance_of(stated: float | None) -> float | None:
    """Return the importance, between 1 and 10; None if none is stated."""
    return _between(stated, 1.0, 10.0)


def _between(value: float | None, least: float, most: float) -> float | None:
    if value is None or math.isnan(value):
        return None
    return max(least, min(most, value))


def confidence_of(stated: float | None, most: float) -> float:
    """Return the confidence, between 0 and `most`."""
    value = _between(stated, 0.0, most)
    return min(UNSTATED, most) if value is None else value


def occurred_of(stated: str | None, said_at: datetime, zone: tzinfo) -> datetime:
    """Return when it was said, unless it happened on an earlier day. What is to come has not
    happened."""
    try:
        moment = checked_time(stated or None, "occurredAt", zone)
    except InvalidInput:
        moment = None
    if moment is None or not EARLIEST <= moment <= said_at - timedelta(hours=1):
        return said_at
    return said_at if moment.astimezone(zone).date() == said_at.astimezone(zone).date() else moment


TYPES: Mapping[str, EntityType] = {type: type for type in get_args(EntityType)}


def entities_of(stated: Sequence[Named]) -> tuple[Entity, ...]:
    """Return each valid name once."""
    entities: dict[str, Entity] = {}
    for named in stated:
        try:
            name = " ".join(clean(named.name, "a name", NAME_BYTES).split())
        except InvalidInput:
            continue
        entities.setdefault(name.casefold(), Entity(name, TYPES.get(named.type or "", "other")))
    return tuple(entities.values())[:MOST_ENTITIES]


def relations_of(
    stated: Sequence[StatedRelation],
    content: str,
    entities: Sequence[Entity],
    speaker: str | None,
) -> tuple[Relation, ...]:
    """Return each relation once, between what the statement names, its speaker and the user. Others
    are made up."""
    text, names = folded(content), {folded(entity.name): entity.name for entity in entities}
    names |= {"user": THE_USER, THE_USER: THE_USER}
    if speaker is not None and speaker not in ROLES:
        names[folded(speaker)] = speaker
    relations: dict[tuple[str, str, str], Relation] = {}
    for each in stated:
        source, target = (_end(name, text, names) for name in (each.source, each.target))
        sure = confidence_of(each.confidence, 1.0)
        if source is None or target is None or sure < LEAST_SURE:
            continue
        if relation := stored_relation(source, each.relation, target, sure):
            relations.setdefault((relation.source, relation.relation, relation.target), relation)
    return tuple(relations.values())[:MOST_RELATIONS]


def _end(name: str, text: str, names: Mapping[str, str]) -> str | None:
    plain = folded(name)
    if plain in names:
        return names[plain]
    return name.strip() if plain and len(plain) <= NAME_BYTES and plain in text else None
