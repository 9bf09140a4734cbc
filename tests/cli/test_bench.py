"""kinmem bench with embedders: the Kin's own memories, compared by two of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

import kinmem.llm
from benchmarks.data import own_set
from kinmem.service import Service
from tests.cli.conftest import Kinmem

ANOTHER = f"local:{Path(kinmem.llm.__path__[0]) / 'minilm'}"
"""The built-in model's own files, read as anybody's model is: not quite the same vectors."""


@pytest.fixture
def filled(service_of: Callable[..., Service]) -> Service:
    """The memory that commands take by default, with a conversation in it."""
    service = service_of("default")
    service.memorize_many(own_set()["everyday"][0].notes)
    service.memorize("The house has a blue door and a bell that rings twice.", scope="shared")
    assert service.settle(60)
    return service


def test_two_embedders_are_compared_on_the_memories_there_are(
    filled: Service, kinmem: Kinmem
) -> None:
    before = filled.store.revision, filled.store.index.coverage()

    told = kinmem("bench", "--embedder", "builtin", "--embedder", ANOTHER, "--json").json

    first, second = told["embedders"]
    assert first["name"] == "builtin/all-MiniLM-L6-v2-e5-small-int8"
    assert second["name"].startswith("local")
    assert first["dimension"] == second["dimension"] == 384
    assert first["bytesPerMemory"] >= 4 * 384
    assert min(first["msPerMemory"], first["msPerQuestion"]) > 0
    halves = {one["way"]: one for one in first["found"] if one["by"] == "first half"}
    assert halves["as recall answers"]["recall@10"] > 0.9
    assert halves["by meaning alone"]["recall@10"] > 0.9
    assert {one["by"] for one in second["found"]} == {"first half", "source context"}
    for agreed in told["agreement"]:
        assert 0.7 < agreed["topTens"] < 1
    assert (filled.store.revision, filled.store.index.coverage()) == before


def test_the_comparison_is_shown_as_a_table(filled: Service, kinmem: Kinmem) -> None:
    ran = kinmem("bench", "--embedder", "builtin", "--embedder", "builtin")

    assert "bytes of vectors per memory" in ran.out
    assert "Top tens by meaning alone: 100 % in common" in ran.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--embedder", "builtin"], "given twice", id="only one"),
        pytest.param(["--embedder", "builtin"] * 2, "no memories", id="nothing to compare"),
        pytest.param(
            ["--embedder", "builtin", "--embedder", "local:/nowhere"], "", id="one is not there"
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(kinmem: Kinmem, words: list[str], said: str) -> None:
    ran = kinmem("bench", *words)

    assert ran.code != 0
    assert said in ran.err
