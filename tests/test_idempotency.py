"""A call that is repeated under one key is done once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kinmem.errors import InvalidInput, KeySpent, StoreError
from kinmem.service import Service
from kinmem.store.history import of_key
from tests.conftest import MovableClock
from tests.store.test_loss import contents, kinmem
from tests.test_stdio import Process, start

pytestmark = pytest.mark.usefixtures("judge_off")

__all__ = ["start"]

TEXT = "The ferry to Sardinia leaves at noon"


@pytest.mark.parametrize("since", ["forgotten", "changed"])
def test_what_was_done_under_a_key_is_not_done_again(service: Service, since: str) -> None:
    first = service.memorize(TEXT, idempotency_key="call 1")
    assert first.status == "created" and first.id
    service.memorize("Dora keeps bees")  # the last line of the history always stays
    if since == "changed":
        service.update_memory(first.id, content="The ferry to Corsica leaves at noon")
    else:
        service.forget(first.id)
        service.memorize("Emil paints boats")
        service.sleep(["housekeeping"])
    before = service.list_memories().memories

    again = service.memorize(TEXT, idempotency_key="call 1")

    assert again.id == first.id and "done before" in str(again.reason)
    assert service.list_memories().memories == before
    # Another key, or another text, is another call.
    assert service.memorize(TEXT, idempotency_key="call 2").id != first.id
    assert service.memorize("Emil drives a Volvo", idempotency_key="call 1").status == "created"


def test_what_was_erased_is_not_stored_again_under_its_key(
    service: Service, clock: MovableClock
) -> None:
    id = str(service.memorize(TEXT, idempotency_key="call 1").id)
    other = service.memorize("Emil drives a Volvo", idempotency_key="call 1").id
    service.forget(id, erase=True)
    for _ in range(3):
        for text in (TEXT, *(f"Locker {number} belongs to Emil" for number in range(1000, 1300))):
            with pytest.raises(KeySpent, match="key of its own"):
                service.memorize(text, idempotency_key="call 1")
        assert service.is_done("call 1", TEXT)  # so that it does not count as shared again
        # The lines that say what was erased go after a while; that the key was used stays known.
        clock.advance(days=60)
        service.memorize("Dora keeps bees")
        service.sleep(["housekeeping"])
    assert {line.action for line in service.store.past.about([id])} == {"created"}
    assert service.memorize("Emil drives a Volvo", idempotency_key="call 1").id == other
    assert TEXT not in [one.content for one in service.list_memories().memories]
    assert service.memorize(TEXT, idempotency_key="call 2").status == "created"


@pytest.mark.parametrize(
    "text", [TEXT, f"# Ferries\n\n{TEXT}.\n\n" * 1_500], ids=["note", "document"]
)
def test_what_a_call_found_stored_is_not_stored_again_once_erased(
    service: Service, text: str
) -> None:
    id = str(service.memorize(text).id)
    first = service.memorize(text, idempotency_key="call 1")
    assert (first.status, first.id) == ("duplicate_of", id)
    service.forget(id)
    again = service.memorize(text, idempotency_key="call 1")
    assert again.id == id and "done before" in str(again.reason)
    [name] = service.store.past.batches("key-")
    service.forget(id, erase=True)

    with pytest.raises(KeySpent):
        service.memorize(text, idempotency_key="call 1")
    assert service.list_memories().memories == []
    assert not service.store.forgetting.holds(name[len(of_key(name)) :][:24])


def test_what_a_call_has_merged_is_not_stored_again_once_erased(service: Service) -> None:
    id = str(service.memorize("My sister Clara lives in Lyon.").id)
    more = "My sister Clara lives in Lyon, and she works as a nurse."
    assert service.memorize(more, idempotency_key="call 1").status == "merged_into"
    again = service.memorize(more, idempotency_key="call 1")
    assert again.id == id and "done before" in str(again.reason)
    service.forget(id, erase=True)

    with pytest.raises(KeySpent):
        service.memorize(more, idempotency_key="call 1")


def test_keys_that_differ_in_blanks_are_two(service: Service) -> None:
    service.memorize(TEXT, idempotency_key="call  1")
    service.memorize("Dora keeps bees", idempotency_key="call 1")
    service.memorize(TEXT, idempotency_key="call 1")

    assert len(service.store.past.batches("key-")) == 3
    with pytest.raises(InvalidInput, match="one line"):
        service.memorize(TEXT, idempotency_key="call\n1")


def test_of_an_erased_text_no_hash_is_left(service: Service) -> None:
    id = str(service.memorize(TEXT, idempotency_key="call 1").id)
    [name] = {str(line.batch) for line in service.history(id)}
    assert of_key(name).endswith("-"), "what calls of one key share ends before the text's part"
    service.forget(id, erase=True)

    assert service.store.past.batches(of_key(name)) == [f"{of_key(name)}erased-{id}"]
    assert not service.store.forgetting.holds(name[len(of_key(name)) :])


def test_a_call_that_an_older_kinmem_has_erased_is_known(service: Service) -> None:
    """It left two digits of the hash, by which one of 256 other texts counted as done."""
    id = str(service.memorize(TEXT, idempotency_key="call 1").id)
    [name] = {str(line.batch) for line in service.history(id)}
    service.forget(id, erase=True)
    cut = {"cut": name[: len(of_key(name)) + 2], "id": id}
    with service.store._files.own.database.writing() as db:  # type: ignore[attr-defined]
        db.run("UPDATE history SET batch = :cut WHERE memory_id = :id", cut)

    with pytest.raises(KeySpent):
        service.memorize(TEXT, idempotency_key="call 1")


@pytest.mark.parametrize("name", ["key-", "key-import-of-november", "key-" + "a" * 41])
def test_erasing_leaves_the_names_that_people_give_to_batches(service: Service, name: str) -> None:
    names = [f"{name}{n}" for n in range(2)]
    for batch in names:
        stored = service.memorize_many([f"{batch} holds {n} cups" for n in range(2)], batch=batch)
        service.forget(str(stored[0].id), erase=True)

    for batch in names:
        assert len({line.memory_id for line in service.store.past.batch(batch)}) == 2


def test_a_document_is_stored_once_under_a_key(service: Service) -> None:
    text = "# Ferries\n\n" + f"{TEXT}.\n\n" * 2_000
    first = service.memorize(text, idempotency_key="call 1")
    assert first.id
    assert service.memorize(text, idempotency_key="call 1").id == first.id
    service.forget(first.id, erase=True)

    with pytest.raises(KeySpent):
        service.memorize(text, idempotency_key="call 1")
    assert service.list_memories().memories == []


def test_a_turn_is_kept_once_under_a_key(service: Service) -> None:
    for _ in range(2):
        service.record_turn("s", "where is the key?", "in the shed", idempotency_key="turn 1")
    service.record_turn("s", "where is the key?", "in the shed", idempotency_key="turn 2")

    assert [one.text for one in service.turns("s")] == ["where is the key?", "in the shed"] * 2


@pytest.mark.parametrize("done", [True, False], ids=["it was done", "it was not done"])
def test_a_write_in_doubt_is_looked_up(
    service: Service, monkeypatch: pytest.MonkeyPatch, done: bool
) -> None:
    """Its last sync failed; whether it took effect, only the file knows."""
    apply = service.store.apply

    def failing(batch: Any) -> Any:
        if done:
            apply(batch)
        raise StoreError("ana.db: IOError: disk I/O error", "storage_failed")

    with monkeypatch.context() as patched:
        patched.setattr(service.store, "apply", failing)
        if done:
            assert "done before" in str(service.memorize(TEXT, idempotency_key="call 1").reason)
        else:
            with pytest.raises(StoreError, match="disk I/O error"):
                service.memorize(TEXT, idempotency_key="call 1")
    service.memorize(TEXT, idempotency_key="call 1")
    assert [one.content for one in service.list_memories().memories] == [TEXT]


@pytest.mark.usefixtures("judge_off")
def test_a_client_names_the_key_in_meta(start: Callable[..., Process]) -> None:
    server = start()
    server.shake_hands()
    call = {
        "name": "memorize",
        "arguments": {"content": TEXT},
        "_meta": {"idempotencyKey": "call 1"},
    }
    first = server.ask(1, "tools/call", **call)["result"]["structuredContent"]
    server.call(2, "forget", memory_id=first["id"])

    again = server.ask(3, "tools/call", **call)["result"]["structuredContent"]

    assert again["id"] == first["id"] and "done before" in again["reason"]
    assert contents(server) == []


@pytest.mark.usefixtures("judge_off")
def test_a_command_names_the_key(home: Path) -> None:
    key = ("--idempotency-key", "call 1", "--json")
    first, again = (kinmem(home, "memorize", TEXT, *key) for _ in range(2))

    assert first[0] == again[0] == 0
    assert json.loads(first[1])["id"] == json.loads(again[1])["id"]
    assert "done before" in again[1]
