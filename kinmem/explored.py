"""What explore answers, as it is sent."""

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field

from kinmem.wire import Memory, Wire, stamp

if TYPE_CHECKING:
    from kinmem import knowledge
    from kinmem.service import Service


class Related(Wire):
    """One relation."""

    of: Annotated[str | None, Field(description="whose it is, if not the one asked for")] = None
    relation: str
    to: str
    type: str
    strength: float
    memory_ids: list[str]
    ended: Annotated[str | None, Field(description="since when no memory in use says so")] = None

    @classmethod
    def told(cls, one: "knowledge.Relation", service: "Service", name: str | None = None) -> Self:
        return cls(
            of=None if one.of == name else one.of,
            relation=one.relation,
            to=one.to,
            type=one.type,
            strength=round(one.strength, 2),
            memory_ids=list(one.memories[:MOST_IDS]),
            ended=stamp(one.ended, service.settings.general.zone),
        )


MOST_IDS = 5
"""Of the memories that say the same."""


class Explored(Wire):
    """What is known about somebody or something."""

    name: str
    type: Annotated[
        str, Field(description="subject: no entity, only what memories are filed under")
    ]
    past: Annotated[
        bool | None, Field(description="only superseded or archived memories tell of it")
    ] = None
    aliases: Annotated[list[str] | None, Field(description="other names merged into it")] = None
    called: Annotated[
        dict[str, list[str]] | None, Field(description="by alias: memories that call it so")
    ] = None
    salience: float | None = None
    count: Annotated[int, Field(description="memories about it")]
    first: str | None = None
    last: str | None = None
    relations: list[Related] | None = None
    neighbours: list[Related] | None = None
    memories: list[Memory]
    also: Annotated[list[str] | None, Field(description="others that are called so")] = None
    way: Annotated[list[Related] | None, Field(description="from it to `to`; empty: none")] = None

    @classmethod
    def of(cls, card: "knowledge.Card", way: "knowledge.Way | None", service: "Service") -> Self:
        zone = service.settings.general.zone
        return cls(
            name=card.name,
            type=card.type,
            past=card.is_past or None,
            aliases=list(card.aliases) or None,
            called={alias: list(ids[:MOST_IDS]) for alias, ids in card.called.items()} or None,
            salience=round(card.salience, 2) or None,
            count=card.memories,
            first=stamp(card.first, zone),
            last=stamp(card.last, zone),
            relations=[Related.told(one, service, card.name) for one in card.relations] or None,
            neighbours=[Related.told(one, service) for one in card.neighbours] or None,
            memories=[Memory.listed(memory, service) for memory in card.latest],
            also=list(card.also) or None,
            way=None if way is None else [Related.told(one, service) for one in way.steps],
        )
