"""What judges are shown through litellm's real code: who said it, when, about whom, and today."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kinmem.service import Service
from tests.conftest import MovableClock
from tests.llm.conftest import TYPES_BUILT
from tests.llm.model_server import ModelServer

pytestmark = [pytest.mark.usefixtures("litellm_imported"), *TYPES_BUILT]

Open = Callable[..., Service]


@pytest.fixture
def server(home: Path) -> Iterator[ModelServer]:
    with ModelServer(lambda prompt: {}) as server:
        table = f'[providers.double]\ntype = "openai"\nbase_url = "{server.base("ok")}"\n'
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").write_text(table, encoding="utf-8")
        yield server


def told(prompt: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in prompt.splitlines() if line.startswith('{"id"')]


def marks(prompt: str) -> dict[str, Any]:
    return {"scores": [{"id": one["id"], "score": 9} for one in told(prompt)]}


def test_the_reranker_sees_who_said_it_when_and_about_whom(
    server: ModelServer, service_of: Open, clock: MovableClock
) -> None:
    server.replies = marks
    service = service_of("ana", MEMORY_RERANK_MODEL="double:m")
    for speaker, day in (("Melanie", "2026-01-07"), ("Caroline", "2026-02-09")):
        service.memorize("I adopted a kitten", speaker=speaker, subject="kitten", occurred_at=day)

    service.recall("When did Melanie adopt a kitten?")

    (prompt,) = server.prompts
    assert f"{clock():%Y-%m-%d}" in prompt
    assert {one["text"] for one in told(prompt)} == {
        "Melanie, 2026-01-07, about kitten: I adopted a kitten",
        "Caroline, 2026-02-09, about kitten: I adopted a kitten",
    }


def test_a_review_sees_the_day_and_the_speaker(
    server: ModelServer, service_of: Open, clock: MovableClock
) -> None:
    server.replies = lambda prompt: {"findings": []}
    service = service_of("ana", KINMEM_REVIEW_MODEL="double:m")
    service.memorize("Lunch with Max is tomorrow at noon")

    service.review_memories()

    (prompt,) = server.prompts
    assert f"{clock():%A, %Y-%m-%d}" in prompt
    assert [sorted(one) for one in told(prompt)] == [
        ["at", "category", "id", "speaker", "subject", "text"]
    ]


def test_a_degraded_answer_is_not_kept(server: ModelServer, service_of: Open) -> None:
    service = service_of("ana", MEMORY_RERANK_MODEL="double:m", KINMEM_RECALL_DEADLINE=9)
    service.memorize_many(["Tom works at the bakery.", "Tom bakes bread at the bakery."])
    service.settle(60)
    server.replies = lambda prompt: "no marks"
    assert service.recall("Where does Tom work?").degraded == ("rerank",)

    server.replies = marks

    assert service.recall("Where does Tom work?").degraded == ()


def test_what_is_recalled_was_used(service_of: Open) -> None:
    service = service_of("ana")
    id = service.memorize("Tom works at the bakery.").id

    for _ in range(3):
        assert service.recall("Where does Tom work?").hits

    service.store.flush_use()
    (memory,) = service.store.memories([id]).values()
    assert memory.recalled_count == 3


WARMED = """
import sys, time
from kinmem.settings import load
from kinmem.wiring.open_memory import open_service
settings = load({"KINMEM_KIN": "ana", "KINMEM_HOME": sys.argv[1], "KINMEM_MODEL": sys.argv[2]})
with open_service(settings):
    until = time.monotonic() + 200
    while "litellm.main" not in sys.modules and time.monotonic() < until:
        time.sleep(0.1)
print("litellm.main" in sys.modules)
"""


def test_what_models_need_is_loaded_before_the_first_question(
    server: ModelServer, home: Path
) -> None:
    command = [sys.executable, "-c", WARMED, str(home), "double:m"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=True)

    assert done.stdout.strip() == "True"
    assert server.bodies == []  # nobody was asked
