"""A provider that is away, or answers nonsense, costs no memory and no recall; see R16 to R19."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kinmem.llm.deadline import FAILURES
from kinmem.models import Coverage
from kinmem.service import Service
from tests.llm import provider_shapes as shapes
from tests.llm.conftest import TYPES_BUILT
from tests.llm.fault_provider import WIDTH, Reply, error, vector_of
from tests.llm.provider_shapes import ShapedProvider

pytestmark = [pytest.mark.usefixtures("litellm_imported"), *TYPES_BUILT]

PATIENCE = 60.0
Open = Callable[..., Service]


class Provider(ShapedProvider):
    """Of OpenAI's shape; refuses texts with a word in them."""

    def __init__(self) -> None:
        super().__init__(lambda body: shapes.openai([vector_of(text) for text in body["input"]]))

    def answer(self, mode: str, reply: Reply, body: dict[str, Any]) -> None:
        if any("forbidden" in text for text in body["input"]):
            reply.send(400, error("this text is against our rules"))
        else:
            super().answer(mode, reply, body)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
def opened(
    provider: Provider, home: Path, service_of: Open, monkeypatch: pytest.MonkeyPatch
) -> Open:
    monkeypatch.setattr("kinmem.llm.deadline.PAUSE", 0.05)
    monkeypatch.setattr("kinmem.upkeep.embed.PROBE_SECONDS", 0.5)
    table = f'[providers.double]\ntype = "openai"\nbase_url = "{provider.address}/v1"\n'
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(table, encoding="utf-8")

    def open_with(**settings: Any) -> Service:
        chosen = {"MEMORY_EMBEDDING_MODEL": "double:m", "MEMORY_EMBEDDING_DIMENSION": WIDTH}
        return service_of("ana", **{**chosen, "KINMEM_EMBEDDING_DEADLINE": 0.5, **settings})

    return open_with


def coverage(service: Service) -> Coverage | None:
    known = service.store.index.coverage()
    return next((one for one in known if one.embedder.startswith("double:m")), None)


def settled(service: Service) -> bool:
    """Within PATIENCE; a provider that was away is not asked again at once."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if service.settle(1):
            return True
    return False


FAULTS = ["500", "401", "429long", "reset", "garbage", "redirect", "drip", "hang"]
NONSENSE = ["nan", "infinite", "zero", "wrong-width", "strings", "no-data"]


@pytest.mark.parametrize("mode", [*FAULTS, *NONSENSE])
def test_what_is_memorized_while_the_provider_is_away_gets_its_vector_later(
    mode: str, provider: Provider, opened: Open
) -> None:
    provider.mode = mode
    service = opened()

    stored = service.memorize("Ana keeps the spare key under the blue pot.")
    answer = service.recall("Where is the spare key?")
    assert not service.settle(1)

    assert stored.status == "created"
    assert answer.degraded == ("embedding",)
    assert [hit.memory.id for hit in answer.hits] == [stored.id]
    known = coverage(service)
    assert known is None or known.done == 0

    provider.mode = "ok"
    assert settled(service)

    known = coverage(service)
    assert known is not None and (known.done, known.total) == (1, 1)
    assert service.recall("Where is that spare key?").degraded == ()


def test_a_text_that_is_refused_does_not_hold_up_the_others(
    provider: Provider, opened: Open
) -> None:
    service = opened()
    notes = [f"Cloud number {n} looked like a sheep." for n in range(70)]
    service.memorize_many([*notes[:5], "A forbidden statement about a cloud.", *notes[5:]])

    assert settled(service)

    known = coverage(service)
    assert known is not None and (known.done, known.total) == (70, 71)
    assert len(provider.bodies) < 35


@pytest.mark.parametrize("mode", ["hang", "drip"])
def test_after_three_questions_nobody_waits_for_one_that_never_answers(
    mode: str, provider: Provider, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = opened(KINMEM_EMBEDDING_DEADLINE=1, KINMEM_RECALL_DEADLINE=0.5)
    service.memorize("Ana keeps the spare key under the blue pot.")
    assert settled(service)
    monkeypatch.setattr("kinmem.llm.deadline.PAUSE", 30.0)
    provider.mode, asked = mode, len(provider.bodies)

    for number in range(FAILURES + 3):
        answer = service.recall(f"Where is spare key number {number}?")
        assert answer.degraded == ("embedding",) and len(answer.hits) == 1

    assert len(provider.bodies) == asked + FAILURES


@pytest.mark.parametrize("mode", ["hang", "drip"])
def test_a_question_waits_no_longer_than_a_recall_may(
    mode: str, provider: Provider, opened: Open
) -> None:
    service = opened(KINMEM_EMBEDDING_DEADLINE=20, KINMEM_RECALL_DEADLINE=0.3)
    service.memorize("Ana keeps the spare key under the blue pot.")
    assert settled(service)
    provider.mode = mode

    answer = service.recall("Where is the spare key?")

    assert answer.degraded == ("embedding",)
    assert len(answer.hits) == 1


def test_refused_texts_do_not_close_the_way_for_others(provider: Provider, opened: Open) -> None:
    service = opened()
    for number in range(5):
        service.memorize(f"A forbidden statement with the number {number}.")

    asked = len(provider.bodies)
    service.memorize("Ana keeps the spare key under the blue pot.")

    assert len(provider.bodies) > asked
    assert service.recall("Where is the spare key?").degraded != ("embedding",)
