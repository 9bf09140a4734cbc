"""What somebody tells kinmem to remember, many things at once."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from kinmem.mcp import tool_answers
from kinmem.models import Memory, Stored
from kinmem.service import Service
from kinmem.wiring.open_memory import embedders
from tests.conftest import MovableClock


@pytest.mark.parametrize("first", ["oldest", "newest"])
def test_what_is_told_at_once_gives_way_to_what_was_told_after_it(
    service: Service, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """In whatever order the store gives the vectors."""
    vectors = service.store.index.first_vectors
    monkeypatch.setattr(
        service.store.index,
        "first_vectors",
        lambda *asked: dict(sorted(vectors(*asked).items(), reverse=first == "newest")),
    )
    said = [
        "Tom works at Bosch",
        "Tom now works at Siemens",
        "Tom works at Audi now",
    ]
    bosch, siemens, audi = (str(one.id) for one in service.memorize_many(said))
    assert service.settle(30)

    ended_by = [service.store.get(id).superseded_by for id in (bosch, siemens, audi)]
    assert ended_by == [siemens, audi, None]


def test_what_has_ended_meanwhile_contradicts_nothing(service_of: Callable[..., Service]) -> None:
    service = service_of("ana", KINMEM_JUDGE="off")
    said = [
        "I drink coffee",
        "I don't drink coffee any more",
        "I drink coffee with my sister at noon",
    ]
    _, ended, again = (str(one.id) for one in service.memorize_many(said))
    assert service.settle(30)

    open_ones = service.store.decisions.conflicts()
    assert [(one.newer, one.older) for one in open_ones] == [(again, ended)]


# what it is, and when it happened


def in_a_turn(service: Service, text: str, at: Any = None) -> Memory:
    service.record_turn("s", text, "Noted.", at=at)
    service.sleep()
    [memory] = service.list_memories().memories
    return memory


def memorized(service: Service, text: str) -> Memory:
    return service.get(service.memorize(text).id)


@pytest.mark.parametrize(
    "text",
    [
        "I prefer dark mode in every editor.",
        "We decided to drop MySQL.",
        "Never deploy on Fridays, the Q3 deadline is critical.",
        "My name is Marta Lindqvist.",
        "My sister Elin lives in Uppsala.",
        "Our production database runs on Postgres 16 in Frankfurt.",
    ],
)
def test_what_is_memorized_is_judged_as_the_same_words_of_a_turn(service_of, text):
    learned = in_a_turn(service_of("ana", resident=False), text)

    told = memorized(service_of("bob"), text)

    assert (told.category, told.importance) == (learned.category, learned.importance)
    assert told.category != "context"


@pytest.mark.parametrize("word", ["ab", "ok", "Esche."])
def test_a_single_word_is_no_decision_that_matters(service, word):
    told = service.memorize(word)

    assert (told.category, told.importance) == ("fact", 5)


def test_a_category_and_an_importance_that_are_given_win(service):
    text = "I prefer dark mode in every editor."

    both = service.memorize(text, category="knowledge", importance=2)
    one = service.memorize("I prefer tea to coffee.", category="fact")

    assert (both.category, both.importance) == ("knowledge", 2)
    assert one.category == "fact"
    assert service.get(one.id).importance == one.importance > 1


def test_a_batch_is_judged_and_told_like_a_single_one(service):
    stored = service.memorize_many(["We decided to drop MySQL.", "We decided to drop MySQL."])

    assert [(one.status, one.category) for one in stored] == [
        ("created", "decision"),
        ("duplicate_of", None),
    ]
    assert service.get(stored[0].id).category == "decision"


@pytest.mark.parametrize("tell", [in_a_turn, memorized])
@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Yesterday I met Priya in the museum.", "2026-06-14"),
        ("Gestern habe ich Priya im Museum getroffen.", "2026-06-14"),
        ("I met Priya in the museum three days ago.", "2026-06-12"),
        ("I met Priya in the museum on 5 May.", "2026-05-05"),
    ],
)
def test_what_happened_on_a_day_that_is_named_happened_then(service_of, clock, tell, text, day):
    service = service_of("ana", resident=False)

    memory = tell(service, text)

    assert tool_answers.Memory.brief(memory, service).occurred_at == day
    assert memory.told_at == clock()
    assert [one.id for one in service.timeline(day=day).memories] == [memory.id]
    assert service.timeline(day="2026-06-15").memories == []
    found = service.recall("Priya museum", since=day, until=f"{day}T23:59").hits
    assert [hit.memory.id for hit in found] == [memory.id]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I saw Tom yesterday.", "2023-05-07"),
        ("I met Ben last Saturday.", "2023-05-06"),
        ("I bought a red bike from Marco.", "2023-05-08"),
    ],
)
def test_what_happened_on_an_earlier_day_than_it_was_said_occurred_then(service, text, day):
    memory = in_a_turn(service, text, at=datetime(2023, 5, 8, 12, tzinfo=UTC))

    assert memory.occurred_at.date().isoformat() == day


@pytest.mark.parametrize("tell", [in_a_turn, memorized])
@pytest.mark.parametrize(
    "text",
    [
        "I met Priya in the museum.",
        "Last week I met Priya in the museum.",
        "I have lived in Rome with Priya since March.",
        "Tomorrow I will meet Priya in the museum.",
        "My birthday is on 9 March.",
        "Yesterday I met Priya, and tomorrow we fly to Oslo.",
    ],
)
def test_where_no_single_day_is_named_the_time_is_that_of_the_saying(service_of, clock, tell, text):
    service = service_of("ana", resident=False)

    memory = tell(service, text)

    assert memory.said_at == memory.told_at == clock()
    assert [one.id for one in service.timeline(day="2026-06-15").memories] == [memory.id]


def test_a_time_that_is_given_wins(service):
    told = service.memorize("Yesterday I met Priya.", occurred_at="2026-01-02")

    assert service.get(told.id).occurred_at == datetime(2026, 1, 2, tzinfo=UTC)


def test_what_happened_each_on_its_day_is_told_twice(service, clock):
    service.memorize("Yesterday I met Priya in the museum.")
    clock.advance(days=1)

    again = service.memorize("Yesterday I met Priya in the museum.")

    assert again.status == "created"
    assert len(service.list_memories().memories) == 2


@pytest.mark.parametrize("tell", ["memorize", "turn"])
def test_what_is_told_later_is_newer_though_it_happened_earlier(service_of, clock, tell):
    service = service_of("ana", resident=False)
    embedders(service.settings)[0].warm()
    lyon = service.memorize("I live in Lyon.")
    clock.advance(days=5)

    if tell == "memorize":
        service.memorize("I moved to Rome on 1 June.")
    else:
        service.record_turn("s", "I moved to Rome on 1 June.", "Noted.")
        service.sleep()

    rome = next(one for one in service.list_memories().memories if "Rome" in one.content)
    assert (rome.state, rome.occurred_at) == ("active", datetime(2026, 6, 1, tzinfo=UTC))
    assert service.get(lyon.id).state in ("superseded", "active")
    assert service.get(lyon.id).superseded_by in (rome.id, None)


def test_a_day_that_is_written_into_a_text_is_when_it_happened(service, clock):
    id = service.memorize("I went to the dentist in Lindau.").id
    assert service.get(id).occurred_at is None

    changed = service.update_memory(id, content="I went to the dentist in Lindau yesterday.")
    again = service.memorize("I went to the barber in Lindau yesterday.")
    assert changed.occurred_at == service.get(again.id).occurred_at
    assert changed.told_at == service.get(again.id).told_at

    clock.advance(days=7)
    corrected = service.update_memory(id, content="I went to the dentist at Lindau yesterday.")
    assert corrected.occurred_at == changed.occurred_at
    given = service.update_memory(
        id, content="I went to the dentist two days ago.", occurred_at="2026-06-01"
    )
    assert given.occurred_at.date().isoformat() == "2026-06-01"


@pytest.mark.parametrize("in_bulk", [False, True])
def test_the_same_words_about_two_days_are_two_memories(
    service: Service, clock: MovableClock, in_bulk: bool
) -> None:
    def memorize(text: str) -> Stored:
        if in_bulk:
            return service.memorize_many([text])[0]
        return service.memorize(text)

    first = memorize("Dentist tomorrow at 8")
    clock.advance(hours=1)
    again = memorize("dentist tomorrow at 8.")
    clock.advance(days=45)
    second = memorize("Dentist tomorrow at 8")
    service.sleep()

    assert again == Stored("duplicate_of", first.id)
    assert {one.id for one in service.list_memories().memories} == {first.id, second.id}
    habits = [memorize("I run every morning before work") for _ in range(2)]
    assert habits[1].id == habits[0].id


def test_what_is_said_again_in_talk_about_another_day_is_another_memory(
    service: Service, clock: MovableClock
) -> None:
    for at in ("2026-01-05", "2026-03-05"):
        service.record_turn(
            at, "Please remember: my dentist visit is tomorrow at 8.", "Noted.", at=at
        )
        service.sleep()

    assert len(service.list_memories().memories) == 2
