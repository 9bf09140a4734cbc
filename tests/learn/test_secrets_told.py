"""A secret that is told in passing becomes no memory."""

import pytest

from kinmem.service import Service


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("My bank account number is 12345678.", "12345678"),
        ("hunter2 is my password.", "hunter2"),
        ("my password is sunshine and my dog is Rex.", "sunshine"),
        ("My login for GitHub is ana / Sommer2026!", "Sommer2026"),
        ("The wifi key is 9f8a7b6c5d.", "9f8a7b6c5d"),
        ("My recovery code is Dyah-M9xi-RaFy.", "Dyah"),
        ("My social security number is 078051120.", "078051120"),
        ("Mon numéro de compte est 00040012345.", "00040012345"),
        ("비밀번호는 yeoreum2026!", "yeoreum2026"),
    ],
)
def test_neither_turn_nor_memory_holds_it(service: Service, text: str, secret: str) -> None:
    service.observe("prompt", "s", "t", text)
    service.observe("answer", "s", "t", "Noted.")
    service.settle()

    kept = [memory.content for memory in service.list_memories(limit=200).memories]
    kept += [message.text for message in service.turns("s")]
    assert not [told for told in kept if secret in told]


def test_what_stands_beside_it_is_learned(service: Service) -> None:
    service.observe("prompt", "s", "t", "my password is sunshine and my dog is called Rex.")
    service.observe("answer", "s", "t", "Noted.")
    service.settle()

    assert any("Rex" in memory.content for memory in service.list_memories().memories)


@pytest.mark.parametrize(
    ("text", "important"),
    [
        ("My server password is hunter2Xy9!k and the key is important", False),
        (
            "My server password is hunter2Xy9!k. I must never take penicillin, I'm allergic.",
            True,
        ),
    ],
)
def test_what_lost_its_secret_is_not_important(
    service: Service, text: str, important: bool
) -> None:
    service.record_turn("s", text, "OK.", turn="1")
    service.settle()

    found = service.list_memories().memories
    assert found
    assert any(memory.importance >= 7 for memory in found) is important
    assert all(memory.importance < 7 for memory in found if "allergic" not in memory.content)
