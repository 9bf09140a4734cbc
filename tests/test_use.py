"""What is told counts as used, once it is written down; what is only looked at does not."""

from collections.abc import Callable

from kinmem.models import State
from kinmem.service import Service
from tests.conftest import MovableClock

KEY = "The spare key hangs behind the blue door"
ASKED = "where does the spare key hang?"


def uses(service: Service, id: str) -> int:
    """As they are written down."""
    return service.store.get(id).recalled_count


def test_what_a_recall_tells_counts_as_used_with_its_time(
    service: Service, clock: MovableClock
) -> None:
    id = service.memorize(KEY).id
    at = clock.advance(days=2)

    assert service.recall(ASKED).hits
    service.store.flush_use()

    memory = service.store.get(id)
    assert (memory.recalled_count, memory.recalled_at) == (1, at)


def test_the_same_question_again_counts_again(service: Service) -> None:
    id = service.memorize(KEY).id
    for _ in range(3):
        service.recall(ASKED)
    service.store.flush_use()

    assert uses(service, id) == 3


def test_a_sleep_writes_down_what_was_used_and_a_dry_run_nothing(service: Service) -> None:
    id = service.memorize(KEY).id
    service.recall(ASKED)

    service.sleep(["retain"], dry_run=True)
    assert uses(service, id) == 0
    service.sleep(["retain"])
    assert uses(service, id) == 1


def test_reading_a_memory_counts_and_listing_it_does_not(service: Service) -> None:
    id = service.memorize(KEY).id
    service.list_memories()
    service.history(id)
    service.store.flush_use()
    assert uses(service, id) == 0

    service.get(id)
    service.store.flush_use()
    assert uses(service, id) == 1


def test_a_timeline_and_a_card_count_as_use(service: Service) -> None:
    id = service.memorize("Clara plays the cello in Lyon", subject="Clara").id
    service.timeline("Clara")
    service.explore("Clara")
    service.store.flush_use()

    assert uses(service, id) == 2


def test_what_another_holds_back_of_what_he_shared_is_seen_by_nobody_else(
    service_of: Callable[..., Service],
) -> None:
    ana, bob = service_of("ana"), service_of("bob")
    id = ana.memorize(KEY, scope="shared").id
    assert bob.recall(ASKED).hits

    ana.store.update(id, {"state": State.QUARANTINED})

    assert bob.recall(ASKED).hits == []
    assert bob.recall(ASKED, include_archived=True).hits == []
    assert bob.list_memories().memories == []
    assert bob.list_memories(state="quarantined").memories == []
    assert bob.store.memories([id]) == {}
    assert [one.id for one in ana.list_memories(state="quarantined").memories] == [id]
