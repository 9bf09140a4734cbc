"""Who and what memories are about: what is known of them, from what, and for whom."""

import json
import math
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from mcp import Client
from mcp.types import ResourceTemplateReference

from kinmem.errors import EntityNotFound, InvalidInput
from kinmem.knowledge import Card
from kinmem.llm.naming import RULES
from kinmem.mcp.protocol import build
from kinmem.service import Service
from kinmem.store.graph import Key, Named, Surroundings
from kinmem.upkeep.entities_and_tags import entities, same
from kinmem.upkeep.steps import UNLIMITED, Budget
from tests.conftest import MovableClock
from tests.test_tools import ERAS, text_of

OpenFor = Callable[..., Service]


def told(service: Service, *statements: str, **fields: Any) -> list[str]:
    """Ids of the memories."""
    stored = [service.memorize(one, **fields) for one in statements]
    assert {one.status for one in stored} <= {"created", "superseded", "conflict"}
    return [str(one.id) for one in stored]


def relations(service: Service, name: str, **how: Any) -> list[tuple[str, str]]:
    card, _ = service.explore(name, **how)
    return sorted((one.relation, one.to) for one in card.relations if one.ended is None)


def slept(service: Service, budget: Budget = UNLIMITED) -> Counter[str]:
    counts: Counter[str] = Counter()
    entities(service.store, RULES, budget, counts)
    return counts


# what is known


def test_a_card_tells_relations_from_either_end(service: Service) -> None:
    told(service, "Clara works at Nokia", "Karen is Clara's manager", "Clara lives in Oslo")

    assert relations(service, "clara") == [
        ("lives_in", "Oslo"),
        ("reports_to", "Karen"),
        ("works_at", "Nokia"),
    ]
    assert relations(service, "Karen") == [("manages", "Clara")]
    assert relations(service, "NOKIA") == [("employs", "Clara")]
    assert relations(service, "oslo") == [("home_of", "Clara")]


def test_a_card_tells_type_times_and_the_latest_memories(
    service: Service, clock: MovableClock
) -> None:
    [old] = told(service, "Clara works at Nokia", importance=9)
    first = clock()
    [new] = told(service, "Clara likes climbing", occurred_at=clock.advance(days=3), importance=5)

    card, way = service.explore("Clara")

    assert (card.name, card.type, card.memories, way) == ("Clara", "person", 2, None)
    assert (card.first, card.last) == (first, clock())
    assert [memory.id for memory in card.latest] == [new, old]
    assert card.salience == pytest.approx(0.4 * 2 / 3 + 0.3 + 0.03 * 7)


def test_strength_is_made_of_count_recency_and_confidence(
    service: Service, clock: MovableClock
) -> None:
    told(service, "Clara works at Nokia", "My sister Clara still works at Nokia, on radios")
    clock.advance(days=30)

    [one] = [one for one in service.explore("Nokia")[0].relations]

    recency = 1 / (1 + math.log(31))
    assert one.strength == pytest.approx(0.4 * 2 / 3 + 0.3 * recency + 0.3 * 0.9)
    assert len(one.memories) == 2


def test_a_memory_that_says_it_twice_is_counted_once(service: Service) -> None:
    told(service, "Clara works at Nokia. As I said, Clara works at Nokia.")

    [one] = service.explore("Clara")[0].relations
    assert one.strength == pytest.approx(0.4 * 1 / 2 + 0.3 + 0.3 * 0.9)


@pytest.mark.parametrize("name", ["me", "I", "the user", "User"])
def test_the_user_is_somebody_as_well(service: Service, name: str) -> None:
    told(service, "My sister Clara works at Nokia", "I live in Bremen")

    assert relations(service, name) == [("lives_in", "Bremen"), ("sibling_of", "Clara")]


def test_a_subject_without_an_entity_has_a_card(service: Service) -> None:
    [id] = told(service, "it is always rainy", subject="weather")

    card, _ = service.explore("Weather")

    assert (card.type, [memory.id for memory in card.latest]) == ("subject", [id])


def test_nobody_of_that_name(service: Service) -> None:
    with pytest.raises(EntityNotFound, match="nothing is known by the name 'Zora'"):
        service.explore("Zora")
    with pytest.raises(InvalidInput):
        service.explore(" ")


def test_a_card_is_bounded(service: Service) -> None:
    service.memorize_many([f"I use Tool{n}x every day at home" for n in range(30)])

    card, _ = service.explore("me")

    assert (len(card.relations), len(card.latest), card.memories) == (20, 10, 30)


def test_neighbours_are_told_at_depth_two(service: Service) -> None:
    told(service, "Clara works at Nokia", "Karen manages Clara", "Karen founded Blue Kite")

    card, _ = service.explore("Clara", depth=2)

    assert [(one.of, one.relation, one.to) for one in card.neighbours] == [
        ("Karen", "founded", "Blue Kite")
    ]
    assert service.explore("Clara")[0].neighbours == []
    with pytest.raises(InvalidInput):
        service.explore("Clara", depth=3)


# ways


def chain(service: Service, length: int) -> None:
    """Anna0 manages Anna1 manages Anna2 ..."""
    told(service, *(f"Boss{n} manages Boss{n + 1}" for n in range(length)))


def test_the_way_from_one_to_another(service: Service) -> None:
    told(service, "Clara works at Nokia", "Karen manages Clara", "Karen founded Blue Kite")

    _, way = service.explore("Nokia", to="blue kite")

    assert way is not None
    assert [(one.of, one.relation, one.to) for one in way.steps] == [
        ("Nokia", "employs", "Clara"),
        ("Clara", "reports_to", "Karen"),
        ("Karen", "founded", "Blue Kite"),
    ]


def test_a_way_has_five_steps_at_most(service: Service) -> None:
    chain(service, 6)

    five, six = (service.explore("Boss0", to=f"Boss{n}")[1] for n in (5, 6))

    assert five is not None and six is not None
    assert (len(five.steps), len(six.steps)) == (5, 0)


# from what


def test_forgetting_takes_its_evidence_back_and_restoring_gives_it_again(service: Service) -> None:
    one, _ = told(service, "Clara works at Nokia", "Clara likes tea")

    service.forget(one)
    assert relations(service, "Clara") == []
    with pytest.raises(EntityNotFound):
        service.explore("Nokia")

    service.restore(one)
    assert relations(service, "Clara") == [("works_at", "Nokia")]


def test_erasing_leaves_nothing(service: Service) -> None:
    [id] = told(service, "Clara works at Nokia")

    service.forget(id, erase=True)

    with pytest.raises(EntityNotFound):
        service.explore("Clara")
    assert service.store.graph.most_told(10) == []


def test_an_edited_content_is_read_again(service: Service) -> None:
    [id] = told(service, "Clara works at Nokia")

    service.update_memory(id, content="Clara works at Ericsson")

    assert relations(service, "Clara") == [("works_at", "Ericsson")]
    with pytest.raises(EntityNotFound):
        service.explore("Nokia")


def test_what_was_superseded_has_ended(service: Service, clock: MovableClock) -> None:
    told(service, "I live in Hamburg")
    clock.advance(days=1)
    told(service, "I no longer live in Hamburg")
    told(service, "I moved to Berlin")

    card, _ = service.explore("me")

    assert {(one.to, one.ended is None) for one in card.relations} == {
        ("Berlin", True),
        ("Hamburg", False),
    }


@pytest.mark.parametrize("put_away", ["superseded", "archived"])
def test_who_is_only_told_of_by_what_is_past_is_past(
    service: Service, clock: MovableClock, put_away: str
) -> None:
    [id] = told(service, "Clara works at Nokia")
    clock.advance(days=1)
    if put_away == "superseded":
        told(service, "Clara works at Bosch")
    else:
        service.update_memory(id, archived=True)

    card, way = service.explore("Nokia", to="Clara")

    assert (card.is_past, card.memories, card.salience) == (True, 1, 0.0)
    [one] = card.relations
    assert (one.relation, one.to, one.ended is not None) == ("employs", "Clara", True)
    assert [memory.state for memory in card.latest] == [put_away]
    assert way is not None and way.steps == []
    if put_away == "archived":
        service.restore(id)
        assert not service.explore("Nokia")[0].is_past


def test_a_subject_of_archived_memories_alone_is_past(service: Service) -> None:
    stored = service.memorize("It rains a lot", subject="weather")
    service.update_memory(str(stored.id), archived=True)

    card, _ = service.explore("weather")

    assert (card.type, card.is_past, card.memories) == ("subject", True, 1)


def test_a_quarantined_memory_says_nothing(service: Service) -> None:
    service.memorize("Clara works at Nokia", quarantine="reads like an instruction")

    with pytest.raises(EntityNotFound):
        service.explore("Clara")


# for whom


def test_private_knowledge_stays_with_its_kin(service_of: OpenFor) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    told(ana, "Clara works at Nokia")
    told(ana, "Clara lives in Oslo", scope="shared")

    assert relations(ben, "Clara") == [("lives_in", "Oslo")]
    assert ben.explore("Clara")[0].memories == 1
    assert relations(ana, "Clara") == [("lives_in", "Oslo"), ("works_at", "Nokia")]
    with pytest.raises(EntityNotFound):
        ben.explore("Nokia")


def test_what_another_has_put_away_is_not_known(service_of: OpenFor) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    [id] = told(ana, "Clara lives in Oslo", scope="shared")
    ana.forget(id)

    with pytest.raises(EntityNotFound):
        ben.explore("Clara")


def test_knowledge_moves_with_its_memory(service_of: OpenFor) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    [id] = told(ana, "Clara works at Nokia")

    ana.update_memory(id, scope="shared")
    assert relations(ben, "Nokia") == [("employs", "Clara")]

    ana.update_memory(id, scope="private")
    with pytest.raises(EntityNotFound):
        ben.explore("Nokia")
    assert relations(ana, "Nokia") == [("employs", "Clara")]


# names


def test_a_first_name_is_the_full_one_in_the_same_memory(service: Service) -> None:
    told(service, "Anna Schmidt works at Bosch. Anna likes tea.")

    card, _ = service.explore("Anna")
    assert (card.name, card.aliases, card.memories) == ("Anna Schmidt", ("Anna",), 1)
    assert card.relations[0].to == "Bosch"


@pytest.mark.parametrize(
    ("statements", "merged"),
    [
        pytest.param(
            ["Anna Schmidt works at Bosch", "Anna works at Bosch on brakes"],
            True,
            id="a relation to the same one",
        ),
        pytest.param(["Anna Schmidt works at Bosch", "Anna lives in Ulm"], False, id="no context"),
        pytest.param(
            [
                "Anna Schmidt works at Bosch",
                "Anna Meyer lives in Ulm",
                "Anna works at Bosch on brakes",
            ],
            False,
            id="two it may be",
        ),
        pytest.param(
            ["Katharina Weber works at Bosch", "Katarina Weber works at Bosch since May"],
            True,
            id="two spellings with one employer",
        ),
        pytest.param(
            ["Katharina Weber works at Bosch", "Katarina Weber lives in Ulm"],
            False,
            id="two spellings and no context",
        ),
        pytest.param(
            ["Anna uses Phone 14 Pro", "Anna uses Phone 15 Pro"],
            False,
            id="numbers are no spelling",
        ),
    ],
)
def test_two_names_become_one_only_where_it_is_confirmed(
    service: Service, statements: list[str], merged: bool
) -> None:
    told(service, *statements)

    assert (slept(service)["merged"] == 1) is merged
    assert slept(service)["merged"] == 0


def test_double_names_are_found_among_thousands_that_begin_alike_with_one_relation() -> None:
    def named(name: str) -> Named:
        around = Surroundings(relations=frozenset([("works_at", "anna", True)]))
        return Named(Key(name, "organization"), name, around)

    several = [
        named(f"company of the letter {chr(0x4E00 + n)}x{chr(0x4E00 + n)}") for n in range(8000)
    ]
    asked = count()

    found = list(
        same([*several, named("katharina"), named("katarina")], Budget(lambda: next(asked) < 0))
    )

    assert [{one.folded for one in pair} for pair in found] == [{"katharina", "katarina"}]
    assert next(asked) > len(several)


def test_looking_for_double_names_can_be_cut_short_and_goes_on(service: Service) -> None:
    told(service, "Katharina Weber works at Bosch", "Katarina Weber works at Bosch since May")
    asked = count()

    assert slept(service, Budget(lambda: next(asked) > 2))["merged"] == 0

    assert slept(service)["merged"] == 1


def test_the_other_name_stays_an_alias(service: Service) -> None:
    told(service, "Anna Schmidt works at Bosch", "Anna works at Bosch on brakes")
    slept(service)
    told(service, "Anna lives in Ulm")

    card, _ = service.explore("anna")

    assert (card.name, card.aliases, card.memories) == ("Anna Schmidt", ("Anna",), 3)
    said = [memory.content for memory in service.store.memories(card.called["Anna"]).values()]
    assert sorted(said) == ["Anna lives in Ulm", "Anna works at Bosch on brakes"]
    assert relations(service, "Anna Schmidt") == [("lives_in", "Ulm"), ("works_at", "Bosch")]


def test_a_wrong_alias_goes_with_the_memory_that_told_it(service: Service) -> None:
    _, other = told(service, "Anna Schmidt works at Bosch", "Anna works at Bosch on brakes")
    slept(service)

    service.update_memory(other, content="Anna Meyer works at Bosch on brakes")

    assert service.explore("Anna Schmidt")[0].aliases == ()
    assert service.explore("Anna Meyer")[0].memories == 1


def test_a_name_that_is_not_known_is_answered_with_those_like_it(service: Service) -> None:
    told(service, "Anna Schmidt works at Bosch", "Katharina lives in Ulm")

    with pytest.raises(EntityNotFound, match="did you mean 'Katharina'"):
        service.explore("Katarina")
    with pytest.raises(EntityNotFound, match="did you mean 'Anna Schmidt'"):
        service.explore("Schmidt")


def test_a_symmetric_relation_is_one_whoever_is_named_first(service: Service) -> None:
    told(
        service,
        "Zoe Adams is married to Ben Long",
        "Zoe's brother Max lives in Kiel with Zoe Adams",
        "Zoe is married to Ben Long since May",
        "Ben Long and Zoe are married and like it",
    )
    slept(service)

    [one] = [one for one in service.explore("Zoe")[0].relations if one.relation == "married_to"]
    assert (one.to, len(one.memories)) == ("Ben Long", 3)


def test_an_alias_that_may_be_two_is_its_own(service: Service) -> None:
    told(service, "Anna Schmidt works at Bosch", "Anna works at Bosch on brakes")
    slept(service)
    told(service, "Anna Meyer lives in Kiel", "Anna lives in Ulm")

    assert ("lives_in", "Ulm") not in relations(service, "Anna Schmidt")


# memories of before


def unread(service: Service) -> None:
    """Three memories as an older version left them."""
    told(service, "At home Clara likes tea", "I heard Clara play", "Clara works at Nokia")
    for book in service.store.files:  # type: ignore[attr-defined]
        with book.database.writing() as db:
            db.run("DELETE FROM relations")
            db.run("DELETE FROM memory_entities")
            db.run("UPDATE memories SET entities_read = 0")


def test_memories_of_before_are_read_in_the_sleep(service: Service) -> None:
    unread(service)
    assert slept(service, Budget(dry_run=True)) == {"read": 3}
    with pytest.raises(EntityNotFound):
        service.explore("Clara")

    assert slept(service)["read"] == 3
    assert slept(service)["read"] == 0
    assert relations(service, "Clara") == [("works_at", "Nokia")]
    assert service.explore("Clara")[0].memories == 3


def test_reading_goes_on_where_it_was_cut_short(service: Service) -> None:
    unread(service)

    assert slept(service, Budget(lambda: True))["read"] == 0
    assert slept(service)["read"] == 3


def test_others_memories_are_left_to_them(service_of: OpenFor) -> None:
    ana, ben = service_of("ana"), service_of("ben")
    told(ana, "Clara lives in Oslo", scope="shared")
    with ana.store.files.own.database.writing() as db:  # type: ignore[attr-defined]
        db.run("UPDATE memories SET entities_read = 0")

    assert slept(ben)["read"] == 0
    assert slept(ana)["read"] == 1


# ways in


@pytest.fixture
def client_of(service: Service) -> Callable[..., Client]:
    def connect(era: str = "auto", *sets: str) -> Client:
        return Client(build(lambda _: service, sets=sets), mode=era)

    return connect


@pytest.mark.anyio
@ERAS
async def test_explore_is_a_tool_of_its_set(
    client_of: Callable[..., Client], service: Service, era: str
) -> None:
    told(service, "Clara works at Nokia", "Karen manages Clara")
    async with client_of(era, "knowledge") as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("explore", {"name": "clara", "to": "Nokia"})
        missing = await client.call_tool("explore", {"name": "Zora"})

    assert "explore" in listed
    found = result.structured_content
    assert found is not None
    assert (found["name"], found["type"], found["count"]) == ("Clara", "person", 2)
    assert {one["relation"] for one in found["relations"]} == {"works_at", "reports_to"}
    assert [one["to"] for one in found["way"]] == ["Nokia"]
    assert missing.is_error
    assert "nothing is known by the name" in text_of(missing.content[0])


@pytest.mark.anyio
async def test_an_entity_is_a_resource(client_of: Callable[..., Client], service: Service) -> None:
    told(service, "Anna Schmidt works at Bosch")
    async with client_of() as client:
        told_of = await client.read_resource("kinmem://entities/Anna%20Schmidt")

    card = json.loads(told_of.contents[0].text)  # type: ignore[union-attr]
    assert (card["name"], card["relations"][0]["to"]) == ("Anna Schmidt", "Bosch")


def test_nothing_is_known_by_default_of_what_is_asked_or_denied(service: Service) -> None:
    told(
        service, "Does Clara work at Nokia?", "Clara does not live in Oslo", "Perhaps I live in Ulm"
    )

    cards: list[Card] = []
    for name in ("Clara", "me"):
        try:
            cards.append(service.explore(name)[0])
        except EntityNotFound:
            continue
    assert [one for card in cards for one in card.relations] == []


@pytest.mark.anyio
async def test_names_are_offered_for_the_resource(
    client_of: Callable[..., Client], service: Service
) -> None:
    told(service, "Clara works at Nokia", "Clara lives in Oslo", "Tom lives in Ulm")
    async with client_of() as client:
        offered = await client.complete(
            ResourceTemplateReference(uri="kinmem://entities/{name}"),
            {"name": "name", "value": "cl"},
        )

    assert offered.completion.values == ["Clara"]


def test_the_sleep_cycle_has_the_step(service: Service) -> None:
    unread(service)

    run = service.sleep(["entities"])

    assert run.counted("entities")["read"] == 3
    assert relations(service, "Clara") == [("works_at", "Nokia")]
