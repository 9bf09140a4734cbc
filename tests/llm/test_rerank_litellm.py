"""Cross-encoders through litellm's real code: each provider's shape, and whatever it answers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kinmem.errors import ModelError
from kinmem.llm.base import Reranker
from kinmem.llm.deadline import FAILURES
from kinmem.settings import load
from kinmem.wiring.open_memory import chat_models
from tests.llm import provider_shapes as shapes
from tests.llm.conftest import TYPES_BUILT
from tests.llm.provider_shapes import Scored, ShapedProvider
from tests.sweeps import WHOLE

pytestmark = [pytest.mark.usefixtures("litellm_imported"), *TYPES_BUILT]

TEXTS = ["Ana lives in Lyon.", "Tom bakes bread.", "The safe opens with a key."]
KEY = "sk-of-this-provider-only"
NAN = float("nan")


@dataclass(frozen=True)
class Case:
    name: str
    shape: Callable[[Scored], dict[str, Any]]
    key: str
    address: str
    tail: str
    path: str
    most: str
    """What it calls the number of results that are wanted."""


def case(name: str, *args: Any) -> Any:
    return pytest.param(Case(name, *args), id=name)


V1 = ("/v1", "/v1/rerank")
COHERE = ("COHERE_API_KEY", "COHERE_API_BASE")
FIREWORKS = ("FIREWORKS_API_KEY", "FIREWORKS_API_BASE")
CASES = [
    case("cohere:rerank-v3.5", shapes.cohere_scores, *COHERE, "/v2", "/v2/rerank", "top_n"),
    case("rerank-english-v3.0", shapes.cohere_scores, *COHERE, "", "/v2/rerank", "top_n"),
    case(
        "jina:jina-reranker-v2-base-multilingual",
        shapes.jina_scores,
        "JINA_AI_API_KEY",
        "JINA_AI_API_BASE",
        *V1,
        "top_n",
    ),
    case(
        "voyage:rerank-2.5", shapes.voyage_scores, "VOYAGE_API_KEY", "VOYAGE_API_BASE", *V1, "top_k"
    ),
    case(
        "together:Salesforce/Llama-Rank-V1",
        shapes.cohere_scores,
        "TOGETHER_API_KEY",
        "TOGETHER_AI_API_BASE",
        *V1,
        "top_n",
    ),
    case("fireworks:fireworks/qwen3-reranker-8b", shapes.voyage_scores, *FIREWORKS, *V1, "top_n"),
]


class Rank(ShapedProvider):
    """Scores as a test says."""

    def __init__(self, one: Case) -> None:
        self.scored: Scored = [(2, 0.9), (0, 0.5), (1, 0.1)]
        super().__init__(lambda body: one.shape(self.scored))


@pytest.fixture
def double(case: Case) -> Iterator[Rank]:
    with Rank(case) as double:
        yield double


@pytest.fixture
def model(case: Case, double: Rank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reranker:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-and-nobody-else")
    monkeypatch.setenv(case.key, KEY)
    monkeypatch.setenv(case.address, double.address + case.tail)
    flags = {"KINMEM_HOME": tmp_path, "MEMORY_RERANK_MODEL": case.name}
    found = chat_models(load({**flags, "KINMEM_RECALL_DEADLINE": 5}, environment={})).rerank
    assert found is not None
    return found


@pytest.mark.parametrize("case", CASES)
def test_each_provider_is_asked_and_read_in_its_own_way(
    case: Case, double: Rank, model: Reranker
) -> None:
    assert model.scores("Where is the key?", TEXTS) == [0.5, 0.1, 0.9]

    (body,) = double.bodies
    assert double.paths == [case.path]
    assert double.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (body["query"], body["documents"]) == ("Where is the key?", TEXTS)
    assert body["model"] == case.name.partition(":")[2] or case.name
    assert (body[case.most], body["return_documents"]) == (3, False)


@pytest.mark.parametrize("case", CASES)
def test_an_address_may_be_the_whole_one(
    case: Case, double: Rank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(case.key, KEY)
    monkeypatch.setenv(case.address, double.address + case.path)
    flags = {"KINMEM_HOME": tmp_path, "MEMORY_RERANK_MODEL": case.name}
    model = chat_models(load(flags, environment={})).rerank

    assert model is not None and len(model.scores("Where is the key?", TEXTS)) == 3
    assert double.paths == [case.path]


@pytest.mark.parametrize(
    ("scored", "expected"),
    [
        pytest.param([(2, 0.9), (0, 0.5), (1, 0.1)], [0.5, 0.1, 0.9], id="best first"),
        pytest.param([(0, 0.5), (1, 0.1), (2, 0.9)], [0.5, 0.1, 0.9], id="in order"),
        pytest.param([(0, 0.8), (0, 0.1), (1, 0.3), (2, 0.2)], [0.8, 0.3, 0.2], id="repeated"),
        pytest.param([(0, 0.8), (2, 0.2)], [0.8, 0.1, 0.2], id="one missing"),
        pytest.param([(7, 0.9), (-1, 0.9), (1, 0.3)], [0.15, 0.3, 0.15], id="invented"),
        pytest.param([(0, 0.0), (1, 9.0), (2, 3.0)], [0.5, 0.999877, 0.952574], id="logits"),
        pytest.param([(0, -9.0), (1, -0.5)], [0.0001234, 0.377541, 0.0000617], id="all below 0"),
        pytest.param([(0, NAN), (1, 0.4), (2, float("inf"))], [0.2, 0.4, 0.2], id="not numbers"),
    ],
)
@pytest.mark.parametrize("case", CASES[:4])
def test_scores_are_taken_as_far_as_they_make_sense(
    case: Case, double: Rank, model: Reranker, scored: Scored, expected: list[float]
) -> None:
    double.scored = scored

    assert model.scores("Where is the key?", TEXTS) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("case", CASES[:1])
def test_scores_of_any_size_keep_their_order(case: Case, double: Rank, model: Reranker) -> None:
    double.scored = [(0, 95.0), (1, 1e308), (2, 40.0)]

    scores = model.scores("Where is the key?", TEXTS)
    double.scored = [(0, 95.0), (1, 99.0), (2, 40.0)]

    assert 1 >= scores[1] > max(scores[0], scores[2])
    assert sorted(range(3), key=model.scores("Where is the key?", TEXTS).__getitem__) == [2, 0, 1]


@pytest.mark.parametrize("scored", [[], [(9, 0.5)], [(0, NAN)]], ids=["none", "strange", "nan"])
@pytest.mark.parametrize("case", CASES)
def test_scores_of_nothing_that_was_shown_are_an_error(
    case: Case, double: Rank, model: Reranker, scored: Scored
) -> None:
    double.scored = scored

    with pytest.raises(ModelError, match="scored none|cannot be read"):
        model.scores("Where is the key?", TEXTS)


FAULTS = [
    ("hang", 1, "took longer than"),
    ("drip", 1, "took longer than"),
    ("429", 2, "HTTP 429"),
    ("429long", 1, "asks to wait 3600 s"),
    ("500", 2, "HTTP 500"),
    ("401", 1, "check its key"),
    ("garbage", 1, "cannot be read"),
    ("html", 1, "cannot be read"),
    ("redirect", 1, "redirects"),
    ("reset", 2, "cannot be reached"),
]


@pytest.mark.parametrize(
    ("case", "mode", "tries", "words"),
    [
        pytest.param(*provider.values, *fault, id=f"{provider.id}-{fault[0]}")
        for at, provider in enumerate(CASES)
        for number, fault in enumerate(FAULTS)
        if WHOLE or (at + number) % 3 == 0
    ],
)
def test_a_fault_is_a_model_error_in_time(
    case: Case,
    double: Rank,
    model: Reranker,
    mode: str,
    tries: int,
    words: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    double.mode = mode

    with pytest.raises(ModelError, match=words):
        model.scores("Where is the key?", TEXTS, deadline=1 if "took" in words else 30)

    assert len(double.bodies) == tries
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("case", CASES[:1])
def test_a_dead_provider_is_left_alone(case: Case, double: Rank, model: Reranker) -> None:
    double.mode = "401"

    for _ in range(FAILURES + 2):
        with pytest.raises(ModelError, match="check its key"):
            model.scores("Where is the key?", TEXTS)

    assert len(double.bodies) == FAILURES
