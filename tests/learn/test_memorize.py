"""What somebody tells kinmem to remember, many things at once."""

from kinmem.service import Service


def test_what_is_told_at_once_gives_way_to_what_was_told_after_it(service: Service) -> None:
    said = [
        "Tom works at Bosch",
        "Tom now works at Siemens",
        "Tom works at Audi and lives in Ulm",
    ]
    bosch, siemens, audi = (str(one.id) for one in service.memorize_many(said))
    assert service.settle(30)

    ended_by = [service.store.get(id).superseded_by for id in (bosch, siemens, audi)]
    assert ended_by == [siemens, audi, None]


def test_what_has_ended_meanwhile_contradicts_nothing(service: Service) -> None:
    said = [
        "I drink coffee",
        "I don't drink coffee any more",
        "I drink coffee with my sister at noon",
    ]
    _, ended, again = (str(one.id) for one in service.memorize_many(said))
    assert service.settle(30)

    open_ones = service.store.journal.conflicts()
    assert [(one.newer, one.older) for one in open_ones] == [(again, ended)]
