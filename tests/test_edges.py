"""Where the calls of the service begin and end: limits, defaults, and what each leaves alone."""

from collections.abc import Callable
from typing import Any

import pytest

from kinmem.errors import InvalidInput, KinmemError
from kinmem.models import State
from kinmem.service import Service
from tests.conftest import MovableClock

BOXES = [f"Box number {number} stands on shelf {chr(97 + number % 26)}" for number in range(60)]


@pytest.fixture
def boxes(service: Service) -> Service:
    service.memorize_many(BOXES)
    return service


def refuses(call: Callable[[], Any]) -> bool:
    try:
        call()
    except InvalidInput:
        return True
    return False


@pytest.mark.parametrize(
    ("call", "least", "most"),
    [
        pytest.param(lambda m, n: m.recall("box", limit=n), 1, 100, id="recall"),
        pytest.param(lambda m, n: m.list_memories(limit=n), 1, 200, id="list"),
        pytest.param(lambda m, n: m.history(limit=n), 1, 1_000_000, id="history"),
        pytest.param(lambda m, n: m.sessions(limit=n), 1, 1_000_000, id="sessions"),
        pytest.param(lambda m, n: m.runs(limit=n), 1, 1_000_000, id="runs"),
        pytest.param(lambda m, n: m.graph(limit=n), 1, 1_000_000, id="graph"),
        pytest.param(lambda m, n: m.entity_names(limit=n), 1, 1000, id="names"),
    ],
)
def test_a_number_is_taken_up_to_its_bounds(
    service: Service, call: Callable[[Service, int], Any], least: int, most: int
) -> None:
    taken = [not refuses(lambda n=n: call(service, n)) for n in (least - 1, least, most, most + 1)]

    assert taken == [False, True, True, False]


def test_as_many_come_back_as_are_asked_for(boxes: Service) -> None:
    assert len(boxes.recall("box number", limit=3).hits) == 3
    assert len(boxes.recall("box number").hits) <= boxes.settings.recall.max_relevant
    assert len(boxes.list_memories().memories) == 50
    assert len(boxes.list_memories(limit=60).memories) == 60
    assert len(boxes.timeline(day="2026").memories) == 50
    assert len(boxes.timeline(day="2026", limit=7).memories) == 7


def test_a_list_is_filtered_by_each_of_its_words(service: Service) -> None:
    ids = {
        "decision": service.memorize("We ship on Fridays", category="decision").id,
        "shared": service.memorize("The office closes at six", scope="shared").id,
        "tagged": service.memorize("Tea is green", tags=["drinks"], subject="tea").id,
    }

    def listed(**filters: Any) -> set[str]:
        names = {id: name for name, id in ids.items()}
        return {names[one.id] for one in service.list_memories(**filters).memories}

    assert listed(category="decision") == {"decision"}
    assert listed(scope="shared") == {"shared"}
    assert listed(tags=["drinks"]) == listed(subject="tea") == {"tagged"}
    assert listed(state="archived") == listed(until="2020-01-01") == set()
    assert listed(since="2020-01-01") == set(ids)


def test_a_recall_is_filtered_by_each_of_its_words(service: Service) -> None:
    service.memorize("Tea is shipped on Fridays", category="decision", tags=["drinks"])
    service.memorize("Tea is kept in the kitchen", scope="shared", subject="tea")

    def found(**filters: Any) -> int:
        return len(service.recall("where is tea, and when?", **filters).hits)

    assert found() == 2
    assert found(category="decision") == found(tags=["drinks"]) == 1
    assert found(scope="shared") == found(subject="tea") == 1
    assert found(until="2020-01-01") == found(as_of="2020-01-01") == 0


def test_an_old_list_comes_first_when_asked_for(service: Service, clock: MovableClock) -> None:
    first = service.memorize("Tea is green").id
    clock.advance(days=1)
    second = service.memorize("The office closes at six").id

    assert [one.id for one in service.list_memories().memories] == [second, first]
    assert [one.id for one in service.list_memories(sort="oldest").memories] == [first, second]


# update, forget, restore


def test_what_is_forgotten_is_changed_only_by_bringing_it_back(service: Service) -> None:
    id = service.memorize("The office closes at six").id
    service.forget(id)

    with pytest.raises(InvalidInput, match="archived=false"):
        service.update_memory(id, importance=8)
    with pytest.raises(InvalidInput):
        service.update_memory(id, archived=True)
    assert service.update_memory(id, archived=False).state == State.ACTIVE


def test_a_change_of_what_ranks_gives_the_new_priority_at_once(service: Service) -> None:
    id = service.memorize("The office closes at six", importance=2).id
    service.sleep(["tier"])
    before = service.get(id).priority

    after = service.update_memory(id, importance=10).priority

    assert before is not None and after is not None
    assert after > before


def test_what_was_never_gone_is_restored_by_doing_nothing(service: Service) -> None:
    id = service.memorize("The office closes at six").id
    version = service.get(id).version

    assert service.restore(id).state == State.ACTIVE
    assert service.get(id).version == version
    service.update_memory(id, archived=True)
    assert service.restore(id).state == State.ACTIVE
    assert service.history(id)[0].action == "restored"


def test_a_second_forgetting_changes_nothing(service: Service, clock: MovableClock) -> None:
    id = service.memorize("The office closes at six").id
    first = service.forget(id)
    clock.advance(days=3)

    assert service.forget(id) == first
    assert [line.action for line in service.history(id)].count("forgotten") == 1
    assert service.forget(id, erase=True).restorable_until is None


# batches


def test_a_batch_tells_how_far_it_is(service: Service) -> None:
    told: list[tuple[Any, ...]] = []
    texts = [f"Box number {number} is grey" for number in range(120)]

    service.memorize_many(texts, progress=lambda *words: told.append(words))

    assert told[-1] == (120, 120, "memories")
    assert [done for done, *_ in told] == sorted(done for done, *_ in told)
    assert any(done > 100 for done, *_ in told[:-1]) or told[0][0] <= 100


def test_an_item_of_a_wrong_shape_is_refused_with_its_name(service: Service) -> None:
    with pytest.raises(InvalidInput, match="memorize_many"):
        service.memorize_many([{"content": "x", "colour": "red"}])


def test_a_long_item_among_short_ones_is_a_document(service: Service) -> None:
    long = "\n\n".join(f"Step {n}: the export writes partition {n}." for n in range(2500))

    short, document, last = service.memorize_many(["Tea is green", long, "Milk is white"])

    assert service.get(document.id).is_document
    assert not service.get(short.id).is_document
    assert service.get(last.id).content == "Milk is white"


# conversations


def test_a_whole_turn_is_kept_with_its_tools(service: Service) -> None:
    tools = [{"tool": "ls", "text": "a b"}, {"tool": "ls", "text": "c", "id": "x"}]

    kept = service.record_turn("s", "list the folder", "done", tools=tools, speaker="Ana")

    said = [(one.role, one.part, one.text) for one in service.turns("s")]
    assert kept.status == "stored"
    assert [role for role, _, _ in said] == ["user", "tool", "tool", "assistant"]
    assert [part for role, part, _ in said if role == "tool"] == ["1", "x"]
    assert {one.turn for one in service.turns("s")} == {kept.turn}


def test_an_answer_alone_is_kept_under_a_name_of_its_own(service: Service) -> None:
    kept = service.record_turn("s", "", "Shall we begin?")

    assert kept.status == "stored"
    assert [one.text for one in service.turns("s")] == ["Shall we begin?"]


def test_without_a_session_the_latest_conversation_is_shown(
    service: Service, clock: MovableClock
) -> None:
    assert service.context() == ""
    service.record_turn("old", "I planted a cherry tree.", "Nice.")
    clock.advance(hours=1)
    service.record_turn("new", "I sold the piano.", "Oh.")

    assert "piano" in service.context()
    assert "cherry" not in service.context()
    assert "cherry" in service.context("old")


def test_sessions_come_latest_first(service: Service, clock: MovableClock) -> None:
    for name in ("old", "new"):
        service.record_turn(name, "Hello there", "Hello")
        clock.advance(hours=1)

    assert [one.name for one in service.sessions()] == ["new", "old"]
    assert [one.name for one in service.sessions(1)] == ["new"]


# views


def test_a_chunk_is_read_by_its_number(service: Service) -> None:
    text = "\n\n".join(f"Step {n}: the export writes partition {n} to disk." for n in range(200))
    id = service.add_document(text, name="steps.md").id

    assert service.chunk(id, 1).startswith("Step 0")
    for number in (0, 10_000):
        with pytest.raises(KinmemError):
            service.chunk(id, number)
    assert service.text(id) == text


def test_names_are_offered_by_their_beginning(service: Service) -> None:
    service.memorize("Clara Weiss works at Nordwind in Lyon")
    service.memorize("Clara Weiss plays chess with Otto Braun")

    assert service.entity_names("cla")[0] == "Clara Weiss"
    assert service.entity_names("zz") == []
    assert len(service.entity_names(limit=1)) == 1


def test_stats_tell_what_was_done_last(service: Service) -> None:
    before = service.stats()
    service.record_turn("s", "I moved to Lisbon in May.", "Nice.")
    service.sleep(["learn"])
    after = service.stats()

    assert (before.last_run, before.last_sleep) == (None, None)
    assert after.last_run is not None
    assert after.last_run.kind == "sleep"
    assert after.last_sleep == after.last_run
    assert after.kin == "ana"
    assert after.embedder == service.store.index.coverage()[0].embedder
    assert after.conversations["unindexed"] >= 0
