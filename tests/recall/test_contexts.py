"""What was told beside a memory is not told on after it was forgotten, or has changed."""

from kinmem.service import Service

BESIDE = "My sister Clara visits me every spring."


def _context(service: Service) -> str | None:
    [hit] = [
        hit
        for hit in service.recall("When does Clara visit?").hits
        if "Clara" in hit.memory.content
    ]
    return hit.memory.source_context


def test_a_recall_and_the_notes_leave_out_what_was_forgotten(service: Service) -> None:
    told = service.memorize("I am in hospital until Friday.").id
    service.memorize(BESIDE, source_context="I am in hospital until Friday.")
    assert _context(service) == "I am in hospital until Friday."

    service.forget(told)

    assert _context(service) is None
    assert "Clara" in service.opening("s")
    assert "hospital" not in service.opening("t")


def test_what_has_changed_is_marked(service: Service) -> None:
    service.memorize("I live in Lyon.")
    service.memorize(BESIDE, source_context="I live in Lyon.")

    service.memorize("I no longer live in Lyon, I live in Berlin now.")

    assert _context(service) == "I live in Lyon. (no longer so)"
    assert "I live in Lyon. (no longer so)" in service.opening("s")
